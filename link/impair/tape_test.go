package impair

import (
	"bytes"
	"testing"
)

func TestTape(t *testing.T) {
	var tape Tape
	if f := tape.Last(1, 0); f != nil {
		t.Errorf("an empty tape has %x", f)
	}
	tape.See(data)
	for i := range 100 {
		f := pause()
		f[59] = byte(i)
		tape.See(f)
		f[59] = 255 // the tape has its own
	}
	for nth, want := range map[int]int{1: 99, 2: 98, TapeMax: 100 - TapeMax} {
		if f := tape.Last(nth, 0); f == nil || f[59] != byte(want) {
			t.Errorf("number %d from the end is %x, want one with %d", nth, f, want)
		}
	}
	for _, nth := range []int{0, -1, TapeMax + 1} {
		if f := tape.Last(nth, 0); f != nil {
			t.Errorf("number %d from the end is %x, want none", nth, f)
		}
	}
	whole := tape.Last(1, 0)
	for flip, at := range map[int]int{1: 0, 8: 0, 9: 1, 480: 59} {
		f := tape.Last(1, flip)
		if bytes.Equal(f, whole) || f[at] == whole[at] {
			t.Errorf("bit %d inverted: %x", flip, f)
		}
	}
	if f := tape.Last(1, 481); !bytes.Equal(f, whole) {
		t.Errorf("a bit behind the end inverted: %x", f)
	}
}
