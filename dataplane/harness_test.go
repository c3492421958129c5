package dataplane

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// testSwitch drives a switch as a driver would, with verbs that make a test read
// as a script. Its clock stands still until the script says advance.
type testSwitch struct {
	*Switch
	view
	actions
	t      testing.TB
	now    unit.Time
	det    *recorder
	next   unit.Time // what the last Transmit named
	lent   [][]*buffer.Frame
	log    []event.Event // since the last wantEvents
	counts []PortCounters
}

// The profile of test switches: with frames of 1000 bytes the fourth makes a
// priority group XOFF, the seventh is lost, and a priority group of three resumes.
var testProfile = buffer.Profile{StaticTh: 4000, XONOffset: 1000, XOFF: 2000}

// portMAC is the address of a switch's port, stationMAC that of the station behind
// it, peerMAC that of the next hop there.
func portMAC(p unit.Port) unit.MAC    { return 0x020000000000 + unit.MAC(p) }
func stationMAC(p unit.Port) unit.MAC { return 0x02aa00000000 + unit.MAC(p) }
func peerMAC(p unit.Port) unit.MAC    { return 0x02bb00000000 + unit.MAC(p) }

// testConfig is a bridge of n ports of unlimited rate that knows a station behind
// each, with lossless priorities 3 and 4.
func testConfig(n int) Config {
	c := Defaults()
	c.ID, c.Name = 7, "sw7"
	for p := range unit.Port(n) {
		c.Ports = append(c.Ports, PortConfig{Name: fmt.Sprintf("p%d", p), MAC: portMAC(p), PeerMAC: peerMAC(p)})
		c.MAC = append(c.MAC, Station{stationMAC(p), p})
	}
	c.Quanta, c.Refresh = 1000, 20*unit.Microsecond
	c.Buffer.Shared, c.Buffer.Profile, c.Buffer.LossyQueue = 100_000, testProfile, 20_000
	c.Slots, c.Batch = 256, 8
	return c
}

// newTestSwitch makes a switch of n ports whose links are up. When the test ends
// the switch is drained, and nothing may be left.
func newTestSwitch(t testing.TB, n int, change func(c *Config)) *testSwitch {
	t.Helper()
	s := &testSwitch{t: t, now: unit.Second, det: &recorder{}}
	c := testConfig(n)
	c.Detector = s.det.make
	if change != nil {
		change(&c)
	}
	var err error
	if s.Switch, err = NewSwitch(c); err != nil {
		t.Fatal(err)
	}
	s.view, s.actions = view{s.Switch}, actions{s.Switch}
	s.lent = make([][]*buffer.Frame, n)
	s.counts = make([]PortCounters, n)
	for p := range unit.Port(n) {
		s.SetLink(0, p, true) // it is the first at this place, and has nobody to let go of
	}
	s.work()
	s.log, s.det.calls = nil, nil
	t.Cleanup(s.wantDrained)
	return s
}

// Ports and LinkUp are the switch's, and its view's.
func (s *testSwitch) Ports() int              { return s.Switch.Ports() }
func (s *testSwitch) LinkUp(p unit.Port) bool { return s.Switch.LinkUp(p) }

// --- verbs ---

// fill reads frames into lent slots and parses them, as a driver's rx loop does.
func (s *testSwitch) fill(in unit.Port, frames ...[]byte) []*buffer.Frame {
	s.t.Helper()
	fs := make([]*buffer.Frame, len(frames))
	s.Lend(in, fs)
	for i, f := range fs {
		if len(frames[i]) > cap(f.Data) {
			s.t.Fatalf("a frame of %d bytes does not fit a slot of %d", len(frames[i]), cap(f.Data))
		}
		f.Data = append(f.Data[:0], frames[i]...)
		f.Len = len(f.Data)
		s.Parse(f)
	}
	return fs
}

// receive is the arrival of frames at a port, in batches.
func (s *testSwitch) receive(in unit.Port, frames ...[]byte) {
	s.t.Helper()
	for len(frames) > 0 {
		n := min(len(frames), s.cfg.Batch)
		s.Receive(s.now, in, s.fill(in, frames[:n]...))
		frames = frames[n:]
	}
	s.work()
}

// lend transmits up to n frames and keeps them until sent.
func (s *testSwitch) lend(out unit.Port, n int) []*buffer.Frame {
	fs := make([]*buffer.Frame, n)
	n, s.next = s.Transmit(s.now, out, fs)
	s.lent[out] = append(s.lent[out], fs[:n]...)
	s.work()
	return fs[:n]
}

