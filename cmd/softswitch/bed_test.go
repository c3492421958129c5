package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"softswitch/internal/testkit"
	netnslab "softswitch/netns-lab"
	"softswitch/oracle/verdict"
)

// limit bounds a command that a test waits for: several times what the longest
// takes on a busy machine.
const limit = 4 * time.Minute

// bed is a lab's name and run directory of a test's own. When the test ends, also
// by a failure, the lab is removed, and it is checked that nothing of it is left.
type bed struct {
	*testing.T
	name, runDir string
	backlog      int // of the host, when no lab is up
	links        []string
}

var beds atomic.Int32

// Labs are up side by side, as many as have seats: on two processors four small ones, or two of 36
// nodes. They wait most of the time.
const (
	smallLab = 1
	bigLab   = 2
)

var (
	allSeats = max(4, 2*runtime.NumCPU())
	seats    = semaphore.NewWeighted(int64(allSeats))
)

// newBed is for labs of a few nodes. Its test is parallel. It is skipped where no lab can be made, or
// one of the programs is missing.
func newBed(t *testing.T, programs ...string) *bed {
	t.Helper()
	needLab(t, programs)
	besideLabs(t, smallLab)
	return makeBed(t)
}

// newBigBed is newBed for labs of up to 36 nodes, or with a browser beside.
func newBigBed(t *testing.T, programs ...string) *bed {
	t.Helper()
	needLab(t, programs)
	besideLabs(t, bigLab)
	return makeBed(t)
}

// newLoneBed is newBed for a test that measures, or whose lab takes a processor: the test is not
// parallel, so no other goes on beside it.
func newLoneBed(t *testing.T, programs ...string) *bed {
	t.Helper()
	needLab(t, programs)
	return makeBed(t)
}

func needLab(t *testing.T, programs []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a lab takes seconds")
	}
	testkit.Need(t, programs...)
	if what := lacking(); what != "" {
		t.Skipf("a lab needs more than there is: %s", what)
	}
}

// lacking is what keeps labs from being made here.
var lacking = sync.OnceValue(func() string {
	for _, c := range netnslab.Doctor() {
		if c.Needed && !c.OK {
			return c.Name + ": " + c.Detail
		}
	}
	return ""
})

// besideLabs has the test go on beside others, as soon as there are seats.
func besideLabs(t *testing.T, size int64) {
	t.Helper()
	t.Parallel()
	if err := seats.Acquire(t.Context(), size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { seats.Release(size) }) // the last: what the test leaves is gone by then
}

// makeBed is a bed that takes no seat: one more of a test that has one.
func makeBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{T: t, name: fmt.Sprintf("e%d-%d", os.Getpid(), beds.Add(1)), runDir: t.TempDir()}
	var err error
	if b.backlog, err = theBacklog.before(); err != nil {
		t.Fatal(err)
	}
	b.links = labLinks()
	t.Cleanup(func() {
		if r := b.lab("destroy"); r.code != 0 {
			b.Errorf("lab destroy: exit status %d: %s", r.code, r.stderr)
		}
		b.wantNothing()
	})
	return b
}

// result is what became of a command.
type result struct {
	code           int
	stdout, stderr string
}

// command is softswitch with these arguments and the bed's run directory. The test
// kills it if it takes too long.
func (b *bed) command(args ...string) *exec.Cmd {
	return b.program("softswitch", args...)
}

func (b *bed) program(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	b.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), netnslab.RunDirVariable+"="+b.runDir, "LAB="+b.name)
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// run runs the command to its end.
func (b *bed) run(cmd *exec.Cmd) result {
	b.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	code := b.status(cmd.Run())
	r := result{code, stdout.String(), stderr.String()}
	b.Logf("%s: exit status %d\n%s%s", strings.Join(cmd.Args, " "), code, head(r.stdout), r.stderr)
	return r
}

// status is the exit status that the error of a command tells of, -1 for a signal.
func (b *bed) status(err error) int {
	b.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		b.Fatal(err)
	}
	return 0
}

func head(text string) string {
	const most = 3000
	if len(text) > most {
		return text[:most] + "...\n"
	}
	return text
}

// lab runs `softswitch lab VERB --name NAME ARGS...`.
func (b *bed) lab(verb string, args ...string) result {
	b.Helper()
	return b.run(b.command(append([]string{"lab", verb, "--name", b.name}, args...)...))
}

// must is lab, and the command has to succeed.
func (b *bed) must(verb string, args ...string) result {
	b.Helper()
	r := b.lab(verb, args...)
	if r.code != 0 {
		b.Fatalf("lab %s %s: exit status %d", verb, strings.Join(args, " "), r.code)
	}
	return r
}

// inspect is what `lab inspect -f json` says.
func (b *bed) inspect() (r netnslab.Report) {
	b.Helper()
	if err := json.Unmarshal([]byte(b.must("inspect", "-f", "json").stdout), &r); err != nil {
		b.Fatal(err)
	}
	return r
}

