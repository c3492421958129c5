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
		if want := (watchdog.DLDRConfig{Detection: c.detection, Recovery: c.restoration}); dldr != want {
			t.Errorf("%s: %+v, want %+v", c.scenario, dldr, want)
		}
	}
}

// What switches drop on purpose is told by flow: with a system that polices, the sum is
// that of the verdict; without one there is none.
func TestDropsByFlow(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of simulation")
	}
	for system, want := range map[string]bool{"none": false, "watchdog": true, "itsy+drop+trigger": true} {
		sys, err := PickSystems([]string{system})
		if err != nil {
			t.Fatal(err)
		}
		s := shipped(t, "hu-fig5-3g")
		if err := sys[0].put(s); err != nil {
			t.Fatal(err)
		}
		plan, err := scenario.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := playSim(t.Context(), plan, 1)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, d := range r.Drops {
			sum += d.OnPurpose
		}
		if sum != r.ResponseDropped+r.Policed || sum > 0 != want {
			t.Errorf("%s: %d frames dropped on purpose by flow, %d and %d in the verdict; want the same, some: %v", system, sum, r.ResponseDropped, r.Policed, want)
		}
	}
}

// The truth of a scenario is the cause of its first deadlock, live without what can only
// be held against a simulation; without a deadlock it is who sends to hosts that behave.
func TestTruth(t *testing.T) {
	source := func(name string) *Source {
		return &Source{Name: name, Parse: func() (*scenario.Scenario, error) { return shipped(t, name), nil }}
	}
	sim := Matrix{World: World{Truth: simTruth}}
	f := sim.truth(t.Context(), source("w4-transient-trigger"), 1)
	if got := f.String(); got != "cause: host h7" || f.Innocents.Goodput == 0 || f.Drops == nil {
		t.Errorf("%s: %+v; want cause: host h7", got, f.Truth)
	}
	live, err := liveTruth(t.Context(), shipped(t, "w4-transient-trigger"))
	if err != nil || live.Innocents.Cause.String() != "host h7" || live.Innocents.Goodput != 0 || live.Drops != nil {
		t.Errorf("live: %+v, %v", live, err)
	}
	f = sim.truth(t.Context(), source("pause"), 1)
	s := shipped(t, "pause")
	for i, flow := range s.Flows {
		if f.err != nil || f.String() != "no cause" || f.innocent[i] == s.Misbehaves(flow.To) {
			t.Errorf("pause: %s, flow %s innocent: %v, %v", f, flow.Name, f.innocent, f.err)
		}
	}
	if live, err := liveTruth(t.Context(), s); err != nil || live.Innocents != nil {
		t.Errorf("pause, live: %+v, %v", live, err)
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
