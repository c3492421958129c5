package sim_test

import (
	"fmt"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/detect/watchdog"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// TestWatchdogTimes: SONiC's watchdogs have the times of the scenario, those of other makers their own.
func TestWatchdogTimes(t *testing.T) {
	const text = `name: watched
topology: {switches: [s1, s2], hosts: [h1, h2], links: [h1--s1, s1--s2, s2--h2], rate: 1Gbit/s}
duration: 10ms
detector: %s
watchdog: {detection_time: 5ms, restoration_time: 7ms, poll: 3ms}
`
	const ms = unit.Millisecond
	given := watchdog.Config{Detection: 5 * ms, Restoration: 7 * ms, Poll: 3 * ms, Given: true}
	forward, alert := given, given
	forward.Action, alert.Action = watchdog.Forward, watchdog.Alert
	mellanox := given
	mellanox.ASIC = watchdog.Mellanox
	for detector, want := range map[string]watchdog.Config{
		watchdog.Name: given, watchdog.NameForward: forward, watchdog.NameAlert: alert, watchdog.NameJuniper: watchdog.Juniper(),
		watchdog.NameMellanox: mellanox,
	} {
		s := simtest.Parse(t, "watched", fmt.Sprintf(text, detector), detector)
		w := simtest.World(t, s, sim.Options{Seed: 1, Detectors: catalog.Factories()})
		w.EachSwitch(func(sw *dataplane.Switch) {
			if got := sw.Detector().(*watchdog.Watchdog).Config(); got != want {
				t.Errorf("%s: %+v, want %+v", detector, got, want)
			}
		})
	}
}
