package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/link/decode"
	"softswitch/live/node"
	"softswitch/node/config"
)

// act makes a host of the lab misbehave.
func (b *bed) act(host, what string) {
	b.Helper()
	if err := control.Call(b.socket(host), "act", map[string]any{"do": what, "priority": 3}, nil); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) socket(node string) string {
	return filepath.Join(b.runDir, b.name, node, "control.sock")
}

// capture starts `lab capture` and waits until it runs.
func (b *bed) capture(args ...string) *started {
	b.Helper()
	s := b.start(b.command(append([]string{"lab", "capture", "--name", b.name}, args...)...))
	s.await("capturing on")
	return s
}

// records is what softswitch reads in a capture, by frame number.
func (b *bed) records(file string, args ...string) map[int]decode.Record {
	b.Helper()
	records := map[int]decode.Record{}
	r := b.run(b.command(append([]string{"decode", "--json", file}, args...)...))
	for line := range strings.Lines(r.stdout) {
		var rec decode.Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			b.Fatal(err)
		}
		records[rec.Frame] = rec
	}
	return records
}

// awaitFrame waits until a capture that grows holds a frame that fits.
func (b *bed) awaitFrame(file string, fits func(decode.Record) bool) {
	b.Helper()
	err := timer.UntilFile(file, limit, func() bool {
		for _, rec := range b.records(file) {
			if fits(rec) {
				return true
			}
		}
		return false
	})
	if err != nil {
		b.Fatalf("%s never holds the frame that was waited for: %v", file, err)
	}
}

// TestLabCapture captures two switches: what one sends the other receives, a little
// later, and the capture can be read while it grows.
func TestLabCapture(t *testing.T) {
	b := newBed(t, "ip", "ping")
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	file := filepath.Join(t.TempDir(), "two.pcapng")
	s := b.capture("--node", "s1", "--node", "s2", "-w", file)
	b.wantPing("h1", b.address("h2"))
	b.act("h2", "storm")
	b.awaitFrame(file, func(r decode.Record) bool { return r.Interface == "s2:to-h2" && r.Kind == decode.KindPFC })
	s.signal(os.Interrupt)
	if r := s.end(); r.code != 0 || !strings.Contains(r.stdout, " frames written, 0 missed\n") {
		t.Errorf("exit status %d", r.code)
	}
	b.wantBothEnds(file)
}

// wantBothEnds: each ping between s1 and s2 is seen at both, as it was sent first.
func (b *bed) wantBothEnds(file string) {
	b.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		b.Logf("tshark did not read %s: %v", file, err)
		return
	}
	var seen []string
	last := ""
	for _, line := range outputLines(
		b.T, "tshark", "-n", "-r", file, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.interface_name", "-e", "frame.packet_flags_direction",
		"-e", "icmp.type", "-e", "icmp.seq", "-e", "frame.interface_description",
	) {
		f := strings.Split(line, "\t")
		if f[0] < last {
			b.Errorf("a frame of %s comes after one of %s", f[0], last)
		}
		last = f[0]
		if f[3] == "8" && f[4] == "1" { // the first request, at s1 and s2
			seen = append(seen, f[1]+" "+f[2]+" "+f[5])
		}
	}
	want := "s1:to-h1 0x00000001, s1:to-s2 0x00000002, s2:to-s1 0x00000001, s2:to-h2 0x00000002"
	var got []string
	for _, s := range seen {
		ways := strings.Fields(s)
		got = append(got, ways[0]+" "+ways[1])
		if len(ways) != 6 || ways[2] != "switch" || ways[4] != "port" {
			b.Errorf("interface %s is described as %q", ways[0], ways[2:])
		}
	}
	if strings.Join(got, ", ") != want {
		b.Errorf("the ping is seen at %q, want %q", got, want)
	}
}

