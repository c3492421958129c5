package itsy

import (
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// stub is a switch of which every queue is paused and every priority group XOFF and full.
type stub struct {
	detect.View    // nil: what only systems that act need
	detect.Actions // nil

	id     unit.NodeID
	ports  int
	record bool // keep what is sent
	sent   []sent

	lapsed  bool // the pauses of its priority groups may have run out
	reports int
}

// sent is a message and the port that it left by.
type sent struct {
	port unit.Port
	t    itsyhdr.TLV
}

func (s *stub) Self() unit.NodeID                { return s.id }
func (s *stub) Ports() int                       { return s.ports }
func (s *stub) Lossless() unit.PrioritySet       { return 1<<3 | 1<<4 }
func (s *stub) FacesHost(unit.Port) bool         { return false }
func (s *stub) XOFF(detect.PG) (bool, uint8)     { return true, 1 }
func (s *stub) Paused(detect.Queue) bool         { return true }
func (s *stub) Held(detect.PG, detect.Queue) int { return 1000 }
func (s *stub) Shares() bool                     { return false }

func (s *stub) Stays(b detect.PG, out detect.Queues) bool {
	return s.HeldIn(b, out[b.Priority]) > s.XON(b)
}

func (s *stub) XON(detect.PG) int                                { return 1500 }
func (s *stub) Lapsed(detect.PG) bool                            { return s.lapsed }
func (s *stub) Hop() unit.Time                                   { return unit.Microsecond }
func (s *stub) Repause(detect.PG)                                {}
func (s *stub) Report(detect.Finding)                            { s.reports++ }
func (s *stub) Trace(detect.Trace)                               {}
func (s *stub) Rate(unit.Port) unit.Rate                         { return 1e9 }
func (s *stub) Backlog(detect.Queue) int                         { return 1000 }
func (s *stub) SendFrame(unit.Port, []byte) bool                 { return true }
func (s *stub) Diagnose(detect.PG, detect.Queue, []detect.Cause) {}

func (s *stub) Detour(detect.PG, detect.Queue) (int, unit.Port, unit.Time) {
	return 0, unit.NoPort, 0
}

func (s *stub) Flows(dst []detect.Flow, _ detect.Queue) []detect.Flow { return dst }

func (s *stub) Send(p unit.Port, t itsyhdr.TLV) bool {
	if s.record {
		s.sent = append(s.sent, sent{p, t})
	}
	return true
}

func (s *stub) HeldIn(_ detect.PG, out unit.PortSet) int { return 1000 * out.Len() }

// The state of a priority is at most 20.4 KB with 64 ports, 74.2 KB with 256.
func TestStateBytes(t *testing.T) {
	for _, c := range []struct{ ports, max int }{{4, 3600}, {64, 20400}, {256, 74160}} {
		s := &stub{id: 1, ports: c.ports}
		if got := New(s, s).StateBytes() / 2; got > c.max || got < c.max*3/4 {
			t.Errorf("%d ports: %d bytes a priority, want at most %d", c.ports, got, c.max)
		}
	}
}

func TestBadSwitchPanics(t *testing.T) {
	for _, s := range []*stub{{id: 0, ports: 4}, {id: 1, ports: 0}, {id: 1, ports: 257}} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "itsy: switch ") {
					t.Errorf("%+v: panic %q, want one by itsy", *s, r)
				}
			}()
			New(s, s)
		}()
	}
}

// No event allocates.
func TestNoAllocs(t *testing.T) {
	s := &stub{id: 1, ports: 64}
	d := New(s, s)
	if n := testing.AllocsPerRun(300, func() { everyEvent(d) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

var eventTime unit.Time

// everyEvent tells d of events of every kind, with labels and messages of every kind.
func everyEvent(d detect.Detector) {
	eventTime += 100 * unit.Microsecond
	now := eventTime
	for i := range unit.Port(8) {
		b, q := detect.PG{Port: i, Priority: 3}, detect.Queue{Port: i + 8, Priority: 3}
		t := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Seq: uint16(now / unit.Microsecond), Initiator: unit.NodePort{Node: 1 + unit.NodeID(i%3), Port: i}, Flags: uint8(i)}
		d.Pause(now, q, t, true)
		d.XOFF(now, b, q)
		d.Enqueue(now, b, q, flow(int(now/unit.Microsecond)+int(i)), 1000)
		d.Label(now, b)
		for t.Kind = itsyhdr.KindQuery; t.Kind <= itsyhdr.KindAck; t.Kind++ {
			d.Message(now, i, t)
		}
		if d.Deadline() <= now {
			d.Tick(now)
		}
		if i%2 == 0 {
			d.Resume(now, q, i%4 == 0)
			d.Empty(now, q)
		}
		if i%3 == 0 {
			d.XON(now, b)
		}
	}
}

// Labels survive the wire, and their order is one: exactly one of l < m, m < l, same.
func TestLabel(t *testing.T) {
	ranks := []uint16{1, 2, 300, 16000, 65535, 65534}
	var all []label
	for _, r := range ranks {
		for _, at := range []unit.NodePort{{Node: 1, Port: 0}, {Node: 1, Port: 63}, {Node: 65535, Port: 5}} {
			all = append(all, newLabel(r, at))
		}
	}
	for _, l := range all {
		full := l.with(flagProof | flagDone)
		full = full.withTrigger(newTrigger(unit.NodePort{Node: 40000, Port: 17}, false), true)
		if got := parseLabel(full.tlv()); got != full {
			t.Errorf("label %x came back as %x", full, got)
		}
		if !(label{}).less(l) || l.less(label{}) || l.less(l) || l.less(full) || full.less(l) {
			t.Errorf("label %x: wrong order to none or to itself", l)
		}
		for _, m := range all {
			if l.less(m) == m.less(l) && l != m {
				t.Errorf("labels %x and %x have no order", l, m)
			}
		}
	}
	for _, c := range [][2]uint16{{0, 1}, {1, 2}, {65534, 65535}, {65535, 1}} {
		if got := later(c[0]); got != c[1] {
			t.Errorf("after rank %d comes %d, want %d", c[0], got, c[1])
		}
	}
}

// What is no label of this detector is none.
func TestParseLabelRefuses(t *testing.T) {
	good := newLabel(7, unit.NodePort{Node: 3, Port: 2}).tlv()
	for _, change := range []func(*itsyhdr.TLV){
		func(t *itsyhdr.TLV) { t.Kind = itsyhdr.KindChecking },
		func(t *itsyhdr.TLV) { t.Seq = 0 },
		func(t *itsyhdr.TLV) { t.Initiator.Node = 0 },
	} {
		bad := good
		change(&bad)
		if l := parseLabel(bad); !l.isNone() || l.has(flagProof) {
			t.Errorf("%+v is label %x, want none", bad, l)
		}
	}
}

func BenchmarkFrame(tb *testing.B) {
	s := &stub{id: 1, ports: 64}
	d := New(s, s)
	b0, q := detect.PG{Port: 7, Priority: 3}, detect.Queue{Port: 5, Priority: 3}
	tb.ReportAllocs()
	n := 0
	for tb.Loop() {
		n++
		d.Enqueue(0, b0, q, flow(n%32), 1)
		d.Empty(0, q)
	}
}

func BenchmarkEvents(tb *testing.B) {
	s := &stub{id: 1, ports: 64}
	d := New(s, s)
	tb.ReportAllocs()
	for tb.Loop() {
		everyEvent(d)
	}
}
