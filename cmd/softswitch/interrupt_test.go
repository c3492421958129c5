package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"softswitch/internal/testkit"
)

// TestControlC types Ctrl-C at the terminal of every long command, once it shows how far
// it is: each ends, with the status of what was not done.
func TestControlC(t *testing.T) {
	for args, shown := range map[string]string{
		"sim run " + endless(t, "hu-fig3.yaml"):                                   "simulated ns",
		"sim run --repeat 9 " + endless(t, "hu-fig3.yaml"):                        "simulated us",
		"sweep --set duration=20ms,1h --workers 2 " + endless(t, "hu-fig4.yaml"):  "20ms,1,true,", // a whole row
		"sim bench --runs 1000 --duration 20ms":                                   "runs",
		"sim fuzz --n 1000000 --out " + t.TempDir():                               "cases",
		"compare --runs 1000000 --scenarios shpiner-fig4 --systems no-flood,itsy": "cause",
		"compare traffic --runs 1000 --scenarios shpiner-fig4":                    "runs",
		"campaign run " + longCampaign(t):                                         "cases",
		"compare --runs 60 --scenarios fattree-no-loop --systems no-flood,itsy":   "no-flood",
	} {
		t.Run(strings.ReplaceAll(args, "/", "_"), func(t *testing.T) {
			t.Parallel()
			testkit.ControlC(t, shown, "softswitch", strings.Fields(args)...)
		})
	}
}

// TestInterruptedReading: a command that reads what nobody writes ends when it is interrupted, with the
// status of what was not done.
func TestInterruptedReading(t *testing.T) {
	// What can begin a longer text: comments, and a capture of empty frames.
	comments := bytes.Repeat([]byte("# more\n"), 1<<15)
	capture := append([]byte{0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0}, make([]byte, 1<<17)...)
	readable := map[string][]byte{"validate -": comments, "sim run -": comments, "decode -": capture}
	for _, args := range []string{
		"validate FILE", "validate -", "tagger FILE", "check FILE", "cause FILE", "sim run FILE", "sim run -", "sim run --repeat 2 FILE", "sweep FILE --set duration=1ms",
		"compare --scenarios FILE", "compare traffic --scenarios FILE", "merge FILE", "decode FILE", "decode -", "replay FILE", "plot --out /dev/null FILE",
		"import hpcc FILE", "import graphml FILE", "import containerlab --rate 1Gbit/s FILE",
		"run -c FILE", "host -c FILE", "nic -c FILE", "lab run FILE", "lab deploy -t FILE", "lab export --containerlab NOWHERE FILE", "lab attach FILE", "lab worlds FILE",
	} {
		t.Run(strings.ReplaceAll(args, "/", "_"), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "fifo.yaml")
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			cmd := exec.CommandContext(ctx, "softswitch", strings.Fields(strings.ReplaceAll(args, "FILE", file))...)
			var said bytes.Buffer
			cmd.Stderr = &said
			in, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stdin = in
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			in.Close()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				cmd.Wait()
				os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // for whom waits for a reader below
			}()
			// Both wait until the program reads: to open it, and to write more than a pipe holds.
			if strings.HasSuffix(args, "FILE") || strings.Contains(args, "FILE ") {
				writer.Close()
				writer, err = os.OpenFile(file, os.O_WRONLY, 0)
			} else {
				_, err = writer.Write(readable[args])
			}
			if err != nil {
				t.Fatalf("%v; it says %q", err, said.String())
			}
			defer writer.Close()
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			<-ended
			if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(said.String(), "interrupted") {
				t.Errorf("exit status %d, want 2; it says %q", code, said.String())
			}
		})
	}
}

// longCampaign is the folder of a campaign that takes an hour.
func longCampaign(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "campaign")
	out, err := exec.Command("softswitch", "campaign", "init", "--shards", "2", dir, "sim", "fuzz", "--n", "1000000").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// endless is a scenario file that takes an hour.
func endless(t *testing.T, file string) string {
	t.Helper()
	return edited(t, file, "\nduration: ", "\nduration: 1h # ")
}

// edited is a scenario file in which other texts are in the place of some, each behind the one
// that it replaces.
func edited(t *testing.T, file string, oldNew ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../scenarios", file))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(oldNew); i += 2 {
		if !bytes.Contains(text, []byte(oldNew[i])) {
			t.Fatalf("%s has no %q to replace", file, oldNew[i])
		}
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(strings.NewReplacer(oldNew...).Replace(string(text))), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
