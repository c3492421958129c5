package scenarios_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"softswitch/sim/simtest"
	"softswitch/study/check"
)

// check is something that has to be true of runs.
type fileCheck struct {
	name  string
	of    []string            // runs, by patterns such as "*/itsy"
	fault func(r *run) string // "" if it is true
	// spoil makes runs of which it is not true: each alone changes the log, the verdict or
	// the cycles of one of which it is.
	spoil []func(r *run)
}

// about reports whether a check is about a run.
func (c *fileCheck) about(of string) bool {
	return slices.ContainsFunc(c.of, func(pattern string) bool {
		match, err := path.Match(pattern, of)
		if err != nil {
			panic(err) // it is written below
		}
		return match
	})
}

var everything = []string{"*/*", "rdma/*/*"}

// general are the checks of what is true of many files.
var general = []fileCheck{
	{
		// It comes out as the file expects.
		name: "expectation",
		of:   everything,
		fault: func(r *run) string {
			v := r.verdict
			if r.of != "rdma/"+v.Scenario+"/"+v.Detector && r.of != v.Scenario+"/"+v.Detector {
				return fmt.Sprintf("the verdict is about %s with %s", v.Scenario, v.Detector)
			}
			if !v.Expected || !v.ExpectedMet {
				return fmt.Sprintf("something is expected: %v; not met: %s", v.Expected, strings.Join(v.Reasons, "; "))
			}
			return ""
		},
		spoil: []func(*run){
			func(r *run) { r.verdict.ExpectedMet = false },
			func(r *run) { r.verdict.Expected = false },
			func(r *run) { r.verdict.Scenario = "another" },
		},
	},
	{
		// What locks is a cycle that the flows close while nothing fails or what the file
		// says.
		name: "cycles",
		of:   everything,
		fault: func(r *run) string {
			loops := simtest.Loops(r.truth)
			if r.verdict.Deadlock != (len(loops) > 0) {
				return fmt.Sprintf("deadlock %v, and %d loops", r.verdict.Deadlock, len(loops))
			}
			for _, loop := range loops {
				if !slices.Contains(r.cycles, loop) {
					return fmt.Sprintf("%s is not among\n%s", loop, strings.Join(r.cycles, "\n"))
				}
			}
			return ""
		},
		spoil: []func(*run){func(r *run) {
			if r.verdict.Deadlock {
				r.cycles = slices.DeleteFunc(slices.Clone(r.cycles), func(c string) bool { return slices.Contains(simtest.Loops(r.truth), c) })
			} else {
				r.verdict.Deadlock = true
			}
		}},
	},
	{
		// What is cured among the cases of RDMA has no cycle.
		name: "cured",
		of:   []string{"rdma/*/*"},
		fault: func(r *run) string {
			if locks := *r.scenario.Expect.Deadlock; locks != (len(r.cycles) > 0) {
				return fmt.Sprintf("%d cycles that its flows close; expected to lock: %v", len(r.cycles), locks)
			}
			return ""
		},
		spoil: []func(*run){func(r *run) {
			if r.cycles == nil {
				r.cycles = []string{"a--b 3, b--a 3"}
			} else {
				r.cycles = nil
			}
		}},
	},
}

// cyclesOf are the cycles that the flows of a file can close, as testsim.Hops, in each of
// its priorities if a cycle has hops of one.
func cyclesOf(t *testing.T, name string) (all []string) {
	t.Helper()
	c, err := check.New(simtest.Compile(t, simtest.Shipped(t, name, "none")), nil)
	if err != nil {
		t.Fatal(err)
	}
	var results []*check.Result
	for _, end := range c.Phases(0) {
		for i := len(results); i < end; i++ {
			results = append(results, c.Check(i))
		}
		c.Know(results)
	}
	for _, cycle := range c.Report(results, 0).Cycles {
		if len(cycle.Flows) > 0 {
			all = append(all, hopsOf(&cycle)...)
		}
	}
	return all
}

func hopsOf(c *check.Cycle) (all []string) {
	var links []string
	var own []int
	for _, h := range c.Hops {
		links, own = append(links, h.Link), append(own, h.Priority)
	}
	if slices.Min(own) != slices.Max(own) {
		return []string{simtest.Hops(links, own)}
	}
	for _, priority := range c.Priorities {
		all = append(all, simtest.Hops(links, slices.Repeat([]int{priority}, len(links))))
	}
	return all
}
