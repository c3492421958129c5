package show

import (
	"encoding/binary"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/internal/ether"
	"softswitch/link"
	"softswitch/node/observe"
	"softswitch/unit"
)

// RX_DRP counts what was dropped, and not what went on although its address was not
// learned. What was cleared is in neither.
func TestForwardedIsNotDropped(t *testing.T) {
	c := dataplane.Defaults()
	c.Name, c.Refresh = "s1", unit.Millisecond
	c.Ports = []dataplane.PortConfig{{Name: "a"}, {Name: "b"}}
	s, err := dataplane.NewSwitch(c)
	if err != nil {
		t.Fatal(err)
	}
	s.SetLink(0, 0, true)
	s.SetLink(0, 1, true)
	const frames = 5000
	forwarded := 0
	for n := range uint32(frames) {
		fs := make([]*buffer.Frame, 1)
		s.Lend(0, fs)
		fs[0].Data, fs[0].Len = fs[0].Data[:ether.MinLen], ether.MinLen
		clear(fs[0].Data)
		fs[0].Data[0], fs[0].Data[6] = 2, 6 // from a station of its own for one that nobody knows
		binary.BigEndian.PutUint32(fs[0].Data[8:], n)
		s.Parse(fs[0])
		s.Receive(0, 0, fs)
		sent := make([]*buffer.Frame, 2)
		left, _ := s.Transmit(0, 1, sent)
		s.Sent(0, 1, sent[:left])
		forwarded += left
	}
	if forwarded != frames {
		t.Fatalf("%d of %d frames were forwarded", forwarded, frames)
	}
	p := observe.TakeSwitch(s, make([]link.Stats, 2)).Ports[0]
	now, cleared := countInterface(nil, &p), countInterface(nil, &p)
	if now.RxDrop != 0 || len(now.Reasons) != 0 || now.Odd["mac_table_full"] == 0 {
		t.Errorf("%d dropped, %v, odd %v; want none, and odd addresses", now.RxDrop, now.Reasons, now.Odd)
	}
	now.less(&cleared)
	if len(now.Odd) != 0 {
		t.Errorf("cleared, but odd %v", now.Odd)
	}
}
