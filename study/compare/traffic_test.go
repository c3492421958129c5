package compare

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// sources are a scenario with a deadlock, which congestion control prevents, and one
// without.
func sources(t *testing.T) []Source {
	t.Helper()
	all, err := Scenarios("sim", []string{"shpiner-fig6", "fattree-no-loop"})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A scenario that deadlocks is played with every kind, one that does not is left out.
func TestPlay(t *testing.T) {
	runs := testkit.Sized(1, 2)
	table, err := Play(t.Context(), sources(t), 1, runs, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(Traffic()) + len(NoPFC()) + len(Responses()); len(table.Rows) != want {
		t.Fatalf("%d rows, want %d", len(table.Rows), want)
	}
	for _, r := range table.Rows {
		if r.Scenario != "shpiner-fig6" {
			t.Errorf("a row of %s", r.Scenario)
		}
	}
	udp, rc, dcqcn := table.row("shpiner-fig6", UDP, false), table.row("shpiner-fig6", "rc", false), table.row("shpiner-fig6", "rc+dcqcn", false)
	if udp.Deadlocks != runs || udp.Onset.Samples != runs || udp.Slowdown50 != 0 || udp.Marked != 0 {
		t.Errorf("UDP: %+v", udp)
	}
	if rc.Deadlocks != runs || rc.Marked != 0 || rc.Slowdown50 < 1 {
		t.Errorf("without congestion control: %+v", rc)
	}
	if dcqcn.Deadlocks != 0 || dcqcn.Marked == 0 || dcqcn.XOFF.P50*10 > rc.XOFF.P50 || dcqcn.Slowdown50 < 1 || dcqcn.Slowdown99 < dcqcn.Slowdown50 {
		t.Errorf("with DCQCN: %+v", dcqcn)
	}
	gbn, selective := table.row("shpiner-fig6", NoPFCGoBackN, false), table.row("shpiner-fig6", NoPFCSelective, false)
	for _, r := range []*TrafficRow{gbn, selective} {
		if r.Deadlocks != 0 || r.XOFF.P50 != 0 || r.Goodput.P50 == 0 || r.Slowdown50 < 1 {
			t.Errorf("without PFC: %+v\nwith: %+v", r, rc)
		}
	}
	if gbn.Lost == 0 || gbn.SentAgain == 0 || gbn.SentAgain < selective.SentAgain || gbn.Goodput.P50 > selective.Goodput.P50 || rc.Lost != 0 {
		t.Errorf("without PFC, go-back-N: %+v\nselective repeat: %+v", gbn, selective)
	}
	if none, drop := table.row("shpiner-fig6", "none", true), table.row("shpiner-fig6", "drop", true); none.Last != runs || drop.Last != 0 || drop.SentAgain == 0 {
		t.Errorf("without a response: %+v\nwith drop: %+v", none, drop)
	}
	var page, out bytes.Buffer
	if err := table.WriteMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	if err := table.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), "\n| shpiner-fig6 |"); n != 6 || !strings.Contains(out.String(), "shpiner-fig6") {
		t.Errorf("%d tables in\n%s\n%s", n, &page, &out)
	}
	if text, err := json.Marshal(table); err != nil || !json.Valid(text) {
		t.Error(err)
	}
}

// What is taken for known of a response is what comes of playing it: itsy declares nothing, and a run
// with a response is that without.
func TestResponsesWait(t *testing.T) {
	all, err := Scenarios("sim", []string{"n1-two-triggers", "w7-dropped-label"})
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for i := range all {
		rc, err := playOne(t.Context(), &all[i], &Traffic()[1], 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(rc.v.Detections) > 0 {
			continue
		}
		known++
		for _, k := range Responses() {
			if !k.follows {
				continue
			}
			o, err := playOne(t.Context(), &all[i], &k, 1)
			if err != nil {
				t.Fatal(err)
			}
			o.v.Response, o.v.Detector = rc.v.Response, rc.v.Detector
			o.v.DetectorBytesPerSwitch = rc.v.DetectorBytesPerSwitch
			if !reflect.DeepEqual(o, rc) {
				t.Errorf("%s with %s: %+v, want what comes without a response, %+v", all[i].Name, k.Name, o.v, rc.v)
			}
		}
	}
	if known == 0 {
		t.Error("itsy declares something in each of them: this proves nothing")
	}
}

// The page in docs has the text of today; its tables are made by hand (make congestion).
func TestPageIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../docs/congestion-control.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(page), trafficText) {
		t.Error("docs/congestion-control.md is out of date: make congestion")
	}
	for _, k := range append(Traffic(), Responses()...) {
		if !strings.Contains(string(page), "- **"+k.Name+"**: "+k.About+".") {
			t.Errorf("docs/congestion-control.md does not have %s as it is: make congestion", k.Name)
		}
	}
}

// A seed moves all kinds by the same times, and each seed by others.
func TestMove(t *testing.T) {
	src := sources(t)[0]
	starts := func(seed uint64) (all []int64) {
		s, err := src.Parse()
		if err != nil {
			t.Fatal(err)
		}
		move(s, seed)
		for _, f := range s.Flows {
			all = append(all, int64(f.Start))
		}
		return all
	}
	same := 0
	first, again, other := starts(1), starts(1), starts(2)
	for i := range first {
		if first[i] != again[i] {
			t.Errorf("flow %d begins at %d and at %d with the same seed", i, first[i], again[i])
		}
		if first[i] == other[i] {
			same++
		}
	}
	if same == len(first) {
		t.Error("another seed moves nothing")
	}
}
