package watchdog_test

import (
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/event"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

const (
	us = unit.Microsecond
	ms = unit.Millisecond
)

// game is a scenario that was simulated with a watchdog in every switch.
type game struct {
	*testing.T
	*verdict.Verdict
	watchdog.Stats // all queues of all switches together, but for Stormed and Last
	actions        map[detect.Action]int
	lost           uint64 // lossless frames that switches lost for other reasons
}

// play simulates a scenario file, with old replaced by text.
func play(t *testing.T, name string, f detect.Factory, old, text string) game {
	t.Helper()
	before := simtest.Text(t, name)
	if !strings.Contains(before, old) {
		t.Fatalf("%s.yaml has no %q", name, old)
	}
	const detector = "under test"
	s := simtest.Parse(t, name, strings.Replace(before, old, text, 1), detector)
	g := game{T: t, actions: map[detect.Action]int{}}
	var dogs []*watchdog.Watchdog
	w := simtest.World(t, s, sim.Options{
		Seed: 1,
		Detectors: map[string]detect.Factory{detector: func(v detect.View, a detect.Actions) detect.Detector {
			d := f(v, a).(*watchdog.Watchdog)
			dogs = append(dogs, d)
			return d
		}},
		Events: func(_ event.Node, e event.Event) {
			if e.Type == event.Acted {
				g.actions[e.Action]++
			}
		},
	})
	g.Verdict, _ = simtest.RunWorld(t, w)
	w.EachSwitch(func(sw *dataplane.Switch) {
		for p := range unit.Port(sw.Ports()) {
			g.lost += sw.Counters(p).LosslessLost
			for c := range unit.Priority(unit.Priorities) {
				g.add(dogs[0].Stats(detect.Queue{Port: p, Priority: c}))
			}
		}
		dogs = dogs[1:]
	})
	t.Logf("%s: deadlock at %d us, %d storms (%d false), %d restored, %d recurrences, %d frames dropped, %d lost, recovered %v",
		name, g.Onset/us, g.Detected, g.FalsePositives, g.Restored, g.Recurrences, g.ResponseDropped, g.lost, g.Recovered)
	return g
}

func (g *game) add(s watchdog.Stats) {
	g.Detected += s.Detected
	g.Restored += s.Restored
	g.All.Tx += s.All.Tx
	g.All.TxDropped += s.All.TxDropped
	g.All.RxDropped += s.All.RxDropped
}

// wantFirst checks that the deadlock was called one to two polls after it formed, or
// a little sooner, as its first queues were stuck before.
func (g game) wantFirst(poll unit.Time) {
	g.Helper()
	if !g.Deadlock || len(g.Detections) == 0 {
		g.Fatalf("deadlock %v, %d detections; want some", g.Deadlock, len(g.Detections))
	}
	if d := g.Detections[0]; !d.TruePositive || d.Latency < poll-poll/4 || d.Latency > 2*poll {
		g.Errorf("first called at %d us, %d us after it formed, true %v; want 1 to 2 polls of %d us, true", d.At/us, d.Latency/us, d.TruePositive, poll/us)
	}
	if g.Detected != uint64(len(g.Detections)) {
		g.Errorf("%d storms in the counters, %d in the log", g.Detected, len(g.Detections))
	}
}

// Dropping breaks the deadlock, at the price of all that comes for the queue until it
// is restored; then the same flows close it again. Whatever is lost, the watchdog has
// dropped and counted.
func TestDropBreaksDeadlock(t *testing.T) {
	g := play(t, "fattree-on-loop", watchdog.New, "", "")
	g.wantFirst(200 * ms)
	if g.Recurrences == 0 {
		t.Error("the deadlock did not recur, though its flows go on")
	}
	if g.lost > 0 {
		t.Errorf("%d lossless frames were lost, besides those that were dropped on purpose", g.lost)
	}
	if dropped := g.All.TxDropped + g.All.RxDropped; dropped != uint64(g.ResponseDropped) || dropped < 1000 {
		t.Errorf("the counters have %d + %d dropped frames, the verdict %d; want the same, and 1000 or more",
			g.All.TxDropped, g.All.RxDropped, g.ResponseDropped)
	}
	if on, off := g.actions[detect.ActionDiscard], g.actions[detect.ActionAdmit]; uint64(on) != g.Detected || uint64(off) != g.Restored {
		t.Errorf("%d queues began to drop and %d ended; want %d and %d", on, off, g.Detected, g.Restored)
	}
}

// At 40 Gbit/s all is over before SONiC's times; with times of microseconds it goes as
// it does at 100 Mbit/s.
func TestScaledTimes(t *testing.T) {
	const poll = 200 * us
	g := play(t, "guo-fig4", watchdog.Config{Detection: poll, Restoration: 2 * poll, Poll: poll}.Factory(), "", "")
	g.wantFirst(poll)
	if !g.Recovered || g.ResponseDropped == 0 || g.lost > 0 {
		t.Errorf("recovered %v, %d frames dropped on purpose, %d lost; want true, some, 0", g.Recovered, g.ResponseDropped, g.lost)
	}
	if g := play(t, "guo-fig4", watchdog.New, "", ""); g.Detected > 0 || g.FalseNegatives == 0 {
		t.Errorf("with the default times %d storms, %d deadlocks missed; want 0, some", g.Detected, g.FalseNegatives)
	}
}

// Juniper's drops what is for the queue alone, for its recovery time, and the same flows
// close the loop again.
func TestJuniperFlushesAndRecurs(t *testing.T) {
	g := play(t, "fattree-on-loop", watchdog.NewJuniper, "", "")
	if d := g.Detections; len(d) == 0 || !d[0].TruePositive || d[0].Latency < 75*ms || d[0].Latency > 300*ms {
		t.Errorf("detections %+v; want the first one true, 1 to 3 polls of 100 ms after the deadlock", d)
	}
	if g.All.RxDropped > 0 || g.All.TxDropped != uint64(g.ResponseDropped) || g.All.TxDropped == 0 || g.lost > 0 {
		t.Errorf("%d frames dropped as they came, %d for the queue, %d in the verdict, %d lost; want 0, some, the same, 0",
			g.All.RxDropped, g.All.TxDropped, g.ResponseDropped, g.lost)
	}
	if on, off := g.actions[detect.ActionFlush], g.actions[detect.ActionAdmit]; uint64(on) != g.Detected || uint64(off) != g.Restored || g.Recurrences == 0 {
		t.Errorf("%d queues flushed of %d storms, %d restored of %d, %d recurrences; want all, and some", on, g.Detected, off, g.Restored, g.Recurrences)
	}
}

// Sending in spite of the pause breaks it too, and drops nothing; but the frames meet
// a full buffer, whose headroom was not made for them.
func TestForwardBreaksDeadlockAndOverruns(t *testing.T) {
	g := play(t, "fattree-on-loop", watchdog.NewForward, "", "")
	g.wantFirst(200 * ms)
	if !g.Recovered {
		t.Error("the deadlock is still there")
	}
	if g.ResponseDropped != 0 || g.lost == 0 || g.All.Tx == 0 {
		t.Errorf("%d frames dropped on purpose, %d overran a buffer, %d left in spite of the pause; want 0, some, some", g.ResponseDropped, g.lost, g.All.Tx)
	}
}

// An alert changes nothing: the deadlock stays, and all its queues and victims alert.
func TestAlertOnlyReports(t *testing.T) {
	g := play(t, "fattree-on-loop", watchdog.NewAlert, "", "")
	g.wantFirst(200 * ms)
	if g.Recovered || g.Restored > 0 || len(g.actions) > 0 {
		t.Errorf("recovered %v, %d restored, actions %v; want no change", g.Recovered, g.Restored, g.actions)
	}
	loop := 0
	for _, d := range g.Detections {
		if d.TruePositive {
			loop++
		}
	}
	if loop != 4 || g.FalsePositives == 0 {
		t.Errorf("%d queues of the deadlock and %d of its victims alert; want the 4 of the loop, and some victims", loop, g.FalsePositives)
	}
}

// A receiver at a fifth of the rate lets frames through all the time: no storm. One
// that takes a frame a second is called a storm, and its frames are dropped, although
// nothing is wrong but its speed.
func TestSlowReceiver(t *testing.T) {
	if g := play(t, "pause", watchdog.New, "", ""); g.Detected > 0 || g.ResponseDropped > 0 || g.lost > 0 {
		t.Errorf("%d storms, %d frames dropped, %d lost; want none", g.Detected, g.ResponseDropped, g.lost)
	}
	g := play(t, "pause", watchdog.New, "rate: 20Mbit/s", "rate: 12kbit/s")
	if g.Deadlock || g.Detected == 0 || g.FalsePositives != int(g.Detected) || g.ResponseDropped == 0 {
		t.Errorf("deadlock %v, %d storms, %d of them false, %d frames dropped; want false storms that drop", g.Deadlock, g.Detected, g.FalsePositives, g.ResponseDropped)
	}
	if g.Restored != g.Detected {
		t.Errorf("%d of %d storms were restored after the receiver was fast again", g.Restored, g.Detected)
	}
}

// A deadlock is found by each ASIC's watchdog, a slow receiver that takes less than a frame in two polls is taken for
// one by each, and a host that pauses an empty queue by those that do not ask whether something waits. That is no
// deadlock, and nothing waits that could be lost.
func TestASICs(t *testing.T) {
	const slow = "do: slow, host: h2, rate: 20Mbit/s, for: 1s"
	for name, c := range map[string]struct {
		make  detect.Factory
		empty bool // an empty queue is a storm
	}{
		watchdog.NameBroadcom:     {watchdog.NewBroadcom, true},
		watchdog.NameMellanox:     {watchdog.NewMellanox, false},
		watchdog.NameMellanox2023: {watchdog.NewMellanox2023, true},
	} {
		g := play(t, "fattree-on-loop", c.make, "", "")
		g.wantFirst(200 * ms)
		if g.lost > 0 {
			t.Errorf("%s: %d lossless frames lost, besides those dropped on purpose", name, g.lost)
		}
		if g := play(t, "pause", c.make, "", ""); g.Detected > 0 {
			t.Errorf("%s: %d storms before a receiver at a fifth of the rate; want none", name, g.Detected)
		}
		if g := play(t, "pause", c.make, "rate: 20Mbit/s", "rate: 12kbit/s"); g.Deadlock || g.Detected == 0 || g.FalsePositives != int(g.Detected) || g.ResponseDropped == 0 {
			t.Errorf("%s: deadlock %v, %d storms, %d of them false, %d frames dropped; want false storms that drop", name, g.Deadlock, g.Detected, g.FalsePositives, g.ResponseDropped)
		}
		g = play(t, "pause", c.make, "{at: 500ms, "+slow+"}", "{at: 2200ms, do: storm, host: h2}")
		if g.Deadlock || g.Detected > 0 != c.empty || g.FalsePositives != int(g.Detected) || g.ResponseDropped > 0 {
			t.Errorf("%s: an empty queue that is paused: deadlock %v, %d storms, %d of them false, %d frames dropped; want a storm: %v", name, g.Deadlock, g.Detected, g.FalsePositives, g.ResponseDropped, c.empty)
		}
	}
}
