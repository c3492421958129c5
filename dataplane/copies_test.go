package dataplane

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// numbered is a message frame with a number.
func numbered(n uint16, t itsyhdr.TLV) []byte {
	b := message(t)
	itsyhdr.PutNumber(b, n)
	return b
}

// A message that comes twice is heard once; what has no number is heard each time, and so is what another
// port, or a far end that has begun anew, numbers alike.
func TestMessageTwice(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	said := "Message at 2: " + label(3).String()
	for range 2 {
		s.receive(2, numbered(7, label(3)))
	}
	s.wantCalls(said)
	s.wantDrops(2, map[Reason]uint64{DropRepeated: 1})
	s.receive(1, numbered(7, label(3)))
	s.wantCalls("Message at 1: " + label(3).String())
	for range 2 {
		s.receive(2, message(label(3)))
		s.wantCalls(said)
	}
	s.link(2, false)
	s.link(2, true)
	s.det.calls = nil
	s.receive(2, numbered(7, label(3)))
	s.wantCalls(said)
	if rx := s.Counters(2).RxMessages; rx != 4 {
		t.Errorf("%d messages received, want 4", rx)
	}
}

// Messages of a port have numbers, one after the other.
func TestMessagesHaveNumbers(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	var last uint16
	for range 3 {
		s.det.Send(1, label(3))
		got := s.drain(1)
		if len(got) != 1 {
			t.Fatalf("%d frames, want 1", len(got))
		}
		n := itsyhdr.Number(got[0])
		if n == 0 || last != 0 && n != last+1 {
			t.Errorf("number %d after %d", n, last)
		}
		last = n
	}
	p := &port{number: 65535}
	if n := p.nextNumber(0); n != 1 {
		t.Errorf("%d after 65535, want 1: 0 is no number", n)
	}
}

// What has come is known as by a list of the last numbers, in whatever order they come.
func TestCopies(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	var c copies
	var newest uint16
	var come []uint16
	twice := 0
	for range 100_000 {
		n := newest + uint16(r.IntN(70)) - 66 // mostly behind
		if r.IntN(5000) == 0 {
			n = uint16(r.IntN(1 << 16)) // begun anew
		}
		if n == 0 {
			continue
		}
		if ahead := int16(n - newest); come == nil || ahead >= 64 || ahead <= -64 {
			come, newest = nil, n
		} else if ahead > 0 {
			newest = n
		}
		come = slices.DeleteFunc(come, func(m uint16) bool { return newest-m >= 64 })
		want := slices.Contains(come, n)
		come = append(come, n)
		if got := c.again(n); got != want {
			t.Fatalf("seed %d: number %d came again: %v, want %v; of %d", seed, n, got, want, come)
		} else if got {
			twice++
		}
	}
	if twice < 1000 {
		t.Errorf("%d came twice", twice)
	}
}

// A first message is of its time, so that a switch that begins anew is not taken for one that repeats itself.
func TestNumbersOfTwoLives(t *testing.T) {
	a, b := &port{}, &port{}
	first, second := a.nextNumber(5*unit.Second), b.nextNumber(5*unit.Second+300*unit.Microsecond)
	if d := int16(second - first); d < 64 && d > -64 {
		t.Errorf("%d and %d", first, second)
	}
}
