// Package testsim simulates scenarios in tests. Any error ends the test.
//
//	Text --> Parse --> Run
//
// It judges nothing.
package simtest

import (
	"strings"
	"testing"

	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/sim"
)

// Text is the shipped scenario file of a name such as "hu-fig4" or "rdma/sonic-dualtor".
func Text(t testing.TB, name string) string {
	t.Helper()
	from := scenarios.FS
	if strings.HasPrefix(name, "rdma/") {
		from = scenarios.RDMA
	}
	text, err := from.ReadFile(name + ".yaml")
	return string(must(t, text, err))
}

// must is v, unless there is an error, which ends the test.
func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Parse parses the text of a scenario file called file, with the given detector instead
// of the file's.
func Parse(t testing.TB, file, text, detector string) *scenario.Scenario {
	t.Helper()
	s, err := load.Scenario(file, []byte(text))
	must(t, s, err).Detector = detector
	return s
}

// Shipped is Parse of a shipped file.
func Shipped(t testing.TB, name, detector string) *scenario.Scenario {
	t.Helper()
	return Parse(t, name+".yaml", Text(t, name), detector)
}

// Compile is the plan of a scenario.
func Compile(t testing.TB, s *scenario.Scenario) *scenario.Plan {
	t.Helper()
	p, err := scenario.Compile(s)
	return must(t, p, err)
}

// Run simulates a scenario. The verdict is the oracle's, and so is what it rests on.
func Run(t testing.TB, s *scenario.Scenario, opt sim.Options) (*verdict.Verdict, *oracle.Result) {
	t.Helper()
	return RunWorld(t, World(t, s, opt))
}

// World is a scenario that is about to be simulated.
func World(t testing.TB, s *scenario.Scenario, opt sim.Options) *sim.World {
	t.Helper()
	w, err := sim.New(Compile(t, s), opt)
	return must(t, w, err)
}

// RunWorld simulates it.
func RunWorld(t testing.TB, w *sim.World) (*verdict.Verdict, *oracle.Result) {
	t.Helper()
	v, err := w.Run()
	if must(t, v, err).Invalid != "" {
		t.Errorf("the run is not valid: %s", v.Invalid)
	}
	return v, w.Result()
}
