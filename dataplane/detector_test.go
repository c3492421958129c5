package dataplane

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// The detector's deadline is kept by the first port whose link is up, whichever event
// moved it.
func TestDetectorDeadline(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	want := func(out unit.Port, next unit.Time, calls ...string) {
		t.Helper()
		s.det.calls = nil
		if got := s.transmit(out, 1); len(got) > 0 || s.next != next || !slices.Equal(s.det.calls, calls) {
			t.Errorf("port %d: sent %s, next %d, told %q; want nothing, %d, %q", out, frameText(got), s.next, s.det.calls, next, calls)
		}
	}
	ready := func(want ...unit.Port) {
		t.Helper()
		got, _ := s.Switch.Work(nil)
		for _, p := range want {
			if !got.Has(p) {
				t.Errorf("ready ports %b, want %d among them", got, p)
			}
		}
		if len(want) == 0 && !got.Empty() {
			t.Errorf("ready ports %b, want none", got)
		}
	}
	s.det.deadline = s.now + 500
	ready(0)
	ready() // it was told once
	want(1, unit.Never)
	want(0, s.now+500)
	s.det.deadline = s.now + 900 // later: port 0 finds out by itself
	ready()
	s.now += 500
	want(0, s.now+400)
	s.det.deadline = s.now + 100
	ready(0)
	s.link(0, false)
	s.det.deadline = s.now + 90
	ready(1)
	s.now += 90
	want(2, unit.Never)
	want(0, unit.Never)
	s.det.calls = nil
	want(1, unit.Never, "Tick 1000000590")
	s.link(0, true)
	s.det.deadline = s.now + 100
	ready(0)
}

// HeldIn counts a flooded frame once, however many of the queues it waits in.
func TestHeldIn(t *testing.T) {
	s := newTestSwitch(t, 4, func(c *Config) { c.MAC = c.MAC[:2] })
	b := detect.PG{Port: 0, Priority: 3}
	want := func(out unit.PortSet, want int) {
		t.Helper()
		if got := s.HeldIn(b, out); got != want {
			t.Errorf("%d bytes in ports %b, want %d", got, out, want)
		}
	}
	s.receive(1, pauseOf(3, 65535, 1))
	s.receive(2, pauseOf(3, 65535, 1))
	s.receive(0, between(0, 1, 3, 1))
	want(ports(1, 2, 3), 1000)
	s.receive(3, between(3, 1, 3, 3)) // another priority group's
	unknown := datagram{dst: stationMAC(9), src: stationMAC(0), priority: 3}.frame()
	s.receive(0, unknown, unknown) // to ports 1, 2 and 3
	want(unit.PortSet{}, 0)
	want(ports(1), 3000)
	want(ports(2), 2000)
	want(ports(1, 2), 3000)
	want(ports(2, 3), 2000)
	s.drain(3)
	want(ports(2, 3), 2000)
	want(ports(3), 0)
	s.link(1, false)
	want(ports(1), 0)
	want(ports(1, 2), 2000)
	s.receive(2, resumeOf(3, 1))
	s.drain(2)
	want(ports(1, 2, 3), 0)
}

// A pause may have lapsed when no frame of it has left for most of its time, or none
// at all.
func TestLapsed(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Ports[0].Rate = 10_000 * mega })
	b := detect.PG{Port: 0, Priority: 3}
	s.receive(1, pauseOf(3, 65535, 1))
	s.receive(0, several(4, 0, 1, 3)...)
	if on, _ := s.XOFF(b); !on || !s.Lapsed(b) {
		t.Errorf("XOFF %v, lapsed %v before the first pause has left; want both", on, s.Lapsed(b))
	}
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	lasts := unit.Rate(10_000 * mega).QuantaTime(1000) // 51.2 us
	for _, c := range []struct {
		after unit.Time
		want  bool
	}{{0, false}, {lasts - lasts/8, false}, {lasts - lasts/8 + 1, true}, {lasts, true}} {
		s.Switch.now = s.now + c.after
		if got := s.Lapsed(b); got != c.want {
			t.Errorf("%d ns after the pause left: lapsed %v, want %v", c.after, got, c.want)
		}
	}
	s.Switch.now = s.now
	s.receive(1, resumeOf(3, 1))
	s.drain(1)
	s.drain(0)
}

// A hop is a full frame, a pause, the wire and half of the driver's granularity.
func TestHop(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) {
		c.Ports[0].Rate, c.Ports[1].Rate = 1000*mega, 10_000*mega
		c.Delay, c.Granularity = 7*unit.Microsecond, 200*unit.Microsecond
	})
	r := unit.Rate(1000 * mega)
	if got, want := s.Hop(), r.FrameTime(1518)+r.FrameTime(60)+107*unit.Microsecond; got != want {
		t.Errorf("hop %d ns, want %d", got, want)
	}
	jumbo := newTestSwitch(t, 2, func(c *Config) {
		c.Ports[0].Rate, c.MaxFrame, c.SlotBytes = 1000*mega, 9230, 9280
	})
	if got, want := jumbo.Hop(), r.FrameTime(9234)+r.FrameTime(60); got != want {
		t.Errorf("hop %d ns with frames of 9230 bytes, want %d", got, want)
	}
	if got := newTestSwitch(t, 2, nil).Hop(); got != unit.Microsecond {
		t.Errorf("hop at an unlimited rate %d ns, want 1000", got)
	}
}
