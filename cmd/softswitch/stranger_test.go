package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/testkit"
)

// plant has another user make a link, in a folder in which everybody can write, to what root has.
func plant(t *testing.T, dir, name, to string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.Symlink(to, path), os.Lchown(path, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPlantedLinks: whatever command is told to write to a place where another user has laid down a
// link, what that leads to stays as it is, and the command says whose link it is.
func TestPlantedLinks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("lays down links of another user: needs root")
	}
	t.Parallel()
	const scenario, ring = "../../scenarios/pause.yaml", "../../scenarios/itsy-fig2.yaml"
	ns := testkit.NewNamespace(t)
	ns.Veth("a", ns, "b")
	for _, tt := range []struct {
		args string // OUT is the planted file, DIR the planted folder, IN a folder with a planted NAME
		name string
	}{
		{args: "sim run " + scenario + " --pcap OUT"},
		{args: "sim run " + scenario + " --trace OUT"},
		{args: "sim run " + scenario + " --html OUT"},
		{args: "sim run " + scenario + " --html DIR/page.html"},
		{args: "sweep " + scenario + " --set detector=none --out OUT"},
		{args: "compare --scenarios pause --systems none --html OUT"},
		{args: "compare --scenarios pause --systems none --markdown OUT"},
		{args: "compare --scenarios pause --systems none --markdown DIR/x/y.md"},
		{args: "compare --scenarios pause --systems none --replays --html DIR/page.html"},
		{args: "compare traffic --scenarios hu-fig4 --runs 1 --markdown OUT"},
		{args: "check " + ring + " --witness DIR"},
		{args: "sim fuzz --n 40 --seed 1 --detector none --shrink 0 --out DIR"},
		{args: "lab export " + scenario + " --containerlab DIR/new"},
		{args: "campaign init DIR/new sim fuzz --n 4"},
		{args: "decode wireshark --dir DIR"},
		{args: "run a --record OUT"},
		{args: "run a --control OUT"},
		{args: "run a --control DIR/control.sock"},
		{args: "lab deploy -t " + scenario + " --pcap DIR"},
		{args: "lab run " + scenario + " --html OUT"},
		{args: "lab run " + scenario + " --pcap IN", name: "s1.pcapng"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			shared, vault := t.TempDir(), t.TempDir()
			file := filepath.Join(vault, "file")
			err := errors.Join(os.Chmod(shared, 0o777), os.WriteFile(file, []byte("precious"), 0o600))
			if err != nil {
				t.Fatal(err)
			}
			args := tt.args
			for word, made := range map[string]string{
				"OUT": plant(t, shared, "out", file), "DIR": plant(t, shared, "dir", vault), "IN": shared,
			} {
				args = strings.ReplaceAll(args, word, made)
			}
			if tt.name != "" {
				plant(t, shared, tt.name, file)
			}
			out := runThere(t, ns, strings.Fields(args))
			if !strings.Contains(out, "is a link that user 65534 made") && !strings.Contains(out, "others can write in "+shared) {
				t.Errorf("it does not say whose link it is: %s", out)
			}
			if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
				t.Errorf("what the link leads to has %q, %v", text, err)
			}
			if entries, err := os.ReadDir(vault); err != nil || len(entries) != 1 {
				t.Errorf("where the link leads are %v, %v; want one file", entries, err)
			}
		})
	}
}

// runThere is what softswitch says with these arguments, in a network namespace. It has to fail.
func runThere(t *testing.T, ns *testkit.Namespace, args []string) string {
	t.Helper()
	b := &bed{T: t, runDir: t.TempDir()}
	if args[0] == "lab" && args[1] != "export" {
		b = newBed(t)
		args = append(args, "--name", b.name)
	}
	cmd := b.command(args...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	start := cmd.Run
	if args[0] == "run" {
		start = func() (err error) { return ns.Do(cmd.Run) }
	}
	if err := start(); b.status(err) != cli.ExitError {
		t.Errorf("%v: exit status %d, want %d", args, b.status(err), cli.ExitError)
	}
	return said.String()
}

// TestClientsThatNeverRead: a hundred and twenty clients of a switch's control socket post as much
// as it takes, all the time, and read no answer. The switch forwards small frames at line rate
// meanwhile, 72,000 a second, and loses none of them.
func TestClientsThatNeverRead(t *testing.T) {
	b := newLoneBed(t)
	file := filepath.Join(t.TempDir(), "small.yaml")
	err := os.WriteFile(file, []byte(`name: small
description: small frames at line rate
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 100Mbit/s
flows:
  - {name: A, from: h1, to: h2, frame: 150, rate: line, start: 200ms, stop: 3s}
duration: 4s
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 120 {
		size := []int{60_000, 1_000_000}[i%2] // as much as is taken, and more
		request := fmt.Sprintf("POST /nosuch HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n[%s]", size, strings.Repeat(" ", size-2))
		clients.Go(func() { postWithoutEnd(b.socket("s2"), request, over) })
	}
	v, _ := b.play(file)
	close(over)
	clients.Wait()
	if f := v.Flows[0]; v.LosslessLost != 0 || f.Received != f.Sent || f.Sent < 100_000 {
		t.Errorf("%d lossless frames lost, %d received of %d", v.LosslessLost, f.Received, f.Sent)
	}
}

// postWithoutEnd is a client of the socket, if somebody listens there, that posts the request again
// and again, and reads nothing.
func postWithoutEnd(socket, request string, over chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond): // before it tries again
		}
		c, err := net.Dial("unix", socket)
		if err != nil {
			continue
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for err := error(nil); err == nil; {
				_, err = io.WriteString(c, request)
			}
		}()
		select {
		case <-over:
		case <-done:
		}
		c.Close()
		<-done
	}
}
