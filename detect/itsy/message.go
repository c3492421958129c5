package itsy

import (
	"errors"
	"fmt"

	"softswitch/detect"
	"softswitch/unit"
)

// Message is the part of a lap or a quest that says which it is and how far it has come,
// for readers of captures.
type Message struct {
	Kind     string // "lap" or "quest"
	Priority unit.Priority
	Owner    unit.NodePort // whose priority group was declared
	Rank     uint16        // of its label
	Hops     uint8

	// Of a quest: the flow that it follows, and whether this is the answer.
	About    detect.FlowID
	Answered bool
}

var kindNames = [...]string{kindLap: "lap", kindQuest: "quest"}

// ErrMessage means that the octets are not a lap or a quest as the detector writes them.
var ErrMessage = errors.New("itsy: not a lap or quest as the detector writes it")

// IsMessage reports whether the payload of a message frame is a lap or a quest by its OUI and
// subtype, be it damaged: LLDP's organisationally specific type 127, OUI 02-49-54, subtype 3
// (docs/format/itsy.md, "Laps and quests").
func IsMessage(payload []byte) bool {
	return len(payload) >= 6 && payload[0]>>1 == 127 && string(payload[2:6]) == "\x02\x49\x54\x03"
}

// ParseMessage reads a lap or a quest; what follows it in payload is ignored. The error is
// ErrMessage.
func ParseMessage(payload []byte) (Message, error) {
	if l, ok := parseLap(payload); ok {
		return Message{Kind: kindNames[kindLap], Priority: l.priority, Owner: l.owner, Rank: l.rank, Hops: l.hops}, nil
	}
	q, ok := parseQuest(payload)
	if !ok {
		return Message{}, ErrMessage
	}
	return Message{
		Kind: kindNames[kindQuest], Priority: q.priority, Owner: q.owner, Rank: q.rank, Hops: q.hops,
		About: q.about, Answered: q.answered,
	}, nil
}

// String is the message in a line:
//
//	lap priority 3 from 5.2 rank 9 hops 3
//	quest priority 3 from 5.2 rank 9 about flow 0a0b0c0d hops 2, answered
func (m Message) String() string {
	s := fmt.Sprintf("%s priority %d from %v rank %d", m.Kind, m.Priority, m.Owner, m.Rank)
	if m.Kind == kindNames[kindQuest] {
		s += fmt.Sprintf(" about flow %v", m.About)
	}
	s += fmt.Sprintf(" hops %d", m.Hops)
	if m.Answered {
		s += ", answered"
	}
	return s
}
