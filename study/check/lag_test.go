package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/scenario/load"
)

// TestLAGIsOneLink: a random fabric in which links are LAGs, of which all members fail, has the cycles that
// it has with single links, each once.
func TestLAGIsOneLink(t *testing.T) {
	seed := testkit.Seed(t)
	with, wide := 0, 0
	for i := range fabrics {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		text := randomFabric(rng)
		for _, key := range []string{"flows:\n", "events:\n", "prevention:"} {
			text, _, _ = strings.Cut(text, key)
		}
		s, err := load.Scenario("random.yaml", []byte(text))
		if err != nil {
			t.Fatalf("fabric %d: %v\n%s", i, err, text)
		}
		var single, lags, fails, allFail []string
		for _, l := range s.Fabric.Links {
			a, b := s.Fabric.Nodes[l.A.Node].Name, s.Fabric.Nodes[l.B.Node].Name
			_, several := s.Fabric.Link(a + "--" + b + "#2")
			if l.B.Node < s.Fabric.Switches() && l.A.Node < s.Fabric.Switches() && !several && rng.IntN(2) == 0 {
				single = append(single, l.Name)
			}
		}
		for j, l := range single {
			n := 2 + rng.IntN(3)
			lags = append(lags, fmt.Sprintf("{link: %s, members: %d}", l, n))
			if j > 0 || rng.IntN(4) == 0 {
				continue
			}
			fails = append(fails, l)
			for m := range n {
				allFail = append(allFail, l+[]string{"", "#2", "#3", "#4"}[m])
			}
		}
		want := lagCycles(t, text, nil, fails)
		got := lagCycles(t, text, lags, allFail)
		if !slices.Equal(got, want) {
			t.Fatalf("fabric %d: with LAGs %v that fail %v:\n%s\nwant\n%s\n%s", i, lags, allFail, strings.Join(got, "\n"), strings.Join(want, "\n"), text)
		}
		if len(want) > 0 && len(lags) > 0 {
			with++
		}
		if len(allFail) > 0 {
			wide++
		}
	}
	if with < fabrics/20 || wide < fabrics/4 {
		t.Errorf("%d fabrics have LAGs and cycles, %d LAGs fail: too few to tell", with, wide)
	}
}

// lagCycles are the cycles of a fabric with these LAGs whose links fail, without the numbers of members; nil
// if a route would be left with a backup only.
func lagCycles(t *testing.T, text string, lags, fails []string) (all []string) {
	t.Helper()
	text = strings.Replace(text, "  rate:", "  lags: ["+strings.Join(lags, ", ")+"]\n  rate:", 1)
	head := "events:\n"
	for _, l := range fails {
		text += fmt.Sprintf("%s  - {at: 500ms, do: fail, link: \"%s\"}\n", head, l)
		head = ""
	}
	s, err := load.Scenario("random.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		return nil
	}
	c, err := New(plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cy := range c.Report(resultsOf(c, 0), 0).Cycles {
		var hops []string
		for _, h := range cy.Hops {
			link, _, _ := strings.Cut(h.Link, "#")
			hops = append(hops, link)
			if lag := slices.ContainsFunc(lags, func(l string) bool {
				a, b, _ := strings.Cut(link, "--")
				return strings.HasPrefix(l, "{link: "+link+",") || strings.HasPrefix(l, "{link: "+b+"--"+a+",")
			}); lag != (h.Members > 1) {
				t.Errorf("%s is one of %d members, and its fabric has the LAGs %v", h.Link, h.Members, lags)
			}
		}
		first := slices.Index(hops, slices.Min(hops))
		all = append(all, fmt.Sprint(cy.When, " ", strings.Join(append(hops[first:], hops[:first]...), " "), " ", cy.Priorities, cy.RoutingLoop))
	}
	slices.Sort(all)
	return all
}
