package ui

import (
	"cmp"

	"softswitch/oracle/verdict"
	"softswitch/unit"
	"softswitch/view/drawing"
)

// Topology is what does not change while a stream lasts.
type Topology struct {
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// World is "live" or "simulation". A simulation is there as a whole: the page plays it.
	World    string `json:"world"`
	Detector string `json:"detector"`
	Response string `json:"response"`
	Nodes    []Node `json:"nodes"` // switches first
	Links    []Link `json:"links"`
	Ends     []End  `json:"ends"` // by direction
	// LAGs are links that act as one, by index.
	LAGs [][]int `json:"lags,omitempty"`
	Layout
	// Interval is the time between two states, in milliseconds of the fabric's time.
	Interval float64 `json:"interval_ms"`
	// Choices are what can be changed; nil if nothing can.
	Choices *Choices `json:"choices,omitempty"`
}

// Choices are the detectors and responses that switches can be restarted with.
type Choices struct {
	Detectors []string `json:"detectors"`
	Responses []string `json:"responses"`
}

// Layout is how nodes are drawn. In boxes of these sizes none touches another.
type Layout struct {
	// Shape is "line", "layers", "ring" or "mesh": how the switches are arranged.
	Shape     string      `json:"shape"`
	SwitchBox drawing.Box `json:"switch_box"` // of every switch
	HostBox   drawing.Box `json:"host_box"`   // of every host
}

// Node is a switch or a host, and where its middle is drawn: X and Y from 0 to 1, fractions
// of the drawing's width and height, Y downwards.
type Node struct {
	Name string  `json:"name"`
	Kind string  `json:"kind"` // "switch" or "host"
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	// Ports are the directions that leave its ports, in order; -1 for a port without a
	// link.
	Ports []int `json:"ports"`
}

// Link joins nodes A and B, indices of Topology.Nodes.
type Link struct {
	Name string `json:"name"`
	A    int    `json:"a"`
	B    int    `json:"b"`
	Rate int64  `json:"rate"` // bit/s; 0: unlimited
	// X1 and Y1 are where it meets the box of A, X2 and Y2 that of B, in the same fractions
	// as those of a node. Links of a side of a box meet it at different places, so that two
	// links between the same two nodes are not drawn on each other.
	X1 float64 `json:"x1"`
	Y1 float64 `json:"y1"`
	X2 float64 `json:"x2"`
	Y2 float64 `json:"y2"`
}

// At is a direction and a priority: the queue that transmits there, or the priority group at its far
// end.
type At struct {
	Dir      int `json:"d"`
	Priority int `json:"c"`
}

// State is a fabric at one instant, and what happened since the state before.
type State struct {
	// T is the time in milliseconds since the stream began.
	T float64 `json:"t"`
	// Load is the traffic of each direction since the state before, in percent of its
	// rate, at most 100.
	Load      []int `json:"load"`
	Down      []int `json:"down,omitempty"`       // links
	Silent    []int `json:"silent,omitempty"`     // nodes that do not answer
	Storms    []int `json:"storms,omitempty"`     // hosts that pause without end
	SlowHosts []int `json:"slow_hosts,omitempty"` // hosts that drain slowly
	// Mismatches are ends of links whose far ends say something else of their priorities.
	Mismatches []Mismatch `json:"mismatches,omitempty"`
	Paused     []At       `json:"paused,omitempty"` // queues
	Groups     []Group    `json:"groups,omitempty"` // ingress priority groups that hold bytes
	// Deadlock is the truth: the largest stuck set, or the last one for a while after it
	// ended; else nil.
	Deadlock *Deadlock `json:"deadlock,omitempty"`
	// Declared is the last declaration for the present deadlock.
	Declared *Declared `json:"declared,omitempty"`
	Labels   []Label   `json:"labels,omitempty"` // that travelled
	// Steps are what the detectors did, in order, and StepsLeft how many more of these there
	// were.
	Steps     []Step `json:"steps,omitempty"`
	StepsLeft int    `json:"steps_left,omitempty"`
	// Waits say which priority group waits for which queue.
	Waits []Wait `json:"waits,omitempty"`
	// Actions are what responses have done and not undone yet.
	Actions []Action `json:"actions,omitempty"`
	// Slow: the state is one of an instant at which something happened, and not of the next
	// regular time.
	Slow   bool    `json:"slow,omitempty"`
	Pauses int     `json:"pauses"` // that took effect, resumes not among them
	Log    []Entry `json:"log,omitempty"`
	// Sending are the hosts that send on reliable connections, in the order of the nodes.
	Sending []Sending `json:"sending,omitempty"`
	// Lost is the lossless frames that switches dropped by accident, Dropped those that a
	// response dropped on purpose, both since the fabric began.
	Lost    uint64 `json:"lost"`
	Dropped uint64 `json:"dropped"`
	// Starving are lossless queues that others keep from sending at this instant, Starved those that
	// were kept so at some time, as in a verdict.
	Starving []Starving        `json:"starving,omitempty"`
	Starved  []verdict.Starved `json:"starved,omitempty"`
	// DroppedOf says of which flows, those with most first: of Dropped, and of what was policed.
	DroppedOf []verdict.DroppedOf `json:"dropped_of,omitempty"`
	// With is what the switches run now, where it is known.
	With *With `json:"with,omitempty"`
	// Consoles are those of guests, in the order of the nodes; a Slow state has none.
	Consoles []Console `json:"consoles,omitempty"`
	// Zero is the T at which the scenario started last, 0 before.
	Zero float64 `json:"zero,omitempty"`
	// Status is "deadlock", "storm", "cured", "starved", "paused", "flowing" or "idle".
	Status string `json:"status"`
	// Brief says in one sentence what there is to see.
	Brief string `json:"brief"`
	// Words say in words what the drawing shows.
	Words string `json:"words"`
	// Problem is why this state is not to be trusted; "" if it is.
	Problem string `json:"problem,omitempty"`
}

