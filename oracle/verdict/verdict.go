package verdict

import (
	"encoding/json"

	"softswitch/unit"
)

// Verdict is what came of a scenario, in either world. Its JSON is the same from
// both; all times are in nanoseconds from the start of the scenario, spans in
// nanoseconds.
//
// Of makes it, and nothing else does.
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

	// Recovered: there was a deadlock, and none at the end. Recovery is from the onset
	// until the last was gone, and Quiet from then to the end of the run, beyond which
	// nobody looked; both are 0 if not Recovered. Recurrences is how often a deadlock
	// came after all were gone.
	Recovered   bool      `json:"recovered"`
	Recurrences int       `json:"recurrences"`
	Recovery    unit.Time `json:"recovery_ns"`
	Quiet       unit.Time `json:"quiet_ns"`

	Flows           []FlowResult `json:"flows"`
	PFC             PFCFrames    `json:"pfc"`
	ControlMessages int          `json:"control_messages"` // of the detector, besides pause frames

	// Of the switch that has most: the detector's own state, and the accounts of the
	// buffer manager, which exist with or without a detector.
	DetectorBytesPerSwitch int `json:"detector_bytes_per_switch"`
	CounterBytesPerSwitch  int `json:"counter_bytes_per_switch"`

	// Cores is how many processors a live run used on average; 0 in a simulation.
	Cores float64 `json:"cores,omitempty"`

	// Killed are the switches that the scenario killed. What they held, and what came to
	// them afterwards, is counted nowhere.
	Killed []string `json:"killed"`

	// Invalid says why the run cannot be trusted (the machine lost frames, a process
	// starved); empty if it can.
	Invalid string `json:"invalid"`
	// Expected: the scenario expects something. Where it does not, ExpectedMet is true.
	Expected    bool     `json:"expected"`
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
	Port     string    `json:"port"`
	Priority int       `json:"priority"`
	// Loop are links in the order of waiting, each in the direction of its frames,
	// the declared queue's first; empty if the logs do not tell it.
	Loop         []string     `json:"loop"`
	Trigger      FoundTrigger `json:"initial_trigger"`
	TruePositive bool         `json:"true_positive"`
	// Judged is "true", "false", "premature" or "late".
	Judged string `json:"judged"`
}

// Measure is something that a system did to its switch. Port is the ingress and Out the
// egress that it is about, by their names, "" for none; Amount is in bytes, of a policer in kbit/s.
type Measure struct {
	At       unit.Time `json:"at_ns"`
	Switch   string    `json:"switch"`
	Measure  string    `json:"measure"`
	Port     string    `json:"port"`
	Out      string    `json:"out"`
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
// port, or a host and its port. Kind is "switch", "host", or "" if the
// detector names none.
type FoundTrigger struct {
	Node   string `json:"node"`
	Port   string `json:"port"`
	Kind   string `json:"kind"`
	OnLoop bool   `json:"on_loop"`
}

// FlowResult is what became of a flow until the end of the run. Lost are frames that
// never came although later ones did; InFlight are the rest of what was sent and not
// received: under way, waiting in a switch, or dropped with none behind them that came.
type FlowResult struct {
	Name       string `json:"name"`
	From       string `json:"from"`
	To         string `json:"to"`
	Priority   int    `json:"priority"`
	Sent       int64  `json:"sent"`
	Received   int64  `json:"received"`
	Lost       int64  `json:"lost"`
	InFlight   int64  `json:"in_flight"`
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

// ExitCode is 0 only if the expectation is met and the run can be trusted, 1
// otherwise.
func (v *Verdict) ExitCode() int {
	if v.ExpectedMet && v.Invalid == "" {
		return 0
	}
	return 1
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
	v.Killed = append([]string{}, v.Killed...)
	v.Reasons = append([]string{}, v.Reasons...)
	v.Timeline = append([]Moment{}, v.Timeline...)
	return json.Marshal(plain(v))
}
