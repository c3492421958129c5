package dataplane

import (
	"encoding/binary"
	"fmt"
	"testing"

	"softswitch/detect"
	"softswitch/internal/ether"
	"softswitch/link/auth"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// pause8023 is an 802.3x PAUSE to an address for so many quanta.
func pause8023(dst unit.MAC, quanta uint16) []byte {
	b := make([]byte, pfcframe.Len)
	ether.SetAddresses(b, dst, 0x02cc00000001)
	binary.BigEndian.PutUint16(b[12:], pfcframe.EtherType)
	binary.BigEndian.PutUint16(b[14:], pfcframe.OpcodePause)
	binary.BigEndian.PutUint16(b[16:], quanta)
	return b
}

const pauseGroup unit.MAC = 0x0180c2000001

// heeding is a switch of three ports of 100 Mbit/s of which port 1 heeds PAUSE.
func heeding(t testing.TB) *testSwitch {
	t.Helper()
	return newTestSwitch(t, 3, func(c *Config) {
		for p := range c.Ports {
			c.Ports[p].Rate = 100_000_000
		}
		c.Ports[1].HeedPause = true
	})
}

// everyPriority are events or frames of all priorities, as text.
func everyPriority(format string) (text []string) {
	for c := range unit.Priorities {
		text = append(text, fmt.Sprintf(format, c))
	}
	return text
}

// A PAUSE stops all priorities of a port that heeds it, lossy ones too, until its quanta have passed or
// another says 0. The detector hears of the lossless ones.
func TestPause8023IsHeeded(t *testing.T) {
	for _, dst := range []unit.MAC{pauseGroup, portMAC(1)} {
		s := heeding(t)
		var waiting [][]byte
		for c := range unit.Priority(unit.Priorities) {
			waiting = append([][]byte{between(0, 1, c, 1)}, waiting...) // 7 leaves before 0
		}
		s.receive(1, pause8023(dst, 1000))
		s.wantEvents(everyPriority("paused 1.%d")...)
		s.wantCalls("Pause 1.3 fresh", "Pause 1.4 fresh")
		s.receive(0, waiting...)
		s.wantNothing(1)
		s.wantNext(s.now + 5120*unit.Microsecond) // 1000 x 512 bit
		s.receive(1, pause8023(dst, 0))
		s.wantEvents(everyPriority("resumed 1.%d")...)
		s.until(s.now + 10*unit.Millisecond)
		if n := s.Counters(1).TxFrames; n != [unit.Priorities]uint64{1, 1, 1, 1, 1, 1, 1, 1} {
			t.Errorf("%d frames left after the resume", n)
		}

		s.receive(1, pause8023(dst, 1000))
		from := s.now
		s.receive(0, waiting...)
		s.advance(5120*unit.Microsecond - 1)
		s.wantNothing(1)
		s.until(from + 10*unit.Millisecond)
		c := s.Counters(1)
		if c.TxFrames != [unit.Priorities]uint64{2, 2, 2, 2, 2, 2, 2, 2} || c.Expired != [unit.Priorities]uint64{1, 1, 1, 1, 1, 1, 1, 1} {
			t.Errorf("%d frames left after %d pauses ran out", c.TxFrames, c.Expired)
		}
		if c.RxPause8023 != 3 || c.RxPause != [unit.Priorities]uint64{} || c.RxResume != [unit.Priorities]uint64{} {
			t.Errorf("counted as %d PAUSE, %d PFC, %d resumes; want 3 and none", c.RxPause8023, c.RxPause, c.RxResume)
		}
		s.wantNoDrops()
	}
}

// A detector sees each PAUSE in every priority, beside the PFC frames of that priority, also where an action
// has it ignored; one that resumes is no pause.
func TestPause8023IsSeen(t *testing.T) {
	s := heeding(t)
	s.receive(1, pause8023(pauseGroup, 1000), pauseOf(3, 1000, 1), pause8023(pauseGroup, 0))
	s.Ignore(queue1, true)
	s.receive(1, pause8023(pauseGroup, 1000))
	s.receive(0, pause8023(pauseGroup, 1000)) // not heeded there
	for c := range unit.Priority(unit.Priorities) {
		want := uint64(2)
		if c == 3 {
			want = 3
		}
		if at0, at1 := s.PausesSeen(detect.Queue{Port: 0, Priority: c}), s.PausesSeen(detect.Queue{Port: 1, Priority: c}); at0 != 0 || at1 != want {
			t.Errorf("priority %d: %d pauses seen at port 0 and %d at port 1, want 0 and %d", c, at0, at1, want)
		}
	}
	s.wantDrop(0, DropPause8023)
}

// Where it is not heeded, or for another station, it is counted and pauses nothing.
func TestPause8023IsIgnored(t *testing.T) {
	s := heeding(t)
	s.receive(0, pause8023(pauseGroup, 1000))
	s.receive(0, pause8023(portMAC(0), 0))
	s.wantDrops(0, map[Reason]uint64{DropPause8023: 2})
	s.receive(1, pause8023(portMAC(2), 1000))
	s.wantDrop(1, DropPause8023)
	s.wantCalls()
	s.wantEvents()
	if n := s.Counters(0).RxPause8023 + s.Counters(1).RxPause8023; n != 0 {
		t.Errorf("%d were heeded", n)
	}
}

// No PAUSE can prove whose it is: an end that wants proof does not heed it.
func TestPause8023IsNotProved(t *testing.T) {
	for mode, heeded := range map[auth.Mode]bool{auth.Accept: true, auth.Strict: false} {
		s := newTestSwitch(t, 2, func(c *Config) {
			c.Ports[1].HeedPause = true
			c.Ports[1].Auth = &auth.Config{Mode: mode, Link: "a--b", Keys: []auth.Key{{1}}, First: 1}
		})
		s.receive(1, pause8023(pauseGroup, 1000))
		if got := s.QueuePaused(1, 3) && s.Counters(1).RxPause8023 == 1; got != heeded {
			t.Errorf("auth %v: heeded %v, want %v", mode, got, heeded)
		}
		if !heeded {
			s.wantDrop(1, DropUntagged)
		}
		s.link(1, false)
	}
}

// A host that sends PAUSE without end is contained as one that sends PFC frames is.
func TestPause8023Storm(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) {
		c.StormBudget = stormBudget
		for p := range c.Ports {
			c.Ports[p].Rate = 100_000_000
		}
		c.Ports[0].FacesHost, c.Ports[0].HeedPause = true, true
	})
	for then := s.now + stormBudget + unit.Millisecond; s.now < then; {
		s.receive(0, pause8023(pauseGroup, 1000))
		s.until(min(then, s.now+2*unit.Millisecond))
	}
	s.wantContained(true)
	if s.ports[0].paused != 0 {
		t.Errorf("priorities %b are paused", s.ports[0].paused)
	}
	s.until(s.now + 2*stormBudget)
	s.wantContained(false)
}
