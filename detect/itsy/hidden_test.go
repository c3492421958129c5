package itsy_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/oracle/verdict"
	"softswitch/pfcframe"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// With -placements 1 TestForgedLabelHidesNothing plays each of 480; docs/security.md has what came
// of it.
var every = flag.Int("placements", testkit.Sized(29, 7), "TestForgedLabelHidesNothing plays every n-th placement")

// A label whose owner does not exist says that a deadlock was declared, and goes round the
// loop of one that nobody has declared: one forged pause, at a time near the onset, at a link
// of the loop. It delays the declaration, and does not prevent it.
func TestForgedLabelHidesNothing(t *testing.T) {
	for _, c := range []struct {
		name     string
		step     unit.Time // between placements
		duration unit.Time // long enough for whoever trusts the label to doubt it
	}{
		{"shpiner-fig4", unit.Microsecond, 5 * unit.Millisecond},
		{"itsy-fig2", unit.Microsecond, 5 * unit.Millisecond},
		{"w3-crossing-frame", unit.Microsecond, 5 * unit.Millisecond},
		{"itsy-fig5", 50 * unit.Microsecond, 2 * unit.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := simtest.Shipped(t, c.name, itsy.Name)
			s.Duration = c.duration
			periods := map[string][]period{}
			quiet := simulate(t, s, func(n event.Node, e event.Event) {
				if e.Type == event.PauseSent && e.Priority == 3 && int(e.Port) < len(n.Ports) {
					at := n.Name + " " + n.Ports[e.Port]
					periods[at] = append(periods[at], period{e.At, e.Period})
				}
			})
			if len(quiet.Detections) != 1 || quiet.FalseNegatives > 0 {
				t.Fatalf("without a liar: %d declarations, %d deadlocks missed; want 1 and none", len(quiet.Detections), quiet.FalseNegatives)
			}
			n, played, late := 0, 0, 0
			var latest unit.Time
			for _, link := range quiet.Detections[0].Loop {
				from, to, _ := strings.Cut(link, "--")
				for k := range unit.Time(30) {
					if n++; n%*every != 0 {
						continue
					}
					at := quiet.Onset + (k-15)*c.step
					v := simulate(t, lie(t, s, at, from, to, periodAt(periods[to+" to-"+from], at)), nil)
					played++
					if v.FalseNegatives > 0 || v.FalsePositives > 0 || len(v.Detections) > 2 {
						t.Errorf("%s pauses %s at %d ns, onset %d: %d deadlocks missed, %d of %d declarations false; want none, none, and at most 2",
							to, from, at, quiet.Onset, v.FalseNegatives, v.FalsePositives, len(v.Detections))
					}
					first := v.Duration
					for _, d := range v.Detections {
						first = min(first, d.Latency)
					}
					if latest = max(latest, first); first > 10*quiet.Detections[0].Latency {
						late++
					}
				}
			}
			t.Logf("%d placements: %d delay the declaration, at most to %d us after the onset", played, late, latest/unit.Microsecond)
		})
	}
}

// period is the number of a priority group's XOFF, which every pause carries, from a time on.
type period struct {
	from   unit.Time
	number uint8
}

func periodAt(all []period, at unit.Time) (number uint8) {
	for _, p := range all {
		if p.from <= at {
			number = p.number
		}
	}
	return number
}

func simulate(t *testing.T, s *scenario.Scenario, events func(event.Node, event.Event)) *verdict.Verdict {
	t.Helper()
	v, _ := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{itsy.Name: itsy.New}, Events: events})
	return v
}

// lie is s with a forged pause by the switch to to the switch from at a time.
func lie(t *testing.T, s *scenario.Scenario, at unit.Time, from, to string, period uint8) *scenario.Scenario {
	t.Helper()
	f := simtest.Compile(t, s).Fabric
	e := scenario.Event{At: at, Do: scenario.Forge, Link: -1, Frame: forgedPause(period)}
	for i, l := range f.Links {
		a, b := f.Nodes[l.A.Node].Name, f.Nodes[l.B.Node].Name
		switch {
		case a == to && b == from:
			e.Link, e.Node = i, l.A.Node
		case b == to && a == from:
			e.Link, e.Node = i, l.B.Node
		}
	}
	if e.Link < 0 {
		t.Fatalf("no link between %s and %s", from, to)
	}
	lying := *s
	lying.Events = append(slices.Clone(s.Events), e)
	slices.SortStableFunc(lying.Events, func(a, b scenario.Event) int { return int(a.At - b.At) })
	return &lying
}

// forgedPause is a pause for priority 3 with a label, proof and declared, of a switch that does
// not exist.
func forgedPause(period uint8) []byte {
	b := make([]byte, pfcframe.Len)
	f := pfcframe.Frame{Src: [6]byte{2}, Enable: 1 << 3}
	f.Quanta[3] = 65535
	itsyhdr.Put(pfcframe.Put(b, f), itsyhdr.TLV{
		Kind: itsyhdr.KindLabel, Priority: 3, Flags: 1 | 4, Initiator: unit.NodePort{Node: 60000, Port: 1}, Seq: 30000, Period: period,
	})
	return b
}
