package decode

import (
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
)

// Comment is what a capture remarks on a frame, in words: the label of a pause
// frame that carries one, the content of an ITSY message. "" is no remark.
func Comment(frame []byte) string {
	if itsyhdr.IsMessage(frame) {
		_, t, err := itsyhdr.ParseMessage(frame)
		if err != nil {
			return err.Error()
		}
		return "ITSY message: " + t.String()
	}
	_, pad, err := pfcframe.Parse(frame)
	if err != nil {
		return ""
	}
	t, err := itsyhdr.Parse(pad)
	switch {
	case err == itsyhdr.ErrNone:
		return ""
	case err != nil:
		return err.Error()
	}
	return "ITSY: " + t.String()
}
