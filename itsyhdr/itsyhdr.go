// Package itsyhdr is what ITSY puts on the wire, bytes to values and back: a TLV
// of 26 octets that rides in the padding of a PFC frame, or alone in a one-hop
// message frame.
//
//	PFC frame      ... 8 timers |34 TLV                     60|
//	message frame  88 B5 |14 TLV        40| number 42| zeros 60|
//
//	TLV    0    2         5   6    7    8         11   13        16   17     18    26
//	       +----+---------+---+----+----+---------+----+---------+----+------+------+
//	       |FE18| 02-49-54| 1 |v:k |c:f |initiator|seq | trigger |hops|period| auth |
//	       +----+---------+---+----+----+---------+----+---------+----+------+------+
//	        type OUI   subtype  |    `- priority 3, flags 5        of the    0 = off
//	        127,                `- version 4, kind 4               XOFF
//	        length 24
//
// The byte table with a worked example is docs/format/itsy.md. The fields are
// those of "ITSY: Initial Trigger-Based PFC Deadlock Detection in the Data Plane"
// (Wu, Ng), section III-B; the outer form is the organisationally specific TLV of
// LLDP (IEEE 802.1AB, 8.6), under a locally administered OUI.
//
// Read in this order: TLV and Kind (itsyhdr.go), Put and Parse (tlv.go), PutMessage
// and ParseMessage (message.go).
//
// Invariants:
//   - round trip: Parse(Put(t)) is t, and what Parse accepts Put writes again to
//     the same 26 octets;
//   - no allocation: neither way allocates, and no error is built at run time;
//   - no panic on input: only Put and PutMessage panic, on a destination that is
//     too short or a field that does not fit its bits.
//
// What it does not do: it knows no PFC frame, gives flags no meaning, and neither
// makes nor checks the authentication tag, which it carries.
package itsyhdr

import (
	"fmt"
	"strings"

	"softswitch/unit"
)

// Kind says what a TLV carries.
type Kind uint8

// Kinds of TLV.
const (
	KindPeriod        Kind = 0 // only the XOFF period of the pausing priority group: no label
	KindChecking      Kind = 1 // ITSY III-B: a checking message
	KindTemporalCheck Kind = 2 // ITSY III-B: a temporal consistency check
	KindLabel         Kind = 3 // a label of the exact detector

	// KindQuery begins the messages of the exact detector's verification, up to KindAck: who is
	// asked, and who answers.
	KindQuery Kind = 4 // to a priority group that a queue waits for: are you stuck?
	KindGrant Kind = 5 // to a queue that asked: do not count on it, I am not
	KindWalk  Kind = 6 // to a priority group: are you still as you were?
	KindAck   Kind = 7 // of a query, grant or walk, and of all that it caused

	// KindClaim begins the messages of package respond, which breaks deadlocks, up to KindFound.
	KindClaim   Kind = 8  // round the loop: are you all still waiting? Then I act
	KindSeal    Kind = 9  // round the loop: admit nothing new to it
	KindBubble  Kind = 10 // round the loop: make room, so that it moves
	KindReserve Kind = 11 // to the next hop: have room for this many frames
	KindTrigger Kind = 12 // to all switches: the one that has the initial trigger, handle it
	KindFound   Kind = 13 // back to who sent the trigger: it is here
	// KindHello is a message of package link/auth, which fills in what follows its TLV.
	KindHello Kind = 14 // to the next switch: the counter of what I send
)

// kindNames has a name for each kind that Parse accepts.
var kindNames = [...]string{
	KindPeriod:        "period",
	KindChecking:      "checking",
	KindTemporalCheck: "temporal-check",
	KindLabel:         "label",
	KindQuery:         "query",
	KindGrant:         "grant",
	KindWalk:          "walk",
	KindAck:           "ack",
	KindClaim:         "claim",
	KindSeal:          "seal",
	KindBubble:        "bubble",
	KindReserve:       "reserve",
	KindTrigger:       "trigger",
	KindFound:         "found",
	KindHello:         "hello",
}

// String is the kind's name, "kind(15)" if it has none.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// TLV is the ITSY metadata of one frame, unpacked. The zero value carries nothing.
type TLV struct {
	Kind      Kind          // 4 bits
	Priority  unit.Priority // 3 bits
	Flags     uint8         // 5 bits
	Initiator unit.NodePort // {S_gen-ini, P_gen-ini}
	Seq       uint16
	Trigger   unit.NodePort // {S_tri, P_tri}
	Hops      uint8
	Period    uint8 // XOFF period of the priority group that pauses, modulo 256; of a claim, seal or bubble the room that is needed, in frames; of a reserve its number; of a query, grant, walk or ack the initiator's priority
	Auth      uint64
}

// FlagHost says of a label that the initial trigger is the host that its port faces. Hops is then how much
// of what waited was for that host, in 255ths (docs/format/itsy.md, kind 3).
const FlagHost = 8

// String is t for people, without the parts that are absent:
//
//	label priority 3 from 5.2 seq 9 trigger 7.1 host's share 88 % period 12 flags 0x08
//	no label priority 3 period 12
//	checking priority 3 from 5.2 seq 9 trigger 7.1 hops 3 period 12
func (t TLV) String() string {
	var s strings.Builder
	if t.Kind == KindLabel && t.Seq == 0 {
		s.WriteString("no ")
	}
	fmt.Fprintf(&s, "%v priority %d", t.Kind, t.Priority)
	switch {
	case t.Kind == KindPeriod, t.Kind == KindLabel && t.Seq == 0:
	case t.Kind == KindLabel:
		fmt.Fprintf(&s, " from %v seq %d", t.Initiator, t.Seq)
		if !t.Trigger.IsZero() {
			fmt.Fprintf(&s, " trigger %v", t.Trigger)
		}
		if t.Flags&FlagHost != 0 {
			fmt.Fprintf(&s, " host's share %d %%", (100*int(t.Hops)+127)/255)
		}
	default:
		fmt.Fprintf(&s, " from %v seq %d", t.Initiator, t.Seq)
		if !t.Trigger.IsZero() {
			fmt.Fprintf(&s, " trigger %v", t.Trigger)
		}
		fmt.Fprintf(&s, " hops %d", t.Hops)
	}
	fmt.Fprintf(&s, " period %d", t.Period)
	if t.Flags != 0 {
		fmt.Fprintf(&s, " flags %#02x", t.Flags)
	}
	if t.Auth != 0 {
		fmt.Fprintf(&s, " auth %016x", t.Auth)
	}
	return s.String()
}
