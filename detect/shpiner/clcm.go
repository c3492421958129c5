// The Credit Loop Control Messages, bytes to values and back: what
// the switches of a suspected credit loop say to the next one downstream, as the
// payload of a one-hop message frame. They are those of "Unlocking Credit Loop
// Deadlocks" (Shpiner, Zahavi, Zdornov, Anker, Kadosh), Fig. 3.
//
//	message frame  88 B5 |14 TLV ...                             | zeros
//
//	       0    2         5   6    7    8      12
//	       +----+---------+---+----+----+------+
//	(a)    |FE0A| 02-49-54| 2 |v:k |c:0 |SPUID |                    Election
//	       +----+---------+---+----+----+------+----+----+-----------------+
//	(b)    |.... | 02-49-54| 2 |v:k |c:p |nonce |index|hops| hops x (SPUID 4,|  Path
//	       +----+---------+---+----+----+------+----+----+  egress port 1) |
//	        type |         subtype  |    `- priority 3, phase 5  --------------+
//	        127, length             `- version 4, kind 4
//
// The byte tables with worked examples are docs/format/clcm.md. The outer form is
// the organisationally specific TLV of LLDP (IEEE 802.1AB, 8.6), under a locally
// administered OUI. To what the paper draws, three things are added: the priority,
// because a credit loop is of one priority; a nonce, by which a replay is known; and
// the number of hops, so that a length that is wrong is seen.
//
// Read in this order: Election and Path, what both have in common, AppendElection and
// ParseElection, AppendPath and ParsePath.
//
// Invariants:
//   - round trip: what Parse accepts Append writes again to the same octets;
//   - bounds: an accepted Path's index lies in its hops, and its hops lie in the
//     payload;
//   - no allocation into a destination that is long enough, and no error is built at
//     run time;
//   - no panic on input: only the Append functions panic, on a value that does not fit.
//
// What it does not do: it knows no frame and no address, and remembers nothing: that
// a message came before is for its receiver to see.

package shpiner

import (
	"encoding/binary"
	"errors"
	"fmt"

	"softswitch/unit"
)

// Election is the message of Loop Breaker, Fig. 3(a): a suspected port offers its
// SPUID downstream.
type Election struct {
	Priority unit.Priority
	SPUID    uint32 // of a {switch, port}; not 0
}

// Path is the message of Deadlock Breaker, Fig. 3(b): it collects the hops of a loop,
// and then visits them again.
type Path struct {
	Phase    Phase
	Priority unit.Priority
	// Nonce names the message from its creation on, through both phases.
	Nonce uint32
	// Index is CurIndex: in the phase of detection where the next hop will be stored,
	// len(Hops); in the phase of release the hop that it is sent to.
	Index int
	// Hops are the arrays SPUID[] and EgressPort[], 1 to MaxHops of them.
	Hops []Hop
}

// Hop is a suspected egress port.
type Hop struct {
	SPUID  uint32 // not 0
	Egress unit.Port
}

// Phase is what a Path is under way for.
type Phase uint8

// Phases of a Path.
const (
	Detection Phase = 0
	Release   Phase = 1
)

// MaxHops is the longest path of a message: 99 hops are 509 octets, and a message's
// payload has at most 512.
const MaxHops = 99

// Reasons for which ParseElection and ParsePath return no message, one value each so
// that a caller can count by reason. They are returned as they are, never wrapped.
var (
	ErrShort   = errors.New("clcm: truncated; want 12 octets for an election, 14 and 5 a hop for a path")
	ErrType    = errors.New("clcm: wrong TLV type; want 127")
	ErrOUI     = errors.New("clcm: wrong OUI; want 02-49-54")
	ErrSubtype = errors.New("clcm: wrong subtype; want 2")
	ErrVersion = errors.New("clcm: unknown version; want 1")
	ErrKind    = errors.New("clcm: wrong kind; want 1 for an election, 2 for a path")
	ErrLength  = errors.New("clcm: wrong TLV length; want 10 for an election, 12 and 5 a hop for a path")
	// ErrPhase means that the phase is none that a path has. An election has none at all, and 0 in its place.
	ErrPhase = errors.New("clcm: unknown phase; want 0 (detection) or 1 (release), 0 for an election")
	// ErrHops means that a path announces no hops, more than MaxHops, or more than its TLV has room for.
	ErrHops = errors.New("clcm: path does not fit its TLV; want 1 to 99 hops, as many as the length has room for")
	// ErrIndex means that the index is not where the phase has it: behind the hops in a detection, among
	// them in a release.
	ErrIndex = errors.New("clcm: index beyond the path; want the number of hops for a detection, less for a release")
	ErrSPUID = errors.New("clcm: SPUID 0; want 1 or more")
)

