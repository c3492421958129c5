package decode

import (
	"fmt"

	"softswitch/detect/shpiner"
	"softswitch/unit"
)

// CLCM is a Credit Loop Control Message: a clcm.Election or clcm.Path as JSON has it.
type CLCM struct {
	Kind     string        `json:"kind"` // election, detection or release
	Priority unit.Priority `json:"priority"`
	SPUID    string        `json:"spuid,omitempty"` // of an election; 8 hexadecimal digits
	Nonce    string        `json:"nonce,omitempty"` // of the others
	Index    int           `json:"index,omitempty"`
	Hops     []Hop         `json:"hops,omitempty"`
}

// Hop is a hop of a path.
type Hop struct {
	SPUID  string    `json:"spuid"`
	Egress unit.Port `json:"egress"`
}

// isCLCM reports whether a message frame carries a CLCM, even a damaged one.
func isCLCM(b []byte) bool {
	return len(b) > offPayload+6 && b[offPayload]>>1 == shpiner.Type &&
		string(b[offPayload+2:offPayload+5]) == shpiner.OUI && b[offPayload+5] == shpiner.Subtype
}

// parseCLCM reads the CLCM of a message frame.
func parseCLCM(b []byte) (*CLCM, error) {
	payload := b[offPayload:]
	e, err := shpiner.ParseElection(payload)
	if err == nil {
		return &CLCM{Kind: "election", Priority: e.Priority, SPUID: fmt.Sprintf("%08x", e.SPUID)}, nil
	}
	if err != shpiner.ErrKind {
		return nil, err
	}
	p, err := shpiner.ParsePath(payload, nil)
	if err != nil {
		return nil, err
	}
	m := &CLCM{Kind: "detection", Priority: p.Priority, Nonce: fmt.Sprintf("%08x", p.Nonce), Index: p.Index}
	if p.Phase == shpiner.Release {
		m.Kind = "release"
	}
	for _, h := range p.Hops {
		m.Hops = append(m.Hops, Hop{fmt.Sprintf("%08x", h.SPUID), h.Egress})
	}
	return m, nil
}

// String is the message for people: "release priority 3 nonce 01020304 hop 1 of 2".
func (m *CLCM) String() string {
	switch m.Kind {
	case "election":
		return fmt.Sprintf("election priority %d SPUID %s", m.Priority, m.SPUID)
	case "detection":
		return fmt.Sprintf("detection priority %d nonce %s hops %d", m.Priority, m.Nonce, len(m.Hops))
	}
	return fmt.Sprintf("release priority %d nonce %s hop %d of %d", m.Priority, m.Nonce, m.Index, len(m.Hops))
}
