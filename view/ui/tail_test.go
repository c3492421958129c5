package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"softswitch/event"
	"softswitch/event/follow"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/unit"
)

// logFile is an event log that a test writes.
type logFile struct {
	*testing.T
	path string
	node event.Node
}

func newLog(t *testing.T) *logFile {
	return &logFile{t, filepath.Join(t.TempDir(), "events.jsonl"), event.Node{ID: 7, Name: "s7"}}
}

// write appends lines of link events at these times, without the last cut bytes.
func (l *logFile) write(cut int, times ...unit.Time) (rest []byte) {
	l.Helper()
	var data []byte
	for _, at := range times {
		data = l.node.Append(data, event.Event{At: at, Type: event.LinkUp})
	}
	l.append(data[:len(data)-cut])
	return data[len(data)-cut:]
}

func (l *logFile) append(data []byte) {
	l.Helper()
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		l.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		l.Fatal(err)
	}
}

// want reads on and checks what comes up to a time.
func (l *logFile) want(tail *logTail, to unit.Time, times ...unit.Time) {
	l.Helper()
	l.Cleanup(tail.Close)
	if more, err := tail.grow(piecesMax); more || err != nil {
		l.Fatalf("grow: more %v, %v", more, err)
	}
	got := tail.until(to, nil)
	ok := len(got) == len(times)
	for i := range got {
		ok = ok && got[i].At == times[i] && got[i].Node == 7
	}
	if !ok {
		var at []unit.Time
		for _, e := range got {
			at = append(at, e.At)
		}
		l.Fatalf("events at %v: want %v", at, times)
	}
}

func TestTail(t *testing.T) {
	l := newLog(t)
	tail := &logTail{Log: follow.Open(l.path), id: 7}
	l.want(tail, 100) // the file is not there yet
	l.write(0, 10, 20)
	l.want(tail, 15, 10)
	l.want(tail, 100, 20)
	rest := l.write(12, 30, 40)
	l.want(tail, 100, 30) // the last line is cut
	l.append(rest)
	l.want(tail, 100, 40)
	l.want(tail, 100)
}

// TestTailAnew: a node that began a new log is noticed, between the events of the two.
func TestTailAnew(t *testing.T) {
	l := newLog(t)
	tail := &logTail{Log: follow.Open(l.path), id: 7}
	l.write(0, 10, 20)
	l.want(tail, 15, 10)
	if err := os.Truncate(l.path, 0); err != nil {
		t.Fatal(err)
	}
	if more, err := tail.grow(piecesMax); more || err != nil {
		t.Fatalf("grow: more %v, %v", more, err)
	}
	l.write(0, 30)
	if more, err := tail.grow(piecesMax); more || err != nil {
		t.Fatalf("grow: more %v, %v", more, err)
	}
	got := tail.until(100, nil)
	oracle.Sort(got)
	if len(got) != 3 || got[0].At != 20 || got[0].Type != event.LinkUp || got[1].Type != beganAnew || got[2].At != 30 {
		t.Errorf("%d events: want that of 20, that the log began anew, and that of 30", len(got))
	}
}

// TestReadMerges: entries come in order of time, and only up to where all logs were read.
func TestReadMerges(t *testing.T) {
	a, b := newLog(t), newLog(t)
	a.write(0, 10, 30, 50)
	b.write(0, 20, 40)
	v := &view{logs: []*logTail{{Log: follow.Open(a.path), id: 1}, {Log: follow.Open(b.path), id: 2}}}
	var got []unit.Time
	take := func(entries []oracle.Entry, more bool, err error) {
		t.Helper()
		if more || err != nil {
			t.Fatalf("more %v, %v", more, err)
		}
		for _, e := range entries {
			got = append(got, e.At)
		}
	}
	take(v.read(35))
	take(v.read(100))
	want := []unit.Time{10, 20, 30, 40, 50}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("events at %v: want %v", got, want)
		}
	}
}

