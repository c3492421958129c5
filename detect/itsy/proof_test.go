package itsy

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"softswitch/detect/itsy/model"
	"softswitch/internal/testkit"
)

var prove = flag.Bool("prove", false, "TestProof goes through all states, not only those of the small cases, and writes docs/figures/proof.md")

// proofCase is a fabric and what may happen in it.
type proofCase struct {
	fabric model.Fabric
	bounds model.Bounds
	played played
}

// played is when a case is: those of make test are in make long too, and all are in make prove.
type played int

const (
	proved played = iota // in make prove alone
	long                 // from make long on
	always
)

// tinyCases are small ones of what may happen in cases that are played from make long on; they are
// in no table.
var tinyCases = []proofCase{
	{model.Branch(2), model.Bounds{Fills: 1, Units: 2}, always},
	{model.Ring(2), model.Bounds{Fills: 1, Units: 2, Losses: 1, Timers: 1, Ages: 1}, always},
	{model.Ring(2), model.Bounds{Fills: 1, Units: 2, Lapses: 1, Refreshes: 1, Expiries: 1}, always},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Timers: 1}, always},
}

var proofCases = []proofCase{
	// Nothing fails, is lost or acts by itself.
	{model.Ring(2), model.Bounds{Fills: 2, Units: 3}, always},
	{model.Ring(2), model.Bounds{Fills: 3, Units: 3}, proved},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 3, Prompt: true}, always},
	{model.Ring(3), model.Bounds{Fills: 2, Units: 2}, long},
	{model.Ring(4), model.Bounds{Fills: 1, Units: 3, Prompt: true}, proved},
	{model.Ring(5), model.Bounds{Fills: 1, Units: 2, Prompt: true}, proved},
	{model.Eight(2, 2), model.Bounds{Fills: 1, Units: 2}, long},
	{model.Eight(3, 3), model.Bounds{Fills: 1, Units: 2}, proved},
	{model.Branch(2), model.Bounds{Fills: 2, Units: 2}, proved},
	{model.Branch(3), model.Bounds{Fills: 1, Units: 3}, proved},
	{model.Victim(3), model.Bounds{Fills: 1, Units: 2}, proved},
	{model.Shortcut(3), model.Bounds{Fills: 1, Units: 2}, always},
	{model.Shortcut(3), model.Bounds{Fills: 1, Units: 3}, proved},
	{model.Shortcut(4), model.Bounds{Fills: 1, Units: 2}, proved},
	{model.Flooded(3), model.Bounds{Fills: 1, Units: 2}, always},

	// Priority groups share a pool: what others keep of it holds a priority group that would resume without.
	{model.Shortcut(3).Pooled(1), model.Bounds{Fills: 1, Units: 2}, always},
	{model.Victim(2).Pooled(1), model.Bounds{Fills: 1, Units: 2}, long},
	{model.Victim(2).Pooled(1), model.Bounds{Fills: 1, Units: 2, Timers: 1}, proved},
	{model.Eight(2, 2).Pooled(2), model.Bounds{Fills: 1, Units: 2}, proved},
	{model.Shortcut(3).Pooled(1), model.Bounds{Fills: 1, Units: 2, Failures: 1, Heals: true}, proved},

	// What is sent waits in its port.
	{model.Ring(2), model.Bounds{Fills: 2, Units: 3, Queued: true}, proved},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Queued: true}, always},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Failures: 1, Queued: true}, proved},

	// Detectors act by themselves.
	{model.Ring(2), model.Bounds{Fills: 1, Units: 2, Timers: 4}, proved},
	{model.Ring(2), model.Bounds{Fills: 2, Units: 2, Timers: 2}, proved},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Timers: 2}, long},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Timers: 3}, proved},
	{model.Ring(4), model.Bounds{Fills: 1, Units: 2, Timers: 2}, proved},
	{model.Eight(2, 2), model.Bounds{Fills: 1, Units: 2, Timers: 1}, proved},
	{model.Branch(3), model.Bounds{Fills: 1, Units: 2, Timers: 1}, proved},
	{model.Victim(2), model.Bounds{Fills: 1, Units: 2, Timers: 1}, proved},
	{model.Shortcut(3), model.Bounds{Fills: 1, Units: 2, Timers: 1}, proved},
	{model.Flooded(3), model.Bounds{Fills: 1, Units: 2, Timers: 1}, proved},

	// Frames between switches are lost.
	{model.Ring(2), model.Bounds{Fills: 1, Units: 2, Losses: 2, Timers: 2, Ages: 1}, long},
	{model.Ring(2), model.Bounds{Fills: 2, Units: 2, Losses: 2, Timers: 1, Refreshes: 1}, proved},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Losses: 2, Timers: 1}, long},
	{model.Ring(4), model.Bounds{Fills: 1, Units: 2, Losses: 2, Timers: 1}, proved},
	{model.Ring(5), model.Bounds{Fills: 1, Units: 2, Losses: 2}, proved},
	{model.Eight(2, 2), model.Bounds{Fills: 1, Units: 2, Losses: 2}, proved},
	{model.Branch(3), model.Bounds{Fills: 1, Units: 2, Losses: 2}, proved},
	{model.Shortcut(3), model.Bounds{Fills: 1, Units: 2, Losses: 2}, proved},
	{model.Flooded(3), model.Bounds{Fills: 1, Units: 2, Losses: 1}, proved},

	// A link fails, and comes up again.
	{model.Ring(2), model.Bounds{Fills: 2, Units: 2, Failures: 1, Heals: true}, always},
	{model.Ring(2), model.Bounds{Fills: 2, Units: 2, Failures: 1, Heals: true, Timers: 1}, proved},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Failures: 1, Heals: true}, always},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Failures: 1, Heals: true, Timers: 1}, proved},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Failures: 1, Losses: 1, Timers: 1}, proved},
	{model.Ring(4), model.Bounds{Fills: 1, Units: 2, Failures: 1, Heals: true}, proved},
	{model.Ring(5), model.Bounds{Fills: 1, Units: 2, Failures: 1}, proved},
	{model.Eight(2, 2), model.Bounds{Fills: 1, Units: 2, Failures: 1, Heals: true}, proved},
	{model.Branch(3), model.Bounds{Fills: 1, Units: 2, Failures: 1, Heals: true}, proved},
	{model.Victim(2), model.Bounds{Fills: 1, Units: 2, Failures: 1, Heals: true}, proved},
	{model.Shortcut(3), model.Bounds{Fills: 1, Units: 2, Failures: 1, Heals: true}, proved},
	{model.Flooded(3), model.Bounds{Fills: 1, Units: 2, Failures: 1}, proved},

	// Refreshes are late, and pauses run out.
	{model.Ring(2), model.Bounds{Fills: 1, Units: 2, Lapses: 2, Refreshes: 2, Expiries: 2}, long},
	{model.Ring(2), model.Bounds{Fills: 1, Units: 2, Refreshes: 1, Expiries: 1, Losses: 2, Timers: 1}, always},
	{model.Ring(2), model.Bounds{Fills: 1, Units: 2, Lapses: 1, Refreshes: 2, Expiries: 1, Losses: 2, Timers: 1}, proved},
	{model.Ring(2), model.Bounds{Fills: 2, Units: 2, Lapses: 1, Refreshes: 1, Expiries: 1, Losses: 1}, proved},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Lapses: 2, Refreshes: 1, Expiries: 2}, proved},
	{model.Ring(3), model.Bounds{Fills: 1, Units: 2, Lapses: 1, Expiries: 1, Failures: 1}, proved},
	{model.Eight(2, 2), model.Bounds{Fills: 1, Units: 2, Lapses: 1, Expiries: 1}, proved},
	{model.Branch(2), model.Bounds{Fills: 1, Units: 2, Lapses: 1, Refreshes: 1, Expiries: 1, Losses: 1}, proved},
	{model.Shortcut(3), model.Bounds{Fills: 1, Units: 2, Lapses: 1, Expiries: 1}, proved},
}

