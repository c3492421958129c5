package link

import (
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A slot holds the longest frame of its MTU, without the tag that the kernel took off, and
// blocks hold as many as they can.
func TestSlotBytesOfMTU(t *testing.T) {
	for _, c := range []struct{ mtu, slot, fit int }{
		{1500, 2048, 32}, {1952, 2048, 32}, {1953, 2112, 31}, {9000, 9360, 7}, {9216, 9360, 7}, {65535, 65536, 1},
	} {
		slot := slotBytes(c.mtu)
		if slot != c.slot || blockBytes/slot != c.fit {
			t.Errorf("MTU %d: slots of %d, %d in a block; want %d, %d", c.mtu, slot, blockBytes/slot, c.slot, c.fit)
		}
		if room := slot - (slotHead - 14); c.mtu < 65000 && room < c.mtu+14 {
			t.Errorf("MTU %d: a slot has room for %d bytes", c.mtu, room)
		}
	}
}

// fakeKernel fills the slots of a ring as the kernel does, by the number of the slot.
type fakeKernel struct {
	*ring
	filled int
}

func (k *fakeKernel) put(frame []byte) {
	perBlock := blockBytes / k.slot
	i := k.filled % k.slots
	at := i/perBlock*blockBytes + i%perBlock*k.slot
	k.filled++
	hdr := (*unix.Tpacket2Hdr)(unsafe.Pointer(&k.mem[at]))
	*hdr = unix.Tpacket2Hdr{Status: unix.TP_STATUS_USER, Len: uint32(len(frame)), Snaplen: uint32(len(frame)), Mac: slotHead - 14}
	copy(k.mem[at+slotHead-14:at+k.slot], frame)
}

// Frames are taken from the slots that the kernel fills, whatever is left at the end of
// a block.
func TestRingOfAnySlot(t *testing.T) {
	for _, mtu := range []int{1500, 4000, 9216} {
		slot := slotBytes(mtu)
		mem := unsafe.Slice((*byte)(unsafe.Pointer(&make([]uint64, 3*blockBytes/8)[0])), 3*blockBytes)
		k := fakeKernel{ring: &ring{mem: mem, slot: slot, slots: 3 * (blockBytes / slot)}}
		n := 0
		for range 5 {
			var want [][]byte
			for range k.slots - 1 {
				want = append(want, numbered(n, mtu+14))
				k.put(want[len(want)-1])
				n++
			}
			got := frameBuffers(2*k.slots, mtu+14)
			took, truncated, _ := k.take(got, nil)
			if took != len(want) || truncated != 0 {
				t.Fatalf("MTU %d: took %d frames, %d truncated; want %d, 0", mtu, took, truncated, len(want))
			}
			wantFrames(t, slices.Clip(got[:took]), want)
		}
	}
}