// TestLabCaptureEnds: what ends a capture besides Ctrl-C.
func TestLabCaptureEnds(t *testing.T) {
	b := newBed(t)
	missing := b.lab("capture", "-w", filepath.Join(b.runDir, "no.pcapng"))
	if missing.code != cli.ExitError || !strings.Contains(missing.stderr, "is not up") {
		t.Errorf("without a lab: exit status %d", missing.code)
	}
	b.must("deploy", "-t", "../../scenarios/pause.yaml", "--nodes-per-process", "1") // whose end cuts a capture short
	if r := b.lab("capture", "--node", "s11"); r.code != cli.ExitError || !strings.Contains(r.stderr, `no node "s11" (did you mean "s1"`) {
		t.Errorf("a wrong name: exit status %d", r.code)
	}
	if r := b.lab("capture", "-w", filepath.Join(b.runDir, "no", "folder")); r.code != cli.ExitError || !strings.Contains(r.stderr, "no such file or directory") {
		t.Errorf("a folder that is not there: exit status %d", r.code)
	}
	b.act("h2", "storm") // frames without end
	b.wantFullDisk()
	b.wantBrokenPipe()

	// A node dies, and later the whole lab goes.
	file := filepath.Join(t.TempDir(), "killed.pcapng")
	s := b.capture("-w", file)
	b.awaitFrame(file, func(r decode.Record) bool { return r.Interface == "s2:to-h2" })
	b.must("kill", "h1")
	s.await("h1: the capture is cut short: it ended without its end: the node's process is gone")
	b.must("destroy")
	if r := s.end(); r.code != cli.ExitUnmet || !strings.Contains(r.stdout, "ended meanwhile: ") {
		t.Errorf("after a node's death: exit status %d", r.code)
	}
	if len(b.records(file)) == 0 {
		t.Error("the capture holds nothing")
	}
}

// wantFullDisk: what fits is there, whole, and the error says what happened.
func (b *bed) wantFullDisk() {
	b.Helper()
	disk := b.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=16k"); err != nil {
		b.Logf("no small disk: %v", err)
		return
	}
	b.Cleanup(func() { unix.Unmount(disk, 0) })
	file := filepath.Join(disk, "full.pcapng")
	r := b.lab("capture", "-w", file)
	if r.code != cli.ExitError || !strings.Contains(r.stderr, "no space left on device; the capture ends before that") {
		b.Errorf("a full disk: exit status %d", r.code)
	}
	if d := b.run(b.command("decode", file)); d.code != 0 || !strings.Contains(d.stdout, "PFC 3:65535") {
		b.Errorf("the capture on the full disk cannot be read: exit status %d", d.code)
	}
}

// wantBrokenPipe: a reader that has enough is no fault.
func (b *bed) wantBrokenPipe() {
	b.Helper()
	cmd := b.command("lab", "capture", "--name", b.name)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 2000)); err != nil {
		b.Error(err)
	}
	out.Close()
	if code := b.status(cmd.Wait()); code != 0 || !strings.Contains(said.String(), "the reader of the capture has gone") {
		b.Errorf("a broken pipe: exit status %d, %s", code, &said)
	}
}

