package conform

import (
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// testTester drives a tester of three ports as a driver would. Its clock stands still until the test says
// advance.
type testTester struct {
	*Tester
	t   *testing.T
	now unit.Time
}

func newTestTester(t *testing.T, s func(task *Task) *Script) *testTester {
	t.Helper()
	p, err := Load("good.yaml", []byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	task := &Task{Profile: p, Tiny: true}
	x := &testTester{Tester: NewTester(TesterConfig{Task: task, Batch: 8}), t: t, now: unit.Second}
	x.Begin(x.now, s(task).finish())
	return x
}

// sends is what leaves a port now.
func (x *testTester) sends(p int) (frames [][]byte) {
	for {
		fs := make([]*buffer.Frame, 8)
		n, next := x.Transmit(x.now, unit.Port(p), fs)
		for _, f := range fs[:n] {
			frames = append(frames, append([]byte(nil), f.Data...))
		}
		if x.Sent(x.now, unit.Port(p), fs[:n]); n == 0 {
			if next <= x.now {
				x.t.Fatalf("port %d has nothing to send, and asks to be asked again at %v, which is now", p, next)
			}
			return frames
		}
	}
}

// passes lets time pass, in steps of a hundredth of a millisecond, and counts what leaves a port.
func (x *testTester) passes(p int, d unit.Time) (frames int) {
	for until := x.now + d; x.now < until; x.now += 10 * unit.Microsecond {
		frames += len(x.sends(p))
	}
	return frames
}

func (x *testTester) comes(p int, frames ...[]byte) {
	for _, b := range frames {
		fs := make([]*buffer.Frame, 1)
		x.Lend(unit.Port(p), fs)
		fs[0].Data = append(fs[0].Data[:0], b...)
		fs[0].Len = len(b)
		x.Receive(x.now, unit.Port(p), fs)
	}
}

// between wants a number of lo to hi.
func (x *testTester) between(what string, n, lo, hi int) {
	x.t.Helper()
	if n < lo || n > hi {
		x.t.Errorf("%s: %d, want %d to %d", what, n, lo, hi)
	}
}

// dutPause is a pause of the DUT.
func dutPause(c unit.Priority, quanta uint16) []byte {
	return Pause(1<<c, quanta).Frame(0x020000000001)
}

// A stream keeps to its rate, obeys pauses of its priority, and does not make up for what they cost it.
func TestStreamObeys(t *testing.T) {
	x := newTestTester(t, func(task *Task) *Script {
		s := task.Script("stream")
		s.Send(Stream{Name: "test", From: 0, To: 1, Priority: 3, Lengths: []int{976}, Rate: 8_000_000}) // a frame a millisecond
		s.Wait(unit.Second)
		return s
	})
	x.passes(0, 4*unit.Millisecond)
	x.between("frames in 20 ms", x.passes(0, 20*unit.Millisecond), 19, 21)
	x.comes(0, dutPause(4, 65535))
	x.between("while another priority is paused", x.passes(0, 20*unit.Millisecond), 19, 21)
	x.comes(0, dutPause(3, 2000)) // 10.24 ms
	x.between("while it is paused", x.passes(0, 10*unit.Millisecond), 0, 0)
	x.between("after the pause", x.passes(0, 20*unit.Millisecond), 19, 21+behind)
	x.comes(0, dutPause(3, 65535))
	x.passes(0, 10*unit.Millisecond)
	x.comes(0, dutPause(3, 0))
	x.between("after a resume", x.passes(0, 10*unit.Millisecond), 9, 11+behind)
	if r := x.rec.Streams[0]; r.Defied != 0 || len(r.Left) != int(r.Sent) {
		t.Errorf("%d frames left while paused; times of %d of %d", r.Defied, len(r.Left), r.Sent)
	}
}

// A stream that is paused at its end, or at that of a time in which it sends, sends nothing afterwards. The trial is
// over when the pause is, so that the next one begins with none.
func TestStreamEndsPaused(t *testing.T) {
	x := newTestTester(t, func(task *Task) *Script {
		s := task.Script("stream")
		s.Send(Stream{Name: "test", From: 0, To: 1, Priority: 3, Lengths: []int{976}, Rate: 8_000_000})
		s.Send(Stream{Name: "only", From: 0, To: 1, Priority: 4, Lengths: []int{976}, Rate: 8_000_000}).Only = []Phase{{From: 10 * unit.Millisecond, To: 12 * unit.Millisecond}, {From: 400 * unit.Millisecond, To: 410 * unit.Millisecond}}
		s.Wait(20 * unit.Millisecond)
		s.Halt("test")
		s.Wait(385 * unit.Millisecond)
		return s
	})
	x.passes(0, 5*unit.Millisecond)
	x.comes(0, dutPause(3, 65535), dutPause(4, 65535)) // 335.5 ms, up to 340.5 ms
	x.between("from then on until its time to send", x.passes(0, 394*unit.Millisecond), 0, 0)
	x.between("at its time to send", x.passes(0, 5*unit.Millisecond), 3, 5)
	x.comes(0, dutPause(3, 20000)) // 102.4 ms
	x.passes(0, 90*unit.Millisecond)
	for i := range x.rec.Streams {
		x.rec.Streams[i].Came = x.rec.Streams[i].Sent
	}
	if x.Over(x.now) {
		t.Error("the trial is over while a pause of the DUT is in force")
	}
	x.passes(0, 20*unit.Millisecond)
	if !x.Over(x.now) {
		t.Error("the trial is not over after the pause")
	}
}

// One obeys late, one not at all, and one sends at times of its own.
func TestStreamDisobeys(t *testing.T) {
	x := newTestTester(t, func(task *Task) *Script {
		s := task.Script("streams")
		each := Stream{To: 1, Priority: 3, Lengths: []int{976}, Rate: 8_000_000}
		late, never, only := each, each, each
		late.Name, late.Obey, late.Late = "late", Late, 5*unit.Millisecond
		never.Name, never.Obey, never.From, never.To = "never", Ignores, 1, 0
		only.Name, only.From = "only", 2
		s.Send(late)
		s.Send(never)
		s.Send(only).Only = []Phase{{From: 10 * unit.Millisecond, To: 12 * unit.Millisecond}, {From: 30 * unit.Millisecond, To: 33 * unit.Millisecond}}
		s.Wait(unit.Second)
		return s
	})
	x.between("at its own times", x.passes(2, 100*unit.Millisecond), 6, 6) // and one introduction
	x.passes(0, 10*unit.Millisecond)
	x.comes(0, dutPause(3, 65535))
	x.between("late", x.passes(0, 20*unit.Millisecond), 5, 6)
	x.passes(1, 10*unit.Millisecond)
	x.comes(1, dutPause(3, 65535))
	x.between("never", x.passes(1, 20*unit.Millisecond), 19, 21)
	if x.rec.Streams[0].Defied == 0 || x.rec.Streams[1].Defied < 19 {
		t.Errorf("defied: %d and %d", x.rec.Streams[0].Defied, x.rec.Streams[1].Defied)
	}
}

// What comes is counted: in order, twice, behind, damaged, astray, and of another script.
func TestArrivals(t *testing.T) {
	x := newTestTester(t, func(task *Task) *Script {
		s := task.Script("stream")
		s.Strangers = true
		s.Send(Stream{Name: "test", From: 0, To: 1, Priority: 3, Lengths: []int{60, 128}, Rate: LineRate, Count: 6})
		s.Wait(100 * unit.Millisecond)
		return s
	})
	x.now += 10 * unit.Millisecond
	var frames [][]byte
	for len(frames) < 6 {
		frames = append(frames, x.sends(0)...)
		x.now += 50 * unit.Microsecond
	}
	damaged := append([]byte(nil), frames[3]...)
	damaged[len(damaged)-1] ^= 1
	x.comes(1, frames[0], frames[2], frames[1], frames[2], damaged)
	x.comes(2, frames[4])
	if x.Over(x.now) {
		t.Error("over before its end")
	}
	if x.now = unit.Second + 200*unit.Millisecond; x.Over(x.now) {
		t.Error("over while frames are missing")
	}
	if !x.Over(x.now + unit.Second) {
		t.Error("not over after the drain")
	}
	r, err := x.Finish(x.now)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Streams[0]
	if s.Sent != 6 || s.Came != 4 || s.Twice != 1 || s.Behind != 1 || s.Damaged != 1 || s.Astray[2] != 1 || s.Lost() != 2 {
		t.Errorf("%+v", s)
	}
	x.Begin(x.now, (&Task{Profile: x.task.Profile}).Script("next").finish())
	if x.comes(1, frames[5]); len(x.rec.Streams) != 0 || x.rec.Others[1] != 0 {
		t.Errorf("a frame of the last script: %+v", x.rec)
	}
}

// What the DUT lets out of the tester's own control frames is told apart from its own.
func TestOwnControlFrames(t *testing.T) {
	x := newTestTester(t, func(task *Task) *Script {
		s := task.Script("train")
		s.Strangers = true
		s.Storm("storm", 0, 1<<3, 1000)
		s.Wait(20 * unit.Millisecond)
		s.Release("storm")
		s.Wait(20 * unit.Millisecond)
		return s
	})
	x.now += 4 * unit.Millisecond
	first := x.sends(0)
	if len(first) != 1 {
		t.Fatalf("%d frames", len(first))
	}
	x.between("repetitions in 20 ms, each 1.7 ms, and a resume", x.passes(0, 25*unit.Millisecond), 12, 13)
	x.comes(1, first[0], dutPause(3, 7))
	if seen := x.rec.Seen; len(seen) != 2 || !seen[0].Own || seen[1].Own {
		t.Errorf("%+v", seen)
	}
	if p := x.rec.PausesOf(1, 3); len(p) != 1 || p[0].Quanta != 7 {
		t.Errorf("%+v", p)
	}
	if x.ports[1].paused[3].until == 0 || x.ports[0].paused[3].until != 0 {
		t.Error("the wrong pause is obeyed")
	}
}

// A DUT that floods the tester with control frames ends the trial with its name.
func TestControlStorm(t *testing.T) {
	x := newTestTester(t, func(task *Task) *Script {
		s := task.Script("quiet")
		s.Wait(unit.Second)
		return s
	})
	pause := dutPause(3, 1)
	for range seenMost + 1 {
		x.comes(2, pause)
	}
	if !x.Over(x.now) {
		t.Error("it goes on")
	}
	if _, err := x.Finish(x.now); err == nil || !strings.Contains(err.Error(), "port c: the DUT has sent 262144 control frames") {
		t.Errorf("%v", err)
	}
}

// A tester answers who asks for the address of its station, and nobody else's.
func TestARP(t *testing.T) {
	x := newTestTester(t, func(task *Task) *Script { return task.Script("quiet") })
	x.sends(1)
	ask := func(ip unit.Addr) []byte {
		b := make([]byte, ether.MinLen)
		ether.SetAddresses(b, unit.Broadcast, 0x020000000001)
		b[12], b[13] = ether.TypeARP>>8, ether.TypeARP&0xff
		ether.PutARP(b[ether.HeaderLen:], ether.ARPRequest, 0x020000000001, 1, 0, uint32(ip))
		return b
	}
	mine := x.task.Profile.Ports[1].Address
	x.comes(1, ask(mine), ask(mine+1))
	got := x.sends(1)
	if len(got) != 1 {
		t.Fatalf("%d answers", len(got))
	}
	if a := ether.ARP(got[0][ether.HeaderLen:]); a.Op() != ether.ARPReply || a.SenderIP() != uint32(mine) || a.SenderMAC() != StationMAC(1) || ether.Dst(got[0]) != 0x020000000001 {
		t.Errorf("% x", got[0])
	}
}

// A driver may hear the last frame of a script before it says that the frame left: the record has when it left all
// the same. A number that was never sent is of somebody else.
func TestHeardBeforeItLeft(t *testing.T) {
	x := newTestTester(t, func(task *Task) *Script {
		s := task.Script("stream")
		s.Send(Stream{Name: "test", From: 0, To: 1, Priority: 3, Lengths: []int{976}, Rate: 8_000_000, Control: true})
		s.Wait(unit.Second)
		return s
	})
	x.sends(0) // an introduction
	fs := make([]*buffer.Frame, 8)
	n := 0
	for ; n == 0 || x.rec.Streams[0].Sent == 0; x.now += 10 * unit.Microsecond {
		n, _ = x.Transmit(x.now, 0, fs)
	}
	last := append([]byte(nil), fs[n-1].Data...)
	h := x.header(0, 1, 3)
	forged, _ := h.frame(nil, flowOf(x.number, 0), 1<<50, x.now, 976, x.keep, nil)
	x.comes(1, forged, last)
	r, err := x.Finish(x.now)
	if err != nil {
		t.Fatal(err)
	}
	if s := &r.Streams[0]; s.Sent != 1 || s.Came != 1 || len(s.Left) != 1 || s.Left[0].Lo > s.Arrivals[0].At.Hi || r.Others[1] != 1 {
		t.Errorf("%d sent, %d came, left at %v; %d others", s.Sent, s.Came, s.Left, r.Others[1])
	}
	r.Script = x.task.Script("stream")
	r.Script.Streams = []*Stream{{Name: "test", Control: true}}
	r.widen(1)
	if x.Sent(x.now, 0, fs[:n]); len(r.Streams[0].Left) != 1 {
		t.Error("what is said after the end counts")
	}
}
