package check

import (
	"slices"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/internal/testkit"
	"softswitch/sim/simtest"
	"softswitch/study/fuzz"
)

// randomDeadlocks is how many random scenarios of each mode are played.
var randomDeadlocks = testkit.Sized(40, 300)

// TestRandomDeadlocks: each turn of each loop that locks in random scenarios is one that a
// flow takes, while the links are up or down as the file says at some time. A loop may have
// turns of before a failure and of after it, and a turn a hop of before and one of after.
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
			if !in(c.mixedTurns()) {
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
		c.nameTurns(turns, i, edges)
	}
	c.setLinks(k.Links, true)
	return turns
}

// nameTurns adds those of these edges of flow i.
func (c *Checker) nameTurns(turns map[string]bool, i int, edges []edge) {
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

// mixedTurns are the turns that flows can take while links fail and come back: a frame that came by a hop of one case
// may leave by one of another.
func (c *Checker) mixedTurns() map[string]bool {
	turns := map[string]bool{}
	for i := range c.flows {
		met := map[node]bool{}
		for grown := true; grown; {
			grown = false
			for k := range c.Cases(0) {
				links := c.Case(k).Links
				c.setLinks(links, false)
				edges, _ := c.follow(i)
				for n := range met {
					edges = append(edges, c.turnsFrom(i, n)...)
				}
				c.nameTurns(turns, i, edges)
				for _, e := range edges {
					for _, n := range []node{c.tail(e), c.head(e)} {
						grown = grown || !met[n]
						met[n] = true
					}
				}
				c.setLinks(links, true)
			}
		}
	}
	return turns
}

// turnsFrom are the turns of a frame of flow i that came by hop n, with the links as they are.
func (c *Checker) turnsFrom(i int, n node) (edges []edge) {
	f := c.plan.Scenario.Flows[i]
	_, addr := c.plan.Scenario.Addresses(&f)
	at, priority := c.portOf(n), c.priorities[c.priorityOf(n)]
	if c.alike {
		priority = c.flows[i].priority
	}
	sw := c.switches[at.sw]
	outs, flooded := sw.Ways(at.n, uint32(addr), priority)
	if !flooded && !outs.Empty() {
		outs = dataplane.Choose(sw, outs, c.flows[i].hash).Set()
	}
	for ; !outs.Empty(); outs.Pop() {
		to := sw.PriorityOut(priority, at.n, outs.First(), uint8(f.TTL-1))
		if far := c.ports[c.first[at.sw]+int32(outs.First())].peer; far >= 0 && c.index[to] >= 0 {
			edges = append(edges, c.edge(n, outs.First(), int(c.index[to])))
		}
	}
	return edges
}
