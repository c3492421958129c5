package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// eventFile is a scenario of three switches with these events.
func eventFile(events []string) string {
	return "name: events\ntopology:\n  switches: [s1, s2, s3]\n  hosts: [h1]\n  links: [h1--s1, s1--s2, s2--s3]\n  rate: 100Mbit/s\nduration: 100ms\nevents:\n" + strings.Join(events, "")
}

// TestEventsOfTheDead: which events ask something of a switch that is dead by then, against all pairs
// of events.
func TestEventsOfTheDead(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 300 {
		type asked struct {
			node, at int
			kill     bool
		}
		var all []asked
		var text, want []string
		for i := range 1 + r.IntN(12) {
			e := asked{1 + r.IntN(3), r.IntN(6), r.IntN(4) == 0}
			do := map[bool]string{true: "kill", false: "stop"}[e.kill]
			text = append(text, fmt.Sprintf("  - {at: %dms, do: %s, switch: s%d}\n", e.at, do, e.node))
			if slices.ContainsFunc(all, func(b asked) bool {
				return b.node == e.node && (b.kill && b.at <= e.at || e.kill && e.at < b.at)
			}) {
				want = append(want, fmt.Sprintf("events[%d]", i))
			}
			all = append(all, e)
		}
		_, err := Parse("events.yaml", []byte(eventFile(text)), Known{Detectors: []string{"itsy"}})
		var got []string
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				got = append(got, strings.Split(line, ": ")[1])
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("faults at %v, want %v:\n%s", got, want, strings.Join(text, ""))
		}
	}
}

// BenchmarkEvents reads a file with 60,000 events, and with an eighth of them.
func BenchmarkEvents(b *testing.B) {
	for _, n := range []int{7500, 60_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var text []string
			for i := range n {
				text = append(text, fmt.Sprintf("  - {at: %dus, do: %s, switch: s2}\n", i, []string{"stop", "continue"}[i%2]))
			}
			file := []byte(eventFile(text))
			for b.Loop() {
				if _, err := Parse("events.yaml", file, Known{Detectors: []string{"itsy"}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N*n)/float64(unit.Microsecond), "us/event")
		})
	}
}
