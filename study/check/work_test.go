package check

import (
	"fmt"
	"testing"

	"softswitch/internal/testkit"
)

// TestWork: single failures of twice the fabric take less than five times the work, on fabrics with a cycle
// while nothing fails: walks of a destination, searches for cycles and questions to switches are counted.
func TestWork(t *testing.T) {
	work := func(switches int) map[string]int {
		c := checker(t, parse(t, fmt.Sprintf("topology: {jellyfish: {switches: %d, degree: 4, hosts_per_switch: 1, seed: 1}, rate: 1Gbit/s}\n", switches)))
		if r := c.Report(resultsOf(c, 1), 1); r.Cyclic != r.Cases {
			t.Fatalf("%d switches: %d of %d cases have a cycle: too few to tell", switches, r.Cyclic, r.Cases)
		}
		return map[string]int{"walks": c.did.walks, "searches": c.g.searches, "questions": c.did.questions}
	}
	fewer := testkit.Sized(50, 100)
	one, two := work(fewer), work(2*fewer)
	t.Logf("%d switches: %v; %d: %v", fewer, one, 2*fewer, two)
	for what, n := range one {
		if n == 0 || two[what] >= 5*n {
			t.Errorf("%s: %d of %d switches, %d of twice as many, %.1f times as many; want less than 5", what, n, fewer, two[what], float64(two[what])/float64(n))
		}
	}
}
