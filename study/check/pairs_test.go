package check

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/lists"
	"softswitch/internal/testkit"
)

// TestPairs: what is said of two links from what each of them opens is what a check of the whole fabric says.
func TestPairs(t *testing.T) {
	seed := testkit.Seed(t)
	decided, cyclic := 0, 0
	for i := range testkit.Sized(150, 1500) {
		text := leveled(rand.New(rand.NewPCG(seed, uint64(i))))
		c := randomChecker(t, i, text, false)
		if c == nil {
			continue
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

// TestPairsOfProtocol: where routes are those of a protocol, what is said of two links without a check of the whole
// fabric is what such a check says; and no destination, aimed at and walked anew, has an edge that there is not while
// nothing fails.
func TestPairsOfProtocol(t *testing.T) {
	seed := testkit.Seed(t)
	decided, whole, cyclic := 0, 0, 0
	for i := range testkit.Sized(500, 5000) {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		text := withProtocol(rng, leveled(rng))
		c := randomChecker(t, i, text, true)
		if c == nil {
			continue
		}
		results := resultsOf(c, 1)
		pairs := c.newPairs(results)
		if pairs == nil {
			continue // no failure has a cycle
		}
		for j := c.Singles(); j < c.Cases(2); j++ {
			k := c.Case(j)
			c.known.pairs = pairs
			got := c.checkPair(k)
			c.known.pairs = nil
			want := c.Check(j)
			if got == nil {
				whole++
				if want.Cyclic {
					cyclic++
				}
				continue
			}
			decided++
			if new := newEdges(c, k, results[0].edges); got.Cyclic || want.Cyclic || len(new) > 0 {
				t.Fatalf("fabric %d, %v: cyclic %v, want %v; new edges %v\n%s", i, c.Name(k), got.Cyclic, want.Cyclic, new, text)
			}
		}
	}
	t.Logf("%d pairs decided, %d checked as a whole, %d of these with a cycle", decided, whole, cyclic)
	if decided < 2000 || cyclic < 100 || whole > 2*decided {
		t.Errorf("%d pairs decided, %d checked as a whole, %d of these with a cycle: too few to tell", decided, whole, cyclic)
	}
}

// TestLastTwoPorts: two links are all by which m0 sends to h3. Either alone closes nothing. Without both, l2, to which
// m1 sends what is for h3, has m1 alone left, and sends it back.
func TestLastTwoPorts(t *testing.T) {
	c := checker(t, parse(t, `topology:
  switches: [l0, l1, l2, l3, m0, m1, t0]
  hosts: [h0, h1, h2, h3]
  links: [l0--m0, l1--m0, l2--m0, l3--m0, m0--t0, l0--m1, l2--m1, l3--m1, m1--t0, h0--l0, h1--l1, h2--l2, h3--l3, h0--l2, h3--l0]
  shared_address: [h0, h3]
  routing: bgp
  rate: 1Gbit/s
routes: [{at: m1, to: h3, ports: [l2]}]
`))
	for i, r := range resultsOf(c, 2) {
		name := strings.Join(c.Name(c.Case(i)), " ")
		if want := name == "l0--m0 l3--m0"; want && !r.Cyclic || (name == "l0--m0" || name == "l3--m0") && r.Cyclic {
			t.Errorf("%s: cyclic %v, want %v", name, r.Cyclic, want)
		}
	}
}

// newEdges are the edges of a case that are not among those of no failure, by routes that are all found anew.
func newEdges(c *Checker, k Case, none bitset) (edges []edge) {
	c.setLinks(k.Links, false)
	defer c.setLinks(k.Links, true)
	for _, l := range k.Links {
		c.routing.router.SetLink(l, false)
		defer c.routing.router.SetLink(l, true)
	}
	c.routing.heal()
	for d := range c.dests {
		c.reroute(d)
		edges = append(edges, lists.Where(c.walk(d, nil), func(e edge) bool { return !none.has(e) })...)
	}
	return edges
}

// withProtocol is a fabric with routes of a protocol, and sometimes with other links, hosts at two switches, LAGs, and
// AS numbers of its own.
func withProtocol(rng *rand.Rand, text string) string {
	one := func(of int) bool { return rng.IntN(of) == 0 }
	list := func(key string) []string {
		_, rest, _ := strings.Cut(text, "  "+key+": [")
		all, _, _ := strings.Cut(rest, "]")
		return strings.Split(all, ", ")
	}
	switches, hosts, links := list("switches"), list("hosts"), list("links")
	some := func() string { return switches[rng.IntN(len(switches))] }
	var shared, lags []string
	for range rng.IntN(3) {
		a, b := some(), some()
		if a != b && !slices.Contains(links, a+"--"+b) && !slices.Contains(links, b+"--"+a) {
			links = append(links, a+"--"+b)
		}
	}
	degree := func(s string) int { return strings.Count(strings.Join(links, "--")+"--", s+"--") }
	for range rng.IntN(4) {
		j := rng.IntN(len(links))
		if a, b, _ := strings.Cut(links[j], "--"); !slices.Contains(hosts, a) && degree(a) > 2 && degree(b) > 2 && !strings.Contains(text, "at: "+a+",") && !strings.Contains(text, "at: "+b+",") {
			links = slices.Delete(links, j, j+1)
		}
	}
	for _, l := range links {
		if a, _, _ := strings.Cut(l, "--"); !slices.Contains(hosts, a) && one(8) {
			lags = append(lags, fmt.Sprintf("{link: %s, members: 2}", l))
		}
	}
	for j, h := range hosts {
		if next := fmt.Sprintf("l%d", rng.IntN(len(hosts))); one(3) && next != fmt.Sprintf("l%d", j) {
			links = append(links, h+"--"+next)
			if !one(3) {
				shared = append(shared, h)
			}
		}
	}
	key := "  shared_address: [" + strings.Join(shared, ", ") + "]\n"
	if one(4) {
		key += "  lags: [" + strings.Join(lags, ", ") + "]\n"
	}
	switch rng.IntN(3) {
	case 0:
		key += "  routing: igp\n"
	case 1:
		key += "  routing: bgp\n"
	default:
		rng.Shuffle(len(switches), func(i, j int) { switches[i], switches[j] = switches[j], switches[i] })
		n := 2 + rng.IntN(len(switches)-2)
		m := n + rng.IntN(len(switches)-n)
		key += fmt.Sprintf("  routing: bgp\n  shared_as: [[%s]", strings.Join(switches[:n], ", "))
		if m-n > 1 {
			key += fmt.Sprintf(", [%s]", strings.Join(switches[n:m], ", "))
		}
		key += "]\n"
	}
	text = strings.Replace(text, strings.Join(list("links"), ", "), strings.Join(links, ", "), 1)
	return strings.Replace(text, "  rate:", key+"  rate:", 1)
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