// TestReadManyLogs: of however many logs, one that was read to its end is not taken to be behind.
func TestReadManyLogs(t *testing.T) {
	v := new(view)
	for i := range 2 * piecesMax {
		l := newLog(t)
		l.write(0, unit.Time(i+1))
		v.logs = append(v.logs, &logTail{Log: follow.Open(l.path), id: unit.NodeID(i + 1)})
	}
	if entries, more, err := v.read(100); len(entries) != len(v.logs) || more || err != nil {
		t.Errorf("%d events of %d, more %v, %v", len(entries), len(v.logs), more, err)
	}
	for _, log := range v.logs {
		log.Close()
	}
}

// TestTailRejects: what is no event is told of, and does not end the reading.
func TestTailRejects(t *testing.T) {
	l := newLog(t)
	tail := &logTail{Log: follow.Open(l.path), id: 7}
	l.append([]byte("this is no event\n"))
	if _, err := tail.grow(piecesMax); err == nil {
		t.Error("a line that is no event was taken")
	}
	l.write(0, 10)
	l.want(tail, 100, 10)
}

// TestLongLogs: logs that come in many pieces are read to their end, the page is told how far
// from time to time, and what it keeps is bounded. Whoever closes the page does not wait for that.
func TestLongLogs(t *testing.T) {
	w := wired(t, "hu-fig3.yaml")
	a := newLog(t)
	a.node = event.Node{ID: w.ids[0], Name: w.nodes[0].Name}
	events := 400_000
	if testing.Short() {
		events = 150_000
	}
	var data []byte
	for i := range events {
		e := event.Event{At: unit.Time(i+1) * unit.Microsecond, Type: event.Paused, Out: 0, OutPriority: 3, Period: uint8(i / 2), HasPeriod: true}
		if i%2 == 1 {
			e = event.Event{At: e.At, Type: event.Resumed, Out: 0, OutPriority: 3}
		}
		data = a.node.Append(data, e)
	}
	a.append(data)
	opened := func() *view {
		v := &view{st: &netnslab.State{Name: "none"}, w: w, truth: oracle.NewState(w.fabric), shown: newSlowMotion(w, 0), logs: []*logTail{{Log: follow.Open(a.path), id: w.ids[0]}}}
		v.model = v.shown.m
		v.shown.begin()
		return v
	}
	ended, end := context.WithCancel(t.Context())
	end()
	closed := opened()
	if err := closed.catchUp(ended, unit.Second, func(State) {}); err != nil || !closed.logs[0].behind {
		t.Errorf("a page that is closed reads the logs to their end (%v)", err)
	}
	growing := opened() // while it is read: there is always more, but all that was asked for is there
	defer growing.logs[0].Close()
	if entries, more, err := growing.read(5 * unit.Millisecond); len(entries) != 5000 || more || err != nil {
		t.Errorf("up to 5 ms: %d events, more %v, %v; want 5000 and no more", len(entries), more, err)
	}
	v := opened()
	var states []State
	if err := v.catchUp(t.Context(), unit.Second, func(s State) { states = append(states, s) }); err != nil {
		t.Fatal(err)
	}
	v.shown.rest(v.truth.Stuck(), nil)
	last := v.model.state(unit.Second)
	pauses, problems := last.Pauses, 0
	for i, s := range states {
		pauses += s.Pauses
		if s.Problem != "" {
			problems++
		}
		if i > 0 && s.T < states[i-1].T {
			t.Fatalf("state %d is at %v ms, after one at %v ms", i, s.T, states[i-1].T)
		}
	}
	if pauses != events/2 || problems < 2 || len(states) > problems+slowMax || last.Problem != "" {
		t.Errorf("%d bytes in %d states, %d of which say how far: %d pauses, want %d", len(data), len(states), problems, pauses, events/2)
	}
}

// lateView is a view of two switches whose answers are outstanding, and which have two logs.
func lateView(t *testing.T) (v *view, logs [2]*logFile) {
	w := wired(t, "pause.yaml")
	n := len(w.nodes)
	v = &view{
		st: &netnslab.State{Name: "none"}, w: w, truth: oracle.NewState(w.fabric), impatience: unit.Second,
		asked: make([]bool, n), gone: make([]bool, n), whole: make([]unit.Time, n), reply: make(chan reply, n),
	}
	for i := range w.switches {
		v.asked[i] = true
	}
	v.shown = newSlowMotion(w, timer.Now()-unit.Second)
	v.model = v.shown.m
	for i := range logs {
		logs[i] = newLog(t)
		tail := &logTail{Log: follow.Open(logs[i].path), id: w.ids[i]}
		t.Cleanup(tail.Close)
		v.logs = append(v.logs, tail)
	}
	return v, logs
}

