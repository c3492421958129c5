package verdict

import (
	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"softswitch/host/roce"
	"softswitch/unit"
)

// Version is that of a verdict's JSON: 1, whose verdicts do not say it, had measures for actions.
const Version = 2

// Verdict is the outcome of a scenario, in either world, with the same JSON from both.
// Times are in nanoseconds from the start of the scenario, durations in nanoseconds.
//
// Only Of makes it.
type Verdict struct {
	Scenario string `json:"scenario"`
	World    string `json:"world"` // "live" or "sim"
	Detector string `json:"detector"`
	// Response is that of the scenario, and behind it, after ", then ", the one that switches of a live run
	// had at its end, if that was another.
	Response string `json:"response"`
	// Seed is that of a simulation, and of a live run that drew something by it; else 0.
	Seed uint64 `json:"seed"`
	// Version is of these keys, see the constant.
	Version int `json:"version"`
	// Duration is the scenario's.
	Duration unit.Time `json:"duration_ns"`
	// Warnings are what the scenario is warned of, such as headroom with which lossless frames can
	// be lost.
	Warnings []string `json:"warnings"`
	// Drawn is what the run drew by its seed before it began, nil if nothing has a spread.
	Drawn []Drawn `json:"drawn,omitempty"`

	// Deadlock: the oracle saw a stuck set, first at Onset.
	Deadlock   bool        `json:"deadlock"`
	Onset      unit.Time   `json:"onset_ns"`
	Detections []Detection `json:"detections"`
	// FalsePositives never came true; Premature ones came true later; Late ones came so
	// soon after the end of the deadlock that the detector could not know of it yet.
	// FalseNegatives are deadlocks that nobody declared while they lasted.
	FalsePositives int `json:"false_positives"`
	FalseNegatives int `json:"false_negatives"`
	Premature      int `json:"premature"`
	Late           int `json:"late"`
	// Clocks says how well the clocks of several machines are known, nil if there is one.
	// Undecided declarations are then those of which the logs do not prove what they are,
	// and UndecidedDeadlocks possible deadlocks of which they do not prove that they were
	// there, or whether they were missed.
	Clocks             *Clocks `json:"clocks,omitempty"`
	Undecided          int     `json:"undecided,omitempty"`
	UndecidedDeadlocks int     `json:"undecided_deadlocks,omitempty"`

	// LosslessLost counts lossless frames lost for any cause but the response, which
	// dropped ResponseDropped frames on purpose to break a deadlock. Policed frames are
	// the cost of handling the trigger: those above a policer's rate, and those for a
	// full queue that was made lossy. IncompleteARP are lossless frames for which their
	// switch knew no port and which it was not allowed to flood.
	LosslessLost int `json:"lossless_lost"`
	// LosslessLostBy is LosslessLost by reason: those of the counters of switches, NICs and hosts,
	// and "wire", what receivers miss beyond what nodes say they dropped, on wires or in nodes
	// that do not answer. LosslessLostAt is the same by node, the most first, and HeadroomShort
	// the priority groups whose headroom was full.
	LosslessLostBy       map[string]int  `json:"lossless_lost_by"`
	LosslessLostAt       []Loss          `json:"lossless_lost_at"`
	HeadroomShort        []HeadroomShort `json:"headroom_short"`
	ResponseDropped      int             `json:"response_dropped"`
	ResponseDroppedBytes int             `json:"response_dropped_bytes"`
	Policed              int             `json:"policed"`
	IncompleteARP        int             `json:"incomplete_arp"`
	// DroppedOf is ResponseDropped and Policed by flow, without flows of which none was dropped.
	DroppedOf []DroppedOf `json:"dropped_of"`
	// Actions that systems took, and those they wanted to take and could not.
	Actions  []Action  `json:"actions"`
	Refusals []Refusal `json:"refusals"`

	// Openings is how often something waited in a circle that opened by itself when others had
	// left its pool (dynamic thresholds), and LongestOpening how long at most: no deadlock.
	Openings       int       `json:"openings"`
	LongestOpening unit.Time `json:"longest_opening_ns"`

	// Recovered: there was a deadlock, and none at the end. Recovery is from the onset
	// until the last was gone, and Quiet from then to the end of the run; both are 0 if
	// not Recovered. Recurrences is how often a deadlock came back after all were gone.
	// RecoveryUndecided: the logs of several clocks do not prove that none was there at the end,
	// nor that one was.
	Recovered         bool      `json:"recovered"`
	Recurrences       int       `json:"recurrences"`
	Recovery          unit.Time `json:"recovery_ns"`
	Quiet             unit.Time `json:"quiet_ns"`
	RecoveryUndecided bool      `json:"recovery_undecided,omitempty"`

	Flows []FlowResult `json:"flows"`
	// Hosts are those with several NICs.
	Hosts []HostResult `json:"hosts,omitempty"`
	// Completion is that of the flows that have an end, nil if none has one.
	Completion      *Completion `json:"completion,omitempty"`
	PFC             PFCFrames   `json:"pfc"`
	ControlMessages int         `json:"control_messages"` // of the detector, apart from pause frames

	// Of the switch with the most: the detector's own state, and the accounts of the
	// buffer manager, which exist with or without a detector.
	DetectorBytesPerSwitch int `json:"detector_bytes_per_switch"`
	CounterBytesPerSwitch  int `json:"counter_bytes_per_switch"`

	// Cores is how many processors a live run used on average; 0 in a simulation.
	Cores float64 `json:"cores,omitempty"`
	// NodesPerProcess is how many nodes of a live run shared a process, at most; absent if
	// each had its own.
	NodesPerProcess int `json:"nodes_per_process,omitempty"`
	// Polled says that such a process polls (--poll).
	Polled bool `json:"polled,omitempty"`

	// Headroom is what the switches of a live run had, nil in a simulation.
	Headroom *Headroom `json:"headroom,omitempty"`

	// Auth are the ends of authenticated links that did not agree with their far ends, or
	// refused what came; absent if there are none.
	Auth []AuthFault `json:"auth,omitempty"`
	// LAGs are what members of LAGs carried, by direction; absent if there are none.
	LAGs []LAG `json:"lags,omitempty"`

	// Starved are the lossless queues that others kept from sending, the longest first; absent if there
	// are none.
	Starved []Starved `json:"starved,omitempty"`
	// DCBX are the ends of links of which the far end said something else by LLDP; absent if there
	// are none.
	DCBX []DCBXFault `json:"dcbx,omitempty"`

	// Killed are the switches that the scenario killed. Frames they held, or that
	// reached them afterwards, are counted nowhere.
	Killed []string `json:"killed"`

	// Invalid says why the run cannot be trusted (the machine lost frames, a process
	// starved); empty if it can.
	Invalid string `json:"invalid"`
	// Expected: the scenario has an expectation. If not, ExpectedMet is true, unless lossless
	// frames were lost: that none is lost is expected unless the scenario says otherwise.
	Expected    bool     `json:"expected"`
	ExpectedMet bool     `json:"expected_met"`
	Reasons     []string `json:"reasons"` // why it is not met
	Timeline    []Moment `json:"timeline"`
}

