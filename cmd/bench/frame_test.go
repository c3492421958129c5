package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"softswitch/internal/ether"
)

func TestLoadFrame(t *testing.T) {
	for _, n := range []int{MinFrame, 64, 1500, MaxFrame} {
		f := loadFrame(n)
		etherType, off, _, tagged, ok := ether.Layer(f)
		if !ok || tagged || etherType != ether.TypeIPv4 {
			t.Fatalf("%d bytes: EtherType %#04x, tagged %v", n, etherType, tagged)
		}
		p := ether.IPv4(f[off:])
		if !p.Valid(len(p)) || p.DSCP()>>3 != 3 || p.TotalLen() != n-ether.HeaderLen {
			t.Errorf("%d bytes: valid %v, DSCP %d, length %d", n, p.Valid(len(p)), p.DSCP(), p.TotalLen())
		}
		if sum := ether.Checksum(append(pseudoHeader(f), f[offUDP:]...)); sum != 0 {
			t.Errorf("%d bytes: UDP checksum is off by %#04x", n, sum)
		}
		if err := checkFrame(f, f); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestCheckFrameFindsEveryChange flips each byte in turn.
func TestCheckFrameFindsEveryChange(t *testing.T) {
	sent := loadFrame(128)
	for i := range sent {
		got := bytes.Clone(sent)
		got[i] ^= 0x10
		err := checkFrame(sent, got)
		if err == nil {
			t.Errorf("byte %d was changed, and nobody said so", i)
		}
		if other := errors.Is(err, errOther); other != (i < ether.HeaderLen) {
			t.Errorf("byte %d was changed: %v", i, err)
		}
	}
	if err := checkFrame(sent, sent[:127]); err == nil {
		t.Error("a byte was lost, and nobody said so")
	}
}

func TestCheckFrameAllowsNumbering(t *testing.T) {
	sent := loadFrame(128)
	got := bytes.Clone(sent)
	binary.BigEndian.PutUint16(got[offID:], 4711)
	binary.BigEndian.PutUint16(got[offIPSum:], 0)
	binary.BigEndian.PutUint16(got[offIPSum:], ether.Checksum(got[offIP:offUDP]))
	if err := checkFrame(sent, got); err != nil {
		t.Error(err)
	}
}

// TestBurstIsManyFrames cuts a burst as the kernel does, and compares each piece
// with the frame that it was made of.
func TestBurstIsManyFrames(t *testing.T) {
	for _, n := range []int{MinFrame, 64, 1500, MaxFrame} {
		frame := loadFrame(n)
		pieces := cut(burst(frame))
		if len(pieces) < 40 || len(pieces) > burstFrames {
			t.Errorf("%d bytes: %d frames a burst", n, len(pieces))
		}
		for i, p := range pieces {
			if !bytes.Equal(p, frame) {
				t.Fatalf("%d bytes: frame %d of the burst is\n%x, want\n%x", n, i, p, frame)
			}
		}
	}
}

// cut is what UDP segmentation does to a burst, without numbering the frames.
func cut(b []byte) (frames [][]byte) {
	header, payload := b[vnetHeader:][:offPayload], b[vnetHeader+offPayload:]
	size := int(binary.NativeEndian.Uint16(b[4:]))
	for ; len(payload) > 0; payload = payload[min(size, len(payload)):] {
		f := append(bytes.Clone(header), payload[:min(size, len(payload))]...)
		binary.BigEndian.PutUint16(f[offIP+2:], uint16(len(f)-offIP))
		binary.BigEndian.PutUint16(f[offUDP+4:], uint16(len(f)-offUDP))
		binary.BigEndian.PutUint16(f[offIPSum:], 0)
		binary.BigEndian.PutUint16(f[offIPSum:], ether.Checksum(f[offIP:offUDP]))
		binary.BigEndian.PutUint16(f[offUDPSum:], 0)
		binary.BigEndian.PutUint16(f[offUDPSum:], udpSum(f))
		frames = append(frames, f)
	}
	return frames
}
