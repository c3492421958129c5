package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"softswitch/cmd/softswitch/cli"
)

// playing starts `lab run` and waits until it says text.
func (b *bed) playing(file, text string, args ...string) *started {
	b.Helper()
	s := b.start(b.command(append([]string{"lab", "run", "--name", b.name, file}, args...)...))
	s.await(text)
	return s
}

// TestKilledRun: kill -9 of `lab run` midway, and of some of its switches, leaves
// nothing that `lab destroy` does not find.
func TestKilledRun(t *testing.T) {
	b := newBigBed(t)
	s := b.playing(endless(t, "fattree-on-loop.yaml"), "running until", "--nodes-per-process", "1")
	s.signal(os.Kill)
	s.end()
	if n := len(b.namespaces()); n != 36 {
		t.Fatalf("%d namespaces after the kill, want 36: the test proves nothing", n)
	}
	for _, n := range b.inspect().Nodes {
		if strings.HasPrefix(n.Name, "core") {
			if err := syscall.Kill(n.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Another run takes what nobody uses any more, without being asked to.
	s = b.playing(endless(t, "pause.yaml"), "running until")
	if !strings.Contains(s.said.String(), "removing it first") {
		t.Errorf("the next run said nothing of what was left: %s", &s.said)
	}
	// While it plays, its lab is not to be taken.
	if r := b.lab("run", "../../scenarios/pause.yaml"); r.code != cli.ExitError || !strings.Contains(r.stderr, fmt.Sprintf("process %d plays on a lab of that name", s.cmd.Process.Pid)) {
		t.Errorf("a second run of the same name: exit status %d", r.code)
	}
	s.signal(os.Kill)
	s.end()
	b.must("destroy")
	b.wantNothing()
	if r := b.must("destroy"); !strings.Contains(r.stderr, "nothing to do") {
		t.Errorf("a second destroy says %q", r.stderr)
	}
}

// TestInterrupt: Ctrl-C, or a terminal that is closed, removes the lab, while it is built
// and while it runs.
func TestInterrupt(t *testing.T) {
	hears := make(chan os.Signal, 1) // below nohup too, where a child would ignore SIGHUP
	signal.Notify(hears, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hears) })
	t.Parallel()
	for _, c := range []struct {
		name, file, text string
		signal           os.Signal
	}{
		{"while it is built", "fattree-on-loop.yaml", "  namespaces ", os.Interrupt},
		{"while it runs", "pause.yaml", "running until", os.Interrupt},
		{"by SIGHUP while it is built", "fattree-on-loop.yaml", "  namespaces ", syscall.SIGHUP},
		{"by SIGHUP while it runs", "pause.yaml", "running until", syscall.SIGHUP},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBigBed(t)
			s := b.playing(endless(t, c.file), c.text)
			s.signal(c.signal)
			r := s.end()
			if r.code != cli.ExitError || !strings.Contains(r.stdout, "softswitch: interrupted: ") {
				t.Errorf("exit status %d, want %d and a word of the interrupt", r.code, cli.ExitError)
			}
			b.wantNothing()
		})
	}
}

// TestNohup: what was started to outlive its terminal does.
func TestNohup(t *testing.T) {
	b := newBed(t, "nohup")
	s := b.start(b.program("nohup", "softswitch", "lab", "run", "--name", b.name, "../../scenarios/pause.yaml", "--set", "duration=1s", "--set", "flows[0].stop=900ms"))
	s.await("running until")
	s.signal(syscall.SIGHUP)
	if r := s.end(); !strings.Contains(r.stdout, "time line") {
		t.Errorf("exit status %d without a verdict", r.code)
	}
	b.wantNothing()
}

// TestUnread: a run whose words nobody reads any more ends and removes its lab.
func TestUnread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		needs []string
	}{
		{args: []string{"lab", "run", endless(t, "fattree-on-loop.yaml")}}, // at once, and not when it has played
		{args: []string{"demo"}},
		{[]string{"demo", "nic"}, []string{"iperf3", "ping"}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			b := newBigBed(t, c.needs...)
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := b.command(append(c.args, "--name", b.name)...)
			cmd.Stdout, cmd.Stderr = write, write
			err = cmd.Start()
			write.Close()
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(read)
			for line := ""; !strings.Contains(line, "  processes "); {
				if line, err = in.ReadString('\n'); err != nil {
					t.Fatalf("it ended without a lab: %v", err)
				}
			}
			read.Close()
			if code := b.status(cmd.Wait()); code != cli.ExitError {
				t.Errorf("exit status %d, want %d", code, cli.ExitError)
			}
			b.wantNothing()
		})
	}
}
