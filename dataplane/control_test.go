package dataplane

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// edit is frame f with some bytes changed.
func edit(f []byte, at int, with ...byte) []byte {
	f = slices.Clone(f)
	copy(f[at:], with)
	return f
}

// Every control frame that is not as it should be is counted with its reason, is
// never forwarded, pauses nothing, and costs no slot.
func TestMalformedFrames(t *testing.T) {
	good, msg := pauseOf(3, 1000, 1), message(label(1))
	ip := between(0, 1, 3, 1)
	req := arp(1, 0xffffffffffff, stationMAC(0), "10.0.0.1", 0, "10.0.0.2")
	for _, tc := range []struct {
		name string
		f    []byte
		want Reason
	}{
		{"empty", nil, DropShort},
		{"13 bytes", good[:13], DropShort},
		{"a tag cut off", tagged(ip, 3)[:17], DropShort},
		{"PFC without an opcode", good[:14], DropPFCShort},
		{"PFC of half an opcode", good[:15], DropPFCShort},
		{"PFC of half a class-enable vector", good[:17], DropPFCShort},
		{"PFC of 61 bytes", append(slices.Clone(good), 0), DropPFCLong},
		{"PFC of 1514 bytes", append(slices.Clone(good), make([]byte, 1454)...), DropPFCLong},
		{"PFC to the port's own address", edit(good, 0, 2, 0, 0, 0, 0, 1), DropPFCAddress},
		{"PFC to a neighbouring group", edit(good, 5, 2), DropPFCAddress},
		{"opcode 0x0102", edit(good, 14, 1, 2), DropPFCOpcode},
		{"opcode 0", edit(good, 14, 0, 0), DropPFCOpcode},
		{"the PFC address, but IPv4", edit(good, 12, 8, 0), DropPFCOpcode},
		{"PFC behind a tag", tagged(good, 3), DropPFCOpcode},
		{"reserved bit 0", edit(good, 16, 1), DropPFCReserved},
		{"reserved bit 7", edit(good, 16, 0x80), DropPFCReserved},
		{"802.3x PAUSE", edit(good, 14, 0, 1, 0xff, 0xff), DropPause8023},
		{"802.3x PAUSE, short", edit(good, 14, 0, 1, 0xff, 0xff)[:20], DropPause8023},
		{"message without a TLV", edit(msg, 14, make([]byte, 26)...), DropMessage},
		{"message of 59 bytes", msg[:59], DropMessage},
		{"message of its header", msg[:14], DropMessage},
		{"message of 61 bytes", append(slices.Clone(msg), 0), DropMessage},
		{"message of another TLV type", edit(msg, 14, 0xfc), DropMessage},
		{"message of another length", edit(msg, 15, 25), DropMessage},
		{"message of another OUI", edit(msg, 16, 0), DropMessage},
		{"message of another version", edit(msg, 20, 0x23), DropMessage},
		{"message of an unknown kind", edit(msg, 20, 0x1f), DropMessage},
		{"IPv4 without a header", ip[:14], DropMalformedIP},
		{"IPv4 of 19 bytes", ip[:33], DropMalformedIP},
		{"IPv4 version 5", edit(ip, 14, 0x55), DropMalformedIP},
		{"IPv4 header of 16 bytes", edit(ip, 14, 0x44), DropMalformedIP},
		{"IPv4 cut off", ip[:999], DropMalformedIP},
		{"ARP cut off", req[:41], DropMalformedARP},
		{"ARP of another protocol", edit(req, 16, 0x86, 0xdd), DropMalformedARP},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newTestSwitch(t, 3, nil)
			s.receive(0, tc.f)
			s.wantDrop(0, tc.want)
			s.wantCalls()
			s.wantEvents()
			s.wantNothing(0, 1, 2)
			if got, want := s.pool.Free(), s.pool.Slots(); got != want {
				t.Errorf("%d of %d slots free", got, want)
			}
			if n := s.Counters(0).LosslessLost; n != 0 {
				t.Errorf("%d counted as lossless frames lost", n)
			}
		})
	}
}

