package scenarios_test

import (
	"testing"

	"softswitch/event"
	"softswitch/oracle"
	"softswitch/unit"
)

// W20: a deadlock that both detectors declare, rightly, opens by itself: a bucket of
// the ring resumes with more bytes than its XON was when it paused.
func TestDynamicThresholdOpens(t *testing.T) {
	for _, detector := range []string{"itsypaper", "itsy"} {
		xon := map[oracle.Bucket]int32{}
		opened := 0
		v := play(t, "w20-dynamic-threshold", detector, func(n event.Node, e event.Event) {
			b := oracle.Bucket{NodePort: unit.NodePort{Node: n.ID, Port: e.Port}, Class: e.Class}
			switch {
			case e.Type == event.XOFF:
				xon[b] = e.Limit
			case e.Type == event.XON && n.Name == "S2" && n.Ports[e.Port] == "to-S5" && e.Bytes > xon[b]:
				opened++
			}
		})
		if !v.Deadlock || !v.Recovered || v.Recurrences != 0 || len(v.Detections) != 1 || v.FalsePositives+v.Premature != 0 {
			t.Errorf("%s: deadlock %v, recovered %v, %d recurrences, %d declared, %d false; want one that is declared and opens",
				detector, v.Deadlock, v.Recovered, v.Recurrences, len(v.Detections), v.FalsePositives+v.Premature)
		}
		if opened == 0 {
			t.Errorf("%s: S2 never let S5 go with more bytes than XON was when it paused it", detector)
		}
	}
}
