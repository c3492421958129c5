package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"softswitch/internal/unit"
	"softswitch/oracle"
	"softswitch/topo"
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

	// Deadlock: the oracle saw a stuck set, at Onset for the first time.
	Deadlock   bool        `json:"deadlock"`
	Onset      unit.Time   `json:"onset_ns"`
	Detections []Detection `json:"detections"`
	// FalsePositives never came true, or were over when they were declared;
	// Premature ones came true later. FalseNegatives are deadlocks that nobody
	// declared while they lived.
	FalsePositives int `json:"false_positives"`
	FalseNegatives int `json:"false_negatives"`
	Premature      int `json:"premature"`

	// LosslessLost counts lossless frames lost for any cause but the response,
	// which dropped ResponseDropped frames on purpose.
	LosslessLost    int `json:"lossless_lost"`
	ResponseDropped int `json:"response_dropped"`

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
	v.FalsePositives = r.Count(oracle.FalsePositive) + r.Count(oracle.Late)
	v.Premature = r.Count(oracle.Premature)
	v.FalseNegatives = len(r.Missed())
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
	e, ok := s.ExpectFor[s.Detector]
	if !ok {
		e = s.Expect
	}
	w := Wanted{Deadlock: e.Deadlock, Detected: e.Detected, FalseAlarm: e.FalseAlarm, Missed: e.Missed, LosslessLost: e.LosslessLost, MaxLatency: e.MaxLatency, MinXOFF: e.MinXOFF}
	if e.Trigger != nil {
		w.Trigger = &WantedTrigger{Node: s.Fabric.Nodes[e.Trigger.Node].Name, OnLoop: e.Trigger.OnLoop}
	}
	return w
}

// Check sets ExpectedMet, and Reasons where it is not met.
func (v *Verdict) Check(want Wanted) {
	v.Reasons = nil
	miss := func(format string, args ...any) { v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...)) }
	if want.Deadlock != nil && *want.Deadlock != v.Deadlock {
		miss("deadlock: %s, expected %s", yesNo(v.Deadlock), yesNo(*want.Deadlock))
	}
	if want.Detected != nil {
		v.checkDetected(*want.Detected, miss)
	}
	if alarms := len(v.Detections) - v.truePositives(); want.FalseAlarm != nil && *want.FalseAlarm != (alarms > 0) {
		miss("false_alarm: %d declarations were not true, expected %s", alarms, map[bool]string{true: "at least one", false: "none"}[*want.FalseAlarm])
	}
	if want.Missed != nil && *want.Missed != (v.FalseNegatives > 0) {
		miss("missed: %d deadlocks were not declared, expected %s", v.FalseNegatives, map[bool]string{true: "at least one", false: "none"}[*want.Missed])
	}
	for _, d := range v.Detections {
		if d.TruePositive {
			d.check(want, miss)
		}
	}
	if want.LosslessLost != nil && v.LosslessLost > *want.LosslessLost {
		miss("lossless_lost: %d frames, expected at most %d", v.LosslessLost, *want.LosslessLost)
	}
	if v.PFC.XOFF < want.MinXOFF {
		miss("pfc: %d XOFF, expected at least %d", v.PFC.XOFF, want.MinXOFF)
	}
	v.ExpectedMet = len(v.Reasons) == 0
}

func (v *Verdict) checkDetected(want bool, miss func(string, ...any)) {
	switch {
	case !want && len(v.Detections) > 0:
		miss("detected: %d declarations, expected none", len(v.Detections))
	case want && v.FalseNegatives > 0:
		miss("detected: %d deadlocks were not declared", v.FalseNegatives)
	case want && v.truePositives() == 0:
		miss("detected: no true declaration, expected one")
	}
}

func (d *Detection) check(want Wanted, miss func(string, ...any)) {
	if want.MaxLatency > 0 && d.Latency > want.MaxLatency {
		miss("latency: %s ms at %s, expected at most %s ms", ms(d.Latency), d.Switch, ms(want.MaxLatency))
	}
	t := want.Trigger
	if t == nil {
		return
	}
	if d.Trigger.Node != t.Node {
		miss("trigger: %s names %q, expected %s", d.Switch, d.Trigger.Node, t.Node)
	}
	if t.OnLoop != nil && d.Trigger.OnLoop != *t.OnLoop {
		miss("trigger: %s says on the loop: %s, expected %s", d.Switch, yesNo(d.Trigger.OnLoop), yesNo(*t.OnLoop))
	}
}

func (v *Verdict) truePositives() (n int) {
	for _, d := range v.Detections {
		if d.TruePositive {
			n++
		}
	}
	return n
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
	v.Reasons = append([]string{}, v.Reasons...)
	v.Timeline = append([]Moment{}, v.Timeline...)
	return json.Marshal(plain(v))
}

// Bounds of the table.
const (
	tableWidth      = 96
	tableDetections = 20
)

// WriteTable writes the verdict for people: at most 96 columns wide where no name
// is longer, times in milliseconds from the scenario's start. Its last line says
// whether the expectation is met, or what is not.
func (v *Verdict) WriteTable(w io.Writer) error {
	var t table
	t.line("%s: %s, detector %s, response %s, seed %d", v.Scenario, v.World, orNone(v.Detector), orNone(v.Response), v.Seed)
	v.writeTimeline(&t)
	v.writeTruth(&t)
	v.writeDetections(&t)
	v.writeFlows(&t)
	t.line("")
	t.line("frames      lossless lost %d, dropped by the response %d", v.LosslessLost, v.ResponseDropped)
	t.line("pfc         %d XOFF, %d XON, %d refreshes", v.PFC.XOFF, v.PFC.XON, v.PFC.Refresh)
	t.line("detector    %d control messages, %d bytes of state in a switch (buffer manager: %d)", v.ControlMessages, v.DetectorBytesPerSwitch, v.CounterBytesPerSwitch)
	if v.Cores > 0 {
		t.line("machine     %.2f processors used", v.Cores)
	}
	t.line("")
	v.writeConclusion(&t)
	_, err := io.WriteString(w, t.String())
	return err
}

