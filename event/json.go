package event

import (
	"math/bits"
	"strconv"
	"strings"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Node is the node that a log belongs to.
type Node struct {
	ID   unit.NodeID
	Name string
	// Ports are the names of ports 0, 1, ... There may be fewer names than ports, and a
	// name may be empty: such a port is written by number only.
	Ports []string
}

// Log is the log of one node, oldest event first.
type Log struct {
	Node   Node
	Events []Event
	// Cut says that the last line was cut short, as by killing the switch.
	Cut bool
}

// key is a set of the keys of a line, one bit each.
type key uint64

const (
	keyTS key = 1 << iota
	keyNode
	keyID
	keyType
	keyPort
	keyPortName
	keyPriority
	keyOut
	keyOutName
	keyOutPriority
	keyPeriod
	keyBytes
	keyLimit
	keyRoute
	keyStep
	keyLabel
	keyTrigger
	keyOnLoop
	keyAction
	keyAmount
	keyRefusal
	keyFlow
	keyCause
	keyRank
	keyConfidence
	keyIn
	keyTogether
	keyWhy
	keyLeftOut
	keyFeature
	keyOwn
	keyPeer
	keyLost

	keyHead  = keyTS | keyNode | keyID | keyType
	keyPG    = keyPort | keyPriority
	keyQueue = keyOut | keyOutPriority
)

// keyNames are in the order of the bits, which is the order of a line.
var keyNames = [...]string{
	"ts", "node", "id", "type", "port", "port_name", "priority", "out", "out_name", "out_priority",
	"period", "bytes", "limit", "route", "step", "label", "trigger", "on_loop",
	"action", "amount", "refusal", "flow", "cause", "rank", "confidence", "in", "together", "why", "left_out",
	"feature", "own", "peer", "lost_frames",
}

func (k key) String() string {
	var names []string
	for ; k != 0; k &= k - 1 {
		names = append(names, keyNames[bits.TrailingZeros64(uint64(k))])
	}
	return strings.Join(names, ", ")
}

// shape is the keys of a type of event, apart from keyHead: need are always present, may
// are optional.
type shape struct {
	name      string
	need, may key
}

var shapes = [...]shape{
	XOFF:          {"xoff", keyPG | keyQueue | keyPeriod | keyBytes | keyLimit, 0},
	XON:           {"xon", keyPG | keyPeriod | keyBytes, 0},
	PauseSent:     {"pause_sent", keyPG | keyPeriod, keyLeftOut},
	ResumeSent:    {"resume_sent", keyPG | keyPeriod, keyLeftOut},
	RefreshSent:   {"refresh_sent", keyPG | keyPeriod, keyLeftOut},
	Paused:        {"paused", keyQueue, keyPeriod | keyLeftOut},
	Resumed:       {"resumed", keyQueue, keyLeftOut},
	Expired:       {"expired", keyQueue, keyLeftOut},
	Held:          {"held", keyPG | keyQueue | keyBytes | keyLimit, 0},
	StrongCreated: {"strong_created", keyPG | keyQueue | keyBytes | keyLimit, 0},
	StrongRemoved: {"strong_removed", keyPG | keyQueue | keyBytes | keyLimit, 0},
	Trace:         {"trace", keyStep | keyLabel, keyPG | keyQueue},
	Deadlock:      {"deadlock", keyPG | keyQueue | keyLabel | keyTrigger | keyOnLoop, 0},
	Cause:         {"cause", keyPG | keyQueue | keyCause | keyRank | keyConfidence | keyTrigger | keyOnLoop, keyFlow | keyIn | keyTogether},
	LinkUp:        {"link_up", keyPort, 0},
	LinkDown:      {"link_down", keyPort, 0},
	Rerouted:      {"rerouted", keyOut | keyRoute, 0},
	Acted:         {"acted", keyAction | keyAmount, keyPG | keyQueue | keyFlow},
	Refused:       {"refused", keyRefusal, keyPG | keyQueue},
	HostStorm:     {"host_storm", keyPG, 0},
	HostStormOver: {"host_storm_over", keyPG, 0},
	Refreshed:     {"refreshed", keyQueue | keyPeriod, keyLeftOut},
	HostSlow:      {"host_slow", keyPort | keyAmount, 0},
	HostSlowOver:  {"host_slow_over", keyPort, 0},
	AuthAgreed:    {"auth_agreed", keyPort, 0},
	AuthRefused:   {"auth_refused", keyPort | keyWhy | keyAmount, 0},
	AuthBehind:    {"auth_behind", keyPort, 0},
	Headroom:      {"headroom", keyPG | keyBytes | keyLimit, 0},
	Members:       {"members", keyPort | keyAmount, 0},

	NeighbourLearned: {"lldp_neighbor", keyPort, 0},
	NeighbourGone:    {"lldp_neighbor_gone", keyPort, 0},
	DCBXMismatch:     {"dcbx_mismatch", keyPort | keyFeature, keyOwn | keyPeer},
	DCBXAgreed:       {"dcbx_agreed", keyPort | keyFeature, 0},
	PauseUnheeded:    {"pause_unheeded", keyPG | keyAmount | keyLost, 0},
}

// lastStep is the last step with a name.
const lastStep = detect.StepAsk

var kindNames = [...]string{
	itsyhdr.KindPeriod:        "period",
	itsyhdr.KindChecking:      "checking",
	itsyhdr.KindTemporalCheck: "temporal_check",
	itsyhdr.KindLabel:         "label",
}

// String is the type's name in a log.
func (t Type) String() string {
	if t == 0 || int(t) >= len(shapes) {
		return "type-" + strconv.Itoa(int(t))
	}
	return shapes[t].name
}
