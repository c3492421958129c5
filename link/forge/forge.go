// Package forge makes control frames as somebody would who knows a fabric, its formats and
// addresses, and no key: for tests and demonstrations of what a switch believes.
//
//	Fabric, random numbers --Frame--> a pause, a resume, a message of any kind, a lap, a quest
//
// Invariants:
//   - well-formed: what it makes is read as what it is; Mutate damages it;
//   - likely: what it says is of switches and ports that there are, with numbers as they come up,
//     mostly.
//
// It sends nothing.
package forge

import (
	"encoding/binary"
	"math/rand/v2"

	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Fabric is what is known of a fabric.
type Fabric struct {
	Ports    []int // of each switch; switch i has the number i+1
	Lossless []int // priorities, one at least
	Quanta   uint16
}

// Lengths of laps and quests, in octets.
const (
	lapLen   = 417
	questLen = 121
)

// Frame is a control frame from a port with the address src.
func (f *Fabric) Frame(r *rand.Rand, src unit.MAC) []byte {
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		return f.pause(r, src)
	case 4, 5, 6, 7, 8:
		return f.message(r, src)
	}
	return f.long(r, src)
}

// one is true once in n times.
func one(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// pause is a PFC frame, with a label mostly.
func (f *Fabric) pause(r *rand.Rand, src unit.MAC) []byte {
	p := pfcframe.Frame{Src: src.Bytes()}
	for _, c := range f.Lossless {
		if one(r, 2) || len(f.Lossless) == 1 {
			p.Enable.Add(unit.Priority(c))
			p.Quanta[c] = [...]uint16{0, f.Quanta, 65535, uint16(r.Uint32())}[r.IntN(4)]
		}
	}
	frame := make([]byte, pfcframe.Len)
	if pad := pfcframe.Put(frame, p); !one(r, 6) {
		t := f.says(r, itsyhdr.KindLabel)
		if one(r, 5) {
			t.Kind = itsyhdr.KindPeriod
		}
		itsyhdr.Put(pad, t)
	}
	return frame
}

// message is a message frame with an ITSY TLV of any kind.
func (f *Fabric) message(r *rand.Rand, src unit.MAC) []byte {
	frame := make([]byte, itsyhdr.MessageLen)
	itsyhdr.PutMessage(frame, src.Bytes(), f.says(r, itsyhdr.Kind(r.IntN(int(itsyhdr.KindHello)+1))))
	if one(r, 4) { // as a hello has it
		binary.BigEndian.PutUint64(frame[itsyhdr.MessagePad:], r.Uint64())
		binary.BigEndian.PutUint64(frame[itsyhdr.MessagePad+8:], r.Uint64())
	}
	return frame
}

// long is a lap or a quest, of random content.
func (f *Fabric) long(r *rand.Rand, src unit.MAC) []byte {
	n, kind := lapLen, byte(0x11)
	if one(r, 2) {
		n, kind = questLen, 0x12
	}
	t, mac := f.says(r, itsyhdr.KindLabel), src.Bytes()
	frame := append([]byte(itsyhdr.MessageAddress), mac[:]...)
	frame = binary.BigEndian.AppendUint16(frame, itsyhdr.MessageEtherType)
	frame = binary.BigEndian.AppendUint16(frame, uint16(itsyhdr.Type<<9|(n-2)))
	frame = append(frame, itsyhdr.OUI...)
	frame = append(frame, 3, kind, byte(t.Priority)<<5)
	frame = binary.BigEndian.AppendUint16(frame, uint16(t.Initiator.Node))
	frame = append(frame, byte(t.Initiator.Port))
	frame = binary.BigEndian.AppendUint16(frame, t.Seq)
	for len(frame) < ether.HeaderLen+n {
		b := byte(0)
		if one(r, 3) {
			b = byte(r.Uint32())
		}
		frame = append(frame, b)
	}
	if one(r, 2) { // room for a tag
		frame = append(frame, make([]byte, auth.TagLen)...)
	}
	return frame
}

// says is what a TLV may say.
func (f *Fabric) says(r *rand.Rand, k itsyhdr.Kind) itsyhdr.TLV {
	at := func() unit.NodePort {
		if one(r, 8) {
			return unit.NodePort{}
		}
		n := r.IntN(len(f.Ports))
		return unit.NodePort{Node: unit.NodeID(n + 1), Port: unit.Port(r.IntN(max(1, f.Ports[n])))}
	}
	t := itsyhdr.TLV{
		Kind: k, Priority: unit.Priority(f.Lossless[r.IntN(len(f.Lossless))]), Initiator: at(), Trigger: at(), Seq: uint16(r.IntN(60)),
		Hops: uint8(r.IntN(8)), Period: uint8(r.IntN(6)), Flags: uint8(r.IntN(32)),
	}
	if one(r, 3) {
		t.Seq = uint16(r.Uint32())
	}
	if one(r, 4) {
		t.Auth = r.Uint64()
	}
	return t
}

// Mutate inverts a bit of a frame, or cuts it, or makes it longer; it may move.
func Mutate(r *rand.Rand, frame []byte) []byte {
	switch r.IntN(8) {
	case 0:
		return frame[:r.IntN(len(frame)+1)]
	case 1:
		return append(frame, make([]byte, 1+r.IntN(100))...)
	}
	if len(frame) > 0 {
		frame[r.IntN(len(frame))] ^= 1 << r.IntN(8)
	}
	return frame
}
