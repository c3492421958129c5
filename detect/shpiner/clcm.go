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
//	        type |         subtype  |    `- class 3, phase 5    --------------+
//	        127, length             `- version 4, kind 4
//
// The byte tables with worked examples are docs/format/clcm.md. The outer form is
// the organisationally specific TLV of LLDP (IEEE 802.1AB, 8.6), under a locally
// administered OUI. To what the paper draws, three things are added: the class,
// because a credit loop is of one class; a nonce, by which a replay is known; and
// the number of hops, so that a length that is wrong is seen.
//
// Read in this order: Election and Path (clcm.go), AppendElection and
// ParseElection (election.go), AppendPath and ParsePath (path.go), what both have in
// common (tlv.go).
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
	"errors"

	"softswitch/unit"
)

// Election is the message of Loop Breaker, Fig. 3(a): a suspected port offers its
// SPUID downstream.
type Election struct {
	Class unit.Priority
	SPUID uint32 // of a {switch, port}; not 0
}

// Path is the message of Deadlock Breaker, Fig. 3(b): it collects the hops of a loop,
// and then visits them again.
type Path struct {
	Phase Phase
	Class unit.Priority
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
	// ErrShort means that the payload ends before the TLV does.
	ErrShort = errors.New("clcm: truncated; want 12 octets for an election, 14 and 5 a hop for a path")
	// ErrType means that the TLV is not an organisationally specific one.
	ErrType = errors.New("clcm: wrong TLV type; want 127")
	// ErrOUI means that the TLV is another organisation's.
	ErrOUI = errors.New("clcm: wrong OUI; want 02-49-54")
	// ErrSubtype means that the TLV is another one of ours.
	ErrSubtype = errors.New("clcm: wrong subtype; want 2")
	// ErrVersion means that the message is of another version of the format.
	ErrVersion = errors.New("clcm: unknown version; want 1")
	// ErrKind means that the message is of another kind than was asked for.
	ErrKind = errors.New("clcm: wrong kind; want 1 for an election, 2 for a path")
	// ErrLength means that the length field does not fit the message.
	ErrLength = errors.New("clcm: wrong TLV length; want 10 for an election, 12 and 5 a hop for a path")
	// ErrPhase means that the phase is none that a path has. An election has none at all, and 0 in its place.
	ErrPhase = errors.New("clcm: unknown phase; want 0 (detection) or 1 (release), 0 for an election")
	// ErrHops means that a path announces no hops, more than MaxHops, or more than its TLV has room for.
	ErrHops = errors.New("clcm: path does not fit its TLV; want 1 to 99 hops, as many as the length has room for")
	// ErrIndex means that the index is not where the phase has it: behind the hops in a detection, among
	// them in a release.
	ErrIndex = errors.New("clcm: index beyond the path; want the number of hops for a detection, less for a release")
	// ErrSPUID means that an SPUID is 0, which is nobody's.
	ErrSPUID = errors.New("clcm: SPUID 0; want 1 or more")
	// ErrPort means that a hop leaves by a port that no switch has.
	ErrPort = errors.New("clcm: egress port out of range; want 0 to 63")
)
