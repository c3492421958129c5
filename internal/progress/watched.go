package progress

import (
	"context"
	"io"
	"os/signal"
	"syscall"
)

// WhileWatched returns a context that ends, with the reason, when w cannot be written
// to any more, because the terminal or the reader of the pipe is gone; and a writer to
// use instead of w. Without it the kernel would end this program at once, and the lab
// that it built would stay.
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
