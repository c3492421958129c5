package detect

import (
	"slices"

	"softswitch/unit"
)

// CauseType says what kind of cause a deadlock has. The types are those by which
// Hawkeye (SIGCOMM 2025) tells anomalies apart, as far as they lock: a host that injects
// pauses, flows that contend, and the ways that turn either into a loop.
type CauseType uint8

// Types of cause. CauseSeveral says that no single host or flow is the cause: what is named
// is a set of flows that have to be there together.
const (
	CauseHost       CauseType = iota + 1 // a host pauses: it storms, is slow, or did so for a while
	CauseContention                      // flows ask a queue for more than its rate: incast, or one heavy flow
	CauseRouting                         // frames go round a loop in the routes
	CauseFlooding                        // flooded frames hold the loop
	CauseLink                            // a link went down, and its traffic took another way
	CauseSeveral                         // no single cause
)

var causeNames = [...]string{"", "host", "contention", "routing-loop", "flooding", "link", "no-single-cause"}

// String is the type's name in logs, verdicts and reports.
func (c CauseType) String() string { return causeNames[c] }

// CauseTypes are all types.
var CauseTypes = []CauseType{CauseHost, CauseContention, CauseRouting, CauseFlooding, CauseLink, CauseSeveral}

// CauseFlowsMax is the most flows that a cause names, and CausesMax the most causes of a
// diagnosis.
const (
	CauseFlowsMax = 8
	CausesMax     = 4
)

// Cause is one answer to the question why a declared deadlock formed.
//
// The response follows from what is named: a host's pauses are no longer honoured; a turn
// (In) is made lossy; else the flows are policed.
type Cause struct {
	Type CauseType
	// At is the egress port that tells it: of a host, the port of its switch that faces it; of
	// a link, the port that went down; else the loop's queue where Flows wait.
	At unit.NodePort
	// In is the ingress port of the same switch by which the flows come, if the cause is a turn
	// of the loop, as it is unless it is a host or a link; then unit.NoPort.
	In unit.Port
	// OnLoop: it is on the loop. Of a host and of a loop in the routes that says whether the
	// queue at At is one of the loop's, of a link whether the way round it is, and of contention
	// whether the queue is where Flows meet.
	OnLoop bool
	// Together: it is named together with the one before it. Either may be the cause, or it
	// takes both.
	Together bool
	// Confidence is how often such an answer was right in simulations, in per cent.
	Confidence uint8
	// Flows are those that are named, the likeliest first. Of a host there are none: its
	// pauses are its own.
	Flows CauseFlows
}

// CauseFlows are flows; 0 is none, and none is after it.
type CauseFlows [CauseFlowsMax]FlowID

// Len is how many flows there are.
func (s *CauseFlows) Len() (n int) {
	for n < len(s) && s[n] != 0 {
		n++
	}
	return n
}

// Add adds a flow, if there is room for it.
func (s *CauseFlows) Add(f FlowID) {
	if n := s.Len(); n < len(s) {
		s[n] = f
	}
}

// Has reports whether f, which is not 0, is one of the flows.
func (s *CauseFlows) Has(f FlowID) bool { return slices.Contains(s[:s.Len()], f) }
