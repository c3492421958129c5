package scenario

// Wanted is the expectation for the scenario with its detector.
func (s *Scenario) Wanted() Expect {
	e := s.expected()
	e.SimOnly = ""
	return e
}

// SimOnly is why that expectation only holds in a simulation; "" if it also holds in a
// live lab.
func (s *Scenario) SimOnly() string { return s.expected().SimOnly }

func (s *Scenario) expected() Expect {
	if e, ok := s.ExpectFor[s.Detector]; ok {
		return e
	}
	return s.Expect
}
