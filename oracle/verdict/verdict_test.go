package verdict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// fatTreeRun is a run on the k=4 fat-tree that deadlocks the loop agg0-0, core0,
// agg2-0, core1, written as the logs of its switches.
type fatTreeRun struct {
	t    *testing.T
	f    *topo.Fabric
	logs map[string]*event.Log
}

var loop = []string{"agg0-0", "core0", "agg2-0", "core1"}

func newFatTreeRun(t *testing.T) *fatTreeRun {
	f, err := topo.FatTree(4)
	if err != nil {
		t.Fatal(err)
	}
	return &fatTreeRun{t, f, map[string]*event.Log{}}
}

// port is a's port towards b.
func (r *fatTreeRun) port(a, b string) unit.NodePort {
	r.t.Helper()
	i, _ := r.f.Node(a)
	for p, port := range r.f.Nodes[i].Ports {
		if r.f.Nodes[port.Peer.Node].Name == b {
			return unit.NodePort{Node: r.f.Nodes[i].ID, Port: unit.Port(p)}
		}
	}
	r.t.Fatalf("%s has no port towards %s", a, b)
	return unit.NodePort{}
}

func (r *fatTreeRun) log(at unit.Time, node string, e event.Event) {
	if r.logs[node] == nil {
		i, _ := r.f.Node(node)
		r.logs[node] = &event.Log{Node: event.Node{ID: r.f.Nodes[i].ID, Name: node}}
	}
	e.At = at
	r.logs[node].Events = append(r.logs[node].Events, e)
}

// closeLoop makes every priority group of the loop XOFF at the time at, and pauses its
// queues one after the other, the last 30 us later.
func (r *fatTreeRun) closeLoop(at unit.Time) {
	for i, node := range loop {
		before, after := loop[(i+3)%4], loop[(i+1)%4]
		in, out := r.port(node, before), r.port(node, after)
		r.log(at, node, event.Event{Type: event.XOFF, Port: in.Port, Priority: 3, Out: out.Port, OutPriority: 3, Period: 1, Bytes: 40960, Limit: 36864})
		r.log(at, node, event.Event{Type: event.PauseSent, Port: in.Port, Priority: 3, Period: 1})
		r.log(at+unit.Time(i)*10*unit.Microsecond, node, event.Event{Type: event.Paused, Out: out.Port, OutPriority: 3, HasPeriod: true, Period: 1})
		r.log(at+unit.Time(i)*10*unit.Microsecond, node, event.Event{Type: event.Held, Port: in.Port, Priority: 3, Out: out.Port, OutPriority: 3, Bytes: 50000, Limit: 36864})
	}
}

// declare: node i of the loop declares, and names the trigger.
func (r *fatTreeRun) declare(at unit.Time, i int, trigger unit.NodePort, onLoop bool) {
	node, before, after := loop[i], loop[(i+3)%4], loop[(i+1)%4]
	r.log(at, node, event.Event{
		Type: event.Deadlock, Port: r.port(node, before).Port, Priority: 3, Out: r.port(node, after).Port, OutPriority: 3,
		Label: itsyhdr.TLV{Seq: 1}, Trigger: trigger, OnLoop: onLoop,
	})
}

// verdict judges the run, which started at 1 s and ends at end.
func (r *fatTreeRun) verdict(end unit.Time) *Verdict {
	r.t.Helper()
	v := &Verdict{Scenario: "fattree-on-loop", World: "live", Detector: "itsypaper", Seed: 1}
	v.judge(nil, r.truth(end), unit.Second)
	return v
}