// Detection is a deadlock that a switch declared: one of its priority groups waits for the
// queue (Port, Priority), and the chain of waiting leads back to the priority group.
type Detection struct {
	At unit.Time `json:"at_ns"`
	// Latency is from the onset of the deadlock that it names; 0 unless TruePositive.
	Latency unit.Time `json:"latency_ns"`
	// AtMost and LatencyMost are the latest time and the longest latency that are possible, if
	// there are several clocks; At and Latency are the earliest and the shortest then.
	// LatencyMost may be Unbounded.
	AtMost      unit.Time `json:"at_max_ns,omitempty"`
	LatencyMost unit.Time `json:"latency_max_ns,omitempty"`

	Switch   string `json:"switch"`
	Port     string `json:"port"`
	Priority int    `json:"priority"`
	// Loop is links in the order of waiting, each in the direction of its frames, the
	// declared queue's first; empty if the logs do not show it.
	Loop    []string     `json:"loop"`
	Trigger FoundTrigger `json:"initial_trigger"`
	// Causes are why it formed according to the detector, the likeliest first; empty if
	// it did not say.
	Causes       []FoundCause `json:"causes"`
	TruePositive bool         `json:"true_positive"`
	// Judged is "true", "false", "premature", "late" or, with several clocks, "undecided".
	Judged string `json:"judged"`
}

// Clocks is how well the clocks of the machines of a run are known.
type Clocks struct {
	Count int `json:"count"`
	// Typical is how far apart the bounds are on when something was logged, in the median of
	// all that the clocks but one have logged; Worst of all that has bounds, and Unbounded
	// how much has none, in thousandths.
	Typical   unit.Time `json:"bound_typical_ns"`
	Worst     unit.Time `json:"bound_worst_ns"`
	Unbounded int       `json:"unbounded_permille"`
}

// Unbounded is a time that has no bound.
const Unbounded unit.Time = -1

