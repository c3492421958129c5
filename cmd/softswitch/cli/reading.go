package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// reading lists the inputs that this program reads at the moment. A signal during a read ends the
// program at once, because a read may block for its writer, a large file takes seconds to check, and
// nothing needs cleaning up.
var reading struct {
	mu          sync.Mutex
	names       []string // guarded by mu
	interrupted bool     // guarded by mu
}

// Reading marks the program as only reading name until done is called: a signal ends the program
// meanwhile. After a signal it does not return.
func Reading(name string) (done func()) {
	reading.mu.Lock()
	defer reading.mu.Unlock()
	reading.names = append(reading.names, name)
	leaveIfReading()
	return func() {
		reading.mu.Lock() // blocks if the program is about to exit
		defer reading.mu.Unlock()
		reading.names = reading.names[:len(reading.names)-1]
	}
}

// UntilSignal returns a reader of in that fails after a signal, so that the caller can still report
// what it has read.
func UntilSignal(ctx context.Context, in io.Reader) io.Reader {
	out, into := io.Pipe()
	context.AfterFunc(ctx, func() { into.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(into, in)
		into.CloseWithError(err)
	}()
	return out
}

// interruptReading records that a signal arrived, and exits if the program reads.
func interruptReading() {
	reading.mu.Lock()
	defer reading.mu.Unlock()
	reading.interrupted = true
	leaveIfReading()
}

// leaveIfReading exits if a signal has arrived and the program reads. Precondition: reading.mu is held.
func leaveIfReading() {
	if n := len(reading.names); reading.interrupted && n > 0 {
		fmt.Fprintf(os.Stderr, "softswitch: interrupted: reading %s\n", reading.names[n-1])
		os.Exit(ExitError)
	}
}
