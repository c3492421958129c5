package progress

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, on so many goroutines at a time, and shows on out how many
// are done; what names them. It returns the first error, or ctx's once that has ended;
// no further call begins then.
func Each(ctx context.Context, out io.Writer, what string, n, workers int, do func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := New(ctx, out, what, int64(n))
	defer work.Close()
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
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
	}
	group.Wait()
	return context.Cause(ctx)
}
