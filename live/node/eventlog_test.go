package node

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/link"
	"softswitch/link/pcapng"
	"softswitch/node/config"
	"softswitch/oracle"
	"softswitch/unit"
)

// smallDisk is a directory on a file system of so many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("mounting a file system needs root")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func newLog(t *testing.T, dir string) (l *eventLog, path string) {
	t.Helper()
	l, path, _ = newToldLog(t, dir)
	return l, path
}

// newToldLog is a log of 1 MiB at most, and what it tells.
func newToldLog(t *testing.T, dir string) (l *eventLog, path string, told *[]string) {
	t.Helper()
	path, told = filepath.Join(dir, "events.jsonl"), new([]string)
	l, err := newEventLog(config.Live{Events: path, LogLimit: 1}, event.Node{ID: 1, Name: "s1"}, unit.PortSet{}, func(what string) { *told = append(*told, what) })
	if err != nil {
		t.Fatal(err)
	}
	return l, path, told
}

// links are n events.
func links(n int) (events []event.Event) {
	for i := range n {
		events = append(events, event.Event{At: unit.Time(i), Type: event.LinkUp})
	}
	return events
}

// lines reads a log and checks that it is as long as its node says, and that its events
// are the first ones.
func lines(t *testing.T, l *eventLog, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := event.Decode(path, data, true)
	if err != nil {
		t.Fatal(err)
	}
	if size, _ := l.state(); size != int64(len(data)) {
		t.Errorf("the log is said to have %d bytes and has %d", size, len(data))
	}
	return len(log.Events)
}

