package watchdog_test

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// What a watchdog discards is lost for its flow and not in flight, though no frame comes after it:
// in flight is no more than a switch and two wires hold.
func TestDiscardedIsNotInFlight(t *testing.T) {
	const text = `
name: storm
topology:
  switches: [s1]
  hosts: [h1, h2]
  links: [h1--s1, s1--h2]
  rate: 1Gbit/s
pfc: {storm_budget: 0s}
detector: watchdog
flows:
  - {name: f, from: h1, to: h2, rate: 500Mbit/s}
events:
  - {at: 100ms, do: storm, host: h2}
duration: 1s
`
	s := simtest.Parse(t, "storm", text, watchdog.Name)
	w := simtest.World(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{watchdog.Name: watchdog.New}})
	v, _ := simtest.RunWorld(t, w)
	f := v.Flows[0]
	if f.Lost != int64(v.ResponseDropped) || f.Response != f.Lost || f.Lost < 10_000 || f.InFlight > 50 {
		t.Errorf("flow %+v, %d dropped on purpose; want all of them lost for the flow, 10,000 or more, and 50 or fewer in flight", f, v.ResponseDropped)
	}
	if v.LosslessLost != 0 || v.ExitCode() != 0 {
		t.Errorf("%d lost %v, exit code %d; want 0, 0: the watchdog dropped them on purpose", v.LosslessLost, v.LosslessLostBy, v.ExitCode())
	}
}