// Frames of the greatest length are taken, with a tag and without; a byte more, and they
// are counted as long, cost no slot and are no loss of a lossless frame.
func TestLargestFrames(t *testing.T) {
	for _, longest := range []int{1514, 9014, 9230} {
		t.Run(fmt.Sprint(longest), func(t *testing.T) {
			s := newTestSwitch(t, 2, func(c *Config) {
				c.MaxFrame, c.SlotBytes = longest, buffer.SlotBytes(longest+ether.VLANLen)
			})
			f := datagram{dst: stationMAC(1), size: longest}.frame()
			s.receive(0, f, tagged(f, 0))
			s.wantData(1, f, tagged(f, 0))
			s.wantNoDrops()
			if got, want := s.MTU(), longest+4; got != want {
				t.Errorf("a detector reads %d bytes as the longest frame, want %d with its tag", got, want)
			}

			long := plain(stationMAC(1), stationMAC(0), longest+1)
			s.receive(0, long, tagged(long, 3), between(0, 1, 3, 1))
			s.wantDrops(0, map[Reason]uint64{DropLong: 2})
			s.wantData(1, between(0, 1, 3, 1))
			if n := s.Counters(0).LosslessLost; n != 0 {
				t.Errorf("%d counted as lossless frames lost", n)
			}
		})
	}
}

// A frame that has met no MAC is heeded as one would have padded it: timers that it lacks are
// zeros, and a TLV that it has in part is not one.
func TestUnpaddedPause(t *testing.T) {
	whole := pfc(map[unit.Priority]uint16{3: 1000, 4: 1000})
	for n := 28; n < len(whole); n++ {
		s := newTestSwitch(t, 2, nil)
		s.receive(1, whole[:n])
		s.wantNoDrops()
		s.wantCalls("Pause 1.3 fresh", "Pause 1.4 fresh")
		s.wantEvents("paused 1.3", "paused 1.4")
	}
	s := newTestSwitch(t, 2, nil)
	s.receive(1, whole[:26], whole[:18])
	s.wantNoDrops()
	s.wantCalls("Pause 1.3 fresh", "Resume 1.3")
	if c := s.Counters(1); c.RxPause[3] != 1 || c.RxResume[4] != 2 || c.RxResume[3] != 1 {
		t.Errorf("%v pauses, %v resumes; want one of priority 3, and one and two of priorities 3 and 4", c.RxPause, c.RxResume)
	}
	s = newTestSwitch(t, 2, nil)
	s.receive(1, pauseOf(3, 1000, 1)[:40])
	s.wantDrops(1, map[Reason]uint64{OddTLV: 1})
	s.wantEvents("paused 1.3") // without a period
}

// A TLV that is malformed costs the label, not the pause: the padding of a plain
// device may hold anything.
func TestMalformedTLV(t *testing.T) {
	good := pauseOf(3, 1000, 1)
	for _, tc := range []struct {
		name string
		f    []byte
		want uint64 // counted
	}{
		{"all zero is no TLV", pfc(map[unit.Priority]uint16{3: 1000}), 0},
		{"another type", edit(good, 34, 0x02), 1},
		{"another length", edit(good, 35, 23), 1},
		{"another OUI", edit(good, 36, 0, 0x80, 0xc2), 1},
		{"another subtype", edit(good, 39, 2), 1},
		{"another version", edit(good, 40, 0x20), 1},
		{"an unknown kind", edit(good, 40, 0x1f), 1},
		{"noise", edit(good, 34, 0xff, 0xff, 0xff), 1},
	} {
		s := newTestSwitch(t, 2, nil)
		s.receive(1, tc.f)
		s.wantDrops(1, map[Reason]uint64{OddTLV: tc.want})
		s.wantCalls("Pause 1.3 fresh")
		s.wantEvents("paused 1.3") // without a period
	}
}

// A pause of a lossy priority is counted and not honoured; the lossless priorities of
// the same frame are.
func TestPauseOfLossyPriority(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(1, pfc(map[unit.Priority]uint16{0: 1000, 3: 1000, 7: 0}))
	s.wantDrops(1, map[Reason]uint64{OddPFCPriority: 2})
	s.wantCalls("Pause 1.3 fresh")
	f := between(0, 1, 0, 1)
	s.receive(0, f)
	s.wantData(1, f)
	if c := s.Counters(1); c.RxPause[0] != 1 || c.RxResume[7] != 1 || c.RxPause[3] != 1 {
		t.Errorf("counted: %v pauses, %v resumes", c.RxPause, c.RxResume)
	}
}

