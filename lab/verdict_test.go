package lab

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/host"
	"softswitch/link"
	"softswitch/node/observe"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/unit"
)

const start = 100 * unit.Second

// played is a run of two lossless flows and one of priority 0, by what its nodes
// told. s2 was killed and told nothing.
func played(t *testing.T) *Run {
	p := plan(t, `
flows:
  - {name: A, from: h1, to: h2, rate: line, start: 500ms, stop: 1500ms}
  - {name: B, from: h2, to: h1, rate: line, start: 1s}
  - {name: C, from: h1, to: h2, rate: line, priority: 0}
detector: itsypaper
expect: {deadlock: false, lossless_lost: 0, pfc_xoff_min: 2}
`)
	s1 := observe.Switch{Name: "s1", DetectorBytes: 72, CounterBytes: 144, Ports: []observe.Port{{Messages: [2]uint64{9, 3}}, {Messages: [2]uint64{8, 4}}}}
	h1 := observe.Host{
		Name: "h1", Sent: []host.Sent{{Number: 0, Frames: 1000}, {Number: 2, Frames: 70}},
		Received: []host.Received{{Number: 1, Frames: 400, Bytes: 1_000_000, Lost: 2, Reordered: 1}},
	}
	h2 := observe.Host{
		Name: "h2", Sent: []host.Sent{{Number: 1, Frames: 500}},
		Received: []host.Received{{Number: 0, Frames: 990, Bytes: 5_000_000, Lost: 3}, {Number: 2, Frames: 60, Bytes: 2_000_000, Lost: 9}},
	}
	log := event.Log{Node: event.Node{ID: p.Fabric.Nodes[0].ID, Name: "s1"}, Events: []event.Event{
		{At: start + 600*unit.Millisecond, Type: event.PauseSent, Port: 0, Priority: 3, Period: 1},
		{At: start + 650*unit.Millisecond, Type: event.Paused, Out: 1, OutPriority: 3},
		{At: start + 700*unit.Millisecond, Type: event.ResumeSent, Port: 0, Priority: 3, Period: 1},
	}}
	r := &Run{
		Plan: p, Start: start, End: start + p.Scenario.Duration, Cores: 0.5, Killed: map[string]bool{"s2": true},
		Nodes: []Record{{Name: "s1", Switch: &s1, Log: log}, {Name: "s2", Log: event.Log{Node: event.Node{ID: p.Fabric.Nodes[1].ID, Name: "s2"}, Cut: true}}, {Name: "h1", Host: &h1}, {Name: "h2", Host: &h2}},
	}
	for i := range r.Nodes {
		r.Nodes[i].Start, r.Nodes[i].End = r.Start, r.End
	}
	return r
}

// judge is Verdict of a run whose logs are there and not in files.
func judge(r *Run) (v *verdict.Verdict, err error) {
	var logs []*nodeLog
	for i, n := range r.Nodes {
		logs = append(logs, &nodeLog{run: r, node: i, id: n.Log.Node.ID, events: n.Log.Events, over: true})
	}
	if !r.severalClocks() {
		if r.truth, err = r.judgeLogs(logs); err != nil {
			return nil, err
		}
	}
	return r.Verdict()
}