// sent gives back what is lent at a port.
func (s *testSwitch) sent(out unit.Port) {
	s.Sent(s.now, out, s.lent[out])
	s.lent[out] = nil
	s.work()
}

// transmit takes up to n frames from a port; they leave at once.
func (s *testSwitch) transmit(out unit.Port, n int) (frames [][]byte) {
	for _, f := range s.lend(out, n) {
		frames = append(frames, bytes.Clone(f.Data))
	}
	s.sent(out)
	return frames
}

// drain takes all that a port has to send now.
func (s *testSwitch) drain(out unit.Port) (frames [][]byte) {
	for {
		got := s.transmit(out, s.cfg.Batch)
		if len(got) == 0 {
			return frames
		}
		frames = append(frames, got...)
	}
}

func (s *testSwitch) advance(d unit.Time) { s.now += d }

func (s *testSwitch) link(p unit.Port, up bool) {
	s.SetLink(s.now, p, up)
	s.work()
}

func (s *testSwitch) work() { _, s.log = s.Work(s.log) }

// --- wants ---

// wantData wants these frames from a port, in this order.
func (s *testSwitch) wantData(out unit.Port, want ...[]byte) {
	s.t.Helper()
	for i, w := range want {
		got := s.transmit(out, 1)
		if len(got) != 1 || !bytes.Equal(got[0], w) {
			s.t.Fatalf("port %d, frame %d: got %s, want %s", out, i, frameText(got), frameText([][]byte{w}))
		}
	}
}

func (s *testSwitch) wantNothing(outs ...unit.Port) {
	s.t.Helper()
	for _, out := range outs {
		if got := s.transmit(out, 1); len(got) != 0 {
			s.t.Fatalf("port %d sends %s, want nothing", out, frameText(got))
		}
	}
}

// wantPause wants a pause frame for priority of this period from a port, with a label
// of which Priority and Period are filled in.
func (s *testSwitch) wantPause(out unit.Port, priority unit.Priority, period uint8, label itsyhdr.TLV) {
	s.t.Helper()
	s.wantPFC(out, priority, s.cfg.Quanta, period, label)
}

func (s *testSwitch) wantResume(out unit.Port, priority unit.Priority, period uint8) {
	s.t.Helper()
	s.wantPFC(out, priority, 0, period, itsyhdr.TLV{})
}

func (s *testSwitch) wantPFC(out unit.Port, priority unit.Priority, quanta uint16, period uint8, label itsyhdr.TLV) {
	s.t.Helper()
	label.Priority, label.Period = priority, period
	want := pfcframe.Frame{Src: portMAC(out).Bytes(), Enable: 1 << priority}
	want.Quanta[priority] = quanta
	got := s.transmit(out, 1)
	if len(got) != 1 {
		s.t.Fatalf("port %d sends nothing, want a PFC frame of %d quanta for priority %d", out, quanta, priority)
	}
	f, pad, err := pfcframe.Parse(got[0])
	if err != nil || f != want {
		s.t.Fatalf("port %d sends %s (%v), want %+v", out, frameText(got), err, want)
	}
	if tlv, err := itsyhdr.Parse(pad); err != nil || tlv != label {
		s.t.Fatalf("port %d: the PFC frame carries %v (%v), want %v", out, tlv, err, label)
	}
}

func (s *testSwitch) wantMessage(out unit.Port, want itsyhdr.TLV) {
	s.t.Helper()
	got := s.transmit(out, 1)
	if len(got) != 1 {
		s.t.Fatalf("port %d sends nothing, want the message %v", out, want)
	}
	src, tlv, err := itsyhdr.ParseMessage(got[0])
	if err != nil || tlv != want || src != portMAC(out).Bytes() {
		s.t.Fatalf("port %d sends %s (%v), want the message %v", out, frameText(got), err, want)
	}
}

// wantDrops wants that since the last call exactly these frames were dropped or
// found odd, n of each reason, at port in, and nothing at any other port.
func (s *testSwitch) wantDrops(in unit.Port, want map[Reason]uint64) {
	s.t.Helper()
	for p := range unit.Port(s.Ports()) {
		for r := range Reasons {
			w := uint64(0)
			if p == in {
				w = want[r]
			}
			if got := s.Counters(p).Drops[r] - s.counts[p].Drops[r]; got != w {
				s.t.Fatalf("port %d: %d frames counted as %v, want %d", p, got, r, w)
			}
		}
		s.counts[p] = *s.Counters(p)
	}
}

