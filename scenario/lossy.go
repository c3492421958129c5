package scenario

// WithoutPFC makes every priority of s lossy at every port: nobody pauses, and what finds no room in a
// queue, or in the receive buffer of a host, is lost. Priorities that were lossless mark as before, if
// s marks. What s does to prevent deadlocks is left out: none can form.
func (s *Scenario) WithoutPFC() {
	if c := s.Congestion; c.marks() {
		lossy := *c
		lossy.marking = s.Lossless()
		s.Congestion = &lossy
	}
	s.PFC.Lossless, s.Prevention = []int{}, nil
	if s.Ports == nil {
		return
	}
	ports := make(PerEnd[Port], len(s.Ports))
	for i, p := range s.Ports {
		p.A.Lossless, p.B.Lossless = nil, nil
		ports[i] = p
	}
	s.Ports = ports
}