// Answers that came when no other was waited for are taken by the next look.
func TestLateAnswersAreTaken(t *testing.T) {
	v, _ := lateView(t)
	for i := range v.w.switches {
		v.reply <- reply{node: i, snap: new(observe.Switch)}
	}
	v.ask()
	if len(v.came) < 2 || v.came[0].snap == nil || v.came[1].snap == nil {
		t.Errorf("%d answers were taken, want both", len(v.came))
	}
}

// A state is that of the time up to which all logs are whole. Who does not answer is not waited for.
func TestStatesOfWholeLogs(t *testing.T) {
	v, logs := lateView(t)
	begin := v.model.origin
	for i, at := range []unit.Time{10 * unit.Millisecond, 30 * unit.Millisecond} {
		logs[i].append(logs[i].node.Append(nil, event.Event{At: begin + at, Type: event.Paused, OutPriority: 3, HasPeriod: true}))
	}
	v.whole[0], v.whole[1] = begin+20*unit.Millisecond, begin+25*unit.Millisecond
	want := func(pauses int, t0, t1 float64) {
		t.Helper()
		var last State
		if err := v.look(t.Context(), timer.Now(), func(s State) { pauses, last = pauses-s.Pauses, s }); err != nil {
			t.Fatal(err)
		}
		if pauses != 0 || last.T < t0 || last.T > t1 {
			t.Errorf("%d pauses too few, at %v ms; want %v to %v", pauses, last.T, t0, t1)
		}
	}
	want(1, 20, 20)
	v.whole[0] = begin + 40*unit.Millisecond
	want(0, 25, 25)
	v.whole[1] = begin + 50*unit.Millisecond
	want(1, 40, 40)
	v.gone[0], v.gone[1] = true, true
	want(0, 1000, ms(timer.Now()+unit.Second-begin))
	v.gone[0], v.gone[1] = false, false // they have answered late, and are late again
	was := ms(v.upTo - begin)
	want(0, was, was)
}

// A recording ends with its run, at whatever time the lab is looked at; the page goes on.
func TestRecordingEndsWithItsRun(t *testing.T) {
	t.Setenv(netnslab.RunDirVariable, t.TempDir())
	v, logs := lateView(t)
	v.gone[0], v.gone[1] = true, true
	state := filepath.Join(netnslab.Dir("none"), "state.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(state), 0o755), os.WriteFile(state, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(state)
	if err != nil {
		t.Fatal(err)
	}
	v.made = info.ModTime()
	stream := new(Stream)
	l := NewLab("none", Choices{}, stream, nil)
	l.view = v
	stream.Begin(l.topology(v))
	begin := v.model.origin
	for i, at := range []unit.Time{10 * unit.Millisecond, 30 * unit.Millisecond} {
		logs[i].append(logs[i].node.Append(nil, event.Event{At: begin + at, Type: event.Paused, OutPriority: 3, HasPeriod: true}))
	}

	l.until(begin + 20*unit.Millisecond)
	l.look(t.Context())
	l.judged("over")
	want := func(pauses int, t0, t1 float64) (last State) {
		t.Helper()
		r, err := stream.Recording()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.States {
			pauses, last = pauses-s.Pauses, s
		}
		if pauses != 0 || last.T < t0 || last.T > t1 {
			t.Errorf("%d pauses too few, at %v ms; want %v to %v", pauses, last.T, t0, t1)
		}
		return last
	}
	if last := want(1, 20, 20); len(last.Log) != 1 || last.Log[0].Kind != "verdict" {
		t.Errorf("the recording ends with %v, want the verdict", last.Log)
	}
	l.until(unit.Never)
	l.look(t.Context())
	want(2, 1000, ms(timer.Now()-begin))
}
