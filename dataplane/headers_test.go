package dataplane

import (
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// headersOnly reads frames as a simulation does that keeps the first n bytes.
func (s *testSwitch) headersOnly(in unit.Port, n int, frames ...[]byte) {
	s.t.Helper()
	for _, frame := range frames {
		fs := s.fill(in, frame[:n])
		fs[0].Len = len(frame)
		s.Parse(fs[0])
		s.Receive(s.now, in, fs)
	}
	s.work()
}

// A frame of which only the headers are kept counts with its length on the wire:
// charged, queued, paced, limited and counted.
func TestHeadersOnly(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		c.Ports[3].Rate = 1000 * mega
	})
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", priority: 3}
	f := d.frame()
	s.headersOnly(0, 42, f, f, f)
	s.wantNothing(0)
	s.headersOnly(0, 42, f)
	s.wantPause(0, 3, 1, itsyhdr.TLV{}) // 4000 bytes
	if got := s.Held(detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: 3, Priority: 3}); got != 4000 {
		t.Errorf("M = %d, want 4000", got)
	}
	got := s.transmit(3, 1)
	if want := d.routed(peerMAC(3), portMAC(3))[:42]; len(got) != 1 || string(got[0]) != string(want) {
		t.Errorf("got %s, want %x", frameText(got), want)
	}
	s.wantNext(s.now + unit.Rate(1000*mega).FrameTime(1000))
	if c := s.Counters(3); c.TxBytes[3] != 1000 {
		t.Errorf("%d bytes sent, want 1000", c.TxBytes[3])
	}
	long := datagram{dst: portMAC(0), to: "10.9.1.1", size: 1515}.frame()
	s.headersOnly(0, 42, long)
	s.wantDrop(0, DropLong)
	short := edit(f, 17, 0xdb) // announces a byte more than was on the wire
	s.headersOnly(0, 42, short)
	s.wantDrop(0, DropMalformedIP)
}

// Switches that share a pool lend from it and give back to it.
func TestSharedPool(t *testing.T) {
	pool := buffer.NewPool(200, 200, 20, 128)
	share := func(c *Config) { c.Pool, c.Batch, c.MAC = pool, 1, nil }
	a, b := newTestSwitch(t, 3, share), newTestSwitch(t, 3, share)
	f := datagram{dst: stationMAC(9), src: stationMAC(0), priority: 3}.frame()
	for range 4 {
		a.headersOnly(0, 60, f)
		b.headersOnly(1, 60, f)
	}
	if got := pool.Free(); got != 192 {
		t.Errorf("%d slots free, want 192 with four frames in each switch", got)
	}
	a.wantPause(0, 3, 1, itsyhdr.TLV{})
	b.wantPause(1, 3, 1, itsyhdr.TLV{})
	// What leaves the one arrives at the other.
	fs := a.lend(1, 1)
	other := make([]*buffer.Frame, 1)
	b.Lend(2, other)
	other[0].Data, other[0].Len = append(other[0].Data[:0], fs[0].Data...), fs[0].Len
	a.sent(1)
	b.Parse(other[0])
	b.Receive(b.now, 2, other)
	b.work()
	if got, _ := b.MMU().Bytes(2, 3); got != 1000 {
		t.Errorf("the other switch charges %d bytes, want 1000", got)
	}
	for _, s := range []*testSwitch{a, b} {
		for p := range unit.Port(3) {
			s.drain(p)
		}
	}
	if got := pool.Free(); got != 200 {
		t.Errorf("%d slots free, want all", got)
	}
}
