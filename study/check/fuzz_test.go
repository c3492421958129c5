package check

import (
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/sim/simtest"
	"softswitch/study/fuzz"
)

// randomDeadlocks is how many random scenarios of each mode are played.
var randomDeadlocks = testkit.Sized(100, 300)

// TestRandomDeadlocks: each turn of each loop that locks in random scenarios is one that a
// flow takes, while the links are up or down as the file says at some time. A loop may have
// turns of before a failure and of after it.
func TestRandomDeadlocks(t *testing.T) {
	for _, mode := range []fuzz.Mode{fuzz.Usual, fuzz.Built} {
		t.Run(string(mode), func(t *testing.T) { randomDeadlocksOf(t, mode) })
	}
}

func randomDeadlocksOf(t *testing.T, mode fuzz.Mode) {
	seed := testkit.Seed(t)
	locked, mixed := 0, 0
	for i := range randomDeadlocks {
		text := string(fuzz.New(seed, i, mode).Text("none", ""))
		want := played(t, simtest.Parse(t, "random.yaml", text, "none"))
		if len(want) == 0 {
			continue
		}
		locked++
		c := checker(t, simtest.Parse(t, "random.yaml", text, "none"))
		var states []map[string]bool
		for k := range c.Cases(0) {
			states = append(states, c.flowTurns(c.Case(k)))
		}
		for _, loop := range want {
			hops := strings.Split(loop, ", ")
			in := func(turns map[string]bool) bool {
				for j, h := range hops {
					if !turns[h+" > "+hops[(j+1)%len(hops)]] {
						return false
					}
				}
				return true
			}
			if slices.ContainsFunc(states, in) {
				continue
			}
			mixed++
			all := map[string]bool{}
			for _, s := range states {
				for turn := range s {
					all[turn] = true
				}
			}
			if !in(all) {
				t.Fatalf("case %d: no flow takes some turn of %s\n%s", i, loop, text)
			}
		}
	}
	t.Logf("%d of %d scenarios lock; %d loops have turns of before and after a failure", locked, randomDeadlocks, mixed)
	if locked < randomDeadlocks/4 {
		t.Errorf("%d of %d scenarios lock: too few to tell", locked, randomDeadlocks)
	}
}

// flowTurns are the turns that flows take in a case, by the names of hops.
func (c *Checker) flowTurns(k Case) map[string]bool {
	turns := map[string]bool{}
	c.setLinks(k.Links, false)
	for i := range c.flows {
		edges, _ := c.follow(i)
		name := func(n node) string {
			priority := c.priorities[c.priorityOf(n)]
			if c.alike {
				priority = c.flows[i].priority
			}
			return simtest.Hops([]string{c.linkName(n)}, []int{int(priority)})
		}
		for _, e := range c.waiting(edges) {
			turns[name(c.groupOf(c.tail(e)))+" > "+name(c.headGroup(e))] = true
		}
	}
	c.setLinks(k.Links, true)
	return turns
}
