package watchdog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// dldrScript is a detector on a switch whose queue q the script pauses and resumes.
type dldrScript struct {
	*testing.T
	dldr *dldr
	now  unit.Time
	dldrStub
}

// dldrStub is the switch, and what was asked of it.
type dldrStub struct {
	detect.View
	detect.Actions
	ports int
	asked []string
}

func (s *dldrStub) Ports() int                 { return s.ports }
func (s *dldrStub) Lossless() unit.PrioritySet { return 1<<priority | 1<<4 }

func (s *dldrStub) Held(b detect.PG, at detect.Queue) int {
	if at != q || b.Port != in {
		return 0
	}
	return 1500
}

func (s *dldrStub) Report(f detect.Finding) {
	s.asked = append(s.asked, fmt.Sprintf("report %d.%d > %d.%d", f.PG.Port, f.PG.Priority, f.Queue.Port, f.Queue.Priority))
}

func (s *dldrStub) Flush(at detect.Queue, on bool) {
	s.asked = append(s.asked, fmt.Sprintf("flush %d.%d %v", at.Port, at.Priority, on))
}

func startDLDR(t *testing.T, c DLDRConfig) *dldrScript {
	sc := &dldrScript{T: t, dldrStub: dldrStub{ports: 4}}
	sc.dldr = c.Factory()(&sc.dldrStub, &sc.dldrStub).(*dldr)
	return sc
}

// until lets time pass, with every timer when it runs out. The switch ends the pause of
// a queue that begins to be flushed.
func (sc *dldrScript) until(at unit.Time) {
	for sc.dldr.Deadline() <= at {
		sc.now = sc.dldr.Deadline()
		before := len(sc.asked)
		sc.dldr.Tick(sc.now)
		if slices.Contains(sc.asked[before:], "flush 1.3 true") {
			sc.resume()
		}
	}
	sc.now = at
}

func (sc *dldrScript) pause(fresh bool) { sc.dldr.Pause(sc.now, q, itsyhdr.TLV{}, fresh) }
func (sc *dldrScript) resume()          { sc.dldr.Resume(sc.now, q, false) }

func (sc *dldrScript) wantAsked(want ...string) {
	sc.Helper()
	if !slices.Equal(sc.asked, want) {
		sc.Errorf("at %d ms: asked for %s; want %s", sc.now/ms, strings.Join(sc.asked, ", "), strings.Join(want, ", "))
	}
}

// What a detection asks for.
var detected = []string{"report 2.3 > 1.3", "flush 1.3 true"}

// A queue that is XOFF for the detection interval is flushed for the recovery interval,
// and again if it is paused again. Pauses that are refreshed do not start the timer anew.
func TestDetectionAndRecovery(t *testing.T) {
	sc := startDLDR(t, DLDRConfig{Detection: 200 * ms, Recovery: 300 * ms})
	sc.until(50 * ms)
	sc.pause(true)
	for at := 60 * ms; at < 250*ms; at += 10 * ms {
		sc.until(at)
		sc.pause(false)
	}
	sc.until(250*ms - 1)
	sc.wantAsked()
	sc.until(250 * ms)
	sc.wantAsked(detected...)
	sc.until(550*ms - 1)
	sc.wantAsked(detected...)
	sc.until(550 * ms)
	once := append(slices.Clone(detected), "flush 1.3 false")
	sc.wantAsked(once...)
	sc.until(2000 * ms)
	sc.wantAsked(once...)
	sc.pause(true)
	sc.until(2200*ms - 1)
	sc.wantAsked(once...)
	sc.until(2200 * ms)
	sc.wantAsked(append(once, detected...)...)
}

// A pause that ends, however shortly, starts the timer anew.
func TestFlickerIsNoDeadlock(t *testing.T) {
	sc := startDLDR(t, DefaultDLDR())
	for at := unit.Time(0); at < 3000*ms; at += 199 * ms {
		sc.until(at)
		sc.pause(true)
		sc.until(at + 198*ms)
		sc.resume()
	}
	sc.until(4000 * ms)
	sc.wantAsked()
	if d := sc.dldr.Deadline(); d != unit.Never {
		t.Errorf("a timer runs out at %d ms though nothing is paused", d/ms)
	}
}

// Each queue has a timer of its own.
func TestManyQueues(t *testing.T) {
	sc := startDLDR(t, DefaultDLDR())
	other := detect.Queue{Port: 3, Priority: 4}
	sc.pause(true)
	sc.until(100 * ms)
	sc.dldr.Pause(sc.now, other, itsyhdr.TLV{}, true)
	sc.until(299 * ms)
	sc.wantAsked(detected...)
	sc.until(300 * ms)
	sc.wantAsked(append(slices.Clone(detected), "report 0.4 > 3.4", "flush 3.4 true")...)
	sc.until(400 * ms)
	if last := sc.asked[len(sc.asked)-1]; last != "flush 1.3 false" {
		t.Errorf("at 400 ms the last that is asked for is %q, want the end of the first recovery", last)
	}
}

func TestStateBytes(t *testing.T) {
	if n := startDLDR(t, DefaultDLDR()).dldr.StateBytes(); n < 2*4*9 || n > 2*4*16 {
		t.Errorf("the state of 8 queues takes %d bytes, want a time and a bit each", n)
	}
}

func TestBadDLDRConfig(t *testing.T) {
	for _, c := range []DLDRConfig{{}, {Detection: 1}, {Recovery: 1}, {Detection: 1, Recovery: -1}} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "want above 0") {
					t.Errorf("%+v: %v, want a panic", c, r)
				}
			}()
			c.Factory()
		}()
	}
}

// A tick allocates nothing.
func TestDLDRNoAllocs(t *testing.T) {
	sc := startDLDR(t, DefaultDLDR())
	sc.asked = make([]string, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() { sc.dldr.Tick(sc.now) }); n > 0 {
		t.Errorf("%v allocations a tick", n)
	}
}
