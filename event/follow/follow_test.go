package follow

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// bed is the logs of some nodes and a Merger of them.
type bed struct {
	*testing.T
	dir   string
	paths []string
	*Merger
}

func newBed(t *testing.T, nodes ...string) *bed {
	b := &bed{T: t, dir: t.TempDir()}
	for _, n := range nodes {
		b.paths = append(b.paths, filepath.Join(b.dir, n))
	}
	b.Merger = OpenAll(b.paths)
	t.Cleanup(b.Close)
	return b
}

func (b *bed) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// line is a line of a node's log.
func line(node int, at unit.Time) string {
	n := event.Node{ID: unit.NodeID(node + 1), Name: fmt.Sprint("n", node), Ports: []string{"p0"}}
	return string(n.Append(nil, event.Event{At: at, Type: event.LinkUp}))
}

// write appends text to a node's log.
func (b *bed) write(node int, text string) {
	b.Helper()
	f, err := os.OpenFile(b.paths[node], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	b.check(err)
	_, err = f.WriteString(text)
	b.check(err)
	b.check(f.Close())
}

// log writes events of these times.
func (b *bed) log(node int, times ...unit.Time) {
	b.Helper()
	for _, at := range times {
		b.write(node, line(node, at))
	}
}

// read is what the Merger has up to a time: "n0@5".
func (b *bed) read(until unit.Time) (got []string) {
	b.Helper()
	for {
		e, ok, err := b.Next(until)
		b.check(err)
		if !ok {
			return got
		}
		got = append(got, fmt.Sprintf("%s@%d", e.Node.Name, e.At))
	}
}

func (b *bed) want(until unit.Time, want ...string) {
	b.Helper()
	if got := b.read(until); !slices.Equal(got, want) {
		b.Errorf("until %d: %v, want %v", until, got, want)
	}
}

func (b *bed) refresh(wantGone bool) {
	b.Helper()
	gone, err := b.Refresh()
	b.check(err)
	if gone != wantGone {
		b.Errorf("gone: %v, want %v", gone, wantGone)
	}
}

func TestMerge(t *testing.T) {
	b := newBed(t, "a", "b", "c")
	b.log(0, 1, 4, 4, 9)
	b.log(1, 2, 4, 5)
	b.want(math.MaxInt64, "n0@1", "n1@2", "n0@4", "n0@4", "n1@4", "n1@5", "n0@9") // there is no c
	b.want(math.MaxInt64)
}

// A port of another node is called as that node's log calls it.
func TestName(t *testing.T) {
	b := newBed(t, "a", "b")
	b.log(1, 2)
	b.want(math.MaxInt64, "n1@2")
	for np, want := range map[unit.NodePort]string{
		{Node: 2, Port: 0}: "n1 p0",
		{Node: 2, Port: 5}: "n1 port 5",
		{Node: 9, Port: 1}: "node 9 port 1",
	} {
		if got := b.Name(np); got != want {
			t.Errorf("%v is called %q, want %q", np, got, want)
		}
	}
}

// What is later than asked for waits, and comes in order with what is written meanwhile.
func TestFollow(t *testing.T) {
	b := newBed(t, "a", "b")
	b.log(0, 1, 20)
	b.want(10, "n0@1")
	b.log(1, 15)
	b.want(15) // b was empty when it was last looked at
	b.refresh(false)
	b.want(15, "n1@15")
	b.log(1, 30)
	b.refresh(false)
	b.want(25, "n0@20")
	b.want(30, "n1@30")
}

// A line that is being written is read when it is whole.
func TestHalfALine(t *testing.T) {
	b := newBed(t, "a")
	whole := line(0, 7)
	b.write(0, line(0, 5)+whole[:20])
	b.want(math.MaxInt64, "n0@5")
	b.refresh(false)
	b.want(math.MaxInt64)
	b.write(0, whole[20:])
	b.refresh(false)
	b.want(math.MaxInt64, "n0@7")
}

// A lab that is removed is gone; one that is built anew is read from its start.
func TestLogsThatGoAndCome(t *testing.T) {
	b := newBed(t, "a", "b")
	b.refresh(true)
	b.log(0, 1, 2)
	b.refresh(false)
	b.want(math.MaxInt64, "n0@1", "n0@2")
	b.check(os.Remove(b.paths[0]))
	b.refresh(true)
	b.log(0, 3)
	b.refresh(false)
	b.want(math.MaxInt64, "n0@3")
	b.check(os.Truncate(b.paths[0], 0))
	b.refresh(false)
	b.log(0, 4)
	b.refresh(false)
	b.want(math.MaxInt64, "n0@4")
}

// A line that is none is named by file and place, and what follows it in other chunks
// and logs is read.
func TestBadLine(t *testing.T) {
	b := newBed(t, "a", "b")
	good := line(0, 1)
	b.write(0, good+"{\"ts\":2}\n")
	b.log(1, 3)
	_, _, err := b.Next(math.MaxInt64)
	if want := fmt.Sprintf("%s from byte 0:2: type: missing", b.paths[0]); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	b.want(math.MaxInt64, "n0@1", "n1@3")
}

// Logs of random times and sizes, over many chunks, read as they grow: nothing is lost,
// nothing comes twice, and what was written before its time was asked for is in order.
func TestRandomLogs(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	b := newBed(t, "a", "b", "c")
	var want, got []string
	now := unit.Time(0)
	for range 30 {
		type stamped struct {
			at   unit.Time
			node int
		}
		var batch []stamped
		texts := make([]strings.Builder, 3)
		for range r.IntN(3000) {
			now += unit.Time(r.IntN(3))
			node := r.IntN(3)
			batch = append(batch, stamped{now, node})
			texts[node].WriteString(line(node, now))
		}
		for node := range texts {
			b.write(node, texts[node].String())
		}
		slices.SortStableFunc(batch, func(x, y stamped) int {
			if x.at != y.at {
				return int(x.at - y.at)
			}
			return x.node - y.node
		})
		for _, s := range batch {
			want = append(want, fmt.Sprintf("n%d@%d", s.node, s.at))
		}
		b.refresh(false)
		got = append(got, b.read(now)...)
		now += 3 // a batch begins after the one before
	}
	if !slices.Equal(got, want) {
		t.Errorf("seed %d: read %d entries, want %d, or in another order", seed, len(got), len(want))
	}
}

// Every type of event has a text of its own that names its ports.
func TestText(t *testing.T) {
	node := &event.Node{ID: 1, Name: "s1", Ports: []string{"a", "b"}}
	label := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9}
	for _, tt := range []struct {
		event event.Event
		want  string
	}{
		{event.Event{Type: event.XOFF, Priority: 3, Out: 1, OutPriority: 3, Bytes: 41000, Period: 2}, "priority group a:3 XOFF: holds 41000 bytes, the last queued at b:3 (period 2)"},
		{event.Event{Type: event.XON, Priority: 3, Bytes: 9, Period: 2}, "priority group a:3 XON: holds 9 bytes (period 2)"},
		{event.Event{Type: event.PauseSent, Priority: 3, Period: 2}, "pause sent for a:3 (period 2)"},
		{event.Event{Type: event.ResumeSent, Priority: 3, Period: 2}, "resume sent for a:3 (period 2)"},
		{event.Event{Type: event.RefreshSent, Priority: 3, Period: 2}, "pause repeated for a:3 (period 2)"},
		{event.Event{Type: event.Paused, Out: 1, OutPriority: 3, Period: 4, HasPeriod: true}, "queue b:3 paused (period 4)"},
		{event.Event{Type: event.Paused, Out: 1, OutPriority: 3}, "queue b:3 paused"},
		{event.Event{Type: event.Resumed, Out: 1, OutPriority: 3}, "queue b:3 resumed"},
		{event.Event{Type: event.Expired, Out: 1, OutPriority: 3}, "queue b:3 goes on: its pause ran out"},
		{event.Event{Type: event.Held, Priority: 3, Out: 1, OutPriority: 3, Bytes: 7, Limit: 8}, "paused queue b:3 holds 7 bytes of priority group a:3 (XON 8)"},
		{event.Event{Type: event.StrongCreated, Priority: 3, Out: 1, OutPriority: 3, Bytes: 9, Limit: 8}, "wait begins: priority group a:3, queue b:3, 9 bytes (XON 8)"},
		{event.Event{Type: event.StrongRemoved, Priority: 3, Out: 1, OutPriority: 3, Bytes: 9, Limit: 8}, "wait ends: priority group a:3, queue b:3, 9 bytes (XON 8)"},
		{event.Event{Type: event.Trace, Step: detect.StepMint, Port: 0, Priority: 3, Out: unit.NoPort, Label: label}, "detector: mint, priority group a:3, label priority 3 from 5.2 seq 9 period 0"},
		{event.Event{Type: event.Deadlock, Priority: 3, Out: 1, OutPriority: 3, Trigger: unit.NodePort{Node: 7, Port: 1}, OnLoop: true}, "DEADLOCK declared, queue b:3, priority group a:3, initial trigger c to-d on the loop"},
		{
			event.Event{Type: event.Cause, Priority: 3, Out: 1, OutPriority: 3, Cause: detect.CauseContention, Rank: 2, Confidence: 70, Trigger: unit.NodePort{Node: 7, Port: 1}, Flow: 0xab},
			"cause 2, 70 %: contention at c to-d off the loop, flow 000000ab, queue b:3, priority group a:3",
		},
		{
			event.Event{Type: event.Cause, Priority: 3, Out: 1, OutPriority: 3, Cause: detect.CauseFlooding, Rank: 2, Confidence: 10, Together: true},
			"cause 2, 10 %, together with 1: flooding, queue b:3, priority group a:3",
		},
		{event.Event{Type: event.LinkUp, Port: 1}, "link b up"},
		{event.Event{Type: event.LinkDown, Port: 2}, "link port 2 down"},
		{event.Event{Type: event.Rerouted, Out: 1, Bytes: 4}, "route 4 rerouted to backup port b"},
		{event.Event{Type: event.Acted, Action: detect.ActionDrop, Priority: 3, Out: 1, OutPriority: 3, Bytes: 5}, "action: drop 5, queue b:3, priority group a:3"},
		{
			event.Event{Type: event.Acted, Action: detect.ActionLossy, Port: unit.NoPort, Out: 1, OutPriority: 3},
			"action: lossy 0, queue b:3 (the host behind it is the initial trigger; until: the host has not paused for a time)",
		},
		{event.Event{Type: event.Refused, Refusal: detect.RefusedPortDown, Port: unit.NoPort, Out: 1, OutPriority: 3}, "action not taken: port down, queue b:3"},
	} {
		e := Entry{node, tt.event}
		if got := e.Text(func(unit.NodePort) string { return "c to-d" }); got != tt.want {
			t.Errorf("%v:\n got %s\nwant %s", tt.event.Type, got, tt.want)
		}
	}
}

