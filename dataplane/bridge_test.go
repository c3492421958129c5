package dataplane

import (
	"bytes"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// withoutStations is a bridge that knows nobody.
func withoutStations(c *Config) { c.MAC = nil }

func TestBridgeLearns(t *testing.T) {
	s := newTestSwitch(t, 4, withoutStations)
	hello, answer := between(0, 2, 0, 1), between(2, 0, 0, 2)
	s.receive(0, hello) // nobody knows station 2: to all but where it came from
	s.wantNothing(0)
	s.wantData(1, hello)
	s.wantData(2, hello)
	s.wantData(3, hello)
	s.receive(2, answer) // station 0 was learned
	s.wantData(0, answer)
	s.wantNothing(0, 1, 2, 3)
	s.receive(0, hello) // now station 2 is too
	s.wantData(2, hello)
	s.wantNothing(0, 1, 2, 3)
	s.receive(3, hello) // station 0 has moved to port 3
	s.wantData(2, hello)
	s.receive(2, answer)
	s.wantData(3, answer)
	s.wantNothing(0, 1, 2, 3)
	s.wantNoDrops()
}

func TestBridgeAgeing(t *testing.T) {
	s := newTestSwitch(t, 3, withoutStations)
	hello, answer := between(0, 1, 0, 1), between(1, 0, 0, 2)
	s.receive(0, hello)
	s.drain(1)
	s.drain(2)
	s.advance(macAge)
	s.receive(1, answer) // 300 s: still known
	s.wantData(0, answer)
	s.wantNothing(2)
	s.advance(1)
	s.receive(1, answer)
	s.wantData(0, answer)
	s.wantData(2, answer) // flooded
	s.receive(0, hello)   // seen again
	s.drain(1)
	s.advance(macAge / 2)
	s.receive(0, hello) // a frame keeps it alive
	s.drain(1)
	s.advance(macAge/2 + 1)
	s.receive(1, answer)
	s.wantData(0, answer)
	s.wantNothing(2)
}

func TestStaticStations(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	f, back := between(0, 1, 0, 1), between(1, 0, 0, 2)
	s.receive(2, f) // station 0 seems to be at port 2
	s.wantData(1, f)
	s.advance(10 * macAge)
	s.receive(1, back)
	s.wantData(0, back)
	s.wantNothing(2)
}

func TestGroupsAreFloodedAndNotLearned(t *testing.T) {
	s := newTestSwitch(t, 3, withoutStations)
	group := unit.MAC(0x01005e000001)
	for _, dst := range []unit.MAC{unit.Broadcast, group} {
		f := plain(dst, stationMAC(0), 100)
		s.receive(0, f)
		s.wantNothing(0)
		s.wantData(1, f)
		s.wantData(2, f)
	}
	s.receive(1, plain(stationMAC(0), group, 100)) // a group as source is a forgery
	s.drain(0)
	f := plain(group, stationMAC(2), 100)
	s.receive(2, f)
	s.wantData(0, f)
	s.wantData(1, f)
}

func TestBridgeDrops(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	s.receive(1, between(0, 1, 0, 1)) // the station is where the frame came from
	s.wantDrop(1, DropFiltered)
	s.link(1, false)
	s.wantNoDrops()
	s.receive(0, between(0, 1, 0, 1))
	s.wantDrop(0, DropNoPort)
	s.link(2, false)
	s.receive(0, plain(unit.Broadcast, stationMAC(0), 100))
	s.wantDrop(0, DropNoPort)
	s.wantNothing(0)
}

// A frame that is flooded is charged once, until its last copy has left, and waits
// in each queue with all its bytes.
func TestFloodIsChargedOnce(t *testing.T) {
	s := newTestSwitch(t, 4, withoutStations)
	f := datagram{dst: stationMAC(9), src: stationMAC(0), priority: 3}.frame()
	free := s.pool.Free()
	s.receive(0, f)
	charged := func(want int) {
		t.Helper()
		if got, _ := s.MMU().Bytes(0, 3); got != want {
			t.Errorf("the priority group holds %d bytes, want %d", got, want)
		}
	}
	charged(1000)
	if got := s.pool.Free(); got != free-1 {
		t.Errorf("%d slots used, want 1", free-got)
	}
	for out := range unit.Port(4) {
		want := 1000
		if out == 0 {
			want = 0
		}
		if got := s.Held(detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: out, Priority: 3}); got != want {
			t.Errorf("M in port %d = %d, want %d", out, got, want)
		}
	}
	s.wantData(2, f)
	charged(1000)
	s.lend(1, 1)
	s.wantData(3, f)
	charged(1000)
	if got := s.pool.Free(); got != free-1 {
		t.Errorf("the slot is free while a copy is on the wire")
	}
	s.sent(1)
	charged(0)
	if got := s.pool.Free(); got != free {
		t.Errorf("%d slots used, want none", free-got)
	}
}

