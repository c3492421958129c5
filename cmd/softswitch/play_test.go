package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
	"softswitch/link/decode"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// TestPause: a slow receiver pauses its way back to the sender, nothing is lost,
// and other programs can read the captures.
func TestPause(t *testing.T) {
	b := newBed(t)
	pcap := t.TempDir()
	v, r := b.play("../../scenarios/pause.yaml", "--pcap", pcap)
	if r.code != 0 || !v.ExpectedMet || v.LosslessLost != 0 || v.PFC.XOFF == 0 || v.PFC.XON == 0 || v.Deadlock || len(v.Detections) != 0 {
		t.Errorf("exit status %d, verdict %s", r.code, r.stdout)
	}
	if f := v.Flows[0]; len(v.Flows) != 1 || f.Sent == 0 || f.Received != f.Sent || f.Lost+f.Reordered != 0 {
		t.Errorf("flows %+v", v.Flows)
	}
	wantVerdictKeys(t, r.stdout)
	for _, name := range []string{"s1", "s2"} {
		wantCapture(t, filepath.Join(pcap, name+".pcapng"))
	}
	b.wantNothing()
}

// wantVerdictKeys: the keys are a promise to programs that read them.
func wantVerdictKeys(t *testing.T, text string) {
	t.Helper()
	var verdict map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &verdict); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"scenario", "world", "detector", "response", "seed", "duration_ns", "deadlock", "onset_ns", "detections", "false_positives", "false_negatives",
		"premature", "lossless_lost", "response_dropped", "recovered", "recurrences", "recovery_ns", "flows", "pfc", "control_messages",
		"detector_bytes_per_switch", "counter_bytes_per_switch", "cores", "invalid", "expected_met", "reasons", "timeline",
	} {
		if _, ok := verdict[key]; !ok {
			t.Errorf("the verdict has no key %q", key)
		}
	}
	if world := string(verdict["world"]); world != `"live"` {
		t.Errorf("world is %s", world)
	}
}

// wantCapture compares what tshark and softswitch read from a capture: the same
// PFC frames, none malformed, and a comment on each frame that carries a label.
func wantCapture(t *testing.T, file string) {
	t.Helper()
	var pfc, labelled []string // numbers of frames
	for _, line := range outputLines(t, "softswitch", "decode", "--json", file) {
		var rec decode.Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		if rec.Kind == decode.KindMalformed || rec.Padding != "" {
			t.Errorf("%s: %s", file, line)
		}
		if rec.Kind == decode.KindPFC {
			pfc = append(pfc, strconv.Itoa(rec.Frame))
		}
		if rec.ITSY != nil {
			labelled = append(labelled, strconv.Itoa(rec.Frame))
		}
	}
	if len(pfc) == 0 || len(labelled) == 0 {
		t.Errorf("%s: %d PFC frames, %d frames with a label; want some", file, len(pfc), len(labelled))
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Logf("tshark did not read %s: %v", file, err)
		return
	}
	var itsPFC, commented []string
	for _, line := range outputLines(
		t, "tshark", "-r", file, "-Y", "macc || _ws.malformed || frame.comment", "-T", "fields",
		"-e", "frame.number", "-e", "macc.opcode", "-e", "_ws.malformed", "-e", "frame.comment", "-e", "_ws.col.Info",
	) {
		f := strings.Split(line, "\t") // one for each -e
		number, opcode, malformed, comment, info := f[0], f[1], f[2], f[3], f[4]
		if malformed != "" {
			t.Errorf("%s: tshark says frame %s is malformed: %s", file, number, malformed)
		}
		if opcode == "0x0101" {
			itsPFC = append(itsPFC, number)
		}
		if strings.HasPrefix(comment, "ITSY") {
			commented = append(commented, number)
		}
		if opcode != "" && info != "Class Based Flow Control [CBFC] Pause" {
			t.Errorf("%s: tshark calls frame %s %q", file, number, info)
		}
	}
	if !slices.Equal(itsPFC, pfc) {
		t.Errorf("%s: tshark sees PFC in frames %v, softswitch in %v", file, itsPFC, pfc)
	}
	if !slices.Equal(commented, labelled) {
		t.Errorf("%s: comments on ITSY at frames %v, labels in frames %v", file, commented, labelled)
	}
}

// outputLines is what a program prints.
func outputLines(t *testing.T, name string, args ...string) []string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", cmd, err, &stderr)
	}
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// decided ends a run of fattree-on-loop, as an argument of --set, when its deadlock is there and has
// been declared for long: it forms within 300 ms of the flows' start at 500 ms. What comes after is
// seen by TestOnLoop.
const decided = "duration=1500ms"

