package verdict

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/host"
	"softswitch/host/roce"
	"softswitch/internal/testkit"
	"softswitch/node/observe"
	"softswitch/unit"
)

// connection is a flow of so many bytes that took so long, 0 if it did not come to its end,
// and takes a millisecond alone.
func connection(name string, size int64, took unit.Time) FlowResult {
	m := &MessageResult{Size: size, Bytes: size, Completion: took, Slowdown: float64(took) / float64(unit.Millisecond)}
	if took == 0 {
		m.Bytes = size / 2
	}
	return FlowResult{Name: name, From: "a", To: "b", Priority: 3, Messages: m}
}

func TestTail(t *testing.T) {
	hundred := make([]unit.Time, 100)
	for i := range hundred {
		hundred[i] = unit.Time(100 - i)
	}
	for _, c := range []struct {
		samples []unit.Time
		want    Tail[unit.Time]
	}{
		{nil, Tail[unit.Time]{}},
		{[]unit.Time{7}, Tail[unit.Time]{7, 7, 7, 7}},
		{[]unit.Time{3, 1, 2}, Tail[unit.Time]{2, 3, 3, 3}},
		{hundred, Tail[unit.Time]{50, 95, 99, 100}},
	} {
		if got := TailOf(slices.Clone(c.samples)); got != c.want {
			t.Errorf("tail of %v: %+v, want %+v", c.samples, got, c.want)
		}
	}
}

// A size is in the range that begins with it, not in the one that ends there.
func TestCompletionBySize(t *testing.T) {
	const ms = unit.Millisecond
	v := &Verdict{Duration: 100 * ms}
	for i, size := range []int64{1, 9_999, 10_000, 1_000_000, 10_000_000, 50_000_000} {
		f := connection(fmt.Sprint(i), size, unit.Time(i+1)*ms)
		f.Messages.Start, f.Messages.Again, f.Messages.AgainBytes, f.Messages.Marked, f.Messages.CNPs = 10*ms, 1, 100, 2, 3
		v.Flows = append(v.Flows, f)
	}
	stuck := connection("stuck", 20_000_000, 0)
	stuck.Messages.Failed, stuck.Messages.Start = true, 20*ms
	udp, endless := FlowResult{Name: "udp"}, connection("endless", 0, 0)
	v.Flows = append(v.Flows, stuck, udp, endless)

	c := completion([]*Verdict{v})
	if a := c.All; a.Flows != 7 || a.Done != 6 || a.Failed != 1 || a.Again != 6 || a.AgainBytes != 600 || a.Marked != 12 || a.CNPs != 18 ||
		a.Time != (Tail[unit.Time]{3*ms + ms/2, 6 * ms, 6 * ms, 6 * ms}) || a.Slowdown != (Tail[float64]{3.5, 6, 6, 6}) {
		t.Errorf("all: %+v", a)
	}
	if want := perSecond(1+9_999+10_000+1_000_000+10_000_000+50_000_000+10_000_000, 90*ms); c.All.Goodput != want {
		t.Errorf("goodput %d, want %d: until the end of the run", c.All.Goodput, want)
	}
	var got []string
	for _, s := range c.BySize {
		got = append(got, fmt.Sprintf("%s: %d of %d", s.sizes(), s.Done, s.Flows))
	}
	want := []string{"below 10 KB: 2 of 2", "10 KB to 100 KB: 1 of 1", "1 MB to 10 MB: 1 of 1", "10 MB and more: 2 of 3"}
	if !slices.Equal(got, want) {
		t.Errorf("by size %q, want %q", got, want)
	}
	if s := c.BySize[0]; s.Goodput != perSecond(10_000, 2*ms) || s.From != 0 || s.Below != 10_000 {
		t.Errorf("%+v: want 10,000 bytes in 2 ms", s)
	}
	if none := completion([]*Verdict{{Flows: []FlowResult{udp, endless}}}); none != nil {
		t.Errorf("of flows without an end: %+v", none)
	}
}

// Several runs count as one: their flows together, their time one after the other.
func TestCompletionOfRuns(t *testing.T) {
	const ms = unit.Millisecond
	var runs []*Verdict
	for i := range 4 {
		v := &Verdict{Flows: []FlowResult{connection("A", 1_000_000, unit.Time(i+1)*ms)}, Duration: 10 * ms}
		v.Completion = completion([]*Verdict{v})
		v.Completion.Paused = ms
		runs = append(runs, v)
	}
	runs = append(runs, &Verdict{})
	got := Summarize(runs).Completion
	if got.Paused != 4*ms || got.All.Flows != 4 || got.All.Time.P50 != 2*ms+ms/2 || got.All.Goodput != perSecond(4_000_000, 10*ms) {
		t.Errorf("summary %+v", got)
	}
	s := Summarize(runs[4:])
	if s.Completion != nil {
		t.Errorf("summary of none: %+v", s.Completion)
	}
	var out strings.Builder
	s = Summarize(runs)
	if err := s.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  flows of       flows  done  slowdown p50   p95   p99  ms p50    p95    p99    max\n  1 MB to 10 MB      4     4          2.50  4.00  4.00   2.500  4.000  4.000  4.000\n",
		"completed   4 of 4 flows; 3200.000 Mbit/s; 0 bytes sent again; 0 packets marked, 0 CNPs; senders\n            paused for 4.000 ms\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no\n%s\nin\n%s", want, out.String())
		}
	}
}

