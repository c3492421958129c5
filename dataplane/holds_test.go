package dataplane

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/unit"
)

// A flooded frame counts once, with all the paused queues that it waits in.
func TestHolds(t *testing.T) {
	s := newTestSwitch(t, 4, func(c *Config) { c.MAC = c.MAC[:2] })
	b := detect.PG{Port: 0, Priority: 3}
	want := func(flooded bool, want ...Holds) {
		t.Helper()
		if got := s.AppendHolds(nil, b); !slices.Equal(got, want) || s.HasFlooded() != flooded {
			t.Errorf("holds %+v, flooded %v; want %+v, %v", got, s.HasFlooded(), want, flooded)
		}
	}
	s.receive(1, pauseOf(3, 65535, 1))
	s.receive(2, pauseOf(3, 65535, 1))
	s.receive(2, pauseOf(4, 65535, 1))
	want(false)
	s.receive(0, between(0, 1, 3, 1), between(0, 1, 3, 2))
	s.receive(3, between(3, 1, 3, 3)) // another priority group's
	want(false, Holds{ports(1), 3, 2000, false})
	unknown := datagram{dst: stationMAC(9), src: stationMAC(0), priority: 3}.frame()
	s.receive(0, unknown, unknown) // to ports 1, 2 and 3, of which 3 is not paused
	want(true, Holds{ports(1), 3, 2000, false}, Holds{ports(1, 2), 3, 2000, true})
	s.drain(3)
	want(true, Holds{ports(1), 3, 2000, false}, Holds{ports(1, 2), 3, 2000, true})
	s.receive(1, resumeOf(3, 1))
	want(true, Holds{ports(2), 3, 2000, true})
	s.transmit(1, 4) // two for itself, one of port 3, one flooded
	s.receive(1, pauseOf(3, 65535, 2))
	want(true, Holds{ports(1, 2), 3, 1000, true}, Holds{ports(2), 3, 1000, true})
	s.link(2, false)
	want(true, Holds{ports(1), 3, 1000, true})
	s.receive(1, resumeOf(3, 2))
	s.drain(1)
	want(false)

	// What is already in the slice stays.
	s.receive(1, pauseOf(3, 65535, 3))
	s.receive(0, between(0, 1, 3, 4))
	before := []Holds{{ports(1), 3, 5, false}}
	if got := s.AppendHolds(before, b); !slices.Equal(got, []Holds{before[0], {ports(1), 3, 1000, false}}) {
		t.Errorf("appended: %+v", got)
	}
}

// holdsAgree wants the holds of every priority group to tell what M and the account tell.
func (c *chaos) holdsAgree() {
	c.t.Helper()
	for in := range unit.Port(4) {
		for _, priority := range []unit.Priority{3, 4} {
			b := detect.PG{Port: in, Priority: priority}
			sum, total := make(map[detect.Queue]int), 0
			for _, h := range c.AppendHolds(nil, b) {
				total += h.Bytes
				for p := range unit.Port(4) {
					if h.Ports.Has(p) {
						sum[detect.Queue{Port: p, Priority: h.Priority}] += h.Bytes
					}
				}
			}
			if bytes, _ := c.MMU().Bytes(in, priority); total > bytes {
				c.t.Fatalf("%s: priority group %v holds %d bytes, %d of them in paused queues", c.where, b, bytes, total)
			}
			for p := range unit.Port(4) {
				q := detect.Queue{Port: p, Priority: priority}
				want := 0
				if c.Paused(q) {
					want = c.Held(b, q)
				}
				if sum[q] != want {
					c.t.Fatalf("%s: holds of %v in %v are %d bytes, M is %d", c.where, b, q, sum[q], want)
				}
			}
		}
	}
}
