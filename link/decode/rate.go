package decode

import (
	"fmt"

	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Rate is a rate message of Gentle Flow Control as JSON has it.
type Rate struct {
	Priority unit.Priority `json:"priority"`
	Stage    uint8         `json:"stage"` // 2^stage times slower than the link
}

// parseRate reads the rate message of a message frame; ok is false if it carries none.
func parseRate(b []byte) (m *Rate, ok bool) {
	if len(b) < offPayload {
		return nil, false
	}
	r, ok := itsyhdr.ParseRate(b[offPayload:])
	return &Rate{r.Priority, r.Stage}, ok
}

// String is the message for people.
func (m *Rate) String() string { return fmt.Sprintf("rate priority %d stage %d", m.Priority, m.Stage) }