// started is a command that runs, and what it has said so far.
type started struct {
	b     *bed
	cmd   *exec.Cmd
	lines chan string // of what it says; closed at the end
	said  strings.Builder
}

// start starts a command. It reads what the command says on both outputs.
func (b *bed) start(cmd *exec.Cmd) *started {
	b.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	err = cmd.Start()
	write.Close()
	if err != nil {
		read.Close()
		b.Fatal(err)
	}
	s := &started{b: b, cmd: cmd, lines: make(chan string, 1<<12)}
	b.Cleanup(func() { // without effect after end
		cmd.Process.Kill()
		cmd.Wait()
	})
	go func() {
		defer read.Close()
		defer close(s.lines)
		for in := bufio.NewReader(read); ; {
			line, err := in.ReadString('\n')
			if line != "" {
				s.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

// await waits until the command says text, and returns that line.
func (s *started) await(text string) string {
	s.b.Helper()
	late := time.After(limit)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				s.b.Fatalf("%s ended without %q; it said:\n%s", s.cmd, text, &s.said)
			}
			s.said.WriteString(line)
			if strings.Contains(line, text) {
				return line
			}
		case <-late:
			s.b.Fatalf("%s has not said %q; it said:\n%s", s.cmd, text, &s.said)
		}
	}
}

// end waits until the command ends and everybody who had its outputs too.
func (s *started) end() result {
	s.b.Helper()
	for line := range s.lines {
		s.said.WriteString(line)
	}
	code := s.b.status(s.cmd.Wait())
	s.b.Logf("%s: exit status %d\n%s", s.cmd, code, &s.said)
	return result{code: code, stdout: s.said.String()}
}

// letRun waits until the command has run for so long, or has ended.
func (s *started) letRun(d time.Duration) {
	over := time.After(d)
	for {
		select {
		case line, more := <-s.lines:
			if !more {
				return
			}
			s.said.WriteString(line)
		case <-over:
			return
		}
	}
}

// signal signals the command.
func (s *started) signal(sig os.Signal) {
	s.b.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.b.Fatal(err)
	}
}

// untilValid plays a run, which returns why it was not valid, until it is. A run that
// is not proves nothing of softswitch: a node had no processor when it needed one. A
// virtual machine may be without any for 30 ms, now and then in every second run.
func (b *bed) untilValid(run func() (invalid string)) {
	b.Helper()
	const tries = 12
	for range tries {
		invalid := run()
		if invalid == "" {
			return
		}
		b.Logf("the run is not valid: %s", invalid)
	}
	b.Fatalf("%d runs were not valid, the machine is too busy", tries)
}

// play plays a scenario file by `lab run` and returns its verdict, as printed and as
// read.
func (b *bed) play(file string, args ...string) (v verdict.Verdict, r result) {
	b.Helper()
	b.untilValid(func() string {
		v = verdict.Verdict{}
		r = b.lab("run", append([]string{file, "--json"}, args...)...)
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
			b.Fatalf("the verdict is no JSON: %v", err)
		}
		return v.Invalid
	})
	return v, r
}

// wantNothing checks, by other means than softswitch, that nothing of the bed's
// lab is left: no namespace, no process, no link in the host's namespace, no file,
// the backlog as it was.
func (b *bed) wantNothing() {
	b.Helper()
	if names := b.namespaces(); len(names) > 0 {
		b.Errorf("left behind: namespaces %v", names)
	}
	if procs := b.processes(); len(procs) > 0 {
		b.Errorf("left behind: processes %v", procs)
	}
	for _, l := range labLinks() {
		if !slices.Contains(b.links, l) {
			b.Errorf("left behind: link in the host's namespace: %s", l)
		}
	}
	files, err := os.ReadDir(b.runDir)
	if err != nil || len(files) > 0 {
		b.Errorf("left behind in the run directory: %v (%v)", files, err)
	}
	if err := theBacklog.leaked(b.backlog, b.dir()); err != nil {
		b.Error(err)
	}
}

// labLinks are the ends of links of labs in the host's namespace, where none should be.
func labLinks() (found []string) {
	aliases, _ := filepath.Glob("/sys/class/net/*/ifalias")
	for _, path := range aliases {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte("<->")) {
			found = append(found, filepath.Base(filepath.Dir(path))+" "+strings.TrimSpace(string(text)))
		}
	}
	return found
}

func (b *bed) namespaces() []string {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(netnslab.NamespaceDir, b.name+"-*"))
	if err != nil {
		b.Fatal(err)
	}
	return names
}

// processes are those that have the bed's run directory in their environment.
func (b *bed) processes() []string {
	b.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		b.Fatal(err)
	}
	mark := netnslab.RunDirVariable + "=" + b.runDir
	return slices.DeleteFunc(all, func(path string) bool {
		env, err := os.ReadFile(path)
		return err != nil || !slices.Contains(strings.Split(string(env), "\x00"), mark)
	})
}
