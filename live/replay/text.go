package replay

import (
	"fmt"
	"io"

	"softswitch/unit"
)

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s %s: %s, %s, %s", r.Kind, r.Name, unit.Count(r.Calls, "call"), unit.Count(r.Frames, "frame"), unit.Count(r.Events, "event"))
	var err error
	switch {
	case r.Difference != nil:
		d := r.Difference
		_, err = fmt.Fprintf(w, " are the same, then\n%s (call %d):\n  recorded  %s\n  replayed  %s\n", d.What, d.Call, d.Recorded, d.Replayed)
	case r.Fault != "":
		_, err = fmt.Fprintf(w, " are the same, then the recording cannot be read:\n  %s\n", r.Fault)
	case r.Full:
		_, err = fmt.Fprintln(w, ": the same, up to where the recorder had no more room")
	default:
		_, err = fmt.Fprintln(w, ": the same")
	}
	return err
}
