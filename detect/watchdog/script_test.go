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

const (
	ms       = unit.Millisecond
	priority = unit.Priority(3)
)

// q is the queue of the scripts; in is the port whose bytes wait in it.
var q = detect.Queue{Port: 1, Priority: priority}

const in = unit.Port(2)

// script is a watchdog on a switch whose queue q the script describes. All other
// queues are empty. Its grid begins at 0: the switch's number is 0.
type script struct {
	*testing.T
	dog *Watchdog
	now unit.Time
	stub
}

// stub is the switch: facts that a script sets, and what was asked of it.
type stub struct {
	detect.View
	detect.Actions
	ports    int
	paused   bool
	bytes    map[unit.Port]int // of q, by ingress port
	left     uint64
	pauses   uint64
	frames   detect.Frames
	findings []detect.Finding
	asked    []string
}

func (s *stub) Self() unit.NodeID          { return 0 }
func (s *stub) Ports() int                 { return s.ports }
func (s *stub) Lossless() unit.PrioritySet { return 1<<priority | 1<<4 }

func (s *stub) Paused(at detect.Queue) bool { return at == q && s.paused }

func (s *stub) Held(b detect.PG, at detect.Queue) int {
	if at != q || b.Priority != priority {
		return 0
	}
	return s.bytes[b.Port]
}

func (s *stub) Backlog(at detect.Queue) (n int) {
	for p := range s.ports {
		n += s.Held(detect.PG{Port: unit.Port(p), Priority: priority}, at)
	}
	return n
}

func (s *stub) Left(at detect.Queue) uint64 {
	if at != q {
		return 0
	}
	return s.left
}

func (s *stub) PausesSeen(at detect.Queue) uint64 {
	if at != q {
		return 0
	}
	return s.pauses
}

func (s *stub) Frames(at detect.Queue) detect.Frames {
	if at != q {
		return detect.Frames{}
	}
	return s.frames
}

func (s *stub) Report(f detect.Finding)          { s.findings = append(s.findings, f) }
func (s *stub) Discard(at detect.Queue, on bool) { s.ask("discard", at, on) }
func (s *stub) Flush(at detect.Queue, on bool)   { s.ask("flush", at, on) }
func (s *stub) Ignore(at detect.Queue, on bool)  { s.ask("ignore", at, on) }
func (s *stub) ask(what string, at detect.Queue, on bool) {
	s.asked = append(s.asked, fmt.Sprintf("%s %d.%d %v", what, at.Port, at.Priority, on))
}

// start makes the switch and its watchdog.
func start(t *testing.T, c Config) *script {
	sc := &script{T: t, stub: stub{ports: 4, bytes: map[unit.Port]int{}}}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	sc.dog = newWatchdog(c, &sc.stub, &sc.stub)
	return sc
}

// standstill: q holds frames and is paused for ever, with a pause frame every 10 ms.
func (sc *script) standstill() {
	sc.bytes[in] = 30_000
	sc.pause()
}

// pause: a pause frame came.
func (sc *script) pause() {
	fresh := !sc.paused
	sc.paused, sc.pauses = true, sc.pauses+1
	sc.dog.Pause(sc.now, q, itsyhdr.TLV{}, fresh)
}

// resume: the pause ended.
func (sc *script) resume() {
	sc.paused = false
	sc.dog.Resume(sc.now, q, false)
}

// until lets time pass, with every poll when it is due; before each, a paused queue
// has seen one more pause frame.
func (sc *script) until(at unit.Time) {
	sc.Helper()
	for sc.dog.Deadline() <= at {
		sc.poll(sc.dog.Deadline())
	}
	sc.now = at
}

// poll lets the next poll happen at a time, late or not.
func (sc *script) poll(at unit.Time) {
	sc.Helper()
	sc.now = at
	if sc.paused {
		sc.pauses++
	}
	sc.dog.Tick(at)
	if d := sc.dog.Deadline(); d <= at {
		sc.Fatalf("at %d ms the next poll is at %d ms", at/ms, d/ms)
	}
}

func (sc *script) wantStorms(detected, restored uint64) {
	sc.Helper()
	s := sc.dog.Stats(q)
	if s.Detected != detected || s.Restored != restored || s.Stormed != (detected > restored) {
		sc.Errorf("at %d ms: %d storms detected, %d restored, stormed %v; want %d, %d", sc.now/ms, s.Detected, s.Restored, s.Stormed, detected, restored)
	}
	if len(sc.findings) != int(detected) {
		sc.Errorf("at %d ms: %d findings, want %d", sc.now/ms, len(sc.findings), detected)
	}
}

func (sc *script) wantAsked(want ...string) {
	sc.Helper()
	if !slices.Equal(sc.asked, want) {
		sc.Errorf("at %d ms: asked for %s; want %s", sc.now/ms, strings.Join(sc.asked, ", "), strings.Join(want, ", "))
	}
}

func with(a Action) Config {
	c := Default()
	c.Action = a
	return c
}