// Values on the wire.
const (
	Type    = 127            // organisationally specific (IEEE 802.1AB, 8.6)
	OUI     = "\x02\x49\x54" // locally administered
	Subtype = 2
	Version = 1
)

const (
	offOUI      = 2
	offSubtype  = 5
	offKind     = 6 // version in the upper four bits
	offPriority = 7 // in the upper three bits; phase below
	headLen     = 8
	offNonce    = headLen // from here on of a path
	offIndex    = 12
	offCount    = 13
	offHops     = 14
	hopLen      = 5
	offHopPort  = 4

	kindElection = 1
	kindPath     = 2
	maxPriority  = 1<<3 - 1
)

// appendHead appends the octets that every message of n octets begins with.
func appendHead(dst []byte, n int, kind uint8, priority unit.Priority, phase Phase) []byte {
	if priority > maxPriority {
		panic(fmt.Sprintf("clcm: priority %d; valid: 0 to 7", priority))
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(Type<<9|(n-offOUI)))
	dst = append(dst, OUI...)
	return append(dst, Subtype, Version<<4|kind, uint8(priority)<<5|uint8(phase))
}

// checkHead wants the octets that are the same in every message of a kind.
func checkHead(b []byte, kind uint8) error {
	switch {
	case len(b) < headLen:
		return ErrShort
	case b[0]>>1 != Type:
		return ErrType
	case string(b[offOUI:offSubtype]) != OUI:
		return ErrOUI
	case b[offSubtype] != Subtype:
		return ErrSubtype
	case b[offKind]>>4 != Version:
		return ErrVersion
	case b[offKind]&0x0f != kind:
		return ErrKind
	}
	return nil
}

// tlvLen is how many octets the TLV at b says that it has, with type and length.
func tlvLen(b []byte) int { return offOUI + int(binary.BigEndian.Uint16(b)&0x1ff) }

func priorityOf(b []byte) unit.Priority { return unit.Priority(b[offPriority] >> 5) }
func phaseOf(b []byte) Phase            { return Phase(b[offPriority] & 0x1f) }

// ElectionLen is the size of an Election in octets.
const ElectionLen = headLen + 4

// AppendElection appends m to dst. It panics if a field of m does not fit: a priority
// above 7, an SPUID of 0.
func AppendElection(dst []byte, m Election) []byte {
	if m.SPUID == 0 {
		panic(ErrSPUID.Error())
	}
	dst = appendHead(dst, ElectionLen, kindElection, m.Priority, 0)
	return binary.BigEndian.AppendUint32(dst, m.SPUID)
}

// ParseElection reads the Election at the start of b; what follows it is ignored. The
// first field that is wrong is the error, and the message is then zero.
func ParseElection(b []byte) (Election, error) {
	if err := checkHead(b, kindElection); err != nil {
		return Election{}, err
	}
	switch {
	case tlvLen(b) != ElectionLen:
		return Election{}, ErrLength
	case len(b) < ElectionLen:
		return Election{}, ErrShort
	case phaseOf(b) != 0:
		return Election{}, ErrPhase
	}
	m := Election{Priority: priorityOf(b), SPUID: binary.BigEndian.Uint32(b[headLen:])}
	if m.SPUID == 0 {
		return Election{}, ErrSPUID
	}
	return m, nil
}

// PathLen is the size in octets of a Path with this many hops.
func PathLen(hops int) int { return offHops + hops*hopLen }

// AppendPath appends m to dst. It panics if a field of m does not fit, as ParsePath
// would refuse it.
func AppendPath(dst []byte, m Path) []byte {
	if err := m.check(); err != nil {
		panic(fmt.Sprintf("%v: %+v", err, m))
	}
	dst = appendHead(dst, PathLen(len(m.Hops)), kindPath, m.Priority, m.Phase)
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
		Phase:    phaseOf(b),
		Priority: priorityOf(b),
		Nonce:    binary.BigEndian.Uint32(b[offNonce:]),
		Index:    int(b[offIndex]),
		Hops:     hops[:0],
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
	}
	return nil
}
