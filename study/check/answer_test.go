package check

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/lists"
	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim/simtest"
)

const fatTree = "name: k4\nduration: 1s\ntopology: {fattree: {k: 4}, rate: 1Gbit/s}\n"

// TestAnswer: the sentence says how many cycles there are for which failures, and what they rest on.
func TestAnswer(t *testing.T) {
	withRoute := strings.Replace(leafSpine, "duration:", "routes: [{at: x, to: l1, ports: [l0]}, {at: l0, to: l1, ports: [x]}]\nduration:", 1)
	for _, c := range []struct {
		name, text string
		failures   int
		down       []string
		want       string
	}{
		{"no cycle", simtest.Text(t, "pause"), 2, nil, "no cycle without failures; with one failure: none; with two failures: none"},
		{"no cycle of no failure", fatTree, 0, nil, "no cycle without failures"},
		{"backups", fatTree, 2, nil, "no cycle without failures; with one failure: 32; with two failures: 256; only by backup routes that lead down and up again; in 5 shapes"},
		{"the file's failures", simtest.Text(t, "fattree-on-loop"), 0, nil, "no cycle without failures; with the file's failures: 1; only by backup routes that lead down and up again"},
		{"routes of the file", withRoute, 0, nil, "1 cycle without failures; none needs a backup route"},
		{"both", withRoute, 2, nil, "1 cycle without failures; with one failure: 12; with two failures: 39; 51 of them only by backup routes; in 5 shapes"},
		{"no backups", strings.Replace(fatTree, "k: 4}", "k: 4}, routing: bgp", 1), 0, nil, "no cycle without failures"},
		{"routes of a protocol", strings.Replace(ring, "topology: {", "topology: {routing: igp, ", 1), 0, nil, "2 cycles without failures; by routes of igp; in 1 shape"},
		{"those of a file beside them", strings.Replace(withRoute, "topology:", "topology:\n  routing: igp", 1), 0, nil, "1 cycle without failures; by routes of igp and of the file that lead down and up again"},
		{"without levels", ring, 0, nil, "2 cycles without failures; none needs a backup route; in 1 shape"},
		{"supposed", fatTree, 0, []string{"core0--agg1-0", "agg3-0--core1"}, "with core0--agg1-0, core1--agg3-0 down: 6 cycles; only by backup routes that lead down and up again; in 2 shapes"},
		{"supposed, and one more", fatTree, 1, []string{"agg3-0--core1"}, "with core1--agg3-0 down: no cycle; with one further failure: 53; only by backup routes that lead down and up again; in 6 shapes"},
		{"a switch", fatTree, 0, []string{"agg0-0"}, "with agg0-0--edge0-0, agg0-0--edge0-1, core0--agg0-0, core1--agg0-0 down: 6 cycles; only by backup routes that lead down and up again; in 1 shape"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := answered(t, c.text, c.failures, c.down...).Report.Answer; got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestWithoutBackups: in random fabrics a cycle needs backups if the plain recomputation of the same file
// without any has not all of its turns, and there is none without them where that has none.
func TestWithoutBackups(t *testing.T) {
	seed := testkit.Seed(t)
	need, spare, valleyFree := 0, 0, 0
	for i := range fabrics / 4 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		text := randomFabric(rng)
		switch rng.IntN(3) {
		case 0:
			text = randomClos(rng)
		case 1:
			text = randomRing(rng)
		}
		c := randomChecker(t, i, text, false)
		if c == nil {
			continue
		}
		plan := c.plan
		k, err := CheckAll(context.Background(), plan, Options{Failures: 2, Workers: 2}, io.Discard)
		if err == nil {
			err = k.Answer(context.Background(), io.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
		without := k.Report.WithoutBackups
		if without == nil {
			continue
		}
		ref := newReference(bared(t, c.plan.Scenario), k.checker.priorities)
		h := held{c: k.checker}
		for _, cy := range k.Report.Cycles {
			has := ref.hostEdges(k.checker.Down(&cy)).has(h.hopsOf(cy.merged.edges, k.checker.priorities))
			if cy.NeedsBackup == has {
				t.Fatalf("seed %d, fabric %d: %s %v: needs backups: %v, and without them its turns are there: %v\n%s", seed, i, cy.When, cy.Hops, cy.NeedsBackup, has, text)
			}
			if has {
				spare++
			} else {
				need++
			}
		}
		cyclic := 0
		for j := range k.Report.Cases {
			if len(simpleCycles(ref.hostEdges(k.checker.Case(j).Links))) > 0 {
				cyclic++
			}
		}
		if without.Cyclic != cyclic {
			t.Fatalf("seed %d, fabric %d: %d cases with a cycle without backups, want %d\n%s", seed, i, without.Cyclic, cyclic, text)
		}
		if without.ValleyFree {
			valleyFree++
		}
	}
	t.Logf("%d cycles need backups, %d do not; %d fabrics whose routes lead down and up by backups alone", need, spare, valleyFree)
	if need < 100 || spare < 20 || valleyFree < 5 {
		t.Error("too few to tell")
	}
}

// randomClos is a fabric of two tiers, some links of which are missing, with routes of its own now and then.
func randomClos(rng *rand.Rand) string {
	leaves, spines := 3+rng.IntN(2), 2+rng.IntN(2)
	var switches, hosts, links []string
	for j := range spines {
		switches = append(switches, fmt.Sprintf("x%d", j))
	}
	for i := range leaves {
		switches, hosts = append(switches, fmt.Sprintf("l%d", i)), append(hosts, fmt.Sprintf("h%d", i))
		links = append(links, fmt.Sprintf("h%d--l%d", i, i))
		for j := range spines {
			if j == i%spines || rng.IntN(4) > 0 {
				links = append(links, fmt.Sprintf("l%d--x%d", i, j))
			}
		}
	}
	if join := fmt.Sprintf("l0--x%d", 1%spines); !slices.Contains(links, join) {
		links = append(links, join)
	}
	if join := "l2--x1"; spines == 3 && !slices.Contains(links, join) {
		links = append(links, join)
	}
	return fmt.Sprintf("name: clos\nduration: 1s\ntopology: {switches: [%s], hosts: [%s], links: [%s], rate: 1Gbit/s}\n",
		strings.Join(switches, ", "), strings.Join(hosts, ", "), strings.Join(links, ", "))
}

// randomRing is a ring of switches with a host each, and perhaps a link across it.
func randomRing(rng *rand.Rand) string {
	n := 4 + rng.IntN(3)
	var switches, hosts, links []string
	for i := range n {
		switches, hosts = append(switches, fmt.Sprintf("s%d", i)), append(hosts, fmt.Sprintf("h%d", i))
		links = append(links, fmt.Sprintf("s%d--h%d", i, i), fmt.Sprintf("s%d--s%d", i, (i+1)%n))
	}
	if rng.IntN(2) == 0 {
		links = append(links, fmt.Sprintf("s0--s%d", 2+rng.IntN(n-3)))
	}
	return fmt.Sprintf("name: ring\nduration: 1s\ntopology: {switches: [%s], hosts: [%s], links: [%s], rate: 1Gbit/s}\n",
		strings.Join(switches, ", "), strings.Join(hosts, ", "), strings.Join(links, ", "))
}

// bared is the plan of a scenario without flows, each route of which says that it has no backup.
func bared(t *testing.T, s *scenario.Scenario) *scenario.Plan {
	t.Helper()
	bare := *s
	bare.Flows, bare.Events = nil, nil
	bare.Routes = slices.Clone(s.Routes)
	plan := simtest.Compile(t, &bare)
	for at := range s.Fabric.Switches() {
		for to := range s.Fabric.Subnets {
			if !plan.Table.Group(at, to).Ports.Empty() {
				bare.Routes = append(bare.Routes, scenario.Override{At: at, To: []int{to}, NoBackup: true})
			}
		}
	}
	return simtest.Compile(t, &bare)
}

// TestSuppose: with links supposed down there are cycles in the cases in which there are with them failed.
func TestSuppose(t *testing.T) {
	seed := testkit.Seed(t)
	with, none := 0, 0
	for i := range fabrics / 8 {
		text := randomFabric(rand.New(rand.NewPCG(seed, uint64(i))))
		c := randomChecker(t, i, text, false)
		if c == nil {
			continue
		}
		results := resultsOf(c, 2)
		cyclic := map[string]bool{}
		for j, r := range results {
			cyclic[fmt.Sprint(c.Case(j).Links)] = r.Cyclic
		}
		for _, l := range c.links {
			d, err := New(c.plan, nil)
			if err != nil {
				t.Fatal(err)
			}
			d.Suppose([]int{l})
			for j, r := range resultsOf(d, 1) {
				k := d.Case(j)
				want, known := cyclic[fmt.Sprint(k.Links)]
				if known && r.Cyclic != want {
					t.Fatalf("seed %d, fabric %d: with link %d down, %v %v: cyclic %v, want %v\n%s", seed, i, l, k.Kind, d.Name(k), r.Cyclic, want, text)
				}
				if !slices.Contains(k.Links, l) || slices.Contains(d.Name(k), c.plan.Fabric.Links[l].Name) {
					t.Fatalf("seed %d, fabric %d: case %d is %v, called %v", seed, i, j, k.Links, d.Name(k))
				}
				if known && want {
					with++
				} else if known {
					none++
				}
			}
		}
	}
	if with < 100 || none < 100 {
		t.Errorf("%d cases with a cycle, %d without: too few to tell", with, none)
	}
}

// TestUnknownLink: a name that is no link's is refused with what is near.
func TestUnknownLink(t *testing.T) {
	f := simtest.Parse(t, "test.yaml", fatTree, "none").Fabric
	for _, c := range []struct{ name, want string }{
		{"core9", `no link and no switch is called "core9" (did you mean "core0" or "core1" or "core2"?)`},
		{"core0--agg1-1", `(did you mean "core0--agg1-0" or`},
		{"core0--agg1-1", "; links there: core0--agg0-0, agg1-1--edge1-0,"},
		{"h0-0-0", "; links there: edge0-0--h0-0-0"},
		{"nowhere-near", "links are called such as "},
	} {
		if _, err := LinksOf(f, []string{"core0", c.name}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	links, err := LinksOf(f, []string{"agg0-0--core0", "core0--agg0-0", "agg0-0"})
	if err != nil || len(links) != 4 {
		t.Errorf("a link both ways and its switch: %v, %v; want 4 links", links, err)
	}
}

// described is a cycle of a fat-tree in the words of its shape, made of its names alone.
func described(r *Report, cy *Cycle) string {
	digits := regexp.MustCompile(`[0-9].*`)
	var from, ring []string
	for _, h := range cy.Hops {
		tail, _, _ := strings.Cut(h.Link, "--")
		from, ring = append(from, tail), append(ring, digits.ReplaceAllString(tail, ""))
	}
	var all []string
	for i := range ring {
		all = append(all, strings.Join(slices.Concat(ring[i:], ring[:i]), "-"))
	}
	slices.Sort(from)
	flooded := slices.ContainsFunc(cy.Turns, func(t Turn) bool { return t.Flooded })
	return fmt.Sprint(slices.Min(all), len(slices.Compact(from)), cy.When, cy.Priorities, cy.RoutingLoop, cy.NeedsBackup, len(cy.Flows) > 0, flooded)
}

// TestShapes: each cycle is in one shape, the shapes differ in what they say, and each says of its cycles what
// holds for them.
func TestShapes(t *testing.T) {
	k := answered(t, fatTree, 2)
	r := k.Report
	roles := rolesOf(k.plan.Fabric)
	counts := map[string]int{}
	for i := range r.Cycles {
		counts[described(r, &r.Cycles[i])]++
	}
	total := 0
	seen := map[string]bool{}
	for i := range r.Shapes {
		s := &r.Shapes[i]
		example := &r.Cycles[s.Example-1]
		_, key := k.shape(example, roles)
		if seen[key] {
			t.Errorf("two shapes say %s", key)
		}
		seen[key] = true
		total += s.Count
		if words := described(r, example); counts[words] < s.Count {
			t.Errorf("shape %d has %d cycles, and %d are %s", i+1, s.Count, counts[words], words)
		}
		if len(s.Failed) == 0 || s.Rates[0] != 1_000_000_000 {
			t.Errorf("shape %d: %+v", i+1, s)
		}
		for j, h := range s.hops(example) {
			if !strings.HasPrefix(h[0], s.Roles[j]) {
				t.Errorf("shape %d: hop %s is said to be of %s", i+1, h[0], s.Roles[j])
			}
		}
	}
	if total != len(r.Cycles) || len(r.Shapes) != 5 || len(counts) > len(r.Shapes) {
		t.Errorf("%d cycles in %d shapes, want %d in 5; by their names there are %d", total, len(r.Shapes), len(r.Cycles), len(counts))
	}
}

// TestRoles: switches are called by the letters of their level, or by its number where these do not tell levels
// apart.
func TestRoles(t *testing.T) {
	for _, c := range []struct{ switches, links, want string }{
		{"leaf1, leaf2, spine1", "h1--leaf1, h2--leaf2, leaf1--spine1, leaf2--spine1", "leaf leaf spine host host"},
		{"leaf1, tor2, spine1", "h1--leaf1, h2--tor2, leaf1--spine1, tor2--spine1", "tier1 tier1 tier2 host host"},
		{"s1, s2, s3", "h1--s1, h2--s2, s1--s3, s2--s3", "tier1 tier1 tier2 host host"},
		{"s1, s2", "h1--s1, h2--s2, s1--s2", "s s host host"},
		{"a, b", "h1--a, h2--b, a--b", "switch switch host host"},
	} {
		s := parse(t, fmt.Sprintf("topology: {switches: [%s], hosts: [h1, h2], links: [%s], rate: 1Gbit/s}\n", c.switches, c.links))
		if got := strings.Join(rolesOf(s.Fabric), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.switches, got, c.want)
		}
	}
}

// TestLossless: the ends of links with less headroom than they need are counted and named, as validate warns of
// them, and so are switches whose pool is too small.
func TestLossless(t *testing.T) {
	const pair = "name: pair\nduration: 1s\ntopology: {switches: [s1, s2], hosts: [h1, h2], links: [h1--s1, s1--s2, s2--h2], rate: 100Gbit/s, delay: 1us}\n"
	for _, c := range []struct{ more, want string }{
		{"", "3 links, each with the headroom that it needs"},
		{"buffer: {xoff: 20000}\n", "3 of 3 links have less headroom than needed: h1--s1 at s1 20000 of 29606 bytes, s1--s2 at s1 20000 of 29606 bytes, s1--s2 at s2 20000 of 29606 bytes, and 1 more end; --json has them all"},
		{"host: {rx_buffer: 40000}\n", "2 of 3 links have less headroom than needed: h1--s1 at h1 10000 of 29606 bytes, s2--h2 at h2 10000 of 29606 bytes"},
		{"pfc: {lossless: []}\n", "no priority is lossless"},
		{"buffer: {headroom_pool: {ratio: 4}}\n", "3 links, each with the headroom that it needs; the headroom pool of s1, s2 is less than all groups at once can need"},
	} {
		r := answered(t, pair+c.more, 0).Report
		if got := r.lossless(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.more, got, c.want)
		}
		if warned := len(r.Warnings) > 0; warned != (len(r.short()) > 0 || len(r.PoolsShort) > 0) {
			t.Errorf("%s: the file is warned of %v", c.more, r.Warnings)
		}
	}
}

// TestPage: the page draws a picture of each shape, shows the answer, the witness and the cures, and needs
// nothing else; Markdown says the same.
func TestPage(t *testing.T) {
	text := simtest.Text(t, "fattree-on-loop")
	k := answered(t, text, 0)
	parse := func() (*scenario.Scenario, error) { return load.Scenario("test.yaml", []byte(text)) }
	if err := k.Cures(context.Background(), parse, io.Discard); err != nil {
		t.Fatal(err)
	}
	k.Report.Cycles[0].Witness = &Witness{File: "a<b.yaml", Tries: 1, Onset: 1000}
	want := []string{"the file's failures: 1; only by backup routes", "agg-core-agg-core", "core0--agg2-0", "deadlocks at 1µs", "- {at: core0, to: 10.1.0.0/24, ports: [agg1-0], backup: []}"}
	page := k.pageOf(t, k.WriteHTML, append(slices.Clone(want), "The cheapest: <b>routes</b>", "a&lt;b.yaml")...)
	if bytes.Contains(page, []byte("://")) || bytes.Count(page, []byte("<use ")) != 1 || bytes.Count(page, []byte(`fill="#06c"`)) != 4 {
		t.Errorf("page: %s", page)
	}
	k.pageOf(t, k.WriteMarkdown, append(slices.Clone(want), `n0["agg0-0"] ==> n1["core0"]`, "| core0--agg2-0 | A |")...)

	clean := answered(t, simtest.Text(t, "pause"), 0)
	page = clean.pageOf(t, clean.WriteHTML, "No cycle without failures", "The fabric")
	if bytes.Contains(page, []byte("Cures")) || bytes.Count(page, []byte("<use ")) != 1 {
		t.Errorf("page of no cycle: %s", page)
	}
	clean.pageOf(t, clean.WriteMarkdown, "**No cycle without failures.**")

	short := answered(t, fatTree+"buffer: {xoff: 100}\n", 0)
	short.pageOf(t, short.WriteHTML, "Headroom that is too small", `<td class="number">100</td>`, "30 more; --json has them all.")
	short.pageOf(t, short.WriteMarkdown, "| core0--agg0-0 | core0 | 100 | ")
}

// pageOf is what write writes, which has to contain the texts and, if it is HTML, to be well-formed.
func (k *Checked) pageOf(t *testing.T, write func(io.Writer) error, texts ...string) []byte {
	t.Helper()
	var page bytes.Buffer
	if err := write(&page); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if !strings.Contains(strings.ReplaceAll(page.String(), "&#39;", "'"), text) {
			t.Errorf("%q is not in\n%s", text, page.String())
		}
	}
	svg := lists.Map(strings.SplitAfter(page.String(), "</svg>"), func(part string) string {
		_, after, _ := strings.Cut(part, "<svg")
		return "<svg" + after
	})
	for _, s := range svg[:len(svg)-1] {
		if err := xml.Unmarshal([]byte(s), new(struct{})); err != nil {
			t.Errorf("%v in\n%s", err, s)
		}
	}
	return page.Bytes()
}
