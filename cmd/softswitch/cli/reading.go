package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// reading is what this program reads, so that a signal ends it at once: a read waits for whoever
// writes, and a large file is checked for seconds. While nothing else is under way there is nothing to
// be taken back.
var reading struct {
	mu          sync.Mutex
	names       []string // guarded by mu
	interrupted bool     // guarded by mu
}

// Reading says that the program reads what is called name, and does nothing else, until done is called:
// a signal then ends the program. After a signal it does not return.
func Reading(name string) (done func()) {
	reading.mu.Lock()
	defer reading.mu.Unlock()
	reading.names = append(reading.names, name)
	leaveIfReading()
	return func() {
		reading.mu.Lock() // a program that is about to end goes no further
		defer reading.mu.Unlock()
		reading.names = reading.names[:len(reading.names)-1]
	}
}

// UntilSignal reads from in until a signal is to end the program: then reading fails, so that what came
// before can be told.
func UntilSignal(ctx context.Context, in io.Reader) io.Reader {
	out, into := io.Pipe()
	context.AfterFunc(ctx, func() { into.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(into, in)
		into.CloseWithError(err)
	}()
	return out
}

// interruptReading is called when the program is to end.
func interruptReading() {
	reading.mu.Lock()
	defer reading.mu.Unlock()
	reading.interrupted = true
	leaveIfReading()
}

// leaveIfReading ends the program if it is to end while it reads. Preconditions: reading.mu is held.
func leaveIfReading() {
	if n := len(reading.names); reading.interrupted && n > 0 {
		fmt.Fprintf(os.Stderr, "softswitch: interrupted: reading %s\n", reading.names[n-1])
		os.Exit(ExitError)
	}
}