// On a full disk the log tells how many events are missing, goes on counting them, writes
// no more even where there is room again, and closing it is an error.
func TestLogOnAFullDisk(t *testing.T) {
	dir := smallDisk(t, 64<<10)
	l, path, told := newToldLog(t, dir)
	rest := filepath.Join(dir, "rest")
	if err := os.WriteFile(rest, make([]byte, 32<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	const batches, batch = 100, 50
	for range batches {
		l.write(links(batch))
	}
	if len(*told) != 1 || !strings.Contains((*told)[0], "no space left on device") {
		t.Errorf("told %q, want of the disk, once", *told)
	}
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	l.write(links(batch))
	_, problem := l.state()
	there := 0
	if data, err := os.ReadFile(path); err == nil {
		there = strings.Count(string(data), "\n")
	}
	if want := fmt.Sprintf("no space left on device; %d events missing", (batches+1)*batch-there); there == 0 || !strings.HasSuffix(problem, want) {
		t.Errorf("%d events are there, and %q is said; want %q", there, problem, want)
	}
	if err := l.close(); err == nil || err.Error() != problem {
		t.Errorf("close: %v, want %q", err, problem)
	}
}

// A log that is full takes no more, tells of it at once and only once, and counts the events that are
// missing.
func TestLogIsBounded(t *testing.T) {
	l, path, told := newToldLog(t, t.TempDir())
	const batch = 1000
	written := 0
	for events := range slices.Chunk(links(20*batch), batch) {
		if l.write(events); len(*told) > 0 {
			break
		}
		written += batch
	}
	l.write(links(1))
	if n := lines(t, l, path); n != written || n == 20*batch {
		t.Errorf("%d events were written, want %d", n, written)
	}
	const full = "it is full: live.log_limit_mib is 1"
	if want := []string{"event log: " + full + "; events are missing from now on"}; !slices.Equal(*told, want) {
		t.Errorf("told %q, want %q", *told, want)
	}
	if size, problem := l.state(); problem != fmt.Sprintf("%s; %d events missing", full, batch+1) || size > 1<<20 {
		t.Errorf("%d bytes, and %q is said", size, problem)
	}
}

// A log that counts repeated pauses has one a second of them, over all batches.
func TestLogCountsRefreshes(t *testing.T) {
	for refreshes, want := range map[string]int{"": 301, "all": 301, config.LogCounted: 3} {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		l, err := newEventLog(config.Live{Events: path, LogRefreshes: refreshes}, event.Node{ID: 1, Name: "s1"}, unit.PortSet{}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		l.write([]event.Event{{Type: event.Paused, HasPeriod: true}})
		for i := range 300 { // 3 s
			l.write([]event.Event{{At: unit.Time(i) * 10 * unit.Millisecond, Type: event.Refreshed}})
		}
		if n := lines(t, l, path); n != want {
			t.Errorf("%q: %d events, want %d", refreshes, n, want)
		}
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}
}

// A log that took all says nothing.
func TestLogIsWhole(t *testing.T) {
	l, path := newLog(t, t.TempDir())
	l.write(links(10))
	if n := lines(t, l, path); n != 10 {
		t.Errorf("%d events, want 10", n)
	}
	if _, problem := l.state(); problem != "" || l.close() != nil {
		t.Errorf("%q is said of a log that is whole", problem)
	}
}

// A capture on a full disk is a problem of its node by the time that the node is asked.
func TestCaptureOnAFullDisk(t *testing.T) {
	dir := smallDisk(t, 64<<10)
	r := runner{name: "s1"}
	if err := r.captureToFile(filepath.Join(dir, "s1.pcapng")); err != nil {
		t.Fatal(err)
	}
	near, far := link.Pipe()
	defer far.Close()
	l := r.capturing.taps.Tap(near, captured("p0"))
	defer l.Close()
	for range 100 {
		if _, err := l.Write([][]byte{make([]byte, 1000)}); err != nil {
			t.Fatal(err)
		}
		if _, err := far.Read([][]byte{make([]byte, 2000)}); err != nil {
			t.Fatal(err)
		}
	}
	r.files.flush()
	if err := r.files.capture.Err(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("capture on a full disk: %v, want no space left", err)
	}
	for _, f := range slices.Backward(r.undo) {
		f()
	}
	if !errors.Is(r.unwritten, syscall.ENOSPC) {
		t.Errorf("the run ends with %v, want no space left", r.unwritten)
	}
}

const hostPort, switchPort unit.Port = 1, 2

// flapping is what a host does to its queue, by pauses and resumes without end.
func flapping(n int, at unit.Time) (events []event.Event) {
	for i := range n {
		ty := event.Paused
		if i%2 == 1 {
			ty = event.Resumed
		}
		events = append(events, event.Event{At: at + unit.Time(i)*10*unit.Microsecond, Type: ty, Out: hostPort, OutPriority: 3})
	}
	return events
}

// 60,000 PFC frames of a host in 0.6 s leave a few kilobytes, and the queue is as paused
// at the end of each batch as it was told to be.
func TestFlappingHostIsFolded(t *testing.T) {
	l, path := newLog(t, t.TempDir())
	l.hosts.Add(hostPort)
	const frames, batch = 60_000, 3001 // 30 ms
	events := flapping(frames, 0)
	paused := false
	for b := range slices.Chunk(events, batch) {
		l.write(b)
		paused = b[len(b)-1].Type == event.Paused
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		log, err := event.Decode(path, data, false)
		if err != nil {
			t.Fatal(err)
		}
		if last := log.Events[len(log.Events)-1]; (last.Type == event.Paused) != paused {
			t.Fatalf("the log ends with %v at %d ns, the queue's last event is %v", last.Type, last.At, b[len(b)-1].Type)
		}
	}
	if size, problem := l.state(); size > 64<<10 || problem != "" {
		t.Errorf("%d bytes, %q", size, problem)
	}
	if len(events) != frames || events[frames-1].Type != event.Resumed {
		t.Error("the events themselves were changed")
	}
}

// What a switch does to a queue, and pauses with a period, are told one by one.
func TestOnlyHostsAreFolded(t *testing.T) {
	var f flaps
	var hosts unit.PortSet
	hosts.Add(hostPort)
	events := flapping(1000, 0)
	for i := range events {
		events[i].Out = switchPort
	}
	if got := f.fold(events, hosts); len(got) != 1000 {
		t.Errorf("%d events of a queue to a switch are left of 1000", len(got))
	}
	events = flapping(1000, 0)
	for i := range events {
		events[i].HasPeriod = events[i].Type == event.Paused
	}
	if got := f.fold(events, hosts); len(got) != 1000 {
		t.Errorf("%d events with periods are left of 1000", len(got))
	}
}

// The oracle sees the same deadlocks, whether a host's flaps are folded or not: a ring of
// random pauses, with hosts that flap beside it.
func TestFoldingChangesNoVerdict(t *testing.T) {
	seed := testkit.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	stuck := 0
	for range 100 {
		plain, folded := randomRing(t, random)
		a, b := plain.History, folded.History
		for _, in := range a.Intervals() {
			stuck++
			if !slices.Equal(a.At(in.From).Queues, b.At(in.From).Queues) {
				t.Fatalf("at %d ns: %v without folding, %v with", in.From, a.At(in.From).Queues, b.At(in.From).Queues)
			}
		}
		if !slices.Equal(a.Intervals(), b.Intervals()) {
			t.Fatalf("deadlocks %v without folding, %v with", a.Intervals(), b.Intervals())
		}
	}
	if stuck == 0 {
		t.Error("no ring was ever stuck: the test proves nothing")
	}
}

// randomRing is a ring of three switches with a host each, by logs that are written plain
// and folded. Port 0 leads back, 2 leads on, 1 to the host.
func randomRing(t *testing.T, random *rand.Rand) (plain, folded *oracle.Result) {
	t.Helper()
	const n = 3
	var nodes []oracle.Node
	var wires []oracle.Link
	for i := range unit.NodeID(n) {
		s, h := i+1, i+1+n
		nodes = append(nodes, oracle.Node{ID: s, Name: fmt.Sprint("s", s), Ports: []string{"back", "host", "on"}}, oracle.Node{ID: h, Name: fmt.Sprint("h", h), Host: true, Ports: []string{"up"}})
		wires = append(wires, oracle.Link{A: unit.NodePort{Node: s, Port: switchPort}, B: unit.NodePort{Node: (i+1)%n + 1, Port: 0}},
			oracle.Link{A: unit.NodePort{Node: s, Port: hostPort}, B: unit.NodePort{Node: h, Port: 0}})
	}
	fabric, err := oracle.NewFabric(nodes, wires)
	if err != nil {
		t.Fatal(err)
	}
	var hosts unit.PortSet
	hosts.Add(hostPort)
	var all, rest []event.Log
	for i := range unit.NodeID(n) {
		l := event.Log{Node: event.Node{ID: i + 1, Name: fmt.Sprint("s", i+1)}}
		r := l
		var f flaps
		at := unit.Time(0)
		for range 4 {
			var batch []event.Event
			for range 60 {
				at += unit.Time(1 + random.IntN(3))
				batch = append(batch, randomEvent(random, at))
			}
			l.Events = append(l.Events, batch...)
			r.Events = append(r.Events, f.fold(batch, hosts)...)
		}
		all, rest = append(all, l), append(rest, r)
	}
	judge := func(logs []event.Log) *oracle.Result {
		r, err := oracle.Judge(fabric, logs, 10_000, 0)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	return judge(all), judge(rest)
}

// randomEvent is often a host's flap, and else what makes rings stuck and opens them.
func randomEvent(random *rand.Rand, at unit.Time) event.Event {
	out := []unit.Port{hostPort, switchPort}[random.IntN(2)]
	e := event.Event{At: at, Out: out, OutPriority: 3}
	switch k := random.IntN(10); {
	case k < 4:
		e.Type, e.Out = []event.Type{event.Paused, event.Resumed}[random.IntN(2)], hostPort
	case k == 4:
		e.Type = event.XON
		e.Port, e.Priority, e.Out, e.OutPriority = 0, 3, 0, 0
	case k < 7:
		e.Type, e.Port, e.Priority, e.Bytes, e.Limit = event.XOFF, 0, 3, 50_000, 1000
	case k == 7:
		e.Type, e.Port, e.Priority, e.Bytes, e.Limit = event.Held, 0, 3, int32(random.IntN(50_000)), 1000
	default:
		e.Type, e.Out, e.HasPeriod = event.Paused, switchPort, true
	}
	return e
}

func captured(name string) pcapng.Interface { return pcapng.Interface{Name: name} }