func judged(t *testing.T, r *Run) *verdict.Verdict {
	t.Helper()
	v, err := judge(r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVerdict(t *testing.T) {
	v := judged(t, played(t))
	if v.Scenario != "small" || v.World != "live" || v.Detector != "itsypaper" || v.Response != "none" || v.Cores != 0.5 || v.Invalid != "" {
		t.Errorf("verdict %+v", v)
	}
	quiet := make([]int64, scenario.Bins) // the hosts tell no bytes over time
	want := []verdict.FlowResult{
		// 5 MB in the second from 0.5 s to 1.5 s, 1 MB in that from 1 s to the end, 2 MB in two.
		{Name: "A", From: "h1", To: "h2", Priority: 3, Sent: 1000, Received: 990, Lost: 3, InFlight: 7, Throughput: 40_000_000, Innocent: true, OverTime: quiet},
		{Name: "B", From: "h2", To: "h1", Priority: 3, Sent: 500, Received: 400, Lost: 2, InFlight: 98, Reordered: 1, Throughput: 8_000_000, Innocent: true, OverTime: quiet},
		{Name: "C", From: "h1", To: "h2", Priority: 0, Sent: 70, Received: 60, Lost: 9, InFlight: 1, Throughput: 8_000_000, Innocent: true, OverTime: quiet},
	}
	if !reflect.DeepEqual(v.Flows, want) {
		t.Errorf("flows %+v\nwant %+v", v.Flows, want)
	}
	if v.LosslessLost != 5 {
		t.Errorf("%d lossless frames lost, want the 3 of A and the 2 of B", v.LosslessLost)
	}
	if v.ControlMessages != 7 || v.DetectorBytesPerSwitch != 72 || v.CounterBytesPerSwitch != 144 {
		t.Errorf("%d messages, %d and %d bytes; want 7, 72, 144", v.ControlMessages, v.DetectorBytesPerSwitch, v.CounterBytesPerSwitch)
	}
	if want := (verdict.PFCFrames{XOFF: 1, XON: 1}); v.PFC != want {
		t.Errorf("pfc %+v, want %+v", v.PFC, want)
	}
	if want := []verdict.Moment{{At: 650 * unit.Millisecond, What: "first pause: s2 stops s1, priority 3"}}; !slices.Equal(v.Timeline, want) {
		t.Errorf("time line %+v, want %+v", v.Timeline, want)
	}
	if want := []string{"lossless_lost: 5 frames (5 wire), expected at most 0", "pfc: 1 XOFF, expected at least 2"}; v.ExpectedMet || !slices.Equal(v.Reasons, want) {
		t.Errorf("reasons %q, want %q", v.Reasons, want)
	}
}

// TestSwitchKnowsOfMoreLoss: a dropped frame after which no other of its flow came
// is missed by no receiver.
func TestSwitchKnowsOfMoreLoss(t *testing.T) {
	for _, c := range []struct{ dropped, want int }{{0, 5}, {5, 5}, {6, 6}} {
		r := played(t)
		lose(r.Nodes[0].Switch, uint64(c.dropped))
		if v := judged(t, r); v.LosslessLost != c.want {
			t.Errorf("receivers miss 5, s1 dropped %d: lossless_lost %d, want %d", c.dropped, v.LosslessLost, c.want)
		}
	}
}

// TestVerdictOfAChangedResponse: what was ordered in the run is told.
func TestVerdictOfAChangedResponse(t *testing.T) {
	r := played(t)
	asPlanned := judged(t, r).Response
	r.Nodes[0].Switch.Response = cmp.Or(asPlanned, "none")
	if got := judged(t, r).Response; got != asPlanned {
		t.Errorf("response %q, want %q", got, asPlanned)
	}
	r.Nodes[0].Switch.Response = "cure"
	if got := judged(t, r).Response; got != asPlanned+", then cure" {
		t.Errorf("response %q, want that it was changed", got)
	}
}

func TestVerdictOfInvalidRun(t *testing.T) {
	r := played(t)
	r.Plan.Scenario.Expect = scenario.Expect{}
	if v := judged(t, r); v.Expected || v.ExitCode() != 1 || !slices.Equal(v.Reasons, []string{"NOT lossless: 5 lossless frames lost: 5 wire"}) {
		t.Errorf("nothing is said of losses: exit code %d, reasons %q", v.ExitCode(), v.Reasons)
	}
	some := scenario.AnyLoss
	r.Plan.Scenario.Expect.LosslessLost = &some
	if v := judged(t, r); v.ExitCode() != 0 {
		t.Errorf("exit code %d, reasons %q", v.ExitCode(), v.Reasons)
	}
	r.Invalid = []string{"one", "two"}
	if v := judged(t, r); v.Invalid != "one; two" || v.ExitCode() != 1 {
		t.Errorf("invalid %q, exit code %d", v.Invalid, v.ExitCode())
	}
}

// TestVerdictEndsWithTheScenario: what a log tells of later is not judged.
func TestVerdictEndsWithTheScenario(t *testing.T) {
	r := played(t)
	pause := event.Event{Type: event.PauseSent, Port: 0, Priority: 3, Period: 2}
	for _, at := range []unit.Time{r.End, r.End + 1, r.End + 20*unit.Millisecond} {
		pause.At = at
		r.Nodes[0].Log.Events = append(r.Nodes[0].Log.Events, pause)
	}
	if v := judged(t, r); v.PFC.XOFF != 2 {
		t.Errorf("%d XOFF, want 2: those until the end", v.PFC.XOFF)
	}
}

// TestVerdictOfForeignLog: a log that is not of the fabric is an error, not a
// verdict.
func TestVerdictOfForeignLog(t *testing.T) {
	r := played(t)
	r.Nodes[0].Log.Node.ID = 999
	if v, err := judge(r); err == nil {
		t.Errorf("verdict %+v of a log of node 999", v)
	}
	r = played(t)
	r.Nodes[1].Log = r.Nodes[0].Log
	if v, err := judge(r); err == nil || !strings.Contains(err.Error(), `two logs of node 1: "s1" and "s2"`) {
		t.Errorf("verdict %+v of two logs of s1, %v", v, err)
	}
}

func TestStarved(t *testing.T) {
	for _, c := range []struct {
		live observe.Live
		want []string
	}{
		{observe.Live{Lateness: starvedMax}, nil},
		{observe.Live{Lateness: 101 * unit.Millisecond}, []string{"s1 was starved: 101 ms late"}},
		{observe.Live{EventsLost: 3}, []string{"s1: 3 events lost"}},
	} {
		r := Run{Stopped: map[string]bool{"s2": true}}
		r.starved("s2", observe.Live{Lateness: unit.Second}) // it was stopped: no wonder
		if r.starved("s1", c.live); !slices.Equal(r.Invalid, c.want) {
			t.Errorf("%+v: invalid %q, want %q", c.live, r.Invalid, c.want)
		}
	}
}

// TestLeftOut: a flow of 100 ms of which a late host left out more than a quarter is a reason for doubt; one
// that sends so many bytes is not, nor one of a host that was stopped.
func TestLeftOut(t *testing.T) {
	p := plan(t, `
flows:
  - {name: A, from: h1, to: h2, rate: 1Mbit/s, start: 100ms, stop: 200ms}
  - {name: B, from: h2, to: h1, rate: 1Mbit/s, size: 3000}
  - {name: C, from: h2, to: h1, rate: 1Mbit/s}
`)
	r := Run{Plan: p, Stopped: map[string]bool{"h3": true}}
	last := p.Scenario.Duration / leftOutMost
	r.leftOut("h1", []host.Sent{{Number: 0, LeftOut: 25 * unit.Millisecond}})
	r.leftOut("h2", []host.Sent{{Number: 1, LeftOut: unit.Second}, {Number: 2, LeftOut: last}})
	r.leftOut("h3", []host.Sent{{Number: 0, LeftOut: unit.Second}})
	if len(r.Invalid) > 0 {
		t.Errorf("invalid %q", r.Invalid)
	}
	r.leftOut("h1", []host.Sent{{Number: 0, LeftOut: 29 * unit.Millisecond}})
	if want := []string{"h1 was late: it left out 29 of the 100 ms for which its flow A sends"}; !slices.Equal(r.Invalid, want) {
		t.Errorf("invalid %q, want %q", r.Invalid, want)
	}
}

func TestDistrust(t *testing.T) {
	r := Run{Stopped: map[string]bool{"s2": true}}
	r.distrust("s1", "to-h1", link.Stats{Received: 10, Sent: 10})
	r.distrust("s2", "to-h2", link.Stats{Drops: 1}) // it was stopped: no wonder
	if len(r.Invalid) > 0 {
		t.Errorf("invalid %q", r.Invalid)
	}
	r.distrust("s1", "to-h1", link.Stats{Drops: 1, Truncated: 2, Busy: 3})
	if want := []string{"s1 to-h1: 1 frames lost in the receive ring", "s1 to-h1: 2 frames truncated", "s1 to-h1: 3 times the kernel refused to send"}; !slices.Equal(r.Invalid, want) {
		t.Errorf("invalid %q, want %q", r.Invalid, want)
	}
}

// TestDistrustLinks: a link that lost frames, or was opened anew, is a reason for doubt unless the
// scenario cut it or did something to a node at its end, or somebody else built it.
func TestDistrustLinks(t *testing.T) {
	lost := link.Stats{Lost: 4, Reopened: 1}
	for _, c := range []struct {
		name     string
		events   string
		stopped  string // a node
		killed   string // a node
		attached bool
		port     string // of s1
		want     []string
	}{
		{name: "nothing done", port: "to-s2", want: []string{"s1 to-s2: 4 frames lost on their way out", "s1 to-s2: 1 times its link was reopened"}},
		{name: "another link failed", events: "events: [{at: 1s, do: fail, link: s1--s2}]", port: "to-h1", want: []string{"s1 to-h1: 4 frames lost on their way out", "s1 to-h1: 1 times its link was reopened"}},
		{name: "the link failed", events: "events: [{at: 1s, do: fail, link: s1--s2}]", port: "to-s2"},
		{name: "the link healed", events: "events: [{at: 1s, do: fail, link: s1--s2}, {at: 1500ms, do: heal, link: s1--s2}]", port: "to-s2"},
		{name: "the far end killed", killed: "s2", port: "to-s2"},
		{name: "the far end stopped", stopped: "s2", port: "to-s2"},
		{name: "the switch stopped", stopped: "s1", port: "to-s2"},
		{name: "an attached lab", attached: true, port: "to-s2"},
	} {
		r := &Run{Plan: plan(t, c.events), attached: c.attached, Killed: map[string]bool{c.killed: true}, Stopped: map[string]bool{c.stopped: true}}
		if r.distrust("s1", c.port, lost); !slices.Equal(r.Invalid, c.want) {
			t.Errorf("%s: invalid %q, want %q", c.name, r.Invalid, c.want)
		}
	}
}

// TestDoubtLoss: loss proves nothing of the switch if the ends of a link had no
// processor for longer than headroom lasts, 30720 bytes at 100 Mbit/s or 2.46 ms, less
// the millisecond of a burst.
func TestDoubtLoss(t *testing.T) {
	for _, c := range []struct {
		lost    uint64
		late    unit.Time // of h2; s2, to which it is linked, is 0.4 ms late, s1 1 ms
		stopped bool      // s2
		ignored bool      // pauses, at s1
		want    string
	}{
		{lost: 0, late: 50 * unit.Millisecond},
		{lost: 4, late: unit.Millisecond},
		{lost: 4, late: 1100 * unit.Microsecond, want: "4 lossless frames were dropped where headroom lasts 2.5 ms, and h2 and s2 were starved: 1.1 and 0.4 ms late"},
		{lost: 4, late: 50 * unit.Millisecond, stopped: true},
		{lost: 4, late: 50 * unit.Millisecond, ignored: true},
		{lost: 4, late: 50 * unit.Millisecond, want: "4 lossless frames were dropped where headroom lasts 2.5 ms, and h2 and s2 were starved: 50.0 and 0.4 ms late"},
	} {
		r := played(t)
		lose(r.Nodes[0].Switch, c.lost)
		r.Nodes[0].Switch.Lateness = unit.Millisecond
		r.Nodes[1].Switch = &observe.Switch{Live: observe.Live{Lateness: 400 * unit.Microsecond}}
		r.Nodes[3].Host.Lateness = c.late
		if c.stopped {
			r.Stopped = map[string]bool{"s2": true}
		}
		if c.ignored {
			r.Nodes[0].note([]event.Event{{At: r.End, Type: event.Acted, Action: detect.ActionIgnore, Port: unit.NoPort, Out: 1, OutPriority: 3}})
		}
		r.doubtLoss()
		if got := strings.Join(r.Invalid, "; "); got != c.want {
			t.Errorf("%d lost, %d ns late: invalid %q, want %q", c.lost, c.late, got, c.want)
		}
	}
}

// TestVerdictOfSeveralMachines: the nodes' clocks are an hour apart, and times are from the
// start of the scenario all the same.
func TestVerdictOfSeveralMachines(t *testing.T) {
	const hour = 3600 * unit.Second
	one, r := judged(t, played(t)), played(t)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Clock, n.Start, n.End = "this machine", r.Start, r.End
		if n.Name == "s1" || n.Name == "h1" {
			n.Clock, n.Start, n.End = "another", r.Start+hour, r.End+hour
			for k := range n.Log.Events {
				n.Log.Events[k].At += hour
			}
		}
	}
	after := r.Nodes[0].Log.Events[0]
	after.At = r.Nodes[0].End + 1 // by its own clock
	r.Nodes[0].Log.Events = append(r.Nodes[0].Log.Events, after)
	v := judged(t, r)
	if v.Clocks == nil || v.Clocks.Count != 2 {
		t.Errorf("clocks %+v", v.Clocks)
	}
	v.Clocks = nil
	if !reflect.DeepEqual(v, one) {
		t.Errorf("verdict %+v\nby one clock %+v", v, one)
	}
}

// lose makes w have lost n frames of priority 3 for want of headroom.
func lose(w *observe.Switch, n uint64) {
	w.LosslessLost = n
	w.Ports[0].LostBy = map[string]uint64{"headroom_full": n}
	w.Ports[0].LostOf[3], w.Ports[0].HeadroomLost[3] = n, n
	w.OtherDrops.Lost = n
}
