package progress

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, on at most workers goroutines at a time, and shows on out
// how many are done; what names them. It returns the first error, or ctx's once that has
// ended; no further call begins then.
func Each(ctx context.Context, out io.Writer, what string, n, workers int, do func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := New(ctx, out, what, int64(n))
	defer work.Close()
	var next atomic.Int64
	AtOnce(min(workers, n), func(int) {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := do(i); err != nil {
				cancel(err)
			}
			work.Add(1)
		}
	})
	return context.Cause(ctx)
}

// AtOnce calls do for 0 to n-1, each on a goroutine of its own, and returns when all are done.
func AtOnce(n int, do func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}