// AuthFault is an end of an authenticated link at which something is wrong.
type AuthFault struct {
	Link   string `json:"link"`
	Switch string `json:"switch"`
	Mode   string `json:"mode"`
	// Agreed: the far end has answered, so what it says can be told from what others say.
	Agreed bool `json:"agreed"`
	// Refused are the control frames that were not believed, by reason: see
	// auth.Verdict.
	Refused map[string]uint64 `json:"refused"`
	// Behind is how often its counter was behind what the far end had believed.
	Behind int `json:"behind,omitempty"`
}

// Action is an action that a system took on its switch. Port is the name of the ingress
// and Out that of the egress it concerns, "" for none; Amount is in bytes, for a policer
// in kbit/s.
type Action struct {
	At       unit.Time `json:"at_ns"`
	Switch   string    `json:"switch"`
	Action   string    `json:"action"`
	Port     string    `json:"port"`
	Out      string    `json:"out"`
	Priority int       `json:"priority"`
	Amount   int       `json:"amount"`
	// Flow is the hash of the flow's addresses and ports, 0 for none.
	Flow uint32 `json:"flow,omitempty"`
	// Why is what an action that lasts is for, and Until what ends it; "" of another one.
	Why   string `json:"why,omitempty"`
	Until string `json:"until,omitempty"`
}

// Refusal is an action that was not taken, and why.
type Refusal struct {
	At     unit.Time `json:"at_ns"`
	Switch string    `json:"switch"`
	Why    string    `json:"why"`
}

// FoundTrigger is the initial trigger according to the detector: a switch and its port,
// or a host and its port. Kind is "switch", "host", or "" if the detector names none.
type FoundTrigger struct {
	Node   string `json:"node"`
	Port   string `json:"port"`
	Kind   string `json:"kind"`
	OnLoop bool   `json:"on_loop"`
}

// FoundCause is a cause according to the detector. Node and Port are a host and its port
// if Type is "host", else a switch and its egress port. Flows are the scenario's flows
// that are named, the heaviest first; one that the scenario does not have is left out.
// Together says that it is named together with the one before it: either may be the cause, or
// it takes both.
type FoundCause struct {
	Type       string   `json:"type"`
	Node       string   `json:"node"`
	Port       string   `json:"port"`
	In         string   `json:"in"` // the ingress port, if it is a turn; else ""
	OnLoop     bool     `json:"on_loop"`
	Together   bool     `json:"together"`
	Confidence int      `json:"confidence_percent"`
	Flows      []string `json:"flows"`
}

// Loss is lossless frames that a node lost for a reason; Node is "" of those on wires.
type Loss struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
	Frames int    `json:"frames"`
}

// DroppedOf is what was dropped on purpose of a flow. Named: a cause of a true declaration names
// it or its receiver, the likeliest one or one that is named together with that. A flow that is not
// pays for what, as far as the detector knows, others did.
type DroppedOf struct {
	Flow   string `json:"flow"`
	Named  bool   `json:"named"`
	Frames int64  `json:"frames"`
	// Of is Frames and those that arrived.
	Of int64 `json:"of"`
}

// HeadroomShort is a priority group that lost lossless frames because its headroom was full.
type HeadroomShort struct {
	Node     string `json:"node"`
	Port     string `json:"port"`
	Priority int    `json:"priority"`
	Lost     int    `json:"lost"`
	// Headroom is what the group had, slack of a live lab included, and Pool what all groups of the
	// switch share of it, 0 if each has its own. Need is what the group's link needs, 0
	// where that is not known.
	Headroom int `json:"headroom_bytes"`
	Pool     int `json:"headroom_pool_bytes,omitempty"`
	Need     int `json:"need_bytes,omitempty"`
	// Unstopped: pauses of the group stop nobody, since its port sends none or the far end ignores
	// them; no headroom is enough then.
	Unstopped bool `json:"unstopped,omitempty"`
}

// Drawn is what was drawn of a flow or a link: a value is nil if it has no spread.
type Drawn struct {
	Flow  string     `json:"flow,omitempty"`
	Link  string     `json:"link,omitempty"`
	Start *unit.Time `json:"start_ns,omitempty"`
	Rate  *unit.Rate `json:"rate_bps,omitempty"`
	Delay *unit.Time `json:"delay_ns,omitempty"`
}

