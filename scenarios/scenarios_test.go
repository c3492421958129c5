package scenarios_test

import (
	"io/fs"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/detect/itsypaper"
	"softswitch/event"
	"softswitch/internal/testsim"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/unit"
)

var detectors = map[string]detect.Factory{"none": detect.NewNone, "itsypaper": itsypaper.New, "itsy": itsy.New}

// compile reads a scenario file, for a detector.
func compile(t *testing.T, name, detector string) *scenario.Plan {
	t.Helper()
	return testsim.Compile(t, testsim.Shipped(t, name, detector))
}

// play simulates a scenario, and passes its events on unless events is nil.
func play(t *testing.T, name, detector string, events func(event.Node, event.Event)) *verdict.Verdict {
	t.Helper()
	v, _ := testsim.Run(t, testsim.Shipped(t, name, detector), sim.Options{Seed: 1, Detectors: detectors, Events: events})
	return v
}

// Every scenario comes out as its file expects, with either detector.
func TestExpectations(t *testing.T) {
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v; want 30 or more", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".yaml")
		for _, detector := range []string{"itsypaper", "itsy"} {
			t.Run(name+"/"+detector, func(t *testing.T) {
				t.Parallel()
				v := play(t, name, detector, nil)
				if !v.ExpectedMet {
					t.Errorf("not met: %s", strings.Join(v.Reasons, "; "))
				}
				if v.Scenario != name {
					t.Errorf("its name is %q", v.Scenario)
				}
			})
		}
	}
}

// A scenario that is shipped is no example of settings that cost something.
func TestNoWarnings(t *testing.T) {
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v; want 30 or more", len(files), err)
	}
	for _, file := range files {
		for _, w := range testsim.Shipped(t, strings.TrimSuffix(file, ".yaml"), "itsy").Warnings {
			t.Error(w)
		}
	}
}

// links follows the pauses of links, named by the nodes at their ends in the
// direction of frames: "A>B".
type links struct {
	names  []string
	paused map[string]bool
	count  map[string]int // of pauses
	last   map[string]unit.Time
	all    int // times at which all of names were paused at once
}

func follow(names ...string) *links {
	return &links{names: names, paused: map[string]bool{}, count: map[string]int{}, last: map[string]unit.Time{}}
}

func (l *links) add(n event.Node, e event.Event) {
	switch e.Type {
	case event.Paused, event.Resumed, event.Expired:
	case event.PauseSent, event.RefreshSent:
		if int(e.Port) < len(n.Ports) {
			l.last[strings.TrimPrefix(n.Ports[e.Port], "to-")+">"+n.Name] = e.At
		}
		return
	default:
		return
	}
	name := n.Name + ">" + strings.TrimPrefix(n.Ports[e.Out], "to-")
	l.paused[name] = e.Type == event.Paused
	if l.paused[name] {
		l.count[name]++
	}
	together := true
	for _, name := range l.names {
		together = together && l.paused[name]
	}
	if together {
		l.all++
	}
}

// Hu et al., Fig. 3(c): L2 and L4 are paused all the time, L1 and L3 never.
func TestHuFig3Pauses(t *testing.T) {
	l := follow("A>B", "B>C", "C>D", "D>A")
	play(t, "hu-fig3", "none", l.add)
	if l.count["A>B"] != 0 || l.count["C>D"] != 0 {
		t.Errorf("L1 was paused %d times and L3 %d times, want never", l.count["A>B"], l.count["C>D"])
	}
	if l.count["B>C"] < 500 || l.count["D>A"] < 500 {
		t.Errorf("L2 was paused %d times and L4 %d times, want 500 or more each", l.count["B>C"], l.count["D>A"])
	}
}

// Hu et al., Fig. 4: all four links are paused, and are kept so long after the
// flows have stopped.
func TestHuFig4Outlives(t *testing.T) {
	l := follow("A>B", "B>C", "C>D", "D>A")
	p := compile(t, "hu-fig4", "none")
	v := play(t, "hu-fig4", "none", l.add)
	if !v.Deadlock || v.Recovered {
		t.Fatalf("deadlock %v, recovered %v; want one that stays", v.Deadlock, v.Recovered)
	}
	stop := p.Scenario.Flows[0].Stop
	if stop == 0 || v.Onset >= stop {
		t.Fatalf("flows stop at %d, onset %d; want an onset before the stop", stop, v.Onset)
	}
	for _, name := range l.names {
		if !l.paused[name] || l.last[name] < p.Scenario.Duration-unit.Millisecond {
			t.Errorf("%s: paused at the end %v, last pause at %d ns; want pauses until the end, %d", name, l.paused[name], l.last[name], p.Scenario.Duration)
		}
	}
}

// Hu et al., Fig. 5(b): at 2 Gbit/s all four links are paused often, and never all
// at one time.
func TestHuFig5NeverTogether(t *testing.T) {
	l := follow("A>B", "B>C", "C>D", "D>A")
	play(t, "hu-fig5-2g", "none", l.add)
	for _, name := range l.names {
		if l.count[name] < 500 {
			t.Errorf("%s was paused %d times, want 500 or more", name, l.count[name])
		}
	}
	if l.all != 0 {
		t.Errorf("all four were paused together %d times, want never", l.all)
	}
}

