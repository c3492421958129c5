package scenario

import (
	"encoding/json"

	"softswitch/oracle"
	"softswitch/topo"
	"softswitch/unit"
)

// Verdict is what came of a scenario, in either world. Its JSON is the same from
// both; all times are in nanoseconds from the start of the scenario, spans in
// nanoseconds.
//
// A world fills in what it measured, then calls Judge with the oracle's result,
// then Check.
type Verdict struct {
	Scenario string `json:"scenario"`
	World    string `json:"world"` // "live" or "sim"
	Detector string `json:"detector"`
	Response string `json:"response"`
	Seed     uint64 `json:"seed"`
	// Duration is the scenario's.
	Duration unit.Time `json:"duration_ns"`

	// Deadlock: the oracle saw a stuck set, at Onset for the first time.
	Deadlock   bool        `json:"deadlock"`
	Onset      unit.Time   `json:"onset_ns"`
	Detections []Detection `json:"detections"`
	// FalsePositives never came true; Premature ones came true later; Late ones were
	// over for less time than word of it takes. FalseNegatives are deadlocks that nobody
	// declared while they lived.
	FalsePositives int `json:"false_positives"`
	FalseNegatives int `json:"false_negatives"`
	Premature      int `json:"premature"`
	Late           int `json:"late"`

	// LosslessLost counts lossless frames lost for any cause but the response,
	// which dropped ResponseDropped frames on purpose to break a deadlock. Policed
	// frames are what it costs to handle the trigger: those above a policer's rate, and
	// those for a queue that was made lossy and is full. IncompleteARP are lossless
	// frames of which their switch knows no port and which it was not to flood.
	LosslessLost         int `json:"lossless_lost"`
	ResponseDropped      int `json:"response_dropped"`
	ResponseDroppedBytes int `json:"response_dropped_bytes"`
	Policed              int `json:"policed"`
	IncompleteARP        int `json:"incomplete_arp"`
	// Measures that systems took, and what they wanted to do and did not.
	Measures []Measure `json:"measures"`
	Refusals []Refusal `json:"refusals"`

	// Recovered: there was a deadlock, and none at the end. Recovery is from the
	// onset until none was left for good, 0 if not Recovered. Recurrences is how
	// often a deadlock came after all were gone.
	Recovered   bool      `json:"recovered"`
	Recurrences int       `json:"recurrences"`
	Recovery    unit.Time `json:"recovery_ns"`

	Flows           []FlowResult `json:"flows"`
	PFC             PFCFrames    `json:"pfc"`
	ControlMessages int          `json:"control_messages"` // of the detector, besides pause frames

	// Of the switch that has most: the detector's own state, and the accounts of the
	// buffer manager, which exist with or without a detector.
	DetectorBytesPerSwitch int `json:"detector_bytes_per_switch"`
	CounterBytesPerSwitch  int `json:"counter_bytes_per_switch"`

	// Cores is how many processors a live run used on average; 0 in a simulation.
	Cores float64 `json:"cores,omitempty"`

	// Invalid says why the run cannot be trusted (the machine lost frames, a process
	// starved); empty if it can.
	Invalid     string   `json:"invalid"`
	ExpectedMet bool     `json:"expected_met"`
	Reasons     []string `json:"reasons"` // why it is not met
	Timeline    []Moment `json:"timeline"`
}

// Detection is a deadlock that a switch declared: a bucket of it waits for the
// queue (Port, Priority), and the wait comes round.
type Detection struct {
	At unit.Time `json:"at_ns"`
	// Latency is from the onset of the deadlock that it names; 0 unless TruePositive.
	Latency  unit.Time `json:"latency_ns"`
	Switch   string    `json:"switch"`
	Port     int       `json:"port"`
	Priority int       `json:"priority"`
	// Loop are links in the order of waiting, each in the direction of its frames,
	// the declared queue's first; empty if the logs do not tell it.
	Loop         []string     `json:"loop"`
	Trigger      FoundTrigger `json:"initial_trigger"`
	TruePositive bool         `json:"true_positive"`
}

// Measure is something that a system did to its switch. Port is the ingress and Out the
// egress that it is about, -1 for none; Amount is in bytes, of a policer in kbit/s.
type Measure struct {
	At       unit.Time `json:"at_ns"`
	Switch   string    `json:"switch"`
	Measure  string    `json:"measure"`
	Port     int       `json:"port"`
	Out      int       `json:"out"`
	Priority int       `json:"priority"`
	Amount   int       `json:"amount"`
	// Flow is the hash of the flow's addresses and ports, 0 for none.
	Flow uint32 `json:"flow,omitempty"`
}

// Refusal is a measure that was not taken, and why.
type Refusal struct {
	At     unit.Time `json:"at_ns"`
	Switch string    `json:"switch"`
	Why    string    `json:"why"`
}

// FoundTrigger is the initial trigger as the detector gives it: a switch and its
// port, or a host and its port, which is 0. Kind is "switch", "host", or "" if the
// detector names none.
type FoundTrigger struct {
	Node   string `json:"node"`
	Port   int    `json:"port"`
	Kind   string `json:"kind"`
	OnLoop bool   `json:"on_loop"`
}