// Hosts are asked for the priorities in which they send flows that have an end. A pause that is
// in force counts up to the end.
func TestCompletionPaused(t *testing.T) {
	const ms = unit.Millisecond
	v := &Verdict{Flows: []FlowResult{connection("A", 1000, ms), connection("B", 1000, ms), connection("endless", 0, 0)}}
	v.Flows[2].Priority = 4
	a, b := observe.Host{Name: "a", NICs: make([]observe.HostNIC, 1)}, observe.Host{Name: "b", NICs: make([]observe.HostNIC, 1)}
	a.NICs[0].Counters.PausedTime = [unit.Priorities]unit.Time{3: 5 * ms, 4: 7 * ms}
	a.NICs[0].Counters.PausedSince = [unit.Priorities]unit.Time{3: 98 * ms, 4: 90 * ms}
	b.NICs[0].Counters.PausedTime[3] = 11 * ms
	v.countCompletion([]observe.Host{a, b}, func(string) unit.Time { return 100 * ms })
	if v.Completion.Paused != 7*ms {
		t.Errorf("paused for %d ns, want 7 ms: of host a, priority 3", v.Completion.Paused)
	}
	a.NICs[0].Counters = host.Counters{PausedSince: [unit.Priorities]unit.Time{3: 101 * ms}}
	if v.countCompletion([]observe.Host{a}, func(string) unit.Time { return 100 * ms }); v.Completion.Paused != 0 {
		t.Errorf("paused for %d ns after the end", v.Completion.Paused)
	}
}

// Of many flows the slowest are shown, the same ones in both tables; of a hundred all.
func TestTableOfManyFlows(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	v := &Verdict{Duration: unit.Second}
	for i := range 90 {
		v.Flows = append(v.Flows, connection(fmt.Sprintf("done%d", i), 1000, unit.Time(1+i)*unit.Millisecond))
	}
	for i := range 5 {
		f := connection(fmt.Sprintf("stuck%d", i), 1000, 0)
		f.Messages.Start = unit.Time(i)
		v.Flows = append(v.Flows, f)
		v.Flows = append(v.Flows, FlowResult{Name: fmt.Sprintf("udp%d", i), Throughput: int64(i) * 1e6})
	}
	r.Shuffle(len(v.Flows), func(i, k int) { v.Flows[i], v.Flows[k] = v.Flows[k], v.Flows[i] })
	text := func() string {
		var out strings.Builder
		if err := v.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, f := range v.Flows {
		if got := text(); strings.Contains(got, "slowest") || !strings.Contains(got, "\n  "+f.Name+" ") {
			t.Fatalf("of a hundred flows not all are shown:\n%s", got)
		}
	}
	v.Flows = append(v.Flows, connection("last", 1000, 1))
	want := []string{"stuck0", "stuck1", "stuck2", "stuck3", "stuck4"}
	for i := 89; len(want) < tableSlowest; i-- {
		want = append(want, fmt.Sprintf("done%d", i))
	}
	got := text()
	var names []string
	for line := range strings.Lines(got) {
		if f := strings.Fields(line); len(f) > 6 && strings.HasPrefix(line, "  ") && f[0] != "flow" && f[0] != "the" {
			names = append(names, f[0])
		}
	}
	if !slices.Equal(names, append(want, want...)) || !strings.Contains(got, "\n  the slowest 20 of 101 flows; --json has all\n") {
		t.Errorf("%q in\n%s", names, got)
	}
	v.Flows = slices.DeleteFunc(v.Flows, func(f FlowResult) bool { return f.Messages != nil })
	for i := range v.slowest() {
		if f := v.Flows[v.slowest()[i]]; f.Name != fmt.Sprintf("udp%d", i) {
			t.Errorf("UDP flow %d from the slowest is %s", i, f.Name)
		}
	}
}

// A connection whose controller was told of no round trip says so.
func TestUnmeasured(t *testing.T) {
	v := &Verdict{Flows: []FlowResult{connection("told", 1000, unit.Millisecond), connection("blind", 1000, unit.Millisecond)}}
	v.Flows[0].Messages.Samples, v.Flows[1].Messages.Unmeasured = 5, true
	var out strings.Builder
	if err := v.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "no round trip measured"); got != 1 {
		t.Errorf("said %d times, want once in\n%s", got, &out)
	}
}

// A table tells what nobody counts of a flow with a program, and what a receiver refused.
func TestProgramFlows(t *testing.T) {
	v := &Verdict{Flows: []FlowResult{
		{Name: "out", From: "a", To: "p", ProgramEnd: "to", Sent: 7, InFlight: 0},
		{Name: "in", From: "p", To: "a", ProgramEnd: "from", Received: 9, Packets: refused(&roce.Received{Packets: 9, OutOfOrder: 4, AccessErrors: 1})},
		{Name: "whole", From: "a", To: "b", Sent: 5, Received: 5, Packets: refused(&roce.Received{Packets: 5, Bytes: 50})},
	}}
	var got table
	v.writeFlows(&got)
	want := `
  flow   from  to  priority  sent  received  lost  in flight  reordered  Mbit/s
  out    a     p          0     7         –     0          –          0   0.000
  in     p     a          0     –         9     0          –          0   0.000
  whole  a     b          0     5         5     0          0          0   0.000

  flow  taken  behind a gap  again  outside  invalid  access errors
  in        9             4      0        0        0              1
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}