// steps are the steps of detectors, by switch.
type steps map[detect.Step]map[string]int

func (s steps) add(n event.Node, e event.Event) {
	if e.Type != event.Trace {
		return
	}
	if s[e.Step] == nil {
		s[e.Step] = map[string]int{}
	}
	s[e.Step][n.Name]++
}

// ITSY, Fig. 3: S2 is the middle switch and declares, and S10 is the trigger.
func TestITSYFig3Middle(t *testing.T) {
	s := steps{}
	v := play(t, "itsy-fig3", "itsypaper", s.add)
	if s[detect.StepMiddle]["S2"] == 0 {
		t.Error("S2 was no middle switch")
	}
	if len(v.Detections) == 0 || v.Detections[0].Switch != "S2" {
		t.Errorf("declared by %+v, want S2", v.Detections)
	}
}

// ITSY, Fig. 4: S7 gets one trigger's label on two ports and takes over, but no
// label comes home.
func TestITSYFig4Middle(t *testing.T) {
	s := steps{}
	v := play(t, "itsy-fig4", "itsypaper", s.add)
	if s[detect.StepMiddle]["S7"] == 0 {
		t.Errorf("middle switches: %v, want S7", s[detect.StepMiddle])
	}
	if len(s[detect.StepLoop]) != 0 || len(v.Detections) != 0 {
		t.Errorf("loops %v, detections %v; want none", s[detect.StepLoop], v.Detections)
	}
}

// What the files w2 to w18 and n1 say of ITSY's text is what happens.
func TestWeakSpots(t *testing.T) {
	t.Run("w2-partial-dependency", func(t *testing.T) {
		// The declared bucket holds no more than XON in the declared queue.
		held := map[oracle.Bucket]map[unit.Port]int32{}
		weak := 0
		play(t, "w2-partial-dependency", "itsypaper", func(n event.Node, e event.Event) {
			b := oracle.Bucket{NodePort: unit.NodePort{Node: n.ID, Port: e.Port}, Class: e.Class}
			switch e.Type {
			case event.Held:
				if held[b] == nil {
					held[b] = map[unit.Port]int32{}
				}
				held[b][e.Out] = e.Bytes
				if e.Bytes > e.Limit {
					held[b][e.Out] = -1
				}
			case event.Deadlock:
				if h := held[b][e.Out]; h > 0 {
					weak++
				}
			}
		})
		if weak == 0 {
			t.Error("no deadlock was declared on bytes up to XON")
		}
	})
	for _, name := range []string{"w3-crossing-frame", "w4-transient-trigger", "w6-late-edge", "w7-dropped-label"} {
		t.Run(name, func(t *testing.T) {
			s := steps{}
			play(t, name, "itsypaper", s.add)
			if len(s[detect.StepLoop]) != 0 {
				t.Errorf("causality loops found at %v, want none", s[detect.StepLoop])
			}
		})
	}
	t.Run("w5-resumed-within-seq", func(t *testing.T) {
		// Somewhere on the way of the label a port is resumed, paused again, and
		// passes the check of the same Seq.
		type where struct {
			node unit.NodeID
			out  unit.Port
			seq  uint16
			by   unit.NodePort
		}
		passed, resumed := map[where]unit.Time{}, map[unit.NodePort]unit.Time{}
		again := 0
		play(t, "w5-resumed-within-seq", "itsypaper", func(n event.Node, e event.Event) {
			at := where{n.ID, e.Out, e.Label.Seq, e.Label.Initiator}
			switch {
			case e.Type == event.Resumed:
				resumed[unit.NodePort{Node: n.ID, Port: e.Out}] = e.At
			case e.Type != event.Trace:
			case e.Step == detect.StepForward && passed[at] == 0:
				passed[at] = e.At
			case e.Step == detect.StepCheck && passed[at] > 0 && resumed[unit.NodePort{Node: n.ID, Port: e.Out}] > passed[at]:
				again++
			}
		})
		if again == 0 {
			t.Error("no check passed a port that was resumed since its label came by")
		}
	})
	for _, name := range []string{"w8-chattering-trigger", "n1-two-triggers"} {
		t.Run(name, func(t *testing.T) {
			s := steps{}
			v := play(t, name, "itsypaper", s.add)
			if len(s[detect.StepLoop]) == 0 || len(s[detect.StepFail]) == 0 || len(v.Detections) != 0 {
				t.Errorf("loops %v, failed checks %v, %d declared; want loops whose checks fail", s[detect.StepLoop], s[detect.StepFail], len(v.Detections))
			}
			if name == "n1-two-triggers" && len(s[detect.StepLoop]) < 2 {
				t.Errorf("loops found by %v, want two switches", s[detect.StepLoop])
			}
		})
	}
	t.Run("w18-two-declarers", func(t *testing.T) {
		for detector, want := range map[string]int{"itsypaper": 2, "itsy": 1} {
			by := map[string]bool{}
			for _, d := range play(t, "w18-two-declarers", detector, nil).Detections {
				by[d.Switch] = true
			}
			if len(by) != want {
				t.Errorf("%s: declared by %v, want %d switches", detector, by, want)
			}
		}
	})
}
