package node

import (
	"fmt"

	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/live"
	"softswitch/view/observe"
)

// files is what a node writes, and what went wrong with it. The zero value writes
// nothing.
type files struct {
	log      *eventLog     // nil for none
	capture  *link.Capture // nil for none
	restarts int           // of the machine in this process
}

// live is what to report about a node apart from its machine.
func (f *files) live(n *live.Node) observe.Live {
	out := observe.Live{Clock: timer.Clock(), EventsLost: n.EventsLost(), Lateness: n.Lateness(), Restarts: f.restarts}
	if f.log != nil {
		size, problem := f.log.state()
		out.LogBytes = size
		if problem != "" {
			out.Problems = append(out.Problems, "event log: "+problem)
		}
	}
	if f.capture != nil {
		if err := f.capture.Err(); err != nil {
			out.Problems = append(out.Problems, fmt.Sprintf("capture: %v", err))
		}
	}
	return out
}

// flush returns when what was captured before the call is in its file, or could not be
// written.
func (f *files) flush() {
	if f.capture != nil {
		f.capture.Sync() // live reports the error
	}
}
