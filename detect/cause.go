package detect

import "softswitch/unit"

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

// Cause is one answer to the question why a declared deadlock came to be.
type Cause struct {
	Type CauseType
	// At is the egress port that tells it: of a host, the port of its switch that faces it; of
	// contention, the queue that was asked for too much; of a link, the port that went down;
	// else the loop's queue where Flows wait.
	At unit.NodePort
	// OnLoop: the queue at At is one of the loop's.
	OnLoop bool
	// Confidence is how often such an answer was right in simulations, in per cent.
	Confidence uint8
	// Flows are those that are named, the heaviest first. Of a host there are none: its
	// pauses are its own.
	Flows [CauseFlowsMax]FlowID // 0: none, and none after it
}
