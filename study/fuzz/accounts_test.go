package fuzz

import (
	"maps"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/internal/testkit"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// dropLog counts what switches drop for want of a way or of room, of lossless priorities, as it
// happens.
type dropLog map[string]int

func (d dropLog) watch(lossless []int) func(*buffer.Frame, dataplane.Reason) {
	var priorities unit.PrioritySet
	for _, c := range lossless {
		priorities.Add(unit.Priority(c))
	}
	return func(f *buffer.Frame, r dataplane.Reason) {
		if r.Fate() == dataplane.Lost && priorities.Has(f.Info.Priority) {
			d[r.String()]++
		}
	}
}

// fault is what a verdict says otherwise than what was seen; "" if nothing.
func (d dropLog) fault(v *verdict.Verdict) string {
	told := dropLog{}
	for _, l := range v.LosslessLostAt {
		if l.Reason != verdict.WireLoss && !isHost(v, l.Node) {
			told[l.Reason] += l.Frames
		}
	}
	switch {
	case v.Invalid != "":
		return v.Invalid
	case len(v.Killed) > 0: // and took what they had counted with them
		for reason, n := range told {
			if n > d[reason] {
				return "the verdict tells of more drops than happened"
			}
		}
	case !maps.Equal(told, d):
		return "the verdict tells of other drops than happened"
	}
	return ""
}

func isHost(v *verdict.Verdict, node string) bool {
	for _, f := range v.Flows {
		if f.From == node || f.To == node {
			return true
		}
	}
	return false
}

// TestAccountsShipped: whatever the shipped scenarios lose, with their own headroom and with less
// than two frames of it, each drop is in the verdict, and its figures add up.
func TestAccountsShipped(t *testing.T) {
	lost := dropLog{}
	quick := []string{"guo-fig4", "hu-case1-above", "hu-fig4", "itsy-fig3", "shpiner-fig6", "w12-expired-pause", "rdma/sonic-dualtor"}
	for _, name := range testkit.Sized(quick, scenarios.Names()) {
		for _, short := range []bool{false, true} {
			s := simtest.Shipped(t, name, "itsy")
			if s.Detector != "itsy" && s.Detector != "none" {
				continue
			}
			s.Detector, s.Response = "itsy", "none"
			if short {
				*s.Buffer.XOFF = 2000
			}
			seen := dropLog{}
			v := watched(t, s, seen)
			if why := seen.fault(v); why != "" {
				t.Errorf("%s, short headroom %t: %s; seen %v, told %v", name, short, why, seen, v.LosslessLostAt)
			}
			if !v.ExpectedMet && v.LosslessLost <= s.Expect.MayLose() && !short {
				t.Errorf("%s: %q", name, v.Reasons)
			}
			if v.LosslessLost > s.Expect.MayLose() && v.ExitCode() == 0 {
				t.Errorf("%s, short headroom %t: %d lossless frames lost, exit code 0", name, short, v.LosslessLost)
			}
			for reason, n := range seen {
				lost[reason] += n
			}
		}
	}
	if lost["headroom_full"] == 0 || lost["ttl_expired"] == 0 {
		t.Errorf("in all runs together %v were lost: the test shows nothing of headroom or TTL", lost)
	}
}

// TestAccountsRandom: the same in random cases, of which each third has short headroom. An account
// that one drop is missing from is noticed.
func TestAccountsRandom(t *testing.T) {
	seed, noticed := testkit.Seed(t), 0
	for i := range testkit.Sized(30, 600) {
		modes := []Mode{Usual, Expiry, RDMA, Jumbo}
		c := New(seed, i, modes[i%len(modes)])
		s := simtest.Parse(t, c.Name(), string(c.Text("itsy", "")), "itsy")
		if i%3 == 0 {
			*s.Buffer.XOFF = 2000
		}
		seen := dropLog{}
		v := watched(t, s, seen)
		if why := seen.fault(v); why != "" {
			t.Errorf("seed %d, case %d: %s; seen %v, told %v, killed %v", seed, i, why, seen, v.LosslessLostAt, v.Killed)
		}
		if seen["headroom_full"] > 0 {
			seen["headroom_full"]--
			if seen.fault(v) != "" {
				noticed++
			}
		}
	}
	if noticed == 0 {
		t.Errorf("seed %d: no case loses a frame, or no account that lacks one is noticed", seed)
	}
}

func watched(t *testing.T, s *scenario.Scenario, seen dropLog) *verdict.Verdict {
	t.Helper()
	plan, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	d := detectorOf(t, "itsy")
	w, err := sim.New(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{d.Name: d.New}, Dropped: seen.watch(s.PFC.Lossless)})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
