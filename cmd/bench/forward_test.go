package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"softswitch/internal/testkit"
)

func TestForwardRefuses(t *testing.T) {
	_, err := Forward(t.Context(), ForwardOptions{Frames: []int{59, 64, 1515}})
	for _, want := range []string{"a frame of 59 bytes; valid: 60 to 1514", "a frame of 1515 bytes", "0 rounds", "0s a turn"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "64 bytes") {
		t.Errorf("%v\nrefuses a good length", err)
	}
}

// watched is a DUT that notes its processes.
func watched(d dut, into *[]*child) dut {
	start := d.start
	d.start = func(b *bed, cpu int, dir string) ([]*child, error) {
		cs, err := start(b, cpu, dir)
		*into = cs
		return cs, err
	}
	return d
}

func newForward(t *testing.T) *forward {
	t.Helper()
	testkit.NeedRoot(t)
	f := &forward{opt: ForwardOptions{Duration: time.Second}}
	var err error
	if f.dutCPU, f.senderCPU, err = twoCPUs(); err != nil {
		t.Skip(err)
	}
	return f
}

// wantGone fails if a process or its directory is still there.
func wantGone(t *testing.T, children []*child) {
	t.Helper()
	if len(children) == 0 {
		t.Error("nothing was started")
	}
	for _, c := range children {
		if err := syscall.Kill(c.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s, process %d, is still there: %v", c.name, c.cmd.Process.Pid, err)
		}
		if _, err := os.Stat(filepath.Dir(c.log)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", filepath.Dir(c.log), err)
		}
	}
}

// TestTurn measures what needs no softswitch, each peer if it is there.
func TestTurn(t *testing.T) {
	f := newForward(t)
	for _, d := range duts("", self(t))[1:] {
		t.Run(d.name, func(t *testing.T) {
			if err := d.find(); err != nil {
				t.Skip(err)
			}
			var children []*child
			turn, err := f.turn(t.Context(), watched(d, &children), 64)
			if err != nil {
				t.Fatal(err)
			}
			wantGone(t, children)
			// No closer: on a busy machine the two are read far apart.
			if turn.Delivered <= 0 || turn.Offered <= 0 || turn.Delivered > 10*turn.Offered {
				t.Errorf("delivered %.0f frames/s of %.0f", turn.Delivered, turn.Offered)
			}
			if turn.CPU <= 0 || turn.CPU > 10 {
				t.Errorf("ran for %.2f of the time on one processor", turn.CPU)
			}
		})
	}
}

// TestTurnSeesCorruption measures a relay that changes frames: it must be refused.
func TestTurnSeesCorruption(t *testing.T) {
	f := newForward(t)
	var children []*child
	d := dut{name: "corrupt", start: ourProgram(self(t), "corrupt", "corrupt", "p0", "p1")}
	_, err := f.turn(t.Context(), watched(d, &children), 64)
	if err == nil || !strings.Contains(err.Error(), "byte 63 of a frame of 64") {
		t.Errorf("a relay that changes frames was measured: %v", err)
	}
	wantGone(t, children)
}

func TestTurnOfADeviceThatEnds(t *testing.T) {
	f := newForward(t)
	var children []*child
	d := dut{name: "brief", start: ourProgram("/bin/sh", "brief", "-c", "echo no such luck; exit 3")}
	_, err := f.turn(t.Context(), watched(d, &children), 64)
	for _, want := range []string{"brief ended", "exit status 3", "no such luck"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	wantGone(t, children)
}

// TestInterruptedTurn ends a turn while it waits for a device that forwards nothing.
func TestInterruptedTurn(t *testing.T) {
	f := newForward(t)
	ctx, cancel := context.WithCancel(t.Context())
	var children []*child
	d := dut{name: "idle", start: ourProgram("/bin/sleep", "idle", "60")}
	w := watched(d, &children)
	started := w.start
	w.start = func(b *bed, cpu int, dir string) ([]*child, error) {
		defer cancel()
		return started(b, cpu, dir)
	}
	if _, err := f.turn(ctx, w, 64); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	wantGone(t, children)
}

// TestForward runs the whole of it with the real program.
func TestForward(t *testing.T) {
	newForward(t)
	testkit.Need(t, "go")
	program := filepath.Join(t.TempDir(), "softswitch")
	if said, err := exec.Command("go", "build", "-o", program, "softswitch/cmd/softswitch").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, said)
	}
	var progress bytes.Buffer
	r, err := Forward(t.Context(), ForwardOptions{Program: program, Frames: []int{1500}, Rounds: 1, Duration: time.Second, Progress: &progress})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Frames) != 1 || len(r.Frames[0].DUTs)+len(r.Absent) != 4 {
		t.Fatalf("result %+v: want four devices, present or absent", r)
	}
	for _, d := range r.Frames[0].DUTs {
		if d.Delivered.Median <= 0 {
			t.Errorf("%s delivered %.0f frames/s", d.Name, d.Delivered.Median)
		}
	}
	if lines := strings.Count(progress.String(), "\n"); lines != 4 {
		t.Errorf("%d lines of progress for four devices:\n%s", lines, progress.String())
	}
}

func TestForwardText(t *testing.T) {
	f := forward{
		opt:    ForwardOptions{Frames: []int{64}, Rounds: 1, Duration: 2 * time.Second},
		dutCPU: 0, senderCPU: 1,
		duts:   []dut{{name: Softswitch}, {name: OVS}, {name: Relay}, {name: Testpmd}},
		absent: []Absent{{Testpmd, "dpdk-testpmd is not installed (Debian: dpdk-dev)"}},
		turns: []map[string][]Turn{{
			Softswitch: {{Offered: 1e6, Delivered: 600e3, CPU: 1}},
			OVS:        {{Offered: 1e6, Delivered: 300e3, CPU: 0.6}},
			Relay:      {{Offered: 1e6, Delivered: 1e6, CPU: 0.9}},
		}},
	}
	var got strings.Builder
	if err := f.result().WriteText(&got); err != nil {
		t.Fatal(err)
	}
	const want = `Frames forwarded from veth to veth by one processor (0), lossless priority; the sender has processor 1.
Medians (and least..greatest) of 1 rounds of 2s; ratios are taken within a round.

frame  device      Mpps                  offered  CPU   softswitch is        Mpps per CPU          softswitch is
64 B   softswitch  0.600 (0.600..0.600)  1.000    100%                       0.600 (0.600..0.600)
64 B   ovs         0.300 (0.300..0.300)  1.000    60%   2.00 x (2.00..2.00)  0.500 (0.500..0.500)  1.20 x (1.20..1.20)  starved
64 B   relay       1.000 (1.000..1.000)  1.000    90%   0.60 x (0.60..0.60)  1.111 (1.111..1.111)  0.54 x (0.54..0.54)  sender-limited

sender-limited: it forwarded all that it was offered, and may be faster.

starved: others used its processor meanwhile, and it is faster on an idle machine; the
figures per second of its own processor time (CPU) stand.

testpmd is absent: dpdk-testpmd is not installed (Debian: dpdk-dev)
`
	if text := regexp.MustCompile(` +\n`).ReplaceAllString(got.String(), "\n"); text != want {
		t.Errorf("text is\n%s\nwant\n%s", text, want)
	}
}
