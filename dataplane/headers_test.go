package dataplane

import (
	"testing"

	"softswitch/detect"
	"softswitch/internal/unit"
	"softswitch/itsyhdr"
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
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", class: 3}
	f := d.frame()
	s.headersOnly(0, 42, f, f, f)
	s.wantNothing(0)
	s.headersOnly(0, 42, f)
	s.wantPause(0, 3, 1, itsyhdr.TLV{}) // 4000 bytes
	if got := s.Held(detect.Bucket{Port: 0, Class: 3}, detect.Queue{Port: 3, Class: 3}); got != 4000 {
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
