package shpiner

import (
	"encoding/binary"
	"fmt"

	"softswitch/unit"
)

const (
	offNonce   = headLen
	offIndex   = 12
	offCount   = 13
	offHops    = 14
	hopLen     = 5
	offHopPort = 4
)

// PathLen is the size in octets of a Path with this many hops.
func PathLen(hops int) int { return offHops + hops*hopLen }

// AppendPath appends m to dst. It panics if a field of m does not fit, as ParsePath
// would refuse it.
func AppendPath(dst []byte, m Path) []byte {
	if err := m.check(); err != nil {
		panic(fmt.Sprintf("%v: %+v", err, m))
	}
	dst = appendHead(dst, PathLen(len(m.Hops)), kindPath, m.Class, m.Phase)
	dst = binary.BigEndian.AppendUint32(dst, m.Nonce)
	dst = append(dst, uint8(m.Index), uint8(len(m.Hops)))
	for _, h := range m.Hops {
		dst = binary.BigEndian.AppendUint32(dst, h.SPUID)
		dst = append(dst, uint8(h.Egress))
	}
	return dst
}

// ParsePath reads the Path at the start of b; what follows it is ignored. Its hops
// are appended to hops[:0], which may be nil. The first field that is wrong is the
// error, and the message is then zero.
func ParsePath(b []byte, hops []Hop) (Path, error) {
	if err := checkHead(b, kindPath); err != nil {
		return Path{}, err
	}
	if err := checkLength(b); err != nil {
		return Path{}, err
	}
	m := Path{
		Phase: phaseOf(b),
		Class: classOf(b),
		Nonce: binary.BigEndian.Uint32(b[offNonce:]),
		Index: int(b[offIndex]),
		Hops:  hops[:0],
	}
	for rest := b[offHops:tlvLen(b)]; len(rest) > 0; rest = rest[hopLen:] {
		m.Hops = append(m.Hops, Hop{SPUID: binary.BigEndian.Uint32(rest), Egress: unit.Port(rest[offHopPort])})
	}
	if err := m.check(); err != nil {
		return Path{}, err
	}
	return m, nil
}

// checkLength wants as many octets as the number of hops needs, in the TLV and in the
// payload.
func checkLength(b []byte) error {
	if len(b) < offHops {
		return ErrShort
	}
	switch want, has := PathLen(int(b[offCount])), tlvLen(b); {
	case b[offCount] == 0 || b[offCount] > MaxHops || has < want:
		return ErrHops
	case has != want:
		return ErrLength
	case len(b) < has:
		return ErrShort
	}
	return nil
}

// check wants values that the wire has room for but the format does not know.
func (m *Path) check() error {
	switch {
	case m.Phase > Release:
		return ErrPhase
	case len(m.Hops) == 0 || len(m.Hops) > MaxHops:
		return ErrHops
	case m.Phase == Detection && m.Index != len(m.Hops), m.Phase == Release && uint(m.Index) >= uint(len(m.Hops)):
		return ErrIndex
	}
	for _, h := range m.Hops {
		if h.SPUID == 0 {
			return ErrSPUID
		}
		if h.Egress >= unit.MaxPorts {
			return ErrPort
		}
	}
	return nil
}
