package check

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/scenario/load"
)

// TestPairs: what is said of two links from what each of them opens is what a check of the whole fabric says.
func TestPairs(t *testing.T) {
	seed := testkit.Seed(t)
	decided, cyclic := 0, 0
	for i := range testkit.Sized(150, 1500) {
		text := leveled(rand.New(rand.NewPCG(seed, uint64(i))))
		s, err := load.Scenario("random.yaml", []byte(text))
		if err != nil {
			t.Fatalf("fabric %d: %v\n%s", i, err, text)
		}
		plan, err := scenario.Compile(s)
		if err != nil {
			continue // a route that leaves a backup only
		}
		c, err := New(plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		results := resultsOf(c, 1)
		pairs := c.newPairs(results)
		if pairs == nil {
			continue // no failure has a cycle
		}
		for j := c.Singles(); j < c.Cases(2); j++ {
			c.known.pairs = pairs
			got := c.checkPair(c.Case(j))
			if got == nil {
				continue
			}
			decided++
			c.known.pairs = nil
			want := c.Check(j)
			if want.Cyclic {
				cyclic++
			}
			if got.Cyclic != want.Cyclic || !reflect.DeepEqual(got.cycles, want.cycles) || !reflect.DeepEqual(got.flows, want.flows) {
				t.Fatalf("fabric %d, %v: %v, want %v\n%s", i, c.Name(c.Case(j)), got.cycles, want.cycles, text)
			}
		}
	}
	t.Logf("%d pairs decided, %d with a cycle", decided, cyclic)
	if decided < 1000 || cyclic < 50 {
		t.Errorf("%d pairs decided, %d with a cycle: too few to tell", decided, cyclic)
	}
}

// leveled is a scenario file of three levels of switches, with some routes of its own.
func leveled(rng *rand.Rand) string {
	var names, links []string
	low, middle, top := 2+rng.IntN(3), 2+rng.IntN(2), 1+rng.IntN(3)
	level := func(letter string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("%s%d", letter, i))
		}
		names = append(names, all...)
		return all
	}
	lows, middles, tops := level("l", low), level("m", middle), level("t", top)
	for i, m := range middles {
		for _, l := range lows {
			if i == 0 || l == lows[0] || rng.IntN(8) > 0 {
				links = append(links, l+"--"+m)
			}
		}
		for _, x := range tops {
			if i == 0 || rng.IntN(4) > 0 {
				links = append(links, m+"--"+x)
			}
		}
	}
	all := links
	var hosts []string
	for j, l := range lows {
		hosts = append(hosts, fmt.Sprintf("h%d", j))
		links = append(links, fmt.Sprintf("h%d--%s", j, l))
	}
	text := fmt.Sprintf("name: leveled\nduration: 1s\ntopology:\n  switches: [%s]\n  hosts: [%s]\n  links: [%s]\n  rate: 1Gbit/s\n",
		strings.Join(names, ", "), strings.Join(hosts, ", "), strings.Join(links, ", "))
	head := "routes:\n"
	for range rng.IntN(3) {
		a, b, _ := strings.Cut(all[rng.IntN(len(all))], "--")
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		to := rng.IntN(len(hosts))
		if a == lows[to] {
			continue
		}
		text += fmt.Sprintf("%s  - {at: %s, to: %s, %s: [%s]}\n", head, a, hosts[to], []string{"ports", "backup"}[rng.IntN(2)], b)
		head = ""
	}
	if from := rng.IntN(low); rng.IntN(2) == 0 {
		text += fmt.Sprintf("flows:\n  - {name: A, from: h%d, to: h%d}\n  - {name: B, from: h%d, to: h%d}\n", from, (from+1)%low, (from+1)%low, from)
	}
	return text
}
