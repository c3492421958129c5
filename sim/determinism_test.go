package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"softswitch/internal/progress"
	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/scenarios"
)

// The same seed gives the same trace and verdict, on one processor or two, and in
// whatever order the machines were made; another seed, where wires are not exact,
// another one.
func TestDeterminism(t *testing.T) {
	for _, text := range []string{ring, permutation("300us"), shipped(t, "pause.yaml")} {
		p := plan(t, text)
		t.Run(p.Scenario.Name, func(t *testing.T) {
			want := run(t, p, 7, nil)
			if want.lines < 100 {
				t.Errorf("only %d events: this proves little", want.lines)
			}
			same := func(how string, got outcome) {
				t.Helper()
				if got != want {
					t.Errorf("%s: %v, want %v", how, got, want)
				}
			}
			same("again", run(t, p, 7, nil))
			for _, n := range []int{1, 2} {
				before := runtime.GOMAXPROCS(n)
				same("another number of processors", run(t, p, 7, nil))
				runtime.GOMAXPROCS(before)
			}
			shuffle := testkit.Seed(t)
			same("another order", run(t, p, 7, rand.New(rand.NewPCG(shuffle, 0)).Perm(len(p.Fabric.Nodes))))
			same("compiled anew", run(t, plan(t, text), 7, nil))
			for n := 2; n <= 5; n++ {
				same(fmt.Sprintf("%d partitions", n), partitioned(t, p, 7, n, nil))
				same(fmt.Sprintf("%d partitions at once", n), partitioned(t, p, 7, n, progress.AtOnce))
			}
			jitters := p.Links[0].Jitter > 0
			if got := run(t, p, 8, nil); (got.trace != want.trace) != jitters {
				t.Errorf("another seed, jitter %v: the trace differs: %v", jitters, got.trace != want.trace)
			}
		})
	}
}

func shipped(t *testing.T, file string) string {
	t.Helper()
	b, err := scenarios.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// partsOf are the parts of a plan, whose machines are made in an order.
func partsOf(p *scenario.Plan, order []int) parts {
	of := planned(p)
	of.order = order
	return of
}
