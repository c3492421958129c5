package conform

import (
	"bytes"
	"testing"

	"softswitch/pfcframe"
	"softswitch/unit"
)

// Frames of a stream say who they are, of whatever length, padded or cut by a simulation.
func TestNumbered(t *testing.T) {
	for _, n := range []int{60, 63, 64, 65, 128, 1514} {
		for _, keep := range []int{1 << 20, 128} {
			for _, tagged := range []bool{false, true} {
				h := header{dst: StationMAC(1), src: StationMAC(0), tagged: tagged, priority: 3, tos: 26<<2 | 3, srcIP: 1, dstIP: 2, srcPort: 49152}
				b, length := h.frame(nil, flowOf(7, 3), 1<<40, 5, n, keep, []byte("payload"))
				if want := min(length, keep); len(b) != want || tagged != (length == n+4) {
					t.Fatalf("%d bytes of %d, want %d", len(b), n, want)
				}
				f, ok := readNumbered(b, length)
				if !ok || f.flow != flowOf(7, 3) || f.seq != 1<<40 || !f.ce || !f.whole([]byte("payload")) {
					t.Fatalf("%d bytes, keep %d, tagged %v: %+v, %v", n, keep, tagged, f, ok)
				}
				if len(f.rest) > 8 {
					if b[len(b)-1] ^= 1; f.whole([]byte("payload")) {
						t.Errorf("%d bytes: a damaged frame is taken for a whole one", n)
					}
				}
			}
		}
	}
}

// What is not spoilt is a right PFC frame, and what is spoilt is so in that alone.
func TestControl(t *testing.T) {
	own := unit.MAC(0x020000000009)
	b := Pause(1<<3|1<<4, 77).Frame(own)
	p, _, err := pfcframe.Parse(b)
	if err != nil || p.Enable != 0x18 || p.Quanta[3] != 77 || p.Quanta[0] != 0 || p.Src != own.Bytes() {
		t.Errorf("%+v, %v", p, err)
	}
	c := Pause(1<<3, 1)
	c.Opcode = 0x0100
	if _, _, err := pfcframe.Parse(c.Frame(own)); err != pfcframe.ErrOpcode {
		t.Errorf("%v", err)
	}
	c = Pause(1<<3, 1)
	c.Tags = []uint32{0x8100_6000}
	if b := c.Frame(own); !bytes.Equal(b[12:18], []byte{0x81, 0, 0x60, 0, 0x88, 8}) || len(b) != 60 {
		t.Errorf("% x", b)
	}
	c = Pause(1<<3, 1)
	c.Len = 34
	b = c.Frame(own)
	if putMark(b, 1, 2, 3); len(b) != 34 || bytes.Contains(b, []byte(markMagic)) {
		t.Errorf("% x", b)
	}
	b = Pause8023(5).Frame(own)
	putMark(b, 1, 2, 3)
	if script, train, n, ok := mark(append(b, 0, 0)); !ok || script != 1 || train != 2 || n != 3 {
		t.Errorf("%d %d %d %v", script, train, n, ok)
	}
	if src, q, err := pfcframe.ParsePause(b); err != nil || q != 5 || src != own.Bytes() {
		t.Errorf("%v %d %v", src, q, err)
	}
}
