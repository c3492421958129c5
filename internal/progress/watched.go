package progress

import (
	"context"
	"io"
	"os/signal"
	"syscall"
)

// WhileWatched returns a context that ends, and why, when w can be written to no more,
// because the terminal is gone or whoever read the pipe reads no more; and w, to be used
// from then on. Without it the kernel would end this program at once, and the lab that
// it built would stay.
func WhileWatched(ctx context.Context, w io.Writer) (context.Context, io.Writer) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := context.WithCancelCause(ctx)
	return ctx, &watched{w, stop}
}

type watched struct {
	io.Writer
	stop context.CancelCauseFunc
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.stop(err)
	}
	return n, err
}
