// Package scenario describes an experiment on a fabric: its topology, its flows, what
// goes wrong when, and the expected outcome. The same file is played live, on network
// namespaces, and in simulation.
//
//	file --Parse--> Scenario --Compile--> Plan --> a world --> Verdict
//	                 (checked)   (a configuration for every node,
//	                              links, time line)
//
// Read in this order: Scenario (this file), file.go and file_topology.go (the keys of a file, and Parse),
// the parse_*.go files (what is rejected), compile.go and Plan, prevent.go, congestion.go,
// wanted.go (what a verdict is checked against).
//
// Invariants:
//   - every time is relative to the start of the scenario;
//   - what Parse returns is valid: every name is resolved to an index of Fabric, and
//     every time lies within Duration;
//   - both worlds: a scenario and its Plan do not mention sockets, processes or virtual
//     time. A world refuses what it cannot play.
//
// What it does not do: it plays nothing.
package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/host"
	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/link/impair"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// Scenario is a scenario file that has been read and checked. Nodes and links are
// indices of Fabric.
type Scenario struct {
	Name, Description string
	Fabric            *topo.Fabric
	Links             []LinkSpeed       // by link of Fabric
	Auth              PerEnd[auth.Mode] // of a link to a host both are off; nil: all are
	// Headrooms are what ends of links have for what still arrives once they pause, in bytes: a switch's port
	// its headroom, a host its receive buffer, of which a quarter is headroom. 0 is what Buffer says, or the
	// default receive buffer. They are
	// of the speeds that the file has: Slow keeps them.
	Headrooms PerEnd[int]
	// Ports are by link of Fabric what the ports at its ends have of their own, nil if none has anything.
	Ports    PerEnd[Port]
	RxBuffer int // receive buffer of a host in bytes, if it has none of its own
	MTU      int // bytes of the longest IP packet
	Buffer   config.Buffer
	PFC      config.PFC
	Trust    string // "dscp" or "pcp"
	// Sched is the scheduler of switches, of which ports can have their own.
	Sched  config.Scheds
	LLDP   *config.LLDP
	Routes []Override
	// Dead are hosts for which their switch has an ARP entry but no MAC entry, so it
	// floods their frames (Guo et al., "RDMA over Commodity Ethernet at Scale", section
	// 4.2): to its ports to hosts, or with FloodAll to all its ports but the ingress.
	// The next switch drops its copy. No flow starts at a dead host: its switch would
	// learn the port.
	Dead     []int
	FloodAll bool
	// NICs are hosts whose programs use the kernel's stack behind a NIC: they have no events, and are the
	// ends of no flows but of connections with their programs. In a simulation they are silent.
	NICs []int
	// Agreeing are hosts that have a NIC too, and are the ends of flows with a handshake.
	Agreeing []int
	Detector string
	Watchdog *config.Watchdog // the times of SONiC's, where that is the detector; nil: the usual ones
	Response string
	// Prevention is how deadlocks are prevented, nil for not at all.
	Prevention *Prevention
	// Congestion is how congestion is controlled, nil for not at all.
	Congestion *Congestion
	Flows      []Flow
	Events     []Event // in order of time
	Duration   unit.Time
	LogLimit   int // how long an event log of a live node may become, in MiB; 0: config.DefaultLogLimit
	Expect     Expect
	// ExpectFor is the expectation instead of Expect for a detector.
	ExpectFor map[string]Expect
	// Warnings say what the scenario's settings cost, as "file:line: key: text".
	Warnings []string

	doc *strictyaml.Doc // where faults found later are reported; nil if it comes from no file
}

// LinkSpeed is the properties of a link, the same in both directions.
type LinkSpeed struct {
	Rate unit.Rate
	impair.Faults
	DelaySpread unit.Time // the delay is so much shorter or longer, as a run draws it; at most Delay
}

// Longest is the longest that a frame is on the link, with all that a run may draw.
func (l *LinkSpeed) Longest() unit.Time { return l.Delay + l.DelaySpread + l.Jitter }

// Override replaces part of the computed routes of switch At to the subnets To.
type Override struct {
	At int
	To []int // subnets of Fabric that At does not own
	// Ports and Backup, where not empty, replace those of the group. They have no port
	// in common.
	Ports, Backup unit.PortSet
	// NoBackup takes the backup away. Backup is empty then.
	NoBackup bool
}

// Flow is a stream of frames from one host to another.
type Flow struct {
	Name     string
	From, To int
	// NIC is the one of From by which it leaves, ToNIC the one of To to which it goes. NIC is
	// unit.NoPort where From has one address and chooses; ToNIC is 0 where To has one.
	NIC, ToNIC unit.Port
	Priority   unit.Priority
	Jitter     unit.Time // it begins so much earlier or later, as a run draws it: see Plan.Drawn
	RateSpread unit.Rate // its rate is so much more or less, likewise; less than Rate
	// Stream is what it sends; Frame is, of messages over a connection, the longest.
	host.Stream
	// Via is the switches that the flow's path must visit, in this order; others may
	// lie between. Compile chooses a source port for it.
	Via []int

	at string // key in the file, "flows[2]": several flows can come of one; "" if it comes from none
}

// MaxFlows is how many flows a scenario has at most.
const MaxFlows = 100_000

