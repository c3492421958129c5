package scenario

import "softswitch/unit"

// Wanted is what a verdict is checked against. A field that is nil or zero wants
// nothing.
type Wanted struct {
	Deadlock *bool
	// Detected: true wants every deadlock declared, and at least one; false wants no
	// declaration at all, right or wrong.
	Detected *bool
	// FalseAlarm: true wants a declaration that is not true when it is made, false
	// wants none.
	FalseAlarm *bool
	// Missed: true wants a deadlock that was not declared while it lived, false none.
	Missed *bool
	// Trigger is what every true detection has to name.
	Trigger *WantedTrigger
	// LosslessLost is the most lossless frames that may be lost.
	LosslessLost *int
	// MaxLatency bounds the latency of every true detection.
	MaxLatency unit.Time
	// MinXOFF is the fewest XOFF frames that there must be.
	MinXOFF int
}

// WantedTrigger is a node, of either kind, and perhaps where it is.
type WantedTrigger struct {
	Node   string
	OnLoop *bool
}

// Wanted is what is expected of the scenario with its detector, with nodes by name.
func (s *Scenario) Wanted() Wanted {
	e := s.expected()
	w := Wanted{Deadlock: e.Deadlock, Detected: e.Detected, FalseAlarm: e.FalseAlarm, Missed: e.Missed, LosslessLost: e.LosslessLost, MaxLatency: e.MaxLatency, MinXOFF: e.MinXOFF}
	if e.Trigger != nil {
		w.Trigger = &WantedTrigger{Node: s.Fabric.Nodes[e.Trigger.Node].Name, OnLoop: e.Trigger.OnLoop}
	}
	return w
}

// SimOnly is why what is expected of the scenario with its detector holds in a
// simulation only; "" if it is expected of a live lab too.
func (s *Scenario) SimOnly() string { return s.expected().SimOnly }

func (s *Scenario) expected() Expect {
	if e, ok := s.ExpectFor[s.Detector]; ok {
		return e
	}
	return s.Expect
}
