package decode

import (
	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/unit"
)

// offPayload is where a message frame's payload begins.
const offPayload = 14

// Diagnosis is an itsy.Message as JSON has it.
type Diagnosis struct {
	Kind     string        `json:"kind"` // lap or quest
	Priority unit.Priority `json:"priority"`
	Owner    NodePort      `json:"owner"`
	Rank     uint16        `json:"rank"`
	Hops     uint8         `json:"hops"`
	About    detect.FlowID `json:"about,omitempty"` // of a quest: the flow
	Answered bool          `json:"answered,omitempty"`
}

// isDiagnosis reports whether a message frame carries a lap or a quest, even a damaged one.
func isDiagnosis(b []byte) bool { return len(b) > offPayload && itsy.IsMessage(b[offPayload:]) }

func newDiagnosis(m itsy.Message) *Diagnosis {
	return &Diagnosis{Kind: m.Kind, Priority: m.Priority, Owner: numbered(m.Owner), Rank: m.Rank, Hops: m.Hops, About: m.About, Answered: m.Answered}
}