func (s *testSwitch) wantDrop(in unit.Port, r Reason) {
	s.t.Helper()
	s.wantDrops(in, map[Reason]uint64{r: 1})
}

func (s *testSwitch) wantNoDrops() {
	s.t.Helper()
	s.wantDrops(0, nil)
}

// wantEvents wants these events, and no others, since the last call.
func (s *testSwitch) wantEvents(want ...string) {
	s.t.Helper()
	var got []string
	for _, e := range s.log {
		got = append(got, eventText(e))
	}
	s.log = nil
	if !slices.Equal(got, want) {
		s.t.Fatalf("events:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// wantCalls wants these calls of the detector, and no others, since the last call.
func (s *testSwitch) wantCalls(want ...string) {
	s.t.Helper()
	got := s.det.calls
	s.det.calls = nil
	if !slices.Equal(got, want) {
		s.t.Fatalf("detector was told:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// wantNext wants that the last Transmit named this time.
func (s *testSwitch) wantNext(want unit.Time) {
	s.t.Helper()
	if s.next != want {
		s.t.Fatalf("Transmit says ask again at %d (in %d ns), want %d (in %d ns)", s.next, s.next-s.now, want, want-s.now)
	}
}

// wantDrained lets every pause run out and everything leave, and wants that then
// every slot and every byte is back: conservation.
func (s *testSwitch) wantDrained() {
	s.t.Helper()
	if s.t.Failed() {
		return
	}
	for p := range unit.Port(s.Ports()) {
		s.sent(p)
	}
	for round := 0; ; round++ {
		next := unit.Never
		for p := range unit.Port(s.Ports()) {
			s.transmit(p, s.cfg.Batch)
			next = min(next, s.next)
		}
		if next == unit.Never {
			break
		}
		if round == 200_000 {
			s.t.Fatalf("the switch does not come to rest: at %d it wants to be asked again in %d ns", s.now, next-s.now)
		}
		s.now = max(s.now, next)
		s.log, s.det.calls = nil, nil
	}
	if got, want := s.pool.Free(), s.pool.Slots(); got != want {
		s.t.Errorf("slots: drained, but %d of %d are free", got, want)
	}
	if n := s.mmu.Shared(); n != 0 {
		s.t.Errorf("accounts: drained, but the shared use is %d bytes", n)
	}
	for p := range unit.Port(s.Ports()) {
		for c := range unit.Priority(unit.Priorities) {
			n, _ := s.mmu.Bytes(p, c)
			if on, _ := s.mmu.XOFF(p, c); n != 0 || on || s.Queue(p, c).Bytes() != 0 || s.Queue(p, c).Frames() != 0 {
				s.t.Errorf("accounts: drained, but priority group (%d, %d) holds %d bytes, XOFF %v, and the queue %d", p, c, n, on, s.Queue(p, c).Bytes())
			}
			for o := range unit.Port(s.Ports()) {
				if m := s.mmu.Held(p, c, o, c); m != 0 {
					s.t.Errorf("held: drained, but M((%d, %d), (%d, %d)) = %d", p, c, o, c, m)
				}
			}
		}
	}
}

// --- the detector ---

// recorder is a detector that notes what it is told.
type recorder struct {
	detect.Actions
	view  detect.View
	calls []string
	queue bool // also note Enqueue and Empty
	// label answers Label; nil for no label. onCall runs at each call.
	label  func(b detect.PG) itsyhdr.TLV
	onCall func(call string)
	// deadline is what Deadline answers, Never while it is 0; Tick clears it.
	deadline unit.Time
}

func (r *recorder) make(v detect.View, a detect.Actions) detect.Detector {
	r.view, r.Actions = v, a
	return r
}

func (r *recorder) note(format string, args ...any) {
	call := fmt.Sprintf(format, args...)
	r.calls = append(r.calls, call)
	if r.onCall != nil {
		r.onCall(call)
	}
}

func (r *recorder) Name() string { return "recorder" }

func (r *recorder) XOFF(_ unit.Time, b detect.PG, cause detect.Queue) {
	r.note("XOFF %s by %s", text(b.Port, b.Priority), text(cause.Port, cause.Priority))
}

func (r *recorder) XON(_ unit.Time, b detect.PG) { r.note("XON %s", text(b.Port, b.Priority)) }

func (r *recorder) Label(_ unit.Time, b detect.PG) itsyhdr.TLV {
	if r.label == nil {
		return itsyhdr.TLV{}
	}
	return r.label(b)
}

func (r *recorder) Pause(_ unit.Time, q detect.Queue, t itsyhdr.TLV, fresh bool) {
	how := "again"
	if fresh {
		how = "fresh"
	}
	if t == (itsyhdr.TLV{}) {
		r.note("Pause %s %s", text(q.Port, q.Priority), how)
	} else {
		r.note("Pause %s %s with %v", text(q.Port, q.Priority), how, t)
	}
}

func (r *recorder) Resume(_ unit.Time, q detect.Queue, expired bool) {
	if expired {
		r.note("Expire %s", text(q.Port, q.Priority))
	} else {
		r.note("Resume %s", text(q.Port, q.Priority))
	}
}

func (r *recorder) Message(_ unit.Time, p unit.Port, t itsyhdr.TLV) {
	r.note("Message at %d: %v", p, t)
}

func (r *recorder) Enqueue(_ unit.Time, b detect.PG, q detect.Queue, _ detect.FlowID, _ int) {
	if r.queue {
		r.note("Enqueue %s in %s", text(b.Port, b.Priority), text(q.Port, q.Priority))
	}
}

func (r *recorder) Empty(_ unit.Time, q detect.Queue) {
	if r.queue {
		r.note("Empty %s", text(q.Port, q.Priority))
	}
}

func (r *recorder) StateBytes() int { return 0 }

func (r *recorder) Deadline() unit.Time {
	if r.deadline == 0 {
		return unit.Never
	}
	return r.deadline
}

func (r *recorder) Tick(now unit.Time) {
	r.deadline = 0
	r.note("Tick %d", now)
}

// --- texts ---

func text(p unit.Port, c unit.Priority) string { return fmt.Sprintf("%d.%d", p, c) }

// eventText is an event in the words of these tests: priority groups and queues as
// port.priority.
func eventText(e event.Event) string {
	b, q := text(e.Port, e.Priority), text(e.Out, e.OutPriority)
	period := ""
	if e.HasPeriod {
		period = fmt.Sprintf(" period %d", e.Period)
	}
	switch e.Type {
	case event.XOFF:
		return fmt.Sprintf("XOFF %s by %s period %d bytes %d", b, q, e.Period, e.Bytes)
	case event.XON:
		return fmt.Sprintf("XON %s period %d bytes %d", b, e.Period, e.Bytes)
	case event.PauseSent:
		return fmt.Sprintf("pause sent %s%s", b, period)
	case event.ResumeSent:
		return fmt.Sprintf("resume sent %s%s", b, period)
	case event.RefreshSent:
		return fmt.Sprintf("refresh sent %s%s", b, period)
	case event.Paused:
		return fmt.Sprintf("paused %s%s", q, period)
	case event.Refreshed:
		return fmt.Sprintf("refreshed %s period %d", q, e.Period)
	case event.Resumed:
		return fmt.Sprintf("resumed %s%s", q, period)
	case event.Expired:
		return fmt.Sprintf("expired %s%s", q, period)
	case event.Held:
		return fmt.Sprintf("held %s in %s bytes %d", b, q, e.Bytes)
	case event.StrongCreated:
		return fmt.Sprintf("strong %s in %s bytes %d", b, q, e.Bytes)
	case event.StrongRemoved:
		return fmt.Sprintf("weak %s in %s bytes %d", b, q, e.Bytes)
	case event.LinkUp:
		return fmt.Sprintf("link %d up", e.Port)
	case event.LinkDown:
		return fmt.Sprintf("link %d down", e.Port)
	case event.Members:
		return fmt.Sprintf("LAG of port %d: %d up", e.Port, e.Bytes)
	case event.Rerouted:
		return fmt.Sprintf("route %d by %d", e.Bytes, e.Out)
	case event.Trace:
		return fmt.Sprintf("trace %v %s %s %v", e.Step, b, q, e.Label)
	case event.Deadlock:
		return fmt.Sprintf("deadlock %s %s %v trigger %v on loop %v", b, q, e.Label, e.Trigger, e.OnLoop)
	case event.Acted:
		return fmt.Sprintf("%v %s %s %d", e.Action, b, q, e.Bytes)
	case event.Refused:
		return fmt.Sprintf("refused %s %s: %v", b, q, e.Refusal)
	}
	return fmt.Sprintf("%+v", e)
}

func frameText(fs [][]byte) string {
	if len(fs) == 0 {
		return "nothing"
	}
	var parts []string
	for _, f := range fs {
		parts = append(parts, fmt.Sprintf("[%d bytes] %x", len(f), f[:min(len(f), 60)]))
	}
	return strings.Join(parts, "; ")
}
