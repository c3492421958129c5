package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"softswitch/conform"
	"softswitch/internal/testkit"
	netnslab "softswitch/netns-lab"
)

// conformLive is `softswitch conform self --live` with the bed's name.
func (b *bed) conformLive(args ...string) []string {
	return append([]string{"conform", "self", "--live", "--name", b.name}, args...)
}

// report is what `conform self --live --json` says.
func (b *bed) report(args ...string) (r conform.Report, code int) {
	b.Helper()
	got := b.run(b.command(b.conformLive(append(args, "--json")...)...))
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		b.Fatalf("no JSON: %v", err)
	}
	return r, got.code
}

// wantNoFail wants cases that pass, or are undecided for want of a processor.
func (b *bed) wantNoFail(r *conform.Report) {
	b.Helper()
	for _, o := range r.Cases {
		if o.Result != conform.Pass && o.Result != conform.Undecided && o.Result != conform.Skipped {
			b.Errorf("%s: %s: %s", o.ID, o.Result, o.Reason)
		}
	}
}

// A softswitch in a namespace passes: what is not decided is played again.
func TestConformLive(t *testing.T) {
	testkit.LongOnly(t)
	b := newLoneBed(t)
	b.untilValid(func() string {
		r, code := b.report("--case", "R01,R04,R05,M08,T01,T03")
		b.wantNoFail(&r)
		if b.wantNothing(); code != r.ExitCode() {
			t.Errorf("exit status %d, want %d", code, r.ExitCode())
		}
		if r.World != "live" || r.Before == nil || r.After == nil || r.Before.Sent == 0 {
			t.Errorf("%+v", r)
		}
		if n := r.Number(conform.Undecided); n > 0 {
			return fmt.Sprintf("%d cases are undecided", n)
		}
		return ""
	})
}

// A Linux bridge and Open vSwitch are no PFC switches, which one line says, and no case that needs one passes. What is
// not decided is played again. Live cases take a processor: make test plays three of one DUT.
func TestConformNoPFC(t *testing.T) {
	cases, first, says := "R01,R04,M08", "", []string{"\nPFC: honours none; not: 3, 4\n"}
	if testkit.Long() {
		cases, first, says = cases+",T01,T03", "no PFC switch: 0 of 2 priorities honour a pause, none is sent\n", []string{"\nT01  fail ", "\nT03  skipped "}
	}
	says = append(says, "\nR01  fail ", "\nR04  skipped ", "\nM08  pass ")
	for _, dut := range testkit.Sized([]string{"bridge"}, []string{"bridge", "ovs"}) {
		t.Run(dut, func(t *testing.T) {
			b := newLoneBed(t)
			if dut == "ovs" {
				testkit.Need(t, "ovs-vswitchd", "ovsdb-tool", "ovs-vsctl")
			}
			dir := filepath.Join(t.TempDir(), "records")
			b.untilValid(func() string {
				got := b.run(b.command(b.conformLive("--dut", dut, "--case", cases, "--dir", dir)...))
				if strings.Contains(got.stdout, "stood still") {
					return "a processor stood still"
				}
				if strings.Contains(got.stdout, "  undecided  ") {
					return "a case is undecided"
				}
				if got.code != 1 || !strings.HasPrefix(got.stdout, first) {
					t.Errorf("exit status %d, and the first line is not %q", got.code, first)
				}
				for _, want := range says {
					if !strings.Contains(got.stdout, want) {
						t.Errorf("no %q", want)
					}
				}
				return ""
			})
			b.wantJSON("conform judge", b.run(b.command("conform", "judge", dir, "--json")))
			b.wantNothing()
		})
	}
}

// begun starts a test whose cases take some seconds, and waits until they are played.
func (b *bed) begun(args ...string) *started {
	b.Helper()
	s := b.start(b.command(b.conformLive(args...)...))
	s.await("the tester can send")
	return s
}

// A DUT that dies, and one whose port goes down, end the test in a clear line.
func TestConformDUTGone(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		do         func(b *bed)
	}{
		{"dies", "not played to its end: the DUT forwards nothing any more", func(b *bed) {
			for _, n := range b.inspect().Nodes {
				if n.Name == "dut" {
					if err := syscall.Kill(n.PID, syscall.SIGKILL); err != nil {
						b.Fatal(err)
					}
				}
			}
		}},
		{"port down", "not played to its end: port b: interface to-b has had no carrier", func(b *bed) {
			b.must("exec", "dut", "--", "ip", "link", "set", "dev", "b", "down")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newLoneBed(t)
			s := b.begun("--case", "R01,T01,R05")
			tt.do(b)
			r := s.end()
			if !strings.Contains(r.stdout, tt.want) {
				t.Errorf("it does not say %q", tt.want)
			}
			if r.code != 2 && r.code != 1 {
				t.Errorf("exit status %d", r.code)
			}
		})
	}
}

// Ctrl-C leaves nothing; kill -9 nothing but what lab destroy, or the next test, removes.
func TestConformEnds(t *testing.T) {
	b := newLoneBed(t)
	s := b.begun("--case", "R05")
	s.signal(os.Interrupt)
	if r := s.end(); r.code != 2 {
		t.Errorf("exit status %d", r.code)
	}
	b.wantNothing()
	s = b.begun("--case", "R05")
	s.signal(os.Kill)
	s.end()
	if b.must("destroy"); len(b.namespaces()) > 0 {
		t.Errorf("left behind: %v", b.namespaces())
	}
}

// A tester that is stopped now and then finds no fault that is not there.
func TestConformStopped(t *testing.T) {
	testkit.LongOnly(t)
	b := newLoneBed(t)
	seed := testkit.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	s := b.begun("--case", "R01,R04,R05,T01", "--json")
	tester := b.tester()
	stops := 0
	for done := false; !done; {
		s.letRun(time.Duration(random.IntN(1500)) * time.Millisecond)
		done = syscall.Kill(tester, syscall.SIGSTOP) != nil
		<-time.After(50 * time.Millisecond)
		syscall.Kill(tester, syscall.SIGCONT)
		stops++
	}
	r := s.end()
	if stops < 10 {
		t.Fatalf("it was stopped %d times only: the test proves nothing", stops)
	}
	var report conform.Report
	_, text, _ := strings.Cut(r.stdout, "\n{")
	text, _, _ = strings.Cut("{"+text, "\n}")
	if err := json.Unmarshal([]byte(text+"}"), &report); err != nil {
		t.Fatalf("no JSON: %v", err)
	}
	b.wantNoFail(&report)
	t.Logf("%d stops: %d cases pass, %d are undecided", stops, report.Number(conform.Pass), report.Number(conform.Undecided))
}

// tester is the process of conform run that the bed's test has started.
func (b *bed) tester() int {
	b.Helper()
	profile := filepath.Join(b.runDir, b.name, "tester", "profile.yaml")
	for _, path := range b.processes() {
		dir := filepath.Dir(path)
		if args, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && strings.Contains(string(args), profile) {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				b.Fatal(err)
			}
			return pid
		}
	}
	b.Fatalf("no process has the profile %s; run directory %s=%s", profile, netnslab.RunDirVariable, b.runDir)
	return 0
}