// Console is the end of what a guest has said on its serial line.
type Console struct {
	Node int    `json:"n"` // the host that it is
	Text string `json:"text"`
}

// With is a detector and a response; "several" if switches differ.
type With struct {
	Detector string `json:"detector"`
	Response string `json:"response"`
}

// Group is the ingress priority group at the far end of a direction.
type Group struct {
	At
	Bytes int `json:"b"`
	// Limit is where it goes XOFF, in bytes, and Most what it can hold, its headroom
	// included.
	Limit int  `json:"x"`
	Most  int  `json:"m"`
	XOFF  bool `json:"off,omitempty"`
}

// Deadlock is a stuck set.
type Deadlock struct {
	// Loops is for each of its components a cycle of queues in the order of waiting, which
	// is that of the frames: each waits for the next, the last for the first.
	Loops [][]At `json:"loops"`
	// Core are all queues of the components, Victims those stuck behind them.
	Core    []At `json:"core"`
	Victims []At `json:"victims,omitempty"`
	// For is how long it has lasted, in milliseconds.
	For float64 `json:"for_ms"`
	// Over: it is gone again, and was there lately.
	Over bool `json:"over,omitempty"`
}

// Declared is what a detector declared.
type Declared struct {
	Node  int  `json:"node"`  // who
	Queue At   `json:"queue"` // which it holds to be on the loop
	True  bool `json:"true"`  // and it was
	// After is how long after the deadlock formed, in milliseconds, if True.
	After float64 `json:"after_ms"`
	// Trigger is the node that it names as the initial trigger, -1 if none, and Port the
	// direction by which the first pause left it, -1 for a host.
	Trigger int  `json:"trigger"`
	Port    int  `json:"port"`
	OnLoop  bool `json:"on_loop"`
	// Cause is the likeliest cause of its diagnosis, in words; "" before there is one.
	Cause string `json:"cause,omitempty"`
	// CauseHost is the host that is that cause, and CauseDir the direction at which it is, -1
	// for none.
	CauseHost int `json:"cause_host"`
	CauseDir  int `json:"cause_dir"`
}

// Sending is what became of the messages that a host sends on reliable connections.
type Sending struct {
	Node int `json:"n"`
	// Flows is how many flows it has, Done how many of them are acknowledged as a whole, and
	// GaveUp how many never will be.
	Flows  int `json:"flows"`
	Done   int `json:"done"`
	GaveUp int `json:"gave_up,omitempty"`
	// Messages that were acknowledged as a whole, and their times in milliseconds: from when
	// the first packet leaves to the acknowledgement of the last.
	Messages uint64  `json:"messages"`
	Sum      float64 `json:"sum_ms"`
	Longest  float64 `json:"longest_ms"`
	Again    uint64  `json:"again"` // packets sent again
	CNPs     uint64  `json:"cnps"`
}

// index is the number of a queue among all of them.
func (q At) index() int { return q.Dir*unit.Priorities + q.Priority }

// compare orders queues by direction and priority.
func (q At) compare(r At) int { return cmp.Or(q.Dir-r.Dir, q.Priority-r.Priority) }

// Wait is that a priority group that is XOFF, at the far end of the queue From, holds bytes in the
// paused queue To: From waits for To. It does so for good, as far as To is concerned, while
// these are more than XON.
type Wait struct {
	From  At  `json:"from"`
	To    At  `json:"to"`
	Bytes int `json:"b"`
	XON   int `json:"x"` // bytes
}

// Action is an action of a response that is in effect at a queue, or on what a queue transmits.
type Action struct {
	At
	// What is "restricted", "policed", "ignores pauses", "lossy", "contained" or "discards".
	What string `json:"w"`
}

func (m Action) compare(n Action) int {
	return cmp.Or(m.At.compare(n.At), cmp.Compare(m.What, n.What))
}

// Step is one of a detector's.
type Step struct {
	T float64 `json:"t"` // as State.T
	// Kind is that of detect.Step.
	Kind  string `json:"k"`
	Node  int    `json:"n"`
	Queue *At    `json:"q,omitempty"` // that it is about
	PG    *At    `json:"b,omitempty"` // by the queue upstream
	Text  string `json:"text"`
}

// Label is a detector's label that was passed on: it goes against the frames, from the
// far end of a direction to its near end.
type Label struct {
	Dir int `json:"d"`
	// Origin is the node that made it.
	Origin int  `json:"o"`
	Seq    int  `json:"seq"`           // its number among those of that node
	New    bool `json:"new,omitempty"` // it was made here
	// Down: it is a question about a label, which goes with the frames.
	Down bool `json:"down,omitempty"`
}

func (l Label) compare(m Label) int {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(l.Dir-m.Dir, l.Origin-m.Origin, l.Seq-m.Seq, flag(l.New)-flag(m.New), flag(l.Down)-flag(m.Down))
}

// Entry is a line of the page's list of events.
type Entry struct {
	T float64 `json:"t"` // as State.T
	// Kind is "link", "storm", "deadlock", "over", "declared", "false", "cause", "act", "restart",
	// "response", "verdict" or "note".
	Kind string `json:"k"`
	Text string `json:"text"`
}
