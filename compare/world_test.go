package compare

import (
	"testing"

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

// A watchdog has its own times where a scenario is long enough, and never restores
// while a pause lasts.
func TestSimWatchdogs(t *testing.T) {
	for _, c := range []struct {
		scenario string
		want     watchdog.Config
	}{
		{"fattree-on-loop", watchdog.Config{Detection: 200 * unit.Millisecond, Restoration: 200 * unit.Millisecond, Poll: 200 * unit.Millisecond}},
		{"shpiner-fig4", watchdog.Config{Detection: 500 * unit.Microsecond, Restoration: 838_848, Poll: 500 * unit.Microsecond}},
		{"hu-fig4", watchdog.Config{Detection: 2 * unit.Millisecond, Restoration: 2 * unit.Millisecond, Poll: 2 * unit.Millisecond}},
	} {
		if got := simWatchdog(shipped(t, c.scenario)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.scenario, got, c.want)
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
