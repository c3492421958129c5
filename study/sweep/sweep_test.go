package sweep

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"softswitch/internal/schema"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
)

// axes are those of flags.
func axes(t *testing.T, flags ...string) (all []Axis) {
	t.Helper()
	for _, f := range flags {
		a, err := ParseAxis(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// sweepOf is one of the ring.
func sweepOf(t *testing.T, times, workers int, flags ...string) *Sweep {
	t.Helper()
	return &Sweep{File: "ring.yaml", Data: []byte(ring), Axes: axes(t, flags...), Seeds: Seeds{From: 7, Times: times, Workers: workers}, Show: io.Discard}
}

// written is all that a sweep writes.
func written(t *testing.T, s *Sweep, format Format) string {
	t.Helper()
	c, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.Play(t.Context(), &out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var eight = []string{"duration=3ms,1ms", "detector=itsy,none"}

// TestSweep: eight runs, in the order of combinations and seeds, the same bytes for one
// worker and for more.
func TestSweep(t *testing.T) {
	for _, format := range []Format{CSV, JSONLines} {
		one := written(t, sweepOf(t, 2, 1, eight...), format)
		for _, workers := range []int{2, 5} {
			if more := written(t, sweepOf(t, 2, workers, eight...), format); more != one {
				t.Errorf("format %d: %d workers write\n%s\none\n%s", format, workers, more, one)
			}
		}
	}
	rows, err := csv.NewReader(strings.NewReader(written(t, sweepOf(t, 2, 2, eight...), CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(append(r[:4:4], r[5]), " "))
	}
	want := []string{
		"duration detector seed deadlock detected",
		"3ms itsy 7 true true", "3ms itsy 8 true true", "3ms none 7 true false", "3ms none 8 true false",
		"1ms itsy 7 false false", "1ms itsy 8 false false", "1ms none 7 false false", "1ms none 8 false false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRowIsTheVerdict: a row says what the verdict of the same run says, and each format
// the same.
func TestRowIsTheVerdict(t *testing.T) {
	s := sweepOf(t, 1, 1, "flows[1].name=b,x")
	rows, err := csv.NewReader(strings.NewReader(written(t, s, CSV))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %d rows", err, len(rows))
	}
	lines := strings.Split(strings.TrimSpace(written(t, s, JSONLines)), "\n")
	v := verdictOf(t, ring)
	d := v.Detections[0]
	for key, want := range map[string]any{
		"flows[1].name": "b", "seed": 7, "deadlock": true, "onset_ns": int64(v.Onset), "latency_ns": int64(d.Latency), "initial_trigger": d.Trigger.Node, "recovery_ns": "",
		"xoff": v.PFC.XOFF, "expected_met": "", "throughput_bps": v.Flows[0].Throughput + v.Flows[1].Throughput + v.Flows[2].Throughput,
		"throughput_bps.a": v.Flows[0].Throughput, "throughput_bps.b": v.Flows[1].Throughput, "throughput_bps.x": "", "final_bps.c": v.Flows[2].Final,
	} {
		i := slices.Index(rows[0], key)
		if i < 0 || rows[1][i] != fmt.Sprint(want) {
			t.Errorf("column %s: %q, want %v", key, rows[1][max(i, 0)], want)
		}
	}
	for n, line := range lines {
		dec := json.NewDecoder(strings.NewReader(line))
		dec.UseNumber()
		dec.Token() // {
		for i, key := range rows[0] {
			k, _ := dec.Token()
			x, err := dec.Token()
			if x == nil {
				x = ""
			}
			if err != nil || k != key || fmt.Sprint(x) != rows[n+1][i] {
				t.Fatalf("row %d: %v: JSON has %v: %v, CSV %s: %s", n, err, k, x, key, rows[n+1][i])
			}
		}
	}
}

// rdma is a link that two connections share and a flow of UDP: not all have an end, and not
// all come to it.
const rdma = `name: rdma
topology: {switches: [s1, s2], hosts: [a, b, c], links: [a--s1, b--s1, s1--s2, s2--c], rate: 1Gbit/s, delay: 1us}
flows:
  - {name: a, from: a, to: c, transport: rc, size: 100000}
  - {name: b, from: b, to: c, transport: rc, size: 100000}
  - {name: udp, from: b, to: c, rate: 100Mbit/s}
congestion: {}
buffer: {static_th: 8000}
duration: 30ms
`

// TestRowOfConnections: what a row says of flows that have an end, and of connections that
// have none; of UDP alone nothing.
func TestRowOfConnections(t *testing.T) {
	s := sweepOf(t, 1, 1, "flows[1].size=100000,10000000", "flows[0].size=100000,")
	s.File, s.Data = "rdma.yaml", []byte(rdma)
	rows, err := csv.NewReader(strings.NewReader(written(t, s, CSV))).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%v, %d rows", err, len(rows))
	}
	names := []string{
		"flows_with_end", "flows_done", "slowdown_p50", "slowdown_p95", "slowdown_p99", "completion_p50_ns", "completion_p99_ns", "completion_max_ns",
		"goodput_bps", "paused_ns", "again", "timeouts", "marked", "cnps",
	}
	cells := func(row []string) (cells []string) {
		for _, n := range names {
			i := slices.Index(rows[0], n)
			if i < 0 {
				t.Fatalf("no column %s", n)
			}
			cells = append(cells, row[i])
		}
		return cells
	}
	v := verdictOf(t, rdma)
	a, b := v.Flows[0].Messages, v.Flows[1].Messages
	if b.Completion < a.Completion {
		a, b = b, a
	}
	all := v.Completion.All
	want := fmt.Sprint([]any{2, 2, a.Slowdown + (b.Slowdown-a.Slowdown)/2, b.Slowdown, b.Slowdown, int64(a.Completion + (b.Completion-a.Completion)/2), int64(b.Completion), int64(b.Completion), all.Goodput, int64(v.Completion.Paused), a.Again + b.Again, a.Timeouts + b.Timeouts, a.Marked + b.Marked, a.CNPs + b.CNPs})
	if got := fmt.Sprint(cells(rows[1])); got != want || a.Marked == 0 || v.Completion.Paused == 0 {
		t.Errorf("both done: %s\nwant %s", got, want)
	}
	if got := cells(rows[2]); got[0] != "1" || got[1] != "1" {
		t.Errorf("one without an end: %q", got)
	}
	if got := cells(rows[4]); got[0] != "1" || got[1] != "0" || strings.Join(got[2:8], "") != "" || got[10] == "" {
		t.Errorf("one that is not done, one without an end: %q", got)
	}
	udp, err := csv.NewReader(strings.NewReader(written(t, sweepOf(t, 1, 1), CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows[0] = udp[0]
	if got := strings.Join(cells(udp[1]), ""); got != "" {
		t.Errorf("of UDP: %q", got)
	}
}

// verdictOf is the verdict of a scenario with seed 7.
func verdictOf(t *testing.T, text string) *verdict.Verdict {
	t.Helper()
	s, err := Repeat(t.Context(), 1, Seeds{From: 7, Times: 1, Workers: 1}, io.Discard, func() (*scenario.Plan, error) {
		return load.Plan("file.yaml", []byte(text), load.Instead{})
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Runs[0]
}

// stopper ends a context after so many writes, and fails after others.
type stopper struct {
	bytes.Buffer
	writes, fail int
	end          func()
}

var errFull = errors.New("no space left")

func (s *stopper) Write(p []byte) (int, error) {
	if s.writes--; s.writes == 0 {
		s.end()
	}
	if s.fail--; s.fail == 0 {
		return 0, errFull
	}
	return s.Buffer.Write(p)
}

// TestSweepEnds: what is written when the context ends is whole rows in their order, and
// the error says how many.
func TestSweepEnds(t *testing.T) {
	whole := written(t, sweepOf(t, 30, 1, "detector=itsy,none"), CSV)
	for _, workers := range []int{1, 3} {
		c, err := sweepOf(t, 30, workers, "detector=itsy,none").Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		out := stopper{writes: 5, end: end} // the head and four rows
		err = c.Play(ctx, &out, CSV)
		rows := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
		if want := fmt.Sprintf("sweep: %d of 60 rows are written: ", len(rows)-1); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		// One worker has at most begun the next run. Of several one may be late, and the others
		// have played rows that wait for its.
		if n := len(rows) - 1; n < 4 || workers == 1 && n > 6 {
			t.Errorf("%d workers: %d rows, want 4 and those that were played just then", workers, n)
		}
		rest := whole
		for _, r := range rows {
			_, after, ok := strings.Cut(rest, r)
			if !ok {
				t.Errorf("row %q is none of the sweep's, or not in its place", r)
			}
			rest = after
		}
	}
}

// TestSweepFull: nothing is played any more once a row cannot be written.
func TestSweepFull(t *testing.T) {
	for fail := 1; fail < 4; fail++ {
		c, err := sweepOf(t, 30, 2).Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := stopper{fail: fail}
		err = c.Play(t.Context(), &out, CSV)
		if want := fmt.Sprintf("sweep: %d of 30 rows are written: no space left", max(fail-2, 0)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if n := strings.Count(out.String(), "\n"); n != fail-1 {
			t.Errorf("%d lines, want %d", n, fail-1)
		}
	}
}

// TestErrorEndsAll: an error ends the runs that are being played, too: here one of a day.
func TestErrorEndsAll(t *testing.T) {
	s := sweepOf(t, 1, 2, "flows[0].rate=100Mbit/s", "duration=24h,1ms")
	all := runs{n: 2, workers: 2, run: func(i int) (*scenario.Plan, uint64, error) {
		p, err := s.plan(i)
		return p, 1, err
	}}
	err := all.play(t.Context(), io.Discard, func(i int, _ *verdict.Verdict) error { return errFull })
	if !errors.Is(err, errFull) {
		t.Errorf("%v, want %v", err, errFull)
	}
}

// TestRows: each row is written as soon as those before it are, and in the end those that
// others are missing before.
func TestRows(t *testing.T) {
	var out bytes.Buffer
	r := newRows(&out, CSV, []verdict.Figure{{Key: "n"}})
	for _, c := range []struct {
		add  int
		want string
	}{{2, ""}, {0, "0\n"}, {5, "0\n"}, {1, "0\n1\n2\n"}, {4, "0\n1\n2\n"}} {
		if err := r.add(c.add, []any{c.add}); err != nil || out.String() != c.want {
			t.Errorf("after row %d: %v, %q, want %q", c.add, err, out.String(), c.want)
		}
	}
	if err := r.rest(); err != nil || out.String() != "0\n1\n2\n4\n5\n" || r.written != 5 {
		t.Errorf("in the end: %v, %q, %d rows", err, out.String(), r.written)
	}
}

// TestCheck: what cannot be played is told before anything is, with its combination.
func TestCheck(t *testing.T) {
	for want, s := range map[string]*Sweep{
		"sweep: 2 of 6 combinations cannot be played, the first with --set duration=3ms --set buffer.xoff=many:\nring.yaml: --set buffer.xoff: \"many\" is not a whole number": sweepOf(t, 2, 2, "duration=3ms,4ms", "buffer.xoff=40960,many,50000"),
		"sweep: 1 of 2 combinations cannot be played, the first with --set topology.rate=0:\nring.yaml: --set topology.rate: 0: links without a rate":                          sweepOf(t, 1, 1, "topology.rate=1Gbit/s,0"),
		"--set duration: given twice":                               sweepOf(t, 1, 1, "duration=1ms", "duration=2ms"),
		"--repeat: 0; valid: 1 to":                                  sweepOf(t, 0, 1),
		"--workers: 0; valid: 1 to":                                 sweepOf(t, 1, 0),
		"sweep: more than 100000 runs: --set detector has 2 values": sweepOf(t, 60000, 1, "detector=itsy,none"),
	} {
		if _, err := s.Check(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	bad := sweepOf(t, 1, 1)
	bad.Data = []byte("name: x")
	if _, err := bad.Check(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "ring.yaml:") {
		t.Errorf("%v, want the fault of the file alone", err)
	}
	warned, err := sweepOf(t, 1, 1, "detector=itsy,none", "expect={}").Check(t.Context())
	if err != nil || len(warned.Warnings) != 1 {
		t.Errorf("%v, warnings %q, want one", err, warned.Warnings)
	}
}

// values are the cases of TestSplit.
var values = map[string][]string{
	"1,2,3":                        {"1", "2", "3"},
	"a":                            {"a"},
	" a , b ":                      {"a", "b"},
	`"a,b",c`:                      {`"a,b"`, "c"},
	`'it''s, so','x'`:              {`'it''s, so'`, "'x'"},
	`"a\",b", c`:                   {`"a\",b"`, "c"},
	"it's,so":                      {"it's", "so"},
	"[s1, s2],[s3]":                {"[s1, s2]", "[s3]"},
	"{k: 4, x: [1, 2]},{k: 6}":     {"{k: 4, x: [1, 2]}", "{k: 6}"},
	`["a]", b],{c: "}", d: '{'},e`: {`["a]", b]`, `{c: "}", d: '{'}`, "e"},
	"10Gbit/s,line":                {"10Gbit/s", "line"},
}

// TestSplit: values are those of a YAML list, in which several of them may be.
func TestSplit(t *testing.T) {
	for text, want := range values {
		if got := split(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		var list []any
		if err := yaml.Unmarshal([]byte("["+text+"]"), &list); err != nil || len(list) != len(want) {
			t.Errorf("%s: %v: YAML has %d values, want %d", text, err, len(list), len(want))
		}
	}
	for text, want := range map[string][]string{"": {""}, ",": {"", ""}, "a,": {"a", ""}, "[a": {"[a"}, "a]],b": {"a]]", "b"}, `"a,b`: {`"a,b`}} {
		if got := split(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzSplit: values with commas between them are the text again, but for spaces.
func FuzzSplit(f *testing.F) {
	for text := range values {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := split(text)
		plain := strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "", "\v", "", "\f", "", "\u0085", "", "\u00a0", "")
		if joined := strings.Join(got, ","); plain.Replace(joined) != plain.Replace(text) {
			t.Errorf("%q: %q", text, got)
		}
	})
}

func TestParseAxis(t *testing.T) {
	for text, want := range map[string]string{
		"a":           "write KEY=VALUE",
		"a..b=1,2":    `"a..b" is no key`,
		"a=1,2,1":     `a: "1" is there twice`,
		"a=1,,2,":     `a: "" is there twice`,
		"a.b=[1],[1]": `a.b: "[1]" is there twice`,
	} {
		if _, err := ParseAxis(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// leftOut are the keys of a verdict that are no columns.
var leftOut = map[string]string{
	"drawn":    "a list",
	"scenario": "the file's", "world": "sim", "detector": "the file's, or an axis", "response": "the file's, or an axis", "duration_ns": "the file's, or an axis",
	"flows": "sums, and two columns of each", "completion": "its figures are columns", "pfc": "its keys are columns", "killed": "the file's", "cores": "of live runs",
	"clocks": "of live runs", "nodes_per_process": "of live runs", "polled": "of live runs", "headroom": "of live runs", "undecided": "of several clocks", "undecided_deadlocks": "of several clocks", "recovery_undecided": "of several clocks",
	"dropped_of": "its sums are columns", "version": "of the keys",
	"auth": "links that did not agree, for people", "dcbx": "ends that disagree, for people, and programs that read a verdict",
	"hosts": "by host: for people, and programs that read a verdict", "lags": "by member: the same", "starved": "by queue: the same; expected_met has it",
	"expected": "expected_met is empty if not", "warnings": "the sweep tells them", "lossless_lost_by": "for people, and programs that read a verdict", "lossless_lost_at": "the same", "headroom_short": "the same", "reasons": "for people", "timeline": "for people",
}

// TestFigures: every key of a verdict is a column, or is left out for a reason; and no
// column has the name of another or of a key of a scenario.
func TestFigures(t *testing.T) {
	var names []string
	for _, c := range verdict.Figures {
		if slices.Contains(names, c.Key) || c.Text == "" {
			t.Errorf("column %s is there twice, or has no text", c.Key)
		}
		names = append(names, c.Key)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[verdict.Verdict]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if slices.Contains(names, key) == (leftOut[key] != "") {
			t.Errorf("key %s of a verdict: is it a column, or left out: %q?", key, leftOut[key])
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[verdict.PFCFrames]()) {
		if key := f.Tag.Get("json"); !slices.Contains(names, key) {
			t.Errorf("key %s of pfc is no column", key)
		}
	}
	for _, f := range schema.Read(scenario.Format(load.Known()), nil).Fields {
		if slices.Contains(names, f.Key) {
			t.Errorf("column %s is a key of scenarios too", f.Key)
		}
	}
}

// TestDocumented: docs/sweep.md has a row for each column, in their order.
func TestDocumented(t *testing.T) {
	var table strings.Builder
	table.WriteString("| column | |\n|---|---|\n")
	for _, c := range verdict.Figures {
		fmt.Fprintf(&table, "| `%s` | %s |\n", c.Key, c.Text)
	}
	page, err := os.ReadFile("../../docs/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("docs/sweep.md lacks the table\n%s", &table)
	}
}