// key is that of flow i in the file.
func (s *Scenario) key(i int) string { return cmp.Or(s.Flows[i].at, fmt.Sprintf("flows[%d]", i)) }

// Misbehaves reports whether host node, or one of its NICs, storms or is slow at some time.
func (s *Scenario) Misbehaves(node int) bool {
	return slices.ContainsFunc(s.Events, func(e Event) bool { return (e.Do == Storm || e.Do == Slow) && e.Node == node })
}

// Suffers reports whether a NIC to which the frames of f can come storms or is slow at some time. Of a host
// with one address that is any.
func (s *Scenario) Suffers(f *Flow) bool {
	to := &s.Fabric.Nodes[f.To]
	return slices.ContainsFunc(s.Events, func(e Event) bool {
		return (e.Do == Storm || e.Do == Slow) && e.Node == f.To && (to.Shared || e.AtNIC(f.ToNIC))
	})
}

// Bins is the number of equal time slots for which a verdict reports throughput.
const Bins = 40

// Lasts is for how long a flow sends. A connection ends its messages after its stop.
func (s *Scenario) Lasts(f *Flow) unit.Time {
	if f.Stop > 0 && f.RC == nil {
		return min(f.Stop, s.Duration) - f.Start
	}
	return s.Duration - f.Start
}

// Bin is the length of one of them.
func (s *Scenario) Bin() unit.Time { return s.Duration / Bins }

// Do is what an event does.
type Do string

// Kinds of events, with the fields of Event that they use in brackets.
const (
	Fail     Do = "fail"     // the link goes down [Link]
	Heal     Do = "heal"     // the link comes up [Link]
	Flap     Do = "flap"     // fail, and heal after For [Link, For]
	Kill     Do = "kill"     // the switch dies and does not come back [Node]
	Stop     Do = "stop"     // the switch freezes [Node]
	Continue Do = "continue" // the switch continues from where it stopped [Node]
	Storm    Do = "storm"    // the host pauses Priority continuously, for For or permanently [Node, NIC, Priority, For]
	Slow     Do = "slow"     // the host's receiver drains at Rate, for For or permanently [Node, NIC, Rate, For]
	Normal   Do = "normal"   // the host behaves again [Node, NIC]
	Lose     Do = "lose"     // the Nth control frame from now on that Node sends into Link is lost [Link, Node, Nth]
	Forge    Do = "forge"    // Frame appears in Link as if Node had sent it [Link, Node, Frame]
	// Replay has the Nth last control frame that Node sent into Link appear there again, or, if Back, as
	// if the other end had sent it [Link, Node, Nth, Back, Flip]
	Replay Do = "replay"
)

// Event is a scheduled event.
type Event struct {
	At       unit.Time
	Do       Do
	Link     int
	Node     int
	NIC      unit.Port // of host Node; unit.NoPort: each
	Rate     unit.Rate
	Priority unit.Priority
	For      unit.Time // 0: permanently
	// Nth counts PFC frames and one-hop messages from 1.
	Nth int
	// Frame is a whole Ethernet frame without FCS, of 14 bytes to MTU + 14.
	Frame []byte
	Back  bool
	Flip  int // the bit of the frame that is inverted, from 1; 0: none
}

// AtNIC reports whether the event is of this NIC of its host.
func (e *Event) AtNIC(nic unit.Port) bool { return e.NIC == unit.NoPort || e.NIC == nic }

// Expect is what a scenario's verdict is checked against. A nil or zero field expects nothing, but for
// LosslessLost. The comments and keys are those of its file.
type Expect struct {
	// Deadlock: whether there is one.
	Deadlock *bool `yaml:"deadlock"`
	// Opens: true requires a wait that opens by itself when others have left the shared pool,
	// which is no deadlock; false allows none.
	Opens    *bool `yaml:"opens_by_itself"`
	Detected *bool // every deadlock, and at least one; nothing at all
	// FalseAlarm: true requires a declaration that is not true when it is made, false
	// allows none.
	FalseAlarm *bool `yaml:"false_alarm"`
	// Missed: true requires a deadlock that nobody declared while it lasted, false
	// allows none.
	Missed *bool `yaml:"missed"`
	// Trigger is what every true declaration must name.
	Trigger      *Trigger `yaml:"trigger"`
	LosslessLost *int     // AnyLoss: any; nil: none
	// Starved: true requires that a lossless queue of a switch starves: that it has frames, is not
	// paused, and does not send for longer than any weights would have it wait. A scenario that does
	// not say it expects that none does.
	Starved *bool `yaml:"starved"`
	// MaxLatency bounds the time from the onset of a deadlock to its true declaration.
	MaxLatency unit.Time `yaml:"max_latency" schema:"time"`
	// MinXOFF is how many pauses there must be at least.
	MinXOFF int `yaml:"pfc_xoff_min" schema:"0..1073741824,default=0"`
	// SimOnly is why these expectations only hold in a simulation; a live lab refuses
	// the scenario and gives this reason.
	SimOnly string `yaml:"sim_only" schema:"text"`
}

// Trigger is the initial trigger of a deadlock.
type Trigger struct {
	Node string `yaml:"node" schema:"node,required"`
	Kind string `yaml:"kind" schema:"switch|host"`
	// OnLoop: the trigger is a switch of the loop itself.
	OnLoop *bool `yaml:"on_loop"`
}
