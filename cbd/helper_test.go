package cbd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/internal/testsim"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/sim"
)

// checker is a checker of the plan of a scenario.
func checker(t testing.TB, s *scenario.Scenario) *Checker {
	t.Helper()
	c, err := New(testsim.Compile(t, s), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checked is the report of a scenario with up to so many failures.
func checked(t testing.TB, s *scenario.Scenario, failures int) *Report {
	t.Helper()
	c := checker(t, s)
	return c.Report(resultsOf(c, failures), failures)
}

// resultsOf are the results of all cases with up to so many failures.
func resultsOf(c *Checker, failures int) (all []*Result) {
	for _, end := range c.Phases(failures) {
		for i := len(all); i < end; i++ {
			all = append(all, c.Check(i))
		}
		c.Know(all)
	}
	return all
}

// parse reads a scenario of a fabric that is written in a test.
func parse(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	return testsim.Parse(t, "test.yaml", "name: test\nduration: 1s\n"+text, "none")
}

// hops names the hops of a cycle in the order of waiting, from the least name on:
// "A--B 3, B--C 3".
func hops(links []string, classes []int) string {
	var all []string
	for i, l := range links {
		all = append(all, fmt.Sprintf("%s %d", l, classes[i]))
	}
	at := slices.Index(all, slices.Min(all))
	return strings.Join(append(slices.Clone(all[at:]), all[:at]...), ", ")
}

// names are the hops of c, in each of its classes if its hops have the same.
func (c *Cycle) names() (all []string) {
	var links []string
	var own []int
	for _, h := range c.Hops {
		links, own = append(links, h.Link), append(own, h.Class)
	}
	if slices.Min(own) != slices.Max(own) {
		return []string{hops(links, own)}
	}
	for _, class := range c.Classes {
		all = append(all, hops(links, slices.Repeat([]int{class}, len(links))))
	}
	return all
}

// loops are the cycles of what was stuck when the deadlocks of a run began, as names.
func loops(r *oracle.Result) (all []string) {
	for _, d := range r.Deadlocks {
		stuck := r.History.At(d.From)
		for _, q := range stuck.Queues {
			if !stuck.InCore(q) {
				continue
			}
			cycle := stuck.Cycle(q)
			var classes []int
			for _, q := range cycle {
				classes = append(classes, int(q.Class))
			}
			if name := hops(r.Fabric.LinkNames(cycle), classes); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// played simulates a scenario without a detector and returns its loops.
func played(t testing.TB, s *scenario.Scenario) []string {
	t.Helper()
	s.Detector, s.Response = "none", "none"
	_, r := testsim.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"none": detect.NewNone}})
	return loops(r)
}