// truth is what the oracle makes of the logs, until end.
func (r *fatTreeRun) truth(end unit.Time) *oracle.Result {
	r.t.Helper()
	f, err := Fabric(r.f, ownBuffers)
	if err != nil {
		r.t.Fatal(err)
	}
	var logs []event.Log
	for _, n := range r.f.Nodes {
		if l := r.logs[n.Name]; l != nil {
			logs = append(logs, *l)
		}
	}
	res, err := oracle.Judge(f, logs, end, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

// onLoopRun is a whole run: two links fail, the loop closes at 1.4 s, a premature
// declaration, a true one that names core0, a second declarer.
func onLoopRun(t *testing.T) *Verdict {
	const start = unit.Second
	r := newFatTreeRun(t)
	r.log(start+200*unit.Millisecond, "core0", event.Event{Type: event.LinkDown, Port: r.port("core0", "agg1-0").Port})
	r.log(start+200*unit.Millisecond+5*unit.Microsecond, "core0", event.Event{Type: event.Rerouted, Out: r.port("core0", "agg2-0").Port, Bytes: 2})
	r.log(start+200*unit.Millisecond+5*unit.Microsecond, "core0", event.Event{Type: event.Rerouted, Out: r.port("core0", "agg2-0").Port, Bytes: 3})
	r.closeLoop(start + 400*unit.Millisecond)
	trigger := r.port("core0", "agg2-0")
	r.declare(start+400*unit.Millisecond+20*unit.Microsecond, 2, trigger, true)
	r.declare(start+400*unit.Millisecond+642*unit.Microsecond, 1, trigger, true)
	r.declare(start+401*unit.Millisecond, 3, r.port("edge1-0", "h1-0-0"), false)
	v := r.verdict(start + 3*unit.Second)
	v.ControlMessages, v.DetectorBytesPerSwitch = 12, 84
	v.Flows = []FlowResult{
		{Name: "A", From: "h0-0-0", To: "h1-0-0", Priority: 3, Sent: 12345, Received: 12000, InFlight: 345, Throughput: 49_376_543},
		{Name: "a-longer-name", From: "h2-0-0", To: "h3-0-0", Priority: 3, Sent: 9, Received: 7, Lost: 1, InFlight: 1, Reordered: 1},
	}
	return v
}

const wantTable = `fattree-on-loop: live, detector itsypaper, response none, seed 1

time line (ms)
  200.000  link core0--agg1-0 failed
  200.005  2 routes rerouted by core0--agg2-0
  400.000  first pause: core0 stops agg0-0, priority 3
  400.020  agg2-0 declares agg2-0--core1 deadlocked, priority 3: premature
  400.030  deadlock: core0--agg2-0, agg2-0--core1, core1--agg0-0, agg0-0--core0 wait for one another
  400.642  core0 declares core0--agg2-0 deadlocked, priority 3: true, 0.612 ms after onset
  401.000  core1 declares core1--agg0-0 deadlocked, priority 3: true, 0.970 ms after onset

deadlock    yes, from 400.030 ms; still there at the end; 0 recurrences
declared    3: 2 true, 0 false, 1 premature, 0 late; 0 deadlocks missed

    at ms  latency ms  judged     switch  port       priority  initial trigger
  400.020           -  premature  agg2-0  to-core1          3  core0 to-agg2-0 (switch, on the loop)
  400.642       0.612  true       core0   to-agg2-0         3  core0 to-agg2-0 (switch, on the loop)
      loop  core0--agg2-0 agg2-0--core1 core1--agg0-0 agg0-0--core0
  401.000       0.970  true       core1   to-agg0-0         3  h1-0-0 (host, off the loop)
      loop  core1--agg0-0 agg0-0--core0 core0--agg2-0 agg2-0--core1

  flow           from    to      priority   sent  received  lost  in flight  reordered  Mbit/s
  A              h0-0-0  h1-0-0         3  12345     12000     0        345          0  49.376
  a-longer-name  h2-0-0  h3-0-0         3      9         7     1          1          1   0.000

frames      lossless lost 0; dropped to break a deadlock 0 (0 bytes), to handle its trigger 0
pfc         4 XOFF, 0 XON, 0 refreshes
detector    12 control messages, 84 bytes of state in a switch (buffer manager: 0)

expectation met
`

func TestTable(t *testing.T) {
	v := onLoopRun(t)
	v.check(scenario.Expect{Deadlock: ptr(true), Detected: ptr(true)})
	var got bytes.Buffer
	if err := v.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != wantTable {
		t.Errorf("got\n%s\nwant\n%s", got.String(), wantTable)
	}
	for line := range strings.Lines(got.String()) {
		if len(line) > tableWidth+1 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// The last line is the conclusion, whatever it is.
func TestTableConclusion(t *testing.T) {
	for _, c := range []struct {
		v    Verdict
		want string
		code int
	}{
		{Verdict{ExpectedMet: true}, "nothing expected", 0},
		{Verdict{Expected: true, ExpectedMet: true}, "expectation met", 0},
		{Verdict{Expected: true, ExpectedMet: true, Invalid: "h0-0-0 lost 3 frames in the kernel"}, "run not valid: h0-0-0 lost 3 frames in the kernel", 1},
		{Verdict{Expected: true, Reasons: []string{"a", "b"}}, "expectation NOT met: a; b", 1},
	} {
		var out bytes.Buffer
		if err := c.v.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if last := lines[len(lines)-1]; last != c.want || c.v.ExitCode() != c.code {
			t.Errorf("last line %q, exit status %d; want %q, %d", last, c.v.ExitCode(), c.want, c.code)
		}
	}
}

func TestTableOfManyDetections(t *testing.T) {
	v := Verdict{Detections: slices.Repeat([]Detection{{Judged: "false"}}, 25)}
	var out bytes.Buffer
	if err := v.WriteText(&out); err != nil || !strings.Contains(out.String(), "  and 5 more\n") || strings.Count(out.String(), "-  false ") != 20 {
		t.Errorf("%v in\n%s", err, out.String())
	}
}

func TestVerdictOfDeadlock(t *testing.T) {
	v := onLoopRun(t)
	const onset = 400*unit.Millisecond + 30*unit.Microsecond
	if !v.Deadlock || v.Onset != onset || v.Premature != 1 || v.FalsePositives != 0 || v.FalseNegatives != 0 || v.Recovered || v.PFC.XOFF != 4 {
		t.Errorf("verdict %+v", v)
	}
	d := v.Detections[1]
	want := Detection{
		At: onset + 612*unit.Microsecond, Latency: 612 * unit.Microsecond, Switch: "core0", Port: "to-agg2-0", Priority: 3,
		Loop:         []string{"core0--agg2-0", "agg2-0--core1", "core1--agg0-0", "agg0-0--core0"},
		Trigger:      FoundTrigger{Node: "core0", Port: "to-agg2-0", Kind: "switch", OnLoop: true},
		TruePositive: true, Judged: "true",
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("detection %+v\nwant %+v", d, want)
	}
}

func TestVerdictOfRecovery(t *testing.T) {
	const ms = unit.Millisecond
	r := newFatTreeRun(t)
	r.closeLoop(unit.Second)
	open := func(at unit.Time) {
		r.log(at, "agg0-0", event.Event{Type: event.Resumed, Out: r.port("agg0-0", "core0").Port, OutPriority: 3})
	}
	open(unit.Second + 10*ms)
	in, out := r.port("agg0-0", "core1").Port, r.port("agg0-0", "core0").Port
	r.log(unit.Second+20*ms, "agg0-0", event.Event{Type: event.Paused, Out: out, OutPriority: 3, HasPeriod: true, Period: 1})
	r.log(unit.Second+20*ms, "agg0-0", event.Event{Type: event.Held, Port: in, Priority: 3, Out: out, OutPriority: 3, Bytes: 50000, Limit: 36864})
	open(unit.Second + 50*ms)
	v := r.verdict(2 * unit.Second)
	if !v.Recovered || v.Recurrences != 1 || v.Onset != 30*unit.Microsecond || v.Recovery != 50*ms-v.Onset || v.Quiet != 950*ms || v.FalseNegatives != 2 {
		t.Errorf("verdict %+v", v)
	}
}

// What systems did is told with the names of their switches, and on the time line.
func TestVerdictOfMeasures(t *testing.T) {
	r := newFatTreeRun(t)
	out := r.port("agg0-0", "core0")
	r.log(unit.Second, "agg0-0", event.Event{Type: event.Acted, Action: detect.ActionDrop, Port: r.port("agg0-0", "core1").Port, Priority: 3, Out: out.Port, OutPriority: 3, Bytes: 4500})
	r.log(unit.Second+5, "agg0-0", event.Event{Type: event.Acted, Action: detect.ActionPolice, Port: 1, Out: unit.NoPort, Bytes: 3000})
	r.log(unit.Second+9, "core0", event.Event{Type: event.Refused, Refusal: detect.RefusedUnreachable, Port: 2, Priority: 3, Out: 1, OutPriority: 3})
	v := r.verdict(2 * unit.Second) // which counts from the first event
	want := []Action{
		{At: 0, Switch: "agg0-0", Action: "drop", Port: "to-core1", Out: "to-core0", Priority: 3, Amount: 4500},
		{
			At: 5, Switch: "agg0-0", Action: "police", Port: "to-edge0-1", Out: "", Amount: 3000,
			Why: "its frames wait at the initial trigger", Until: "its time is over",
		},
	}
	if !reflect.DeepEqual(v.Actions, want) {
		t.Errorf("actions %+v\nwant %+v", v.Actions, want)
	}
	if want := []Refusal{{9, "core0", "trigger out of reach"}}; !reflect.DeepEqual(v.Refusals, want) {
		t.Errorf("refusals %+v, want %+v", v.Refusals, want)
	}
	var lines []string
	for _, m := range v.Timeline {
		lines = append(lines, m.What)
	}
	for _, want := range []string{
		"agg0-0: drop 4500 bytes from core1 at agg0-0--core0, priority 3",
		"agg0-0: police 3000 kbit/s from edge0-1",
		"core0: no action taken: trigger out of reach from agg2-0 at core0--agg1-0, priority 3",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is not on the time line %q", want, lines)
		}
	}
}

func TestVerdictWithoutDeadlock(t *testing.T) {
	r := newFatTreeRun(t)
	r.log(unit.Second, "core0", event.Event{Type: event.PauseSent, Priority: 3})
	r.declare(unit.Second+5, 1, unit.NodePort{}, false)
	v := r.verdict(2 * unit.Second)
	if v.Deadlock || v.Onset != 0 || v.FalsePositives != 1 || v.Detections[0].TruePositive || v.Detections[0].Trigger.Kind != "" {
		t.Errorf("verdict %+v", v)
	}
}

// The keys are a promise to programs that read them.
func TestJSONKeys(t *testing.T) {
	text, err := json.Marshal(onLoopRun(t))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	m := v.(map[string]any)
	wantKeys(t, m, "scenario", "world", "detector", "response", "seed", "version", "duration_ns", "warnings", "deadlock", "onset_ns", "detections", "false_positives",
		"false_negatives", "premature", "late", "lossless_lost", "lossless_lost_by", "lossless_lost_at", "headroom_short", "response_dropped", "response_dropped_bytes", "policed", "incomplete_arp", "dropped_of", "actions", "refusals", "openings", "longest_opening_ns", "recovered", "recurrences", "recovery_ns", "quiet_ns", "flows", "pfc",
		"control_messages", "detector_bytes_per_switch", "counter_bytes_per_switch", "killed", "invalid", "expected", "expected_met", "reasons", "timeline")
	d := m["detections"].([]any)[1].(map[string]any)
	wantKeys(t, d, "at_ns", "latency_ns", "switch", "port", "priority", "loop", "initial_trigger", "causes", "true_positive", "judged")
	wantKeys(t, d["initial_trigger"].(map[string]any), "node", "port", "kind", "on_loop")
	wantKeys(t, m["pfc"].(map[string]any), "xoff", "xon", "refresh")
	wantKeys(t, m["flows"].([]any)[0].(map[string]any), "name", "from", "to", "priority", "sent", "received", "lost", "in_flight", "response_dropped", "policed_dropped", "incomplete_arp", "reordered", "left_out_ns", "throughput_bps", "final_bps", "over_time_bps", "policed", "innocent")
	wantKeys(t, m["timeline"].([]any)[0].(map[string]any), "at_ns", "what")
	if m["onset_ns"] != 400_030_000.0 || d["latency_ns"] != 612_000.0 {
		t.Errorf("onset %v, latency %v: want nanoseconds", m["onset_ns"], d["latency_ns"])
	}
}

func wantKeys(t *testing.T, m map[string]any, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if _, ok := m[k]; !ok {
			t.Errorf("no key %q in %v", k, m)
		}
	}
	if len(m) != len(keys) {
		t.Errorf("%d keys, want %d: %v", len(m), len(keys), m)
	}
}

func TestJSONRoundTripAndEmptyLists(t *testing.T) {
	text, err := json.Marshal(Verdict{Detections: []Detection{{}}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "null") {
		t.Errorf("a list is null: %s", text)
	}
	want := onLoopRun(t)
	want.check(scenario.Expect{Deadlock: ptr(false)})
	text, err = json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Verdict
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(got)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("%v: first %s\nagain %s", err, text, again)
	}
}

func TestFabric(t *testing.T) {
	f := newFatTreeRun(t).f
	got, err := Fabric(f, ownBuffers)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range f.Links {
		a := unit.NodePort{Node: f.Nodes[l.A.Node].ID, Port: l.A.Port}
		b := unit.NodePort{Node: f.Nodes[l.B.Node].ID, Port: l.B.Port}
		if far, wired := got.Far(a); !wired || far != b {
			t.Errorf("%s: %v leads to %v, want %v", l.Name, a, far, b)
		}
		if name := got.LinkName(a); name != l.Name {
			t.Errorf("link %s is called %s", l.Name, name)
		}
		if got.FacesHost(a) != (f.Nodes[l.B.Node].Kind == topo.Host) {
			t.Errorf("%s: faces a host: %t", l.Name, got.FacesHost(a))
		}
	}
}

// What is said of the time after a deadlock is bounded by the run: nobody looked beyond.
func TestTableOfRecovery(t *testing.T) {
	v := Verdict{Deadlock: true, Onset: 5 * unit.Millisecond, Recovered: true, Recovery: 2 * unit.Millisecond, Quiet: 93 * unit.Millisecond}
	var out bytes.Buffer
	if err := v.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if want := "deadlock    yes, from 5.000 ms; gone after 2.000 ms for the rest of the run, 93.000 ms; 0 recurrences\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}

// Where nothing is expected, nothing is said to be met, by one run or several.
func TestNothingExpected(t *testing.T) {
	v := onLoopRun(t)
	v.check(scenario.Expect{})
	if v.Expected || !v.ExpectedMet {
		t.Errorf("expected %t, met %t; want false, true", v.Expected, v.ExpectedMet)
	}
	var out strings.Builder
	s := Summarize([]*Verdict{v, v})
	if err := s.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "met") || strings.Count(text, "nothing expected") != 3 {
		t.Errorf("summary\n%s", text)
	}
}

// A switch that was killed takes frames with it that nobody counts, and that is said.
func TestTableOfKilled(t *testing.T) {
	v := Verdict{Killed: []string{"s1", "s2"}}
	var out bytes.Buffer
	if err := v.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if want := "killed      s1 s2: what it held, and what came to it afterwards, is counted nowhere\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}

// ownBuffers are buffers in which no group takes what is another's.
func ownBuffers(int) buffer.Config { return buffer.Config{} }