func TestMessages(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	l := label(3)
	l.Priority, l.Period = 4, 8
	s.receive(2, message(l))
	s.wantCalls("Message at 2: " + l.String())
	s.wantNothing(0, 1, 2) // one hop
	if !s.det.Send(1, l) {
		t.Error("Send refused")
	}
	s.wantMessage(1, l)
	s.wantNothing(0, 1, 2)
	if rx, tx := s.Counters(2).RxMessages, s.Counters(1).TxMessages; rx != 1 || tx != 1 {
		t.Errorf("%d messages received, %d sent; want 1, 1", rx, tx)
	}
}

// Control frames leave in the order in which they were asked for; one pause a priority is
// enough.
func TestControlOrder(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.det.label = func(b detect.PG) itsyhdr.TLV { return label(uint16(b.Priority)) }
	s.det.Send(0, label(101))
	s.receive(0, several(4, 0, 1, 3)...)
	s.det.Send(0, label(102))
	s.receive(0, several(4, 0, 1, 4)...)
	s.det.Repause(detect.PG{Port: 0, Priority: 3})
	s.det.Repause(detect.PG{Port: 0, Priority: 4})
	s.det.Send(0, label(103))
	s.work()
	s.wantMessage(0, label(101))
	s.wantPause(0, 3, 1, label(3))
	s.wantMessage(0, label(102))
	s.det.Repause(detect.PG{Port: 0, Priority: 3}) // its pause has left: another one
	s.wantPause(0, 4, 1, label(4))
	s.wantMessage(0, label(103))
	s.wantPause(0, 3, 1, label(3))
	s.wantNothing(0)
	s.wantEvents("XOFF 0.3 by 1.3 period 1 bytes 4000", "XOFF 0.4 by 1.4 period 1 bytes 4000",
		"pause sent 0.3 period 1", "pause sent 0.4 period 1", "refresh sent 0.3 period 1")
}

// Control frames go before data that waited longer.
func TestControlBeforeData(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	f := between(1, 0, 7, 1)
	s.receive(1, f)
	s.receive(0, several(4, 0, 1, 3)...)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.wantData(0, f)
}

func TestRepauseOnlyXOFF(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.det.Repause(detect.PG{Port: 0, Priority: 3})
	s.det.Repause(detect.PG{Port: 0, Priority: 0}) // lossy
	s.wantNothing(0, 1)
}

// A port's message queue is bounded; pauses are not refused by it.
func TestMessageQueueBound(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	for i := range uint16(messagesMax) {
		if !s.det.Send(0, label(i)) {
			t.Fatalf("message %d refused", i)
		}
	}
	s.receive(0, several(4, 0, 1, 3)...)
	if s.det.Send(0, label(messagesMax)) {
		t.Errorf("message %d taken", messagesMax+1)
	}
	s.wantDrop(0, OddMessageQueue)
	s.wantMessage(0, label(0))
	if !s.det.Send(0, label(messagesMax)) {
		t.Error("refused although one has left")
	}
	for i := range uint16(messagesMax - 1) {
		s.wantMessage(0, label(i+1))
	}
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.wantMessage(0, label(messagesMax))
	s.wantNothing(0)
	s.link(0, false)
	if s.det.Send(0, label(1)) {
		t.Error("taken for a port that is down")
	}
	s.wantDrop(0, OddMessageQueue)
}

// TestControlQueueAgainstModel compares the ring with a slice.
func TestControlQueueAgainstModel(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	var o controlQueue
	var model []controlItem
	for step := range 50_000 {
		// The load drifts, so that the ring fills, wraps and runs empty.
		if fill := 50 + 20*(step/1500%2*2-1); rng.IntN(100) < fill {
			if rng.IntN(4) == 0 {
				c := unit.Priority(rng.IntN(8))
				o.pause(c)
				it := controlItem{isPause: true, msg: itsyhdr.TLV{Priority: c}}
				if !slices.Contains(model, it) {
					model = append(model, it)
				}
			} else {
				messages := 0
				for _, it := range model {
					if !it.isPause {
						messages++
					}
				}
				it := controlItem{msg: label(uint16(step))}
				if got, want := o.message(it), messages < messagesMax; got != want {
					t.Fatalf("seed %d, step %d: message taken: %v with %d waiting", seed, step, got, messages)
				} else if got {
					model = append(model, it)
				}
			}
		} else if o.n > 0 {
			if it := o.pop(); it != model[0] {
				t.Fatalf("seed %d, step %d: pop %+v, want %+v", seed, step, it, model[0])
			}
			model = model[1:]
		}
		if o.n != len(model) {
			t.Fatalf("seed %d, step %d: %d wait, want %d", seed, step, o.n, len(model))
		}
	}
}

