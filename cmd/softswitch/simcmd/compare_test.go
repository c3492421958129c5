package simcmd

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/study/compare"
)

// TestReplayIsTheRunOfTheCell: what is replayed came to what the cell says, also with the
// watchdog, whose times in a comparison are others than in "sim run", and with a prevention;
// and the page shows that run, with a deadlock or without.
func TestReplayIsTheRunOfTheCell(t *testing.T) {
	choice := compare.Choice{World: "sim", Scenarios: []string{"shpiner-fig4-ecmp", "itsy-fig5"}, Systems: []string{"none", "itsy", "itsy+drop", "itsy+cure", "watchdog", "tagger", "thresholds"}, Runs: 1, From: 1}
	m, err := choice.Matrix(nil)
	if err != nil {
		t.Fatal(err)
	}
	m.World.Parallel = 1 // show is called for one row after the other
	type shown struct {
		verdict *verdict.Verdict
		page    []byte
	}
	var all []shown
	c, err := m.RunAndShow(t.Context(), filepath.Join(t.TempDir(), "page.html"), func(p *scenario.Plan, opt sim.Options, page io.Writer) (*verdict.Verdict, error) {
		var b bytes.Buffer
		v, err := showRun(p, opt, io.MultiWriter(page, &b))
		all = append(all, shown{v, b.Bytes()})
		return v, err
	})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[compare.Outcome]bool{}
	for i := range c.Rows {
		r := &c.Rows[i]
		outcomes[r.Outcome()] = true
		if r.Figures == nil {
			continue
		}
		if len(all) == 0 {
			t.Fatalf("%s, %s was not shown", r.Scenario, r.System)
		}
		v := all[0].verdict
		if got := verdict.SumsOf([]*verdict.Verdict{v}); !reflect.DeepEqual(got, r.Sums) || v.PFC != r.PFC {
			t.Errorf("%s, %s: the replay has %v, %v, the cell %v, %v", r.Scenario, r.System, got, v.PFC, r.Sums, r.PFC)
		}
		if locked := endsDeadlocked(t, all[0].page); locked != (v.Deadlock && !v.Recovered) {
			t.Errorf("%s, %s: the page ends with a deadlock: %t; the run: %t", r.Scenario, r.System, locked, v.Deadlock && !v.Recovered)
		}
		all = all[1:]
	}
	if len(all) != 0 {
		t.Errorf("%d runs were shown that have no cell", len(all))
	}
	for _, o := range []compare.Outcome{compare.Missed, compare.Found, compare.Recurs, compare.Gone, compare.Clear, compare.NA} {
		if !outcomes[o] {
			t.Errorf("no cell is %s", o)
		}
	}
}

// recorded is what a page plays.
var recorded = regexp.MustCompile(`id="recorded">([^<]*)<`)

// endsDeadlocked reports whether the last state that a page plays has a deadlock.
func endsDeadlocked(t *testing.T, page []byte) bool {
	t.Helper()
	found := recorded.FindSubmatch(page)
	if found == nil {
		t.Fatal("the page plays nothing")
	}
	zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(found[1])))
	if err != nil {
		t.Fatal(err)
	}
	var run struct {
		States []struct{ Deadlock *struct{ Over bool } }
	}
	if err := json.NewDecoder(zip).Decode(&run); err != nil {
		t.Fatal(err)
	}
	last := run.States[len(run.States)-1].Deadlock
	return last != nil && !last.Over
}
