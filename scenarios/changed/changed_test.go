// Package changed plays shipped files with something in them changed: a cure, fewer
// failures, without the lies of an attack, or other seeds. Package scenarios plays them
// as they are.
//
// Read in this order: prevention_test.go (cures), rdma_test.go (what the cases of RDMA need
// to lock), attacks_test.go (switches that lie, and the same without the lies),
// causes_test.go (what itsy names as the cause).
package changed

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

var detectors = map[string]detect.Factory{"none": detect.NewNone, "itsy": itsy.New}

// parse reads a scenario file, for no detector.
func parse(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	return simtest.Shipped(t, name, "none")
}

// simulate plays what became of a scenario.
func simulate(t *testing.T, s *scenario.Scenario) *verdict.Verdict {
	t.Helper()
	v, _ := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: detectors})
	return v
}
