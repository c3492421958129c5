package compare

import (
	"testing"

	"softswitch/detect/saidldr"
	"softswitch/detect/watchdog"
	"softswitch/scenario"
	"softswitch/unit"
)

// What is played if nothing is named has no prevention of its own, and live it is the
// fat-tree's scenarios.
func TestUsualScenarios(t *testing.T) {
	for world, fewest := range map[string]int{"sim": 30, "live": 4} {
		all, err := shippedScenarios(world)
		if err != nil {
			t.Fatal(err)
		}
		usual, err := usualScenarios(world, all)
		if err != nil {
			t.Fatal(err)
		}
		if len(usual) < fewest || len(usual) >= len(all) {
			t.Errorf("%s: %d of %d scenarios", world, len(usual), len(all))
		}
		for _, src := range usual {
			s, err := src.Parse()
			if err != nil {
				t.Fatal(err)
			}
			if s.Prevention != nil {
				t.Errorf("%s: %s has a prevention of its own", world, src.Name)
			}
			if world == "live" && s.Links[0].Rate != 100_000_000 {
				t.Errorf("live: %s has links of %d bit/s", src.Name, s.Links[0].Rate)
			}
		}
	}
}

// A watchdog, or a timer, has its own times where a scenario is long enough. SONiC's never
// restores while a pause lasts, and the others have the same restoration time.
func TestSimTimers(t *testing.T) {
	const us = unit.Microsecond
	for _, c := range []struct {
		scenario                     string
		detection, restoration, poll unit.Time // the poll of Juniper's
	}{
		{"fattree-on-loop", 200_000 * us, 200_000 * us, 100_000 * us},
		{"shpiner-fig4", 500 * us, 838_848, 250 * us},
		{"hu-fig4", 2000 * us, 2000 * us, 1000 * us},
	} {
		dog, juniper, dldr := simTimers(shipped(t, c.scenario))
		if want := (watchdog.Config{Detection: c.detection, Restoration: c.restoration, Poll: c.detection}); dog != want {
			t.Errorf("%s: %+v, want %+v", c.scenario, dog, want)
		}
		if want := (watchdog.Config{Detection: c.detection, Restoration: c.restoration, Poll: c.poll, Juniper: true}); juniper != want {
			t.Errorf("%s: %+v, want %+v", c.scenario, juniper, want)
		}
		if want := (saidldr.Config{Detection: c.detection, Recovery: c.restoration}); dldr != want {
			t.Errorf("%s: %+v, want %+v", c.scenario, dldr, want)
		}
	}
}

func shipped(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	all, err := shippedScenarios("sim")
	if err != nil {
		t.Fatal(err)
	}
	picked, err := Named("scenarios", []string{name}, all, func(s Source) string { return s.Name })
	if err != nil {
		t.Fatal(err)
	}
	s, err := picked[0].Parse()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