// FlowResult is what became of a flow until the end of the run. Lost frames were dropped by a
// node, or never came although later ones did; InFlight is the rest of what was sent and not
// received: on the way, or waiting in a switch.
type FlowResult struct {
	Name     string `json:"name"`
	From     string `json:"from"`
	To       string `json:"to"`
	Priority int    `json:"priority"`
	Sent     int64  `json:"sent"`
	Received int64  `json:"received"`
	Lost     int64  `json:"lost"`
	InFlight int64  `json:"in_flight"`
	// Of Lost: dropped on purpose, as ResponseDropped, Policed and IncompleteARP of the verdict.
	Response      int64 `json:"response_dropped"`
	OverRate      int64 `json:"policed_dropped"`
	IncompleteARP int64 `json:"incomplete_arp"`
	Reordered     int64 `json:"reordered"`
	// LeftOut is for how long the flow did not send because its host was late: see host.Sent.
	LeftOut    unit.Time `json:"left_out_ns"`
	Throughput int64     `json:"throughput_bps"` // received bits per second of the flow's time
	// Final is the received bits per second in the last quarter of the run, and OverTime
	// in each of Bins times of equal length.
	Final    int64   `json:"final_bps"`
	OverTime []int64 `json:"over_time_bps"`
	// Policed: a system dropped frames of it to handle a trigger. Innocent: that did
	// not happen, and it does not go to a host that misbehaves.
	Policed  bool `json:"policed"`
	Innocent bool `json:"innocent"`
	// Messages is what became of those of a flow of transport rc, nil of another.
	Messages *MessageResult `json:"messages,omitempty"`
	// ProgramEnd is which end is a program's, from or to, whose frames nobody counts; "" of a flow between
	// hosts that do.
	ProgramEnd string `json:"program_end,omitempty"`
	// Packets are those of a connection that its receiver took, and those that it did not, if there are such.
	Packets *roce.Received `json:"packets,omitempty"`
}

// MessageResult is what became of the messages of a flow of transport rc.
type MessageResult struct {
	// Size is the bytes of all its messages, 0 if they have no end; Start is when the first
	// may leave.
	Size  int64     `json:"size"`
	Start unit.Time `json:"start_ns"`

	Done  int64 `json:"done"`  // acknowledged as a whole
	Bytes int64 `json:"bytes"` // of those
	// Mean and Max are of their completion times, from when the first packet leaves to the
	// acknowledgement of the last.
	Mean unit.Time `json:"mean_ns"`
	Max  unit.Time `json:"max_ns"`
	// Completion is the flow's, from its start until all its messages were acknowledged; 0 if
	// they were not, or have no end. Slowdown is Completion by the time that it takes alone
	// on an empty path, 0 where there is none.
	Completion unit.Time `json:"completion_ns"`
	Slowdown   float64   `json:"slowdown"`
	Failed     bool      `json:"failed"` // it gave up: too often in a row nothing was acknowledged
	Again      int64     `json:"again"`  // packets that were sent again
	AgainBytes int64     `json:"again_bytes"`
	Naks       int64     `json:"naks"`
	Timeouts   int64     `json:"timeouts"`
	// Marked is how many packets came with Congestion Experienced, CNPs how many
	// notifications the sender got.
	Marked int64 `json:"marked"`
	CNPs   int64 `json:"cnps"`
	// Samples is how many round trips TIMELY was told of. Unmeasured: of none, though the flow
	// sent; what came of it is then that of a sender that nothing controls.
	Samples    int64 `json:"samples"`
	Unmeasured bool  `json:"unmeasured"`
}

// Headroom is that of the priority groups of a live run's switches.
type Headroom struct {
	Bytes int `json:"bytes"` // as the scenario has it
	// Slack is more of it, for what arrives while processes wait for a processor: as much as
	// the scenario says, or, if Scaled, as Lateness asks for. Used is the most of it that a
	// group held.
	Slack  int  `json:"slack_bytes"`
	Used   int  `json:"slack_used_bytes"`
	Scaled bool `json:"scaled"`
	// Lasts is how long the fastest link takes to fill both.
	Lasts unit.Time `json:"lasts_ns"`
	// Lateness is how late a process was woken before the run, 0 unless Scaled, and Late how
	// late a node was in it, at worst.
	Lateness unit.Time `json:"lateness_before_ns"`
	Late     unit.Time `json:"late_ns"`
}

// PFCFrames counts the PFC frames that switches sent, per priority. XON includes those by
// which a live switch that begins releases its neighbours.
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

// ExitCode is 0 only if the expectation is met and the run can be trusted, 1 otherwise.
func (v *Verdict) ExitCode() int {
	if v.ExpectedMet && v.Invalid == "" {
		return 0
	}
	return 1
}

// MarshalJSON writes empty lists as [] and an empty map as {}, so that programs need not handle null.
func (v Verdict) MarshalJSON() ([]byte, error) {
	type plain Verdict // without this method
	return jsonv2.Marshal(plain(v), jsonv1.DefaultOptionsV1(), jsonv2.FormatNilSliceAsNull(false), jsonv2.FormatNilMapAsNull(false))
}