func (v *Verdict) writeTimeline(t *table) {
	if len(v.Timeline) == 0 {
		return
	}
	t.line("")
	t.line("time line (ms)")
	width := 0
	for _, m := range v.Timeline {
		width = max(width, len(ms(m.At)))
	}
	for _, m := range v.Timeline {
		t.wrap(fmt.Sprintf("  %*s  ", width, ms(m.At)), m.What)
	}
}

func (v *Verdict) writeTruth(t *table) {
	t.line("")
	switch {
	case !v.Deadlock:
		t.line("deadlock    no")
	case v.Recovered:
		t.line("deadlock    yes, from %s ms; gone for good after %s ms, %d recurrences", ms(v.Onset), ms(v.Recovery), v.Recurrences)
	default:
		t.line("deadlock    yes, from %s ms; still there at the end, %d recurrences", ms(v.Onset), v.Recurrences)
	}
	t.line("declared    %d: %d true, %d false, %d premature; %d deadlocks missed", len(v.Detections), v.truePositives(), v.FalsePositives, v.Premature, v.FalseNegatives)
}

func (v *Verdict) writeDetections(t *table) {
	if len(v.Detections) == 0 {
		return
	}
	rows := [][]string{{"at ms", "latency ms", "judged", "switch", "port", "prio", "initial trigger"}}
	for _, d := range v.Detections[:min(len(v.Detections), tableDetections)] {
		judged, latency := "untrue", "-"
		if d.TruePositive {
			judged, latency = "true", ms(d.Latency)
		}
		rows = append(rows, []string{ms(d.At), latency, judged, d.Switch, strconv.Itoa(d.Port), strconv.Itoa(d.Priority), d.Trigger.String()})
	}
	t.line("")
	t.rows(rows, "rrllrrl", func(row int) {
		if loop := v.Detections[row].Loop; len(loop) > 0 {
			t.wrap("      loop  ", strings.Join(loop, " "))
		}
	})
	if more := len(v.Detections) - tableDetections; more > 0 {
		t.line("  and %d more", more)
	}
}

// String is the trigger for people: "agg0-0 port 2 (switch, on the loop)".
func (f FoundTrigger) String() string {
	if f.Kind == "" {
		return "none named"
	}
	where := "off the loop"
	if f.OnLoop {
		where = "on the loop"
	}
	if f.Kind == "host" {
		return fmt.Sprintf("%s (host, %s)", f.Node, where)
	}
	return fmt.Sprintf("%s port %d (%s, %s)", f.Node, f.Port, f.Kind, where)
}

func (v *Verdict) writeFlows(t *table) {
	if len(v.Flows) == 0 {
		return
	}
	rows := [][]string{{"flow", "from", "to", "prio", "sent", "received", "lost", "reordered", "Mbit/s"}}
	for _, f := range v.Flows {
		rows = append(rows, []string{
			f.Name, f.From, f.To, strconv.Itoa(f.Priority), strconv.FormatInt(f.Sent, 10), strconv.FormatInt(f.Received, 10),
			strconv.FormatInt(f.Lost, 10), strconv.FormatInt(f.Reordered, 10), fmt.Sprintf("%d.%03d", f.Throughput/1e6, f.Throughput%1e6/1e3),
		})
	}
	t.line("")
	t.rows(rows, "lllrrrrrr", func(int) {})
}

func (v *Verdict) writeConclusion(t *table) {
	switch {
	case v.Invalid != "":
		t.line("run not valid: %s", v.Invalid)
	case v.ExpectedMet:
		t.line("expectation met")
	case len(v.Reasons) == 0:
		t.line("expectation not checked")
	default:
		t.line("expectation NOT met: %s", strings.Join(v.Reasons, "; "))
	}
}

// table is text in lines and columns.
type table struct{ strings.Builder }

func (t *table) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// wrap writes text after head, in lines of tableWidth that are broken at spaces
// and hang under the first.
func (t *table) wrap(head, text string) {
	line, empty := head, true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > tableWidth {
			t.line("%s", line)
			line, empty = strings.Repeat(" ", len(head)), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	t.line("%s", line)
}

// rows writes rows, the first of them a heading, with a column for each letter of
// align, l or r; after is called below each row, counted without the heading.
func (t *table) rows(rows [][]string, align string, after func(row int)) {
	width := make([]int, len(align))
	for _, r := range rows {
		for c, cell := range r {
			width[c] = max(width[c], len(cell))
		}
	}
	for i, r := range rows {
		line := ""
		for c, cell := range r {
			w := width[c]
			if align[c] == 'l' {
				w = -w
			}
			line += fmt.Sprintf("  %*s", w, cell)
		}
		t.line("%s", strings.TrimRight(line, " "))
		if i > 0 {
			after(i - 1)
		}
	}
}

// ms is t in milliseconds, to the microsecond.
func ms(t unit.Time) string {
	sign := ""
	if t < 0 {
		sign, t = "-", -t
	}
	return fmt.Sprintf("%s%d.%03d", sign, t/unit.Millisecond, t%unit.Millisecond/unit.Microsecond)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