// The JSON form is the line of the log.
func TestJSON(t *testing.T) {
	b := newBed(t, "a")
	b.log(0, 5)
	e, ok, err := b.Next(5)
	b.check(err)
	if got := string(e.JSON(nil)); !ok || got != line(0, 5) {
		t.Errorf("got %s want %s", got, line(0, 5))
	}
}

// logBed is one log.
func logBed(t *testing.T) (*bed, *Log) {
	b := newBed(t, "a")
	l := Open(b.paths[0])
	t.Cleanup(l.Close)
	return b, l
}

// readAll is the times of what a log has now, and the first error.
func readAll(l *Log) (times []unit.Time, err error) {
	for {
		events, more, e := l.Read()
		for _, ev := range events {
			times = append(times, ev.At)
		}
		if err == nil {
			err = e
		}
		if !more {
			return times, err
		}
	}
}

// A log that comes late, in pieces, is read as it grows.
func TestLogThatComesLater(t *testing.T) {
	b, l := logBed(t)
	want := func(want ...unit.Time) {
		t.Helper()
		if got, err := readAll(l); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	want()
	b.log(0, 1, 2)
	want(1, 2)
	whole := line(0, 3)
	b.write(0, whole[:30])
	want()
	b.write(0, whole[30:]+line(0, 4))
	want(3, 4)
	if l.Node().Name != "n0" || l.Size() != int64(len(line(0, 1)+line(0, 2)+line(0, 3)+line(0, 4))) {
		t.Errorf("the log of %q, %d bytes", l.Node().Name, l.Size())
	}
}

// A log that is another file, or shorter, than it was is said to be, and is read from its
// beginning; one that is removed says nothing until another comes.
func TestLogMadeAnew(t *testing.T) {
	for _, c := range []struct {
		name string
		anew func(*bed)
	}{
		{"truncated", func(b *bed) { b.check(os.Truncate(b.paths[0], 0)) }},
		{"truncated and written", func(b *bed) {
			b.check(os.Truncate(b.paths[0], 0))
			b.log(0, 7)
		}},
		{"renamed", func(b *bed) {
			b.check(os.Rename(b.paths[0], b.paths[0]+".1"))
			b.log(0, 7, 8, 9, 10)
		}},
	} {
		b, l := logBed(t)
		b.log(0, 1, 2, 3)
		if got, err := readAll(l); err != nil || len(got) != 3 {
			t.Fatalf("%s: %v, %v", c.name, got, err)
		}
		c.anew(b)
		if got, err := readAll(l); !errors.Is(err, ErrAnew) || len(got) > 0 {
			t.Errorf("%s: %v, %v; want no event and %v", c.name, got, err, ErrAnew)
		}
		data, err := os.ReadFile(b.paths[0])
		b.check(err)
		if got, err := readAll(l); err != nil || len(got) != strings.Count(string(data), "\n") || len(got) > 0 && got[0] != 7 {
			t.Errorf("%s: then %v, %v", c.name, got, err)
		}
	}
	b, l := logBed(t)
	b.log(0, 1)
	readAll(l)
	b.check(os.Remove(b.paths[0]))
	if got, err := readAll(l); err != nil || len(got) > 0 {
		t.Errorf("removed: %v, %v", got, err)
	}
}

// The last line of a node that was killed counts if nothing but its newline is missing.
func TestEndOfALog(t *testing.T) {
	whole := line(0, 5)
	for _, c := range []struct {
		last string
		want int
		cut  bool
	}{{"", 0, false}, {whole, 0, false}, {whole[:len(whole)-1], 1, true}, {whole[:20], 0, true}} {
		b, l := logBed(t)
		b.write(0, line(0, 1)+c.last)
		readAll(l)
		if events, cut := l.End(); len(events) != c.want || cut != c.cut {
			t.Errorf("last line %q: %d events, cut %t; want %d, %t", c.last, len(events), cut, c.want, c.cut)
		}
	}
}

// A line that is none is named by its file and place, and what follows is read.
func TestLogWithABadLine(t *testing.T) {
	b, l := logBed(t)
	b.write(0, line(0, 1)+"no event\n")
	got, err := readAll(l)
	if err == nil || !strings.Contains(err.Error(), b.paths[0]+" from byte 0:2: ") || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	b.log(0, 3)
	if got, err := readAll(l); err != nil || len(got) != 1 || got[0] != 3 {
		t.Errorf("then %v, %v", got, err)
	}
}

// TestReadTakesLittleRoom: who follows a log that does not grow, or by a line at a time, takes little
// memory for it.
func TestReadTakesLittleRoom(t *testing.T) {
	b := newBed(t, "a")
	l := Open(b.paths[0])
	defer l.Close()
	const reads = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range reads {
		if i%10 == 0 {
			b.log(0, unit.Time(i))
		}
		_, _, err := l.Read()
		b.check(err)
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) / reads; took > chunk/16 {
		t.Errorf("%d bytes a read", took)
	}
}
