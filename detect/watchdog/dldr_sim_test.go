package watchdog_test

import (
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// playDLDR simulates a scenario file, with old replaced by text.
func playDLDR(t *testing.T, name, old, text string) *verdict.Verdict {
	t.Helper()
	file := simtest.Text(t, name)
	if !strings.Contains(file, old) {
		t.Fatalf("%s.yaml has no %q", name, old)
	}
	s := simtest.Parse(t, name, strings.Replace(file, old, text, 1), watchdog.DLDRName)
	w := simtest.World(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{watchdog.DLDRName: watchdog.NewDLDR}})
	v, _ := simtest.RunWorld(t, w)
	return v
}

// The deadlock is broken by what is dropped of its queues. Victims time out as its queues
// do, and one of these after it is over: they are flushed too. Nothing is lost besides.
func TestBreaksDeadlock(t *testing.T) {
	v := playDLDR(t, "fattree-on-loop", "", "")
	if len(v.Detections) == 0 || !v.Detections[0].TruePositive || v.Detections[0].Latency > 200*ms {
		t.Fatalf("detections %+v; want the first one true, and at most 200 ms after the deadlock", v.Detections)
	}
	if v.FalsePositives == 0 || v.Late == 0 {
		t.Errorf("%d false and %d late declarations; want some victims, and a queue of a loop that is over", v.FalsePositives, v.Late)
	}
	if !v.Recovered || v.ResponseDropped < 1000 || v.LosslessLost > 0 {
		t.Errorf("recovered %v, %d frames dropped, %d lost; want true, 1000 or more, 0", v.Recovered, v.ResponseDropped, v.LosslessLost)
	}
}

// A host that pauses without end is a deadlock to it, though none is there.
func TestSlowReceiverIsAssumedDeadlocked(t *testing.T) {
	v := playDLDR(t, "pause", "rate: 20Mbit/s", "rate: 12kbit/s")
	if v.Deadlock || v.FalsePositives == 0 || v.ResponseDropped == 0 {
		t.Errorf("deadlock %v, %d false declarations, %d frames dropped; want false, some, some", v.Deadlock, v.FalsePositives, v.ResponseDropped)
	}
}
