// Package progress shows on a terminal how far a piece of work is, and tells the work
// when its context has ended.
//
//	work --Set, Add--> bar on standard error, with an estimate of the time that is left
//	     <-- error: the context's
//
// Invariants: work of less than a second shows nothing; a finished bar leaves nothing on
// the screen; where there is no terminal nothing is written.
//
// Each (each.go) does many pieces of work at a time. WhileWatched (watched.go) ends work
// in order when the reader of its progress is gone.
package progress

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// quiet is how long work runs before it is shown.
const quiet = time.Second

// Work is a piece of work. Its methods may be called from many goroutines.
type Work struct {
	ctx   context.Context
	bar   *progressbar.ProgressBar
	begun time.Time
	done  atomic.Int64
	shown atomic.Bool
}

// New begins work of the given number of steps, called what, which ends with ctx; its
// bar is drawn on out.
func New(ctx context.Context, out io.Writer, what string, of int64) *Work {
	return &Work{ctx: ctx, begun: time.Now(), bar: progressbar.NewOptions64(of,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetVisibility(IsTerminal(out)),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// Nanoseconds does a piece of work and returns how long it took.
func Nanoseconds(do func()) int64 {
	begun := time.Now()
	do()
	return time.Since(begun).Nanoseconds()
}

// IsTerminal reports whether a person sees what is written to out.
func IsTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Set reports how many steps are done. It returns ctx's error once ctx has ended.
func (w *Work) Set(done int64) error {
	w.done.Store(done)
	return w.show()
}

// Add reports n more steps. It returns the same error as Set.
func (w *Work) Add(n int64) error {
	w.done.Add(n)
	return w.show()
}

func (w *Work) show() error {
	if time.Since(w.begun) > quiet {
		w.bar.Set64(w.done.Load()) // a terminal that cannot be written to must not end the work
		if !w.shown.Swap(true) {
			w.bar.RenderBlank() // Set64 draws nothing before the first percent
		}
	}
	return w.ctx.Err()
}

// Close takes the bar from the screen.
func (w *Work) Close() { w.bar.Clear() }
