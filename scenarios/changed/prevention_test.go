package changed

import (
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/topo/tagger"
	"softswitch/unit"
)

// Wherever Tagger applies, its rules leave no cycle, there is no deadlock, and nothing
// lossless is lost; elsewhere it says that there are no levels. Of what locks without it,
// TestPrevent plays some; make long plays what does not lock anyway.
func TestTaggerEverywhere(t *testing.T) {
	applies, deadlocks := 0, 0
	for _, name := range scenarios.Names() {
		s := parse(t, name)
		if s.Prevention != nil {
			continue
		}
		if err := s.Prevent("tagger"); err != nil {
			if !strings.Contains(err.Error(), "without levels") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		applies++
		p, err := scenario.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		var lossless unit.PrioritySet
		for _, c := range s.PFC.Lossless {
			lossless.Add(unit.Priority(c))
		}
		if c := tagger.Check(s.Fabric, lossless, p.Tagging.Rules); c != nil {
			t.Errorf("%s: cycle %s", name, c.Text(s.Fabric))
		}
		locks := *s.Expect.Deadlock
		if locks {
			deadlocks++
		}
		if _, played := prevents[name]; played || !testkit.Sized(locks, true) {
			continue
		}
		v := simulate(t, s)
		if v.Deadlock || v.LosslessLost > s.Expect.MayLose() {
			t.Errorf("%s: deadlock %v, %d lossless frames lost", name, v.Deadlock, v.LosslessLost)
		}
	}
	if applies < 15 || deadlocks < 8 {
		t.Errorf("it applies to %d scenarios, %d of them deadlocks without it; want 15 and 8 or more", applies, deadlocks)
	}
}

// Tagger and TTL bands keep what locks from locking where ports have one more lossless priority than others,
// and flows in it.
func TestPreventionOfPorts(t *testing.T) {
	for name, link := range map[string]string{"fattree-on-loop-tagger": "agg2-0--core1", "hu-case1-ttl-bands": "A--B"} {
		s := parse(t, name)
		own := append([]int{2}, s.PFC.Lossless...)
		l, ok := s.Fabric.Link(link)
		if !ok {
			t.Fatalf("%s has no %s", name, link)
		}
		s.Ports = make(scenario.PerEnd[scenario.Port], len(s.Fabric.Links))
		s.Ports[l].A.Lossless, s.Ports[l].B.Lossless = &own, &own
		f := s.Flows[0]
		f.Name, f.Priority, f.Rate = "own", 2, 1e6
		s.Flows = append(s.Flows, f)
		if v := simulate(t, s); v.Deadlock || v.LosslessLost > s.Expect.MayLose() {
			t.Errorf("%s: deadlock %v, %d lossless frames lost", name, v.Deadlock, v.LosslessLost)
		}
		s.Prevention = nil
		if v := simulate(t, s); !v.Deadlock {
			t.Errorf("%s without prevention does not lock", name)
		}
	}
}

// A band of eight TTLs halves the effective TTL of hu-case1-above, and the loop locks
// all the same, for both priorities share the link. With bands of three it bears 15
// Gbit/s and not 20.
func TestTTLBandFigures(t *testing.T) {
	for _, tc := range []struct {
		lossless []int
		band     int
		mbit     unit.Rate
		deadlock bool
	}{
		{[]int{3, 4}, 8, 5050, true},
		{[]int{3, 4, 5}, 6, 5050, false},
		{[]int{3, 4, 5, 6}, 4, 15000, false},
		{[]int{3, 4, 5, 6, 7}, 3, 15000, false},
		{[]int{3, 4, 5, 6, 7}, 3, 20000, true},
	} {
		s := parse(t, "hu-case1-above")
		s.PFC.Lossless, s.Prevention, s.Flows[0].Rate = tc.lossless, &scenario.Prevention{TTLBand: tc.band}, unit.FlowRate(tc.mbit*1e6)
		if v := simulate(t, s); v.Deadlock != tc.deadlock {
			t.Errorf("%d priorities of %d TTLs, %d Mbit/s: deadlock %v, want %v", len(tc.lossless), tc.band, tc.mbit, v.Deadlock, tc.deadlock)
		}
	}
}

// Thresholds help by the position of ports, not by their size: with XON as it was, all
// of them halved or doubled lock, small ones up and large ones down lock, and larger
// ones at higher levels alone lock.
func TestThresholdsByPosition(t *testing.T) {
	for _, tc := range []struct {
		name            string
		down, up, level int // percent
		deadlock        bool
	}{
		{"as they were", 100, 100, 0, true},
		{"halved", 50, 50, 0, true},
		{"doubled", 200, 200, 0, true},
		{"up and down exchanged", 150, 50, 0, true},
		{"down smaller, up larger", 50, 150, 0, false},
		{"higher levels larger", 100, 100, 100, true},
	} {
		for _, name := range []string{"fattree-on-loop", "fattree-out-of-loop"} {
			s := parse(t, name)
			th, offset := *s.Buffer.StaticTh, *s.Buffer.XONOffset
			at := func(percent int) scenario.Threshold {
				return scenario.Threshold{StaticTh: new(th * percent / 100), XONOffset: new(offset + th*(percent-100)/100)}
			}
			s.Prevention = &scenario.Prevention{Thresholds: &scenario.Thresholds{Down: at(tc.down), Up: at(tc.up), PerLevel: th * tc.level / 100}}
			if v := simulate(t, s); v.Deadlock != tc.deadlock || v.LosslessLost != 0 {
				t.Errorf("%s, %s: deadlock %v, %d lost; want %v, 0", name, tc.name, v.Deadlock, v.LosslessLost, tc.deadlock)
			}
		}
	}
}

const na, cures, fails = "not applicable", "cures", "fails"

// prevents is what comes of each prevention, in the order of its names.
var (
	preventions = []string{"tagger", "no-flood", "ttl-bands", "limit", "thresholds", "gfc", "bubble-injection"}
	prevents    = map[string][7]string{
		"fattree-on-loop":     {cures, na, na, cures, cures, cures, cures},
		"fattree-out-of-loop": {cures, na, na, cures, cures, cures, cures},
		"guo-fig4":            {cures, cures, na, na, cures, cures, na},
		"hu-case1-above":      {cures, na, cures, cures, fails, cures, cures},
		"hu-fig4":             {na, na, na, cures, na, cures, cures},
		"itsy-fig2":           {cures, na, na, fails, cures, cures, cures},
		"itsy-fig3":           {cures, na, na, cures, cures, cures, cures},
		"shpiner-fig4":        {na, na, na, fails, na, cures, cures},
		"shpiner-fig6":        {cures, na, na, fails, cures, cures, na},
	}
)

// Prevent says why it does not apply, or removes the deadlock: of these scenarios, and
// of those that are named as exceptions it does not.
func TestPrevent(t *testing.T) {
	for scenario, want := range prevents {
		for i, name := range preventions {
			t.Run(scenario+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := parse(t, scenario)
				got := na
				if err := s.Prevent(name); err == nil {
					got = cures
					v := simulate(t, s)
					if v.Deadlock {
						got = fails
					}
					if looped := v.LosslessLostBy["ttl_expired"]; v.LosslessLost > looped || looped > s.Expect.MayLose() {
						t.Errorf("lossless frames lost: %v", v.LosslessLostBy)
					}
				} else if s.Prevention != nil {
					t.Errorf("%v, but it changed the scenario", err)
				}
				if got != want[i] {
					t.Errorf("%s, want %s", got, want[i])
				}
			})
		}
	}
}