// A priority group that is XOFF by flooded frames resumes when the slowest queue has sent
// them.
func TestFloodResumesWithLastCopy(t *testing.T) {
	s := newTestSwitch(t, 3, withoutStations)
	f := datagram{dst: stationMAC(9), src: stationMAC(0), priority: 3}.frame()
	s.receive(0, f, f, f, f)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.drain(1)
	s.wantNothing(0)
	s.wantData(2, f)
	s.wantResume(0, 3, 1)
}

// A lossy flood whose one queue is full loses that copy only.
func TestFloodIntoFullLossyQueue(t *testing.T) {
	s := newTestSwitch(t, 4, withoutStations)
	f := datagram{dst: stationMAC(9), src: stationMAC(0)}.frame()
	for range 20 {
		s.receive(0, f)
		s.drain(2)
		s.drain(3)
	}
	s.wantNoDrops()
	s.receive(0, f)
	s.wantDrop(0, DropLossyQueue) // port 1, which the original is for
	s.wantData(2, f)
	s.wantData(3, f)
	if got := len(s.drain(1)); got != 20 {
		t.Errorf("port 1 sends %d frames, want 20", got)
	}
}

// Without headers for copies a flood reaches fewer ports; each copy that is not made counts.
func TestFloodWithoutCopies(t *testing.T) {
	s := newTestSwitch(t, 5, func(c *Config) { c.MAC, c.Pool = nil, buffer.NewPool(0, 256, 66, c.SlotBytes) }) // three copies a frame
	f := datagram{dst: stationMAC(9), src: stationMAC(0), size: 60}.frame()
	for range 22 {
		s.receive(0, f)
	}
	s.wantNoDrops()
	s.receive(0, f)
	if got := s.Counters(0).Drops[DropNoCopy]; got != 3 {
		t.Errorf("%d copies counted as no_copy, want 3", got)
	}
	s.Counters(0).Drops[DropNoCopy] = 0
	if got := len(s.drain(1)); got != 23 {
		t.Errorf("port 1 sends %d frames, want 23: the original is not lost", got)
	}
	for out := unit.Port(2); out < 5; out++ {
		if got := len(s.drain(out)); got != 22 {
			t.Errorf("port %d sends %d frames, want 22", out, got)
		}
	}
	s.receive(0, f) // copies have come back
	s.wantNoDrops()
}

func TestLossyQueueLimit(t *testing.T) {
	s := newTestSwitch(t, 3, nil) // 20 000 bytes
	s.receive(0, several(20, 0, 1, 0)...)
	s.wantNoDrops()
	s.receive(0, between(0, 1, 0, 21))
	s.wantDrop(0, DropLossyQueue)
	s.receive(2, between(2, 1, 0, 22)) // from anywhere
	s.wantDrop(2, DropLossyQueue)
	s.receive(0, between(0, 1, 5, 23), between(0, 2, 0, 24)) // another priority, another port
	s.wantNoDrops()
	s.transmit(1, 2) // priority 5 goes first
	s.receive(0, between(0, 1, 0, 25))
	s.wantNoDrops()
	if s.MMU().Shared() != 0 || s.Counters(0).LosslessLost != 0 {
		t.Errorf("lossy frames: shared use %d, lossless lost %d", s.MMU().Shared(), s.Counters(0).LosslessLost)
	}
}