// TestOnLoop: the deadlock forms. Whether the detector declares it is its own
// affair; what it declares has to be told consistently.
func TestOnLoop(t *testing.T) {
	b := newBigBed(t)
	v, r := b.play("../../scenarios/fattree-on-loop.yaml")
	if !v.Deadlock || v.Onset <= 500*unit.Millisecond { // the flows start then
		t.Errorf("deadlock %t, onset %d ns; want one after the flows' start", v.Deadlock, v.Onset)
	}
	if v.LosslessLost != 0 {
		t.Errorf("%d lossless frames were lost", v.LosslessLost)
	}
	detected := 0
	for _, d := range v.Detections {
		if d.TruePositive {
			detected++
			wantTrueDetection(t, v, d)
		}
	}
	if n := detected + v.FalsePositives + v.Premature; n != len(v.Detections) {
		t.Errorf("%d true, %d false, %d premature of %d detections", detected, v.FalsePositives, v.Premature, len(v.Detections))
	}
	if v.Recurrences == 0 && (detected == 0) != (v.FalseNegatives == 1) {
		t.Errorf("%d true detections, %d deadlocks missed", detected, v.FalseNegatives)
	}
	wantExit(t, v, r)
	t.Logf("%d true detections, %d false, %d premature, %d missed", detected, v.FalsePositives, v.Premature, v.FalseNegatives)
}

// wantTrueDetection: its loop is closed and goes through the four switches of the
// ring, it names a trigger, and it came after the onset.
func wantTrueDetection(t *testing.T, v verdict.Verdict, d verdict.Detection) {
	t.Helper()
	var through []string
	for i, l := range d.Loop {
		from, to, _ := strings.Cut(l, "--")
		through = append(through, from)
		next, _, _ := strings.Cut(d.Loop[(i+1)%len(d.Loop)], "--")
		if to != next {
			t.Errorf("loop %v: %s is followed by a link of %s", d.Loop, l, next)
		}
	}
	if len(through) != 4 || through[0] != d.Switch {
		t.Errorf("%s declares the loop %v: want four links, the first its own", d.Switch, d.Loop)
	}
	slices.Sort(through)
	if want := []string{"agg0-0", "agg2-0", "core0", "core1"}; !slices.Equal(through, want) {
		t.Errorf("loop through %v, want %v", through, want)
	}
	if d.Trigger.Node == "" || d.Trigger.Kind != "switch" && d.Trigger.Kind != "host" {
		t.Errorf("trigger %+v", d.Trigger)
	}
	if d.Priority != 3 || d.Latency <= 0 || d.At-d.Latency < v.Onset {
		t.Errorf("detection %+v of a deadlock that began at %d", d, v.Onset)
	}
}

// wantExit: the exit status says what the verdict says.
func wantExit(t *testing.T, v verdict.Verdict, r result) {
	t.Helper()
	if v.ExpectedMet != (len(v.Reasons) == 0) || v.ExpectedMet != (r.code == 0) || r.code > cli.ExitUnmet {
		t.Errorf("exit status %d, expectation met %t, reasons %q", r.code, v.ExpectedMet, v.Reasons)
	}
}

// TestOnLoopUndetected: with no detector the same deadlock is missed, and the exit
// status tells. This proves that a miss would be noticed.
func TestOnLoopUndetected(t *testing.T) {
	b := newBigBed(t)
	v, r := b.play("../../scenarios/fattree-on-loop.yaml", "--set", decided, "--detector", "none")
	if !v.Deadlock || v.FalseNegatives != 1 || len(v.Detections) != 0 || v.Detector != "none" || r.code != cli.ExitUnmet {
		t.Errorf("exit status %d, verdict %s", r.code, r.stdout)
	}
	if want := []string{"detected: 1 deadlock not declared"}; !slices.Equal(v.Reasons, want) {
		t.Errorf("reasons %q, want %q", v.Reasons, want)
	}
	wantExit(t, v, r)
}

// TestNoLoop: pauses without a loop, and nobody cries.
func TestNoLoop(t *testing.T) {
	b := newBigBed(t)
	v, r := b.play("../../scenarios/fattree-no-loop.yaml")
	if v.Deadlock || len(v.Detections) != 0 || v.LosslessLost != 0 || v.PFC.XOFF == 0 {
		t.Errorf("verdict %s", r.stdout)
	}
	wantExit(t, v, r)
}

// TestWorlds: scenarios at 40 Gbit/s come out live, slowed down, as they do in a
// simulation. `make worlds` plays all of them.
func TestWorlds(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]string{
		"shpiner-fig4": "400", "guo-fig4": "400", "guo-fig4-contained": "400", "w15-two-priorities": "400",
		"w3-crossing-frame": "2000", // its loop closes or not by a frame's time, here 0.6 ms
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			file := "../../scenarios/" + name + ".yaml"
			var sim verdict.Verdict
			if err := json.Unmarshal([]byte(b.run(b.command("sim", "run", "--json", file)).stdout), &sim); err != nil {
				t.Fatal(err)
			}
			live, r := b.play(file, "--slow", slow)
			if r.code != 0 || !live.ExpectedMet || live.Scenario != name+" (slow "+slow+")" {
				t.Errorf("exit status %d, verdict on %q, not met: %q", r.code, live.Scenario, live.Reasons)
			}
			if live.Deadlock != sim.Deadlock || (len(live.Detections) > 0) != (len(sim.Detections) > 0) {
				t.Errorf("live: deadlock %v, %d declared; simulated: %v, %d", live.Deadlock, len(live.Detections), sim.Deadlock, len(sim.Detections))
			}
		})
	}
}
