package fuzz_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/lists"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/study/fuzz"
	"softswitch/study/shard"
	"softswitch/study/shard/shardtest"
	"softswitch/unit"
)

// detectors are those of these names.
func detectors(t *testing.T, names ...string) []catalog.Detector {
	t.Helper()
	return lists.Map(names, func(name string) catalog.Detector {
		d, err := catalog.Named("test", name)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// pairedRun is a run of mode usual with detectors.
func pairedRun(seed uint64, n int, d ...catalog.Detector) *fuzz.Run {
	return &fuzz.Run{N: n, Seed: seed, Mode: fuzz.Usual, Detectors: d, Rows: true, Workers: 2, Out: "failed", Progress: io.Discard}
}

// played is the report of a run.
func played(t *testing.T, r *fuzz.Run) *fuzz.PairedReport {
	t.Helper()
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	report, err := r.Play(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return report.(*fuzz.PairedReport)
}

// rowsOf are the rows of a report, the names of the columns first.
func rowsOf(t *testing.T, report fuzz.Report) (rows [][]string) {
	t.Helper()
	var b bytes.Buffer
	if err := report.(fuzz.Table).WriteRows(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// at is the number of a column.
func at(t *testing.T, key string) int {
	t.Helper()
	i := slices.IndexFunc(fuzz.RowColumns(), func(c fuzz.Column) bool { return c.Key == key })
	if i < 0 {
		t.Fatalf("there is no column %q", key)
	}
	return i
}

// TestPairedAlone: with others beside it each detector has the rows that it has alone, and the sums of a
// run that keeps no rows.
func TestPairedAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	seed := testkit.Seed(t)
	names := []string{"itsy", "itsypaper", "none", "watchdog"}
	n := testkit.Sized(8, 200)
	together := played(t, pairedRun(seed, n, detectors(t, names...)...))
	rows := rowsOf(t, together)[1:]
	for i, name := range names {
		var mine [][]string
		for k := i; k < len(rows); k += len(names) {
			mine = append(mine, rows[k])
		}
		alone := pairedRun(seed, n, detectors(t, name)...)
		if report := played(t, alone); !reflect.DeepEqual(rowsOf(t, report)[1:], mine) || !reflect.DeepEqual(report.Detectors[0], together.Detectors[i]) {
			t.Errorf("seed %d: %s alone has other rows than beside %s", seed, name, strings.Join(names, ", "))
		}
		alone.Rows = false
		report, err := alone.Play(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		sum, row := report.(*fuzz.DetectionReport), together.Detectors[i]
		if row.Found.N != sum.Detected || row.Found.Of != sum.Deadlocks || row.Invalid != sum.Invalid || row.FrameHops != sum.FrameHops ||
			row.ControlFrames != sum.ControlFrames || sum.Clean() != (row.Right.N == row.Right.Of && row.Invalid == 0) {
			t.Errorf("seed %d: %s: %+v, without rows %+v", seed, name, row, sum)
		}
	}
}

// TestPairedShards: the shards of a run come to the rows and the report of the whole.
func TestPairedShards(t *testing.T) {
	seed := testkit.Seed(t)
	for _, c := range []struct {
		names []string
		rows  bool
	}{{[]string{"itsy", "itsypaper", "none"}, false}, {[]string{"itsypaper"}, true}} {
		r := pairedRun(seed, testkit.Sized(6, 60), detectors(t, c.names...)...)
		r.Rows = c.rows
		whole := played(t, r)
		merged, err := fuzz.Merge(shardtest.Join(t, 4, func(p shard.Part) shardtest.Written {
			part := *r
			part.Part = p
			report, err := part.Play(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return report
		}))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := printed(t, merged), printed(t, whole); got != want || merged.Clean() != whole.Clean() {
			t.Errorf("seed %d, %v: shards come to\n%s\nthe whole\n%s", seed, c.names, got, want)
		}
		if got, want := rowsOf(t, merged), rowsOf(t, whole); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d, %v: shards have other rows than the whole:\n%v\n%v", seed, c.names, got, want)
		}
	}
}

// TestPairedFromRows: what the report says can be counted again in the rows.
func TestPairedFromRows(t *testing.T) {
	seed := testkit.Seed(t)
	names := []string{"itsy", "itsypaper"}
	report := played(t, pairedRun(seed, testkit.Sized(20, 400), detectors(t, names...)...))
	rows := rowsOf(t, report)
	if want := lists.Map(fuzz.RowColumns(), func(c fuzz.Column) string { return c.Key }); !slices.Equal(rows[0], want) {
		t.Errorf("columns %v, want %v", rows[0], want)
	}
	verdict := at(t, "verdict")
	right := func(row []string) bool { return slices.Contains([]string{"found", "nothing", "late"}, row[verdict]) }
	var by [2][2]int // cases by whether the first is right, and the second
	for i := 1; i < len(rows); i += 2 {
		a, b := rows[i], rows[i+1]
		if a[at(t, "case")] != b[at(t, "case")] || a[at(t, "detector")] != names[0] || b[at(t, "detector")] != names[1] {
			t.Fatalf("rows of a case are not beside each other: %v, %v", a, b)
		}
		for _, row := range [][]string{a, b} {
			if late := row[at(t, "latency_ns")] != ""; late != (row[at(t, "latency_laps")] != "") || late != (row[at(t, "declared_ns")] != "") || late && row[at(t, "onset_ns")] == "" {
				t.Errorf("seed %d: %v has a part of a latency", seed, row)
			}
			if want := strconv.FormatBool(right(row)); row[verdict] != "invalid" && row[at(t, "right")] != want {
				t.Errorf("seed %d: %v: right is %s, want %s", seed, row, row[at(t, "right")], want)
			}
		}
		if a[verdict] != "invalid" && b[verdict] != "invalid" {
			by[truth(right(a))][truth(right(b))]++
		}
	}
	p := report.Pairs[0]
	if p.BothRight != by[1][1] || p.OnlyFirst != by[1][0] || p.OnlySecond != by[0][1] || p.Neither != by[0][0] || p.Cases == 0 {
		t.Errorf("seed %d: %+v, in the rows %v", seed, p, by)
	}
}

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

// hasty declares whatever has stood paused for ten hops, as a toy of a timeout does.
type hasty struct {
	detect.None
	view detect.View
	act  detect.Actions
	due  map[detect.Queue]unit.Time
}

func (h *hasty) Name() string { return "hasty" }

func (h *hasty) Pause(now unit.Time, q detect.Queue, _ itsyhdr.TLV, fresh bool) {
	if fresh && !h.view.FacesHost(q.Port) {
		h.due[q] = now + 10*h.view.Hop()
	}
}

func (h *hasty) Resume(_ unit.Time, q detect.Queue, _ bool) { delete(h.due, q) }

func (h *hasty) Deadline() unit.Time {
	next := unit.Never
	for _, due := range h.due {
		next = min(next, due)
	}
	return next
}

func (h *hasty) Tick(now unit.Time) {
	for in := range unit.Port(h.view.Ports()) {
		for out := range unit.Port(h.view.Ports()) {
			for c := range unit.Priority(unit.Priorities) {
				q, b := detect.Queue{Port: out, Priority: c}, detect.PG{Port: in, Priority: c}
				if due, ok := h.due[q]; !ok || due > now {
					continue
				}
				if on, _ := h.view.XOFF(b); on && h.view.Held(b, q) > h.view.XON(b) {
					h.act.Report(detect.Finding{PG: b, Queue: q})
				}
			}
		}
	}
	for q, due := range h.due {
		if due <= now {
			delete(h.due, q)
		}
	}
}

// TestCanaryLoses: a toy that takes patience for proof is worse than itsy, and the pairs show it; itsy
// beside itself is as good.
func TestCanaryLoses(t *testing.T) {
	itsy := detectors(t, "itsy")[0]
	toy := catalog.Detector{Name: "hasty", New: func(v detect.View, a detect.Actions) detect.Detector {
		return &hasty{view: v, act: a, due: map[detect.Queue]unit.Time{}}
	}}
	same := itsy
	same.Name = "again"
	seed := testkit.Seed(t)
	report := played(t, pairedRun(seed, testkit.Sized(40, 300), itsy, toy, same))
	if p := report.Pairs[0]; p.P >= 0.05 || p.OnlyFirst <= p.OnlySecond || report.Clean() {
		t.Errorf("seed %d: hasty is not worse than itsy: %+v, %+v", seed, p, report.Detectors[1])
	}
	if p := report.Pairs[1]; p.P != 1 || p.OnlyFirst+p.OnlySecond != 0 || p.Ratio == nil || p.Ratio.P50 != 1 || *p.Ratio.Interval != [2]float64{1, 1} || p.Ratio.OtherOnset != 0 {
		t.Errorf("seed %d: itsy is not as good as itself: %+v", seed, p)
	}
}

// TestPairedRefuses: what cannot be paired or kept is refused by the name of its flag.
func TestPairedRefuses(t *testing.T) {
	for want, change := range map[string]func(r *fuzz.Run){
		"--detector: itsy is named twice; valid: each once":                                    func(r *fuzz.Run) { r.Detectors = detectors(t, "itsy", "none", "itsy") },
		"--n: 1000001, with 2 rows a case; valid: 1 to 1000000, for 2000000 rows":              func(r *fuzz.Run) { r.N = 1_000_001 },
		"--rows: mode clocks has none; valid in modes usual, loss, expiry, jumbo, rdma, long,": func(r *fuzz.Run) { r.Mode, r.Detectors = fuzz.Clocks, r.Detectors[:1] },
		"--detector: 2; valid in mode attack: one":                                             func(r *fuzz.Run) { r.Mode = fuzz.Attack },
	} {
		r := pairedRun(1, 10, detectors(t, "itsy", "none")...)
		change(r)
		if err := r.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestResponseRows: a row of each deadlock and response, with reserve and without, as the report counts
// them; shards have the same.
func TestResponseRows(t *testing.T) {
	run := fuzz.Run{
		N: testkit.Sized(3, 12), Seed: lightSeed, Mode: fuzz.Response, Rows: true, Detectors: detectors(t, "itsy"),
		Responses: respond.Choices()[:2], Workers: 2, Progress: io.Discard,
	}
	play := func(p shard.Part) fuzz.Report {
		part := run
		part.Part = p
		if err := part.Check(); err != nil {
			t.Fatal(err)
		}
		report, err := part.Play(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	report := play(shard.Part{}).(*fuzz.ResponsesReport)
	rows := rowsOf(t, report)
	if report.Locked == 0 || len(rows) != 1+4*report.Locked || len(rows[0]) != len(fuzz.ResponseColumns()) {
		t.Fatalf("%d rows of %d columns, of %d deadlocks", len(rows), len(rows[0]), report.Locked)
	}
	cured := slices.Index(rows[0], "cured")
	for i, s := range report.Responses {
		n := 0
		for k := 1 + i; k < len(rows); k += 4 {
			n += truth(rows[k][cured] == "true")
		}
		if n != s.Cured.N {
			t.Errorf("%s, reserve %v: %d cured in the rows, %v", s.Response, s.Reserve, n, s.Cured)
		}
	}
	for i, p := range report.Pairs {
		if a, b := p.Cured[1][0]+p.Cured[1][1], p.Cured[0][1]+p.Cured[1][1]; a != report.Responses[2*i].Cured.N || b != report.Responses[2*i+1].Cured.N || len(report.Pairs) != 2 {
			t.Errorf("%+v: %d and %d cured", p, a, b)
		}
	}
	merged, err := fuzz.Merge(shardtest.Join(t, 2, func(p shard.Part) shardtest.Written { return play(p) }))
	if err != nil {
		t.Fatal(err)
	}
	if printed(t, merged) != printed(t, report) || !reflect.DeepEqual(rowsOf(t, merged), rows) {
		t.Errorf("shards come to\n%s\nthe whole\n%s", printed(t, merged), printed(t, report))
	}
}
