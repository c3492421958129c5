package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"softswitch/link"
)

// TestMain lets the test program stand in for the softswitch program, whose hidden
// commands are the benchmarks' processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "bench" {
		if err := work(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func work(what string, args []string) error {
	ctx := context.Background()
	switch what {
	case "relay":
		return RunRelay(ctx, args[0], args[1], os.Stdout)
	case "corrupt":
		return corrupt(ctx, args[0], args[1])
	case "lap":
		return RunLaps(ctx, args, os.Stdout)
	}
	return errors.New("no such worker")
}

// corrupt is a relay that changes the last byte of each frame.
func corrupt(ctx context.Context, in, out string) error {
	r, w, err := openPair(ctx, in, out)
	if err != nil {
		return err
	}
	bufs := buffers(1)
	for {
		if _, err := r.Read(bufs); err != nil {
			return err
		}
		bufs[0][len(bufs[0])-1] ^= 0xff
		if _, err := w.Write(bufs); err != nil && !errors.Is(err, link.ErrBusy) {
			return err
		}
	}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
