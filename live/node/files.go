package node

import (
	"fmt"
	"runtime"
	"runtime/metrics"

	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/live"
	"softswitch/live/record"
	"softswitch/node/observe"
	"softswitch/unit"
)

// files is what a node writes, and what went wrong with it. The zero value writes
// nothing.
type files struct {
	log       *eventLog        // nil for none
	capture   *link.Capture    // nil for none
	recording *record.Recorder // nil for none
	restarts  int              // of the machine in this process
	ports     []live.Port      // of which to tell what their wires do
}

// live is what to report about a node apart from its machine.
func (f *files) live(n *live.Node, at unit.Time) observe.Live {
	out := observe.Live{At: at, Clock: timer.Clock(), EventsLost: n.EventsLost(), Lateness: n.Lateness(), Restarts: f.restarts, Impaired: impaired(n, f.ports)}
	out.Goroutines, out.HeapBytes = usage()
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
	if f.recording != nil {
		if err := f.recording.Err(); err != nil {
			out.Problems = append(out.Problems, err.Error())
		}
	}
	return out
}

// usage is how many goroutines this process has, and how many bytes of its heap were in use after
// the last garbage collection.
func usage() (goroutines int, heap uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return runtime.NumGoroutine(), live[0].Value.Uint64()
}

// flush returns when what was captured before the call is in its file, or could not be
// written.
func (f *files) flush() {
	if f.capture != nil {
		f.capture.Sync() // live reports the error
	}
}
