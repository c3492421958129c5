package scenario

import "softswitch/unit"

// Wanted is what a verdict is checked against. A nil or zero field requires nothing.
type Wanted struct {
	Deadlock *bool
	// Opens: true requires a wait that opens by itself, false allows none.
	Opens *bool
	// Detected: true requires every deadlock to be declared, and at least one; false
	// allows no declaration at all, right or wrong.
	Detected *bool
	// FalseAlarm: true requires a declaration that is not true when it is made, false
	// allows none.
	FalseAlarm *bool
	// Missed: true requires a deadlock that nobody declared while it lasted, false
	// allows none.
	Missed *bool
	// Trigger is what every true detection must name.
	Trigger *WantedTrigger
	// LosslessLost is how many lossless frames may be lost at most, AnyLoss if any number. Where
	// it is nil, none may.
	LosslessLost *int
	// MaxLatency limits the latency of every true detection.
	MaxLatency unit.Time
	// MinXOFF is how many XOFF frames there must be at least.
	MinXOFF int
}

// WantedTrigger is a node, of either kind, and optionally its position.
type WantedTrigger struct {
	Node   string
	OnLoop *bool
}

// Wanted is the expectation for the scenario with its detector, with nodes by name.
func (s *Scenario) Wanted() Wanted {
	e := s.expected()
	w := Wanted{Deadlock: e.Deadlock, Opens: e.Opens, Detected: e.Detected, FalseAlarm: e.FalseAlarm, Missed: e.Missed, LosslessLost: e.LosslessLost, MaxLatency: e.MaxLatency, MinXOFF: e.MinXOFF}
	if e.Trigger != nil {
		w.Trigger = &WantedTrigger{Node: s.Fabric.Nodes[e.Trigger.Node].Name, OnLoop: e.Trigger.OnLoop}
	}
	return w
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
