package ui

import (
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/oracle/verdict"
	"softswitch/sim"
)

// TestDroppedOf holds what the page says that a cure costs, and whom, against the verdict.
func TestDroppedOf(t *testing.T) {
	costs, unnamed := 0, 0
	for _, file := range []string{"fattree-on-loop.yaml", "fattree-out-of-loop.yaml", "itsy-fig2.yaml", "itsy-fig5.yaml", "n1-two-triggers.yaml", "pause.yaml"} {
		for _, response := range []string{"none", "cure", "drop+trigger"} {
			plan := planned(t, file)
			plan.Scenario.Detector, plan.Scenario.Response = "itsy", response
			stream := new(Stream)
			v, err := Simulate(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}}, stream)
			if err != nil {
				t.Fatal(err)
			}
			states := statesOf(t, stream)
			last := states[len(states)-1]
			got := map[string]verdict.DroppedOf{}
			for _, d := range last.DroppedOf {
				got[d.Flow] = verdict.DroppedOf{Flow: d.Flow, Named: d.Named, Frames: int64(d.Frames), Of: int64(d.Of)}
				if !d.Named {
					unnamed++
				}
			}
			for _, want := range v.DroppedOf {
				if got[want.Flow] != want {
					t.Errorf("%s, %s: %+v, the verdict says %+v", file, response, got[want.Flow], want)
				}
			}
			if len(got) != len(v.DroppedOf) {
				t.Errorf("%s, %s: frames of %d flows dropped, the verdict says %d", file, response, len(got), len(v.DroppedOf))
			}
			if len(got) > 0 {
				costs++
			}
			if said := strings.Contains(last.Words, "Dropped on purpose: "); said != (len(got) > 0) {
				t.Errorf("%s, %s: the words tell of it: %v: %s", file, response, said, last.Words)
			}
			if !slices.IsSortedFunc(last.DroppedOf, func(a, b DroppedOf) int { return int(b.Frames) - int(a.Frames) }) {
				t.Errorf("%s, %s: the flow with most is not the first: %+v", file, response, last.DroppedOf)
			}
		}
	}
	if costs < 3 || unnamed == 0 {
		t.Errorf("%d runs cost somebody frames, %d flows that no cause names: of too few to tell", costs, unnamed)
	}
}

func TestDroppedText(t *testing.T) {
	all := []DroppedOf{{"A", false, 1500, 3000}, {"B", true, 20, 200_000}, {"C", true, 3, 4}, {"D", true, 2, 4}, {"E", true, 1, 4}}
	const want = "Dropped on purpose: 1500 frames of flow A (50.0 %, which no cause names); 20 frames of flow B (<0.1 %); 3 frames of flow C (75.0 %); 2 frames of flow D (50.0 %); some of 1 more flows."
	if got := droppedText(all); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := droppedText(nil); got != "" {
		t.Errorf("of nobody: %s", got)
	}
}
