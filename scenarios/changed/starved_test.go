package changed

import (
	"slices"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/node/config"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// withAll plays a scenario with a detector of the catalog.
func withAll(t *testing.T, s *scenario.Scenario) *verdict.Verdict {
	t.Helper()
	v, _ := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: catalog.Factories()})
	return v
}

// With weights, or if nobody says anything, no priority starves: the two share the link.
func TestNobodyStarvesByWeights(t *testing.T) {
	for name, scheduler := range map[string]config.Scheds{
		"default":          nil,
		"1 to 100":         {3: {Type: "dwrr", Weight: 1}, 4: {Type: "dwrr", Weight: 100}},
		"the other strict": {3: {Type: "strict"}},
	} {
		s := parse(t, "starved")
		s.Sched = scheduler
		if v := simulate(t, s); len(v.Starved) > 0 || v.Deadlock || v.LosslessLost > 0 {
			t.Errorf("%s: starved %v, deadlock %v, lost %d", name, v.Starved, v.Deadlock, v.LosslessLost)
		}
	}
}

// What one port does is no matter of the others: strict at the port to h3 alone, only what is there
// waits, and one of the two lets the other pass where they share.
func TestStarvedAtOnePort(t *testing.T) {
	s := parse(t, "starved")
	strict := s.Sched
	s.Sched = nil
	link, _ := s.Fabric.Link("s2--s3")
	s.Ports = make(scenario.PerEnd[scenario.Port], len(s.Fabric.Links))
	s.Ports[link].A.Sched = strict
	v := simulate(t, s)
	if len(v.Starved) != 1 || v.Starved[0].Node != "s2" || v.Starved[0].Port != "to-s3" || v.Starved[0].Priority != 3 {
		t.Errorf("starved: %+v, want priority 3 at s2 to-s3 alone", v.Starved)
	}
}

// A run in which a lossless queue starves is not as expected, unless the scenario says so, and if it says
// so, one in which none does is not.
func TestStarvedIsToldApart(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		strict bool
		want   *bool
		met    bool
	}{{true, nil, false}, {true, &no, false}, {true, &yes, true}, {false, nil, true}, {false, &no, true}, {false, &yes, false}} {
		s := parse(t, "starved")
		s.Expect = scenario.Expect{Starved: c.want}
		if !c.strict {
			s.Sched = nil
		}
		if v := simulate(t, s); v.ExpectedMet != c.met {
			t.Errorf("strict %v, expected %v: met %v: %v", c.strict, c.want, v.ExpectedMet, v.Reasons)
		}
	}
}

// A queue that starves is no deadlock, and the verdict says that it starves. A detector that follows who waits for
// whom declares nothing, and no response acts on it. Those that know nothing but that a queue is paused for
// long declare the queue upstream of it, as the originals do, and each declaration is a false one.
func TestStarvedIsNoDeadlock(t *testing.T) {
	timed := []string{"watchdog", "watchdog-forward", "watchdog-alert", "watchdog-broadcom", "watchdog-mellanox", "watchdog-mellanox-2023", "watchdog-juniper", "sai-dldr"}
	seen := 0
	for _, name := range catalog.Names() {
		s := parse(t, "starved")
		s.Detector = name
		v := withAll(t, s)
		if v.Deadlock || len(v.Starved) != 1 || v.Starved[0].Node != "s2" || v.Starved[0].Port != "to-s3" {
			t.Errorf("%s: deadlock %v, starved %v", name, v.Deadlock, v.Starved)
		}
		if slices.Contains(timed, name) {
			seen++
			if len(v.Detections) == 0 || v.FalsePositives != len(v.Detections) {
				t.Errorf("%s: %d declarations, %d of them false; want some, and all false", name, len(v.Detections), v.FalsePositives)
			}
			for _, d := range v.Detections {
				if d.Switch != "s1" || d.Port != "to-s2" || d.Priority != 3 {
					t.Errorf("%s declares %s %s, priority %d; only what waits for the starved queue is paused", name, d.Switch, d.Port, d.Priority)
				}
			}
			continue
		}
		if len(v.Detections) > 0 || len(v.Actions) > 0 {
			t.Errorf("%s: %d declarations, %d actions", name, len(v.Detections), len(v.Actions))
		}
	}
	if seen != len(timed) {
		t.Errorf("%d detectors by time alone were asked, want %d", seen, len(timed))
	}
	for _, response := range []string{"drop", "cure"} {
		s := parse(t, "starved")
		s.Detector, s.Response = "itsy", response
		if v := withAll(t, s); len(v.Detections)+len(v.Actions)+len(v.Refusals) > 0 {
			t.Errorf("response %s: %v", response, v.Actions)
		}
	}
}
