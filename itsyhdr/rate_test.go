package itsyhdr

import (
	"bytes"
	"testing"
)

// Every rate message that can be written is read as it was, and no other TLV of ours is taken for one.
func TestRate(t *testing.T) {
	for stage := range 256 {
		r := Rate{Priority: 5, Stage: uint8(stage)}
		b := append(r.Append(nil), 0, 0)
		if got, ok := ParseRate(b); !ok || got != r {
			t.Fatalf("%+v was read as %+v, %v", r, got, ok)
		}
	}
	whole := Rate{Priority: 3, Stage: 2}.Append(nil)
	if want := []byte{0xfe, 0x07, 0x02, 0x49, 0x54, 0x04, 0x11, 0x60, 0x02}; !bytes.Equal(whole, want) {
		t.Errorf("% x, want % x", whole, want)
	}
	for i := range offPriority {
		b := bytes.Clone(whole)
		b[i] ^= 1
		if _, ok := ParseRate(b); ok {
			t.Errorf("a rate message whose octet %d is wrong is read", i)
		}
	}
	if _, ok := ParseRate(whole[:RateLen-1]); ok {
		t.Error("a truncated rate message is read")
	}
	if r, err := Parse(append(whole, make([]byte, Len)...)); err != ErrLength {
		t.Errorf("as an ITSY TLV it is %v, %v; want %v", r, err, ErrLength)
	}
}
