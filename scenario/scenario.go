// Package scenario is an experiment on a fabric: what is built, what flows, what
// goes wrong when, and what is expected to come of it. One file is played live,
// on network namespaces, and simulated.
//
//	file --Parse--> Scenario --Compile--> Plan --> a world --> Verdict
//	                 (checked)   (a configuration for every node,
//	                              links, time line)
//
// Read in this order: Scenario (this file), file.go (the keys of a file and
// Parse), the parse_*.go files (what is refused), compile.go and Plan, prevent.go,
// wanted.go (what a verdict is held against).
//
// Invariants:
//   - every time counts from the start of the scenario;
//   - what Parse returns is sound: every name is resolved to an index of Fabric,
//     every time lies within Duration;
//   - both worlds: a scenario and its Plan say nothing of sockets, processes or
//     virtual time. What a world cannot play, that world refuses.
//
// What it does not do: it plays nothing.
package scenario

import (
	"slices"

	"softswitch/internal/strictyaml"
	"softswitch/scenario/config"
	"softswitch/topo"
	"softswitch/unit"
)

// Scenario is a scenario file that has been read and checked. Nodes and links are
// indices of Fabric.
type Scenario struct {
	Name, Description string
	Fabric            *topo.Fabric
	Links             []LinkSpeed // by link of Fabric
	Buffer            config.Buffer
	PFC               config.PFC
	Trust             string // "dscp" or "pcp"
	Routes            []Override
	// Dead are hosts that their switch has an ARP entry and no MAC entry for: it
	// floods what is for them (Guo et al., "RDMA over Commodity Ethernet at Scale",
	// section 4.2), among its ports to hosts, or with FloodAll among all its ports
	// but the one that the frame came by. The next switch drops its copy. No flow
	// begins at a dead host: its switch would learn where it is.
	Dead     []int
	FloodAll bool
	// NICs are hosts whose programs use the kernel's stack behind a NIC: they have no
	// flows and no events. Simulated, they are silent.
	NICs     []int
	Detector string
	Response string
	// Prevention is what keeps deadlocks from forming, nil for nothing.
	Prevention *Prevention
	Flows      []Flow
	Events     []Event // in order of time
	Duration   unit.Time
	Expect     Expect
	// ExpectFor is what is expected instead if the detector is the one named.
	ExpectFor map[string]Expect
	// Warnings tell what the scenario's settings cost, as "file:line: key: text".
	Warnings []string

	doc *strictyaml.Doc // where faults found later are; nil if it comes from no file
}

// LinkSpeed is what a link does to frames, the same in both directions. Namespaces
// have the delay that they have: only a simulation plays Delay, Jitter and
// ControlLoss.
type LinkSpeed struct {
	Rate  unit.Rate // 0: unlimited
	Delay unit.Time
	// Jitter is added to Delay, evenly from 0 to Jitter; no frame overtakes another.
	Jitter unit.Time
	// ControlLoss is how many of 1000 control frames (PFC, ITSY messages) are lost.
	ControlLoss int
}

// Override replaces part of the computed routes of switch At to the subnets To.
type Override struct {
	At int
	To []int // subnets of Fabric that At does not own
	// Ports and Backup replace those of the group where they are not empty. They
	// have no port in common.
	Ports, Backup unit.PortSet
}

// Flow is a stream of frames from one host to another.
type Flow struct {
	Name     string
	From, To int
	Class    unit.Priority
	Rate     unit.Rate // on the wire; 0: as fast as the link
	Frame    int       // bytes without FCS
	TTL      int
	Start    unit.Time
	Stop     unit.Time // 0: never
	// Via is the switches that the flow's path has to visit, in this order; others
	// may lie between. Compile picks a source port for it.
	Via []int
}

// Misbehaves reports whether host node storms or is slow at some time.
func (s *Scenario) Misbehaves(node int) bool {
	return slices.ContainsFunc(s.Events, func(e Event) bool { return (e.Do == Storm || e.Do == Slow) && e.Node == node })
}

// Bins is the number of times of equal length that a verdict tells throughputs of, and
// Bin their length.
const Bins = 40

// Bin is the length of a bin: a fortieth of the duration.
func (s *Scenario) Bin() unit.Time { return s.Duration / Bins }

// Do is what an event does.
type Do string

// What an event can do. The fields of Event that count are in brackets.
const (
	Fail     Do = "fail"     // the link goes down [Link]
	Heal     Do = "heal"     // the link comes up [Link]
	Flap     Do = "flap"     // fail, and heal after For [Link, For]
	Kill     Do = "kill"     // the switch dies and does not come back [Node]
	Stop     Do = "stop"     // the switch freezes [Node]
	Continue Do = "continue" // the switch goes on from where it stopped [Node]
	Storm    Do = "storm"    // the host pauses Class continuously, For that long or for good [Node, Class, For]
	Slow     Do = "slow"     // the host's receiver drains at Rate, For that long or for good [Node, Rate, For]
	Normal   Do = "normal"   // the host behaves again [Node]
	Lose     Do = "lose"     // the Nth control frame from now on that Node sends into Link is lost [Link, Node, Nth]
	Forge    Do = "forge"    // Frame appears in Link as if Node had sent it [Link, Node, Frame]
)

// Event is an entry of the time line.
type Event struct {
	At    unit.Time
	Do    Do
	Link  int
	Node  int
	Rate  unit.Rate
	Class unit.Priority
	For   unit.Time // 0: for good
	// Nth counts PFC frames and one-hop messages from 1.
	Nth int
	// Frame is a whole Ethernet frame without FCS, 14 to 1514 bytes.
	Frame []byte
}

// Expect is what a scenario's verdict is held against. A nil or zero field
// expects nothing.
type Expect struct {
	Deadlock *bool // the ground truth
	Detected *bool // by the detector
	// FalseAlarm: the detector declared what was not true then.
	FalseAlarm *bool
	// Missed: the detector did not declare every deadlock.
	Missed  *bool
	Trigger *Trigger
	// LosslessLost is the most lossless frames that may be lost.
	LosslessLost *int
	// MaxLatency bounds every detection's time after the deadlock's onset.
	MaxLatency unit.Time
	// MinXOFF is the fewest XOFF that there must be.
	MinXOFF int
	// SimOnly is why all this holds in a simulation only, a sentence without its full
	// stop: what comes out hangs on an order in time that no live lab keeps. "" if it
	// is expected of both worlds.
	SimOnly string
}

// Trigger is the initial trigger that every detection has to name.
type Trigger struct {
	Node   int
	OnLoop *bool
}