// TestCapturesThatNobodyReads: clients that ask for captures and read none cost frames of
// theirs, not of the switch; there are only so many; and they keep no lab alive.
func TestCapturesThatNobodyReads(t *testing.T) {
	b := newBed(t, "ip", "ping")
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	for range node.CapturesMax {
		c, err := control.Open(b.socket("s1"), "capture", config.CaptureRequest{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	want := fmt.Sprintf("%d captures are running; that is the limit", node.CapturesMax)
	if r := b.lab("capture", "--node", "s1", "-w", filepath.Join(t.TempDir(), "x")); r.code != cli.ExitError || !strings.Contains(r.stderr, want) {
		t.Errorf("one capture too many: exit status %d", r.code)
	}
	addr := b.address("h2")
	// A thousand frames of 1442 bytes are far more than a socket holds.
	if r := b.lab("exec", "h1", "ping", "-q", "-f", "-c", "1000", "-s", "1400", addr); r.code != 0 || !strings.Contains(r.stdout, " 0% packet loss") {
		t.Errorf("with captures that hang, pings are lost: %s", r.stdout)
	}
	b.must("destroy")
	b.wantNothing()
}

// TestCapturesOfAWholeRun: a capture that was begun before the lab was, and that of the run itself, have
// all pauses of it, the first too, but for frames that a capture has missed and counted.
func TestCapturesOfAWholeRun(t *testing.T) {
	b := newBed(t)
	before, own := filepath.Join(t.TempDir(), "before.pcapng"), filepath.Join(t.TempDir(), "own.pcapng")
	capture := b.start(b.command("lab", "capture", "--wait", "--name", b.name, "-w", before))
	capture.await("waiting for a lab")
	run := b.must("run", "../../scenarios/pause.yaml", "--capture", own)
	r := capture.end()
	if r.code != 0 {
		t.Errorf("lab capture: exit status %d", r.code)
	}
	missed := 0
	for _, said := range []string{r.stdout, run.stderr} {
		m := regexp.MustCompile(`(\d+) missed`).FindStringSubmatch(said)
		if m == nil {
			t.Fatalf("it is not told how many frames were missed: %s", said)
		}
		n, _ := strconv.Atoi(m[1])
		missed += n
	}
	pauses := func(file string) (n int) {
		for _, rec := range b.records(file) {
			if slices.ContainsFunc(rec.Priorities, func(p decode.Priority) bool { return p.Quanta > 0 }) { // switches that start resume
				n++
			}
		}
		return n
	}
	if one, other := pauses(before), pauses(own); max(one-other, other-one) > missed || one == 0 || other == 0 {
		t.Errorf("%d pauses in the capture that was begun before, %d in that of the run, %d frames missed", one, other, missed)
	}
}

// TestEveryLabelIsShown plays a deadlock and captures all of it: Wireshark, with the
// dissector, shows the fields of every frame that carries them, as softswitch reads them,
// calls none malformed, and sees the label come home and the messages of the diagnosis.
func TestEveryLabelIsShown(t *testing.T) {
	b := newBigBed(t, "tshark")
	b.must("deploy", "-t", "../../scenarios/fattree-on-loop.yaml", "--detector", "itsy")
	file := filepath.Join(t.TempDir(), "lab.pcapng")
	capture := b.capture("-w", file)
	b.must("fail", "core0", "agg1-0")
	b.must("fail", "core1", "agg3-0")
	b.must("start")
	b.awaitFrame(file, func(r decode.Record) bool { return r.Kind == decode.KindDiagnosis })
	b.awaitFrame(file, func(r decode.Record) bool { return r.Frame > 100 })
	b.must("destroy")
	if r := capture.end(); r.code != 0 || !strings.Contains(r.stdout, "all nodes have ended") {
		t.Errorf("lab capture: exit status %d", r.code)
	}

	records := b.records(file)
	want := map[string]string{}
	diagnoses := 0
	for number, rec := range records {
		if rec.Kind == decode.KindDiagnosis {
			diagnoses++
		}
		if i := rec.ITSY; i != nil {
			want[fmt.Sprint(number)] = fmt.Sprint(i.Priority, i.Flags, i.Initiator.Node, i.Initiator.Port, i.Seq, i.Trigger.Node, i.Trigger.Port, i.Hops, i.Period)
		}
	}
	home, diagnosesShown := 0, 0
	lines := outputLines(
		t, "tshark", "-n", "-X", "lua_script:../../view/wireshark/itsy.lua", "-r", file, "-Y", "macc || itsy", "-T", "fields", "-e", "frame.number",
		"-e", "itsy.malformed", "-e", "itsy.foreign", "-e", "_ws.malformed", "-e", "itsy.home", "-e", "itsy.diagnosis.kind", "-e", "itsy.priority", "-e", "itsy.flags",
		"-e", "itsy.initiator.node", "-e", "itsy.initiator.port", "-e", "itsy.seq", "-e", "itsy.trigger.node", "-e", "itsy.trigger.port",
		"-e", "itsy.hops", "-e", "itsy.period",
	)
	for _, line := range lines {
		f := strings.Split(line, "\t")
		if f[1]+f[2]+f[3] != "" {
			t.Errorf("frame %s is marked: %q", f[0], f[1:4])
		}
		if f[4] != "" {
			home++
		}
		if f[5] != "" { // what it says: view/wireshark
			diagnosesShown++
			continue
		}
		var flags int
		fmt.Sscanf(f[7], "0x%x", &flags)
		f[7] = fmt.Sprint(flags)
		if got := strings.Join(f[6:], " "); f[6] != "" && got != want[f[0]] {
			t.Errorf("frame %s: tshark shows %s, softswitch reads %s", f[0], got, want[f[0]])
		} else if f[6] != "" {
			delete(want, f[0])
		}
	}
	if len(want) > 0 {
		t.Errorf("%d frames with labels are not shown", len(want))
	}
	if diagnosesShown != diagnoses || diagnoses == 0 {
		t.Errorf("%d laps and quests are shown, of %d; want all of them, and some", diagnosesShown, diagnoses)
	}
	b.wantSameNames(file, records)
	if len(records) < 100 || home == 0 {
		t.Errorf("%d frames of flow control, %d labels that came home; want more", len(records), home)
	}
}

// wantSameNames: a copy of the capture, of which Wireshark has made a pcap without interfaces, shows with
// the scenario's names what the capture, whose records these are, shows of itself; of a frame that was
// sent, the sender is the interface.
func (b *bed) wantSameNames(file string, records map[int]decode.Record) {
	b.Helper()
	dir := b.TempDir()
	foreign := filepath.Join(dir, "foreign.pcap")
	outputLines(b.T, "tshark", "-r", file, "-F", "pcap", "-w", foreign)
	named := b.records(foreign, "--names", "fattree-on-loop")
	if len(named) != len(records) {
		b.Fatalf("the copy has %d frames of flow control, the capture %d", len(named), len(records))
	}
	for number, rec := range records {
		other := named[number]
		if !reflect.DeepEqual(rec.ITSY, other.ITSY) || !reflect.DeepEqual(rec.Diagnosis, other.Diagnosis) {
			b.Errorf("frame %d: the capture says %+v %+v, the copy %+v %+v", number, rec.ITSY, rec.Diagnosis, other.ITSY, other.Diagnosis)
		}
		if i := rec.ITSY; i != nil && i.Initiator.Node != 0 && i.Initiator.Name == "" {
			b.Errorf("frame %d: the initiator has no name", number)
		}
	}

	if r := b.run(b.command("decode", "wireshark", "--dir", dir, "--names", "fattree-on-loop")); r.code != 0 {
		b.Fatalf("decode wireshark: exit status %d", r.code)
	}
	show := func(file string, args ...string) []string {
		return outputLines(b.T, "tshark", append([]string{"-2", "-n", "-X", "lua_script:../../view/wireshark/itsy.lua", "-r", file, "-Y", "macc || itsy", "-T", "fields"}, args...)...)
	}
	own := show(file, "-e", "frame.number", "-e", "_ws.col.Info", "-e", "frame.packet_flags_direction", "-e", "frame.interface_name")
	given := show(foreign, "-o", "itsy.names:"+filepath.Join(dir, "fattree-on-loop.names"), "-e", "frame.number", "-e", "_ws.col.Info", "-e", "itsy.sender")
	if len(own) != len(given) || len(own) == 0 {
		b.Fatalf("tshark shows %d frames of the capture, %d of the copy", len(own), len(given))
	}
	for i := range own {
		o, g := strings.Split(own[i], "\t"), strings.Split(given[i], "\t")
		if o[0] != g[0] || o[1] != g[1] {
			b.Errorf("tshark shows %q of the capture, %q of the copy", o, g)
		}
		number, _ := strconv.Atoi(g[0])
		if sent := o[2] == "0x00000002"; sent && g[2] != o[3] || g[2] != named[number].SrcName || g[2] == "" {
			b.Errorf("frame %s was sent by %s; tshark says %q, decode %q", o[0], o[3], g[2], named[number].SrcName)
		}
	}
}