// A priority group without headroom that is not quite full pauses its sender with the first frame that it refuses,
// and resumes it: else the sender would go on, and each of its frames would be lost.
func TestRefusedBeforeXOFF(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Buffer.Profile = buffer.Profile{StaticTh: 3500, XONOffset: 1000} })
	fs := several(4, 0, 1, 3)
	s.receive(0, fs[:3]...)
	s.wantNothing(0)
	s.receive(0, fs[3])
	s.wantDrop(0, DropHeadroom)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.receive(0, fs[3])
	s.wantDrop(0, DropHeadroom)
	s.wantData(1, fs[:1]...)
	s.wantResume(0, 3, 1)
}

// What comes above the headroom is lost, and counted as what must not happen.
func TestHeadroomFull(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	fs := several(7, 0, 1, 3)
	s.receive(0, fs[:6]...)
	s.wantNoDrops()
	s.receive(0, fs[6])
	s.wantDrop(0, DropHeadroom)
	if n := s.Counters(0).LosslessLost; n != 1 {
		t.Errorf("%d lossless frames lost, want 1", n)
	}
	s.receive(0, between(0, 1, 4, 8)) // another priority has its own
	s.receive(2, between(2, 1, 3, 9)) // and so has another port
	s.wantNoDrops()
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	if b, h := s.MMU().Watermark(0, 3); b != 6000 || h != 2000 {
		t.Errorf("watermark %d, headroom %d; want 6000, 2000", b, h)
	}
}

// Priority by DSCP, whatever the tag says; by the tag if it is trusted; a frame that
// is not IP has only the tag.
func TestPriorityOfAFrame(t *testing.T) {
	ip := between(0, 1, 3, 1)
	other := plain(stationMAC(1), stationMAC(0), 100)
	for _, tc := range []struct {
		name  string
		trust bool
		f     []byte
		want  unit.Priority
	}{
		{"DSCP 24", false, ip, 3},
		{"DSCP 24, tag 5", false, tagged(ip, 5), 3},
		{"DSCP 24, tag 5 trusted", true, tagged(ip, 5), 5},
		{"DSCP 24, no tag to trust", true, ip, 0},
		{"not IP", false, other, 0},
		{"not IP, tag 4", false, tagged(other, 4), 4},
		{"not IP, tag 4 trusted", true, tagged(other, 4), 4},
		{"DSCP 26, of RoCEv2", false, edit(ip, 15, 26<<2), 3},
		{"DSCP 48, of its CNPs", false, edit(ip, 15, 48<<2), 6},
		{"DSCP 63 and ECN", false, edit(ip, 15, 0xff), 7},
	} {
		s := newTestSwitch(t, 2, func(c *Config) { c.TrustPCP = tc.trust })
		s.receive(0, tc.f)
		for c := range unit.Priority(unit.Priorities) {
			want := 0
			if c == tc.want {
				want = 1
			}
			if got := s.Queue(1, c).Frames(); got != want {
				t.Errorf("%s: %d frames in queue %d, want %d", tc.name, got, c, want)
			}
		}
		if c := s.Counters(0); c.RxFrames[tc.want] != 1 || c.RxBytes[tc.want] != uint64(len(tc.f)) {
			t.Errorf("%s: received %v, %v", tc.name, c.RxFrames, c.RxBytes)
		}
		if got := s.transmit(1, 1); !bytes.Equal(got[0], tc.f) {
			t.Errorf("%s: the bridge changed the frame", tc.name)
		}
		if c := s.Counters(1); c.TxFrames[tc.want] != 1 || c.TxBytes[tc.want] != uint64(len(tc.f)) {
			t.Errorf("%s: sent %v, %v", tc.name, c.TxFrames, c.TxBytes)
		}
	}
}

// The DSCP map is the configuration's.
func TestDSCPMap(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { c.DSCP[24] = 6 })
	s.receive(0, between(0, 1, 3, 1))
	if s.Queue(1, 6).Frames() != 1 {
		t.Error("DSCP 24 is not in priority 6")
	}
}
