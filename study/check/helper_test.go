package check

import (
	"testing"

	"softswitch/detect"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// checker is a checker of the plan of a scenario.
func checker(t testing.TB, s *scenario.Scenario) *Checker {
	t.Helper()
	c, err := New(simtest.Compile(t, s), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// randomChecker is a checker of random fabric i. It is nil of one that is refused: a route may leave a backup
// only, and what a loose one was widened by may not go together.
func randomChecker(t testing.TB, i int, text string, loose bool) *Checker {
	t.Helper()
	s, err := load.Scenario("random.yaml", []byte(text))
	if err != nil && loose {
		return nil
	}
	if err != nil {
		t.Fatalf("fabric %d: %v\n%s", i, err, text)
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		return nil
	}
	c, err := New(plan, nil)
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
	return simtest.Parse(t, "test.yaml", "name: test\nduration: 1s\n"+text, "none")
}

// played simulates a scenario without a detector and returns its loops.
func played(t testing.TB, s *scenario.Scenario) []string {
	t.Helper()
	s.Detector, s.Response = "none", "none"
	_, r := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"none": detect.NewNone}})
	return simtest.Loops(r)
}