// Reports and traces of the detector go to the log.
func TestReport(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.det.Report(detect.Finding{PG: detect.PG{Port: 1, Priority: 3}, Queue: detect.Queue{Port: 0, Priority: 4}, Label: label(1), Trigger: unit.NodePort{Node: 9, Port: 1}, OnLoop: true})
	s.det.Trace(detect.Trace{Step: detect.StepMint, Queue: detect.Queue{Port: unit.NoPort}, PG: detect.PG{Port: 1, Priority: 3}, Label: label(2)})
	s.work()
	s.wantEvents("deadlock 1.3 0.4 "+label(1).String()+" trigger 9.1 on loop true", "trace mint 1.3 65535.0 "+label(2).String())
}

// A switch whose buffer is full, by frames that wait in a paused queue, and which has no slot for
// lossy frames, still
// reads every pause, and sends a full batch of control frames from every port,
// while the driver holds all that it may.
func TestFullPoolStopsNoControl(t *testing.T) {
	for _, batch := range []int{1, 8, 16, 64} {
		const n = 3
		s := newTestSwitch(t, n, func(c *Config) {
			c.Batch, c.Slots = batch, 20
			c.Buffer.Profile = buffer.Profile{StaticTh: 1 << 14}
			c.Buffer.Shared = 1 << 15
		})
		s.receive(1, pauseOf(3, 65535, 1))
		// The driver's rx loops hold a full batch at each port, also right after Receive.
		var reading [n][]*buffer.Frame
		for p := range reading {
			reading[p] = make([]*buffer.Frame, batch)
			s.Lend(unit.Port(p), reading[p])
		}
		arrive := func(in unit.Port, frame []byte) {
			for _, f := range reading[in] {
				f.Data = append(f.Data[:0], frame...)
				f.Len = len(f.Data)
				s.Parse(f)
			}
			s.Receive(s.now, in, reading[in])
			clear(reading[in])
			s.Lend(in, reading[in])
		}
		frame := datagram{dst: stationMAC(1), priority: 3, size: 60}.frame()
		for s.Counters(0).Drops[DropHeadroom] == 0 {
			arrive(0, frame)
		}
		for s.Counters(0).Drops[DropNoSlot] == 0 {
			arrive(0, datagram{dst: stationMAC(1), priority: 0, size: 60}.frame())
		}
		if got := s.Queue(1, 0).Frames(); got != s.cfg.Slots {
			t.Errorf("batch %d: no slot with %d lossy frames in the buffer, want the %d slots that are configured", batch, got, s.cfg.Slots)
		}
		for p := range unit.Port(n) {
			arrive(p, frame) // refused, or from port 1 to itself
			for i := range uint16(messagesMax) {
				s.det.Send(p, label(i))
			}
		}
		for p := range unit.Port(n) {
			if got := len(s.lend(p, batch)); got != batch {
				t.Errorf("batch %d: port %d lends %d control frames", batch, p, got)
			}
		}
		s.det.calls = nil
		arrive(2, pauseOf(4, 1000, 1))
		if len(s.det.calls) != batch {
			t.Errorf("batch %d: the detector heard %d of %d pauses", batch, len(s.det.calls), batch)
		}
		for p := range reading {
			for _, f := range reading[p] {
				s.pool.Put(f)
			}
		}
		if lost := s.Counters(0).LosslessLost; lost != s.Counters(0).Drops[DropHeadroom] || lost == 0 {
			t.Errorf("batch %d: %d lossless frames lost, %d without headroom", batch, lost, s.Counters(0).Drops[DropHeadroom])
		}
	}
}

// Every reason has a name of its own.
func TestReasonNames(t *testing.T) {
	seen := make(map[string]Reason)
	for r := range Reasons {
		if other, ok := seen[r.String()]; ok || r.String() == "" {
			t.Errorf("reasons %d and %d are both %q", r, other, r)
		}
		seen[r.String()] = r
	}
}