// FlowResult is what became of a flow. Lost are frames that never came although
// later ones did or the flow had ended; frames that were still under way count as
// neither received nor lost.
type FlowResult struct {
	Name       string `json:"name"`
	From       string `json:"from"`
	To         string `json:"to"`
	Priority   int    `json:"priority"`
	Sent       int64  `json:"sent"`
	Received   int64  `json:"received"`
	Lost       int64  `json:"lost"`
	Reordered  int64  `json:"reordered"`
	Throughput int64  `json:"throughput_bps"` // received bits per second of the flow's time
	// Final is the received bits per second in the last quarter of the run, and OverTime
	// in each of Bins times of equal length.
	Final    int64   `json:"final_bps"`
	OverTime []int64 `json:"over_time_bps"`
	// Policed: a system dropped frames of it to handle a trigger. Innocent: neither that,
	// nor does it go to a host that misbehaves.
	Policed  bool `json:"policed"`
	Innocent bool `json:"innocent"`
}

// PFCFrames counts the PFC frames that switches sent, per class.
type PFCFrames struct {
	XOFF    int `json:"xoff"`
	XON     int `json:"xon"`
	Refresh int `json:"refresh"`
}

// Moment is an entry of the time line.
type Moment struct {
	At   unit.Time `json:"at_ns"`
	What string    `json:"what"`
}

// Judge fills in what the oracle knows: the deadlock, the detections, recovery,
// PFC frames and the time line. start is the oracle's time of the scenario's start.
func (v *Verdict) Judge(r *oracle.Result, start unit.Time) {
	v.PFC = PFCFrames(r.Frames)
	v.Detections, v.Timeline = nil, nil
	for _, f := range r.Findings {
		v.Detections = append(v.Detections, detection(r, f, start))
	}
	v.FalsePositives, v.Premature, v.Late = r.Count(oracle.FalsePositive), r.Count(oracle.Premature), r.Count(oracle.Late)
	v.FalseNegatives = len(r.Missed())
	v.judgeMeasures(r, start)
	for _, m := range r.Timeline {
		v.Timeline = append(v.Timeline, Moment{m.At - start, m.What})
	}
	v.Deadlock = len(r.Intervals) > 0
	v.Onset, v.Recovered, v.Recovery, v.Recurrences = 0, false, 0, 0
	if !v.Deadlock {
		return
	}
	first, last := r.Intervals[0], r.Intervals[len(r.Intervals)-1]
	v.Onset = first.From - start
	v.Recurrences = len(r.Intervals) - 1
	if v.Recovered = !last.Open; v.Recovered {
		v.Recovery = last.To - first.From
	}
}

func (v *Verdict) judgeMeasures(r *oracle.Result, start unit.Time) {
	port := func(p unit.Port) int {
		if p == unit.NoPort {
			return -1
		}
		return int(p)
	}
	v.Measures, v.Refusals = nil, nil
	for _, m := range r.Measures {
		priority := m.Queue.Class
		if m.Queue.Port == unit.NoPort {
			priority = m.Bucket.Class
		}
		v.Measures = append(v.Measures, Measure{m.At - start, r.Fabric.Name(m.Bucket.Node), m.Measure.String(), port(m.Bucket.Port), port(m.Queue.Port), int(priority), m.Amount, uint32(m.Flow)})
	}
	for _, f := range r.Refusals {
		v.Refusals = append(v.Refusals, Refusal{f.At - start, r.Fabric.Name(f.Bucket.Node), f.Why.String()})
	}
}

func detection(r *oracle.Result, f oracle.Finding, start unit.Time) Detection {
	return Detection{
		At: f.At - start, Latency: f.Latency,
		Switch: r.Fabric.Name(f.Queue.Node), Port: int(f.Queue.Port), Priority: int(f.Queue.Class),
		Loop:    r.Fabric.LinkNames(f.Loop),
		Trigger: FoundTrigger(r.Trigger(f)), TruePositive: f.Outcome == oracle.TruePositive,
	}
}

// OracleFabric is the wiring of f as the oracle takes it. A host beyond the
// numbers that there are is left out: its switch port leads nowhere, which is as
// live as a host.
func OracleFabric(f *topo.Fabric) (*oracle.Fabric, error) {
	var nodes []oracle.Node
	for _, n := range f.Nodes {
		if n.ID == 0 {
			continue
		}
		node := oracle.Node{ID: n.ID, Name: n.Name, Host: n.Kind == topo.Host}
		for _, p := range n.Ports {
			node.Ports = append(node.Ports, p.Name)
		}
		nodes = append(nodes, node)
	}
	var links []oracle.Link
	for _, l := range f.Links {
		a, b := f.Nodes[l.A.Node].ID, f.Nodes[l.B.Node].ID
		if a != 0 && b != 0 {
			links = append(links, oracle.Link{A: unit.NodePort{Node: a, Port: l.A.Port}, B: unit.NodePort{Node: b, Port: l.B.Port}})
		}
	}
	return oracle.NewFabric(nodes, links)
}

// MarshalJSON writes lists that are empty as [], so that a program need not tell
// them from null.
func (v Verdict) MarshalJSON() ([]byte, error) {
	type plain Verdict // without this method
	v.Detections = append([]Detection{}, v.Detections...)
	for i := range v.Detections {
		v.Detections[i].Loop = append([]string{}, v.Detections[i].Loop...)
	}
	v.Flows = append([]FlowResult{}, v.Flows...)
	for i := range v.Flows {
		v.Flows[i].OverTime = append([]int64{}, v.Flows[i].OverTime...)
	}
	v.Measures = append([]Measure{}, v.Measures...)
	v.Refusals = append([]Refusal{}, v.Refusals...)
	v.Reasons = append([]string{}, v.Reasons...)
	v.Timeline = append([]Moment{}, v.Timeline...)
	return json.Marshal(plain(v))
}
