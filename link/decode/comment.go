package decode

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Comment is the comment of a capture on a frame: what a PFC frame pauses and resumes,
// and its label; the content of a message. "" for none. frame need not have been padded.
//
//	ITSY: pause 3; label priority 3 from 5.2 seq 9 trigger 7.1 period 12
func Comment(frame []byte) string {
	if itsyhdr.IsMessage(frame) {
		return message(frame)
	}
	if !pfcframe.IsMACControl(frame) {
		return ""
	}
	f, pad, err := pfcframe.Parse(pfcframe.Pad(slices.Clip(frame)))
	switch {
	case err == pfcframe.ErrPause:
		return "802.3x PAUSE"
	case err != nil:
		return err.Error()
	}
	t, err := itsyhdr.Parse(pad)
	switch {
	case err == itsyhdr.ErrNone:
		return "PFC: " + inWords(f)
	case err != nil:
		return "PFC: " + inWords(f) + "; padding: " + err.Error()
	}
	return "ITSY: " + inWords(f) + "; " + t.String()
}

// message says what a message frame carries, or why nobody reads it.
func message(b []byte) string {
	m, err := parseMessage(b)
	if err != nil {
		return err.Error()
	}
	return messageName(m) + ": " + m.String()
}

// inWords is "pause 3, resume 4".
func inWords(f pfcframe.Frame) string {
	var words []string
	for c := range unit.Priority(unit.Priorities) {
		switch {
		case !f.Enable.Has(c):
		case f.Quanta[c] == 0:
			words = append(words, fmt.Sprintf("resume %d", c))
		default:
			words = append(words, fmt.Sprintf("pause %d", c))
		}
	}
	if words == nil {
		return "of no priority"
	}
	return strings.Join(words, ", ")
}
