package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"softswitch/internal/testkit"
	"softswitch/link"
)

// TestMain makes the test binary serve as bench, whose hidden commands are the processes of the
// benchmarks, and as one that is broken.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "relay", "lap":
			main()
			return
		case "corrupt":
			if err := corrupt(context.Background(), os.Args[2], os.Args[3]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	testscript.Main(m, map[string]func(){"bench": main})
}

// TestRefused: what makes no sense is not begun, and the exit status says so.
func TestRefused(t *testing.T) {
	testkit.Refused(t, "bench", map[string]string{
		"nonsense":                     `^bench: unknown command "nonsense" for "bench"; valid: forward, floor\n$`,
		"forward everything":           `; usage: bench forward `,
		"forward --frames 59":          `^bench: forward: a frame of 59 bytes; valid: 60 to 1514\n$`,
		"forward --seconds 0":          `^bench: forward: 0s a turn; valid: more than 0\n$`,
		"forward --softswitch no/such": "^bench: forward: --softswitch: stat .*/no/such: no such file or directory; `make` builds it\n$",
		"floor --laps 0":               `^bench: floor: 0 laps; valid: 1 and more\n$`,
		"floor --lap 1":                "^bench: unknown flag: --lap; see `bench floor --help`\n$",
	})
}

// TestDocumentedCommands: what pages name is there.
func TestDocumentedCommands(t *testing.T) { testkit.Documented(t, "bench") }

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