// TestProof: in no interleaving of a few switches is a deadlock declared that is none, and every
// one that stands is declared.
func TestProof(t *testing.T) {
	rows := make([]string, len(proofCases))
	from := testkit.Sized(always, long)
	if *prove {
		from = proved
	}
	for i, c := range append(slices.Clone(proofCases), tinyCases...) {
		if c.played < from {
			continue
		}
		t.Run(c.fabric.Name+", "+c.bounds.String(), func(t *testing.T) {
			t.Parallel()
			r := model.Explore(c.fabric, c.bounds, newMachine)
			row := fmt.Sprintf("| %s | %v | %d | %d | %d | %d | %d |", c.fabric.Name, c.bounds, r.States, r.Steps, r.Deadlocked, r.Declared+r.Again+r.Late+r.Early, r.Late)
			if t.Log(row); i < len(rows) {
				rows[i] = row
			}
			if r.Trouble != nil {
				t.Errorf("%s\n%s", r.Trouble.What, strings.Join(r.Trouble.Story, "\n"))
			}
			if r.Declared == 0 || r.Deadlocked == 0 {
				t.Errorf("%+v: nothing was declared", r)
			}
			if r.Early > 0 && (c.bounds.Fills < 2 || c.bounds.Timers == 0) {
				t.Errorf("%d declarations by pauses of an earlier period, want none without a second one and a verification", r.Early)
			}
		})
	}
	if *prove {
		t.Cleanup(func() { writeProof(t, rows) })
	}
}

// A known limit: a resume is lost, and the pause after it. Then a verification takes the pause that
// is in force for one of the present period. A check does not: the priority group has a new label.
func TestLostResumeAndPause(t *testing.T) {
	for timers, want := range []bool{false, true} {
		r := model.Explore(model.Ring(2), model.Bounds{Fills: 2, Units: 2, Losses: 2, Timers: uint8(timers), States: 300_000}, newMachine)
		if r.Trouble != nil || r.Early > 0 != want {
			t.Errorf("%d timers: %+v, want such declarations: %v", timers, r, want)
		}
	}
}

// writeProof writes the table of docs/figures.
func writeProof(t *testing.T, rows []string) {
	if t.Failed() || slices.Contains(rows, "") { // wrong, or not all were played
		return
	}
	head := "| fabric | at most | states | steps | states with a deadlock and nothing on its way | steps that declare one | that is just over |\n|---|---|---|---|---|---|---|\n"
	if err := os.WriteFile("../../docs/figures/proof.md", []byte(head+strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
}
