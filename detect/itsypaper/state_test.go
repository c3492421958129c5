package itsypaper

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// ITSY, section V: less than 0.1 KB for 4 ports, less than 1 KB for 64.
func TestStateBytes(t *testing.T) {
	for _, c := range []struct{ ports, want, below int }{{4, 88, 101}, {64, 1016, 1024}} {
		d := detecttest.New(New).Switch(1, c.ports).Detector()
		if got := d.StateBytes(); got != c.want || got >= c.below {
			t.Errorf("%d ports: %d bytes, want %d, below %d", c.ports, got, c.want, c.below)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		id    unit.NodeID
		ports int
	}{{0, 4}, {MaxNode + 1, 4}, {1, 0}, {1, 65}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("switch %d with %d ports was accepted", c.id, c.ports)
				}
			}()
			detecttest.New(New).Switch(c.id, c.ports)
		}()
	}
}

func TestLabelKeepsItsFields(t *testing.T) {
	r := testRand(t)
	for range 10_000 {
		in := itsyhdr.TLV{
			Kind:      itsyhdr.KindChecking,
			Flags:     uint8(1 + r.IntN(3)),
			Initiator: unit.NodePort{Node: unit.NodeID(1 + r.IntN(MaxNode)), Port: unit.Port(r.IntN(64))},
			Seq:       uint16(r.IntN(256)),
			Hops:      uint8(r.IntN(HopLimit)),
		}
		if r.IntN(2) == 0 {
			in.Trigger = in.Initiator
		}
		l, ok := parseLabel(in)
		if out := l.tlv(newTrail(in.Hops, in.Flags)); !ok || out != in {
			t.Fatalf("%+v became %+v (ok %v)", in, out, ok)
		}
		if l.middle() != in.Trigger.IsZero() || slot(l)&slotFlags != 0 {
			t.Fatalf("label %#x of %+v: middle %v, flags %b", l, in, l.middle(), slot(l)&slotFlags)
		}
	}
}

// slowState is what state remembers, in maps.
type slowState struct {
	traffic   map[[2]unit.Port]bool
	stored    map[unit.Port]label
	displaced []slowDisplaced // newest first
	takeovers []slowTakeover  // newest first
}

type slowDisplaced struct {
	port  unit.Port
	label label
	trail trail
}

type slowTakeover struct {
	port    unit.Port
	trigger unit.NodePort
}

func (s *slowState) displace(p unit.Port, l label, way trail) {
	s.drop(func(e slowDisplaced) bool { return e.port == p && e.label == l })
	s.displaced = append([]slowDisplaced{{p, l, way}}, s.displaced...)
	s.displaced = s.displaced[:min(len(s.displaced), 5)]
}

func (s *slowState) drop(which func(slowDisplaced) bool) {
	var kept []slowDisplaced
	for _, e := range s.displaced {
		if !which(e) {
			kept = append(kept, e)
		}
	}
	s.displaced = kept
}

func (s *slowState) takeOver(i unit.Port, trigger unit.NodePort) {
	s.forgetTakeover(i)
	s.takeovers = append([]slowTakeover{{i, trigger}}, s.takeovers...)
	s.takeovers = s.takeovers[:min(len(s.takeovers), 3)]
}

func (s *slowState) forgetTakeover(i unit.Port) {
	var kept []slowTakeover
	for _, e := range s.takeovers {
		if e.port != i {
			kept = append(kept, e)
		}
	}
	s.takeovers = kept
}

func (s *slowState) trigger(i unit.Port) unit.NodePort {
	for _, e := range s.takeovers {
		if e.port == i {
			return e.trigger
		}
	}
	return unit.NodePort{}
}

func TestStateAgainstSlowTwin(t *testing.T) {
	r := testRand(t)
	for _, ports := range []int{1, 4, 7, 8, 9, 33, 64} {
		fast := newState(ports)
		slow := slowState{traffic: map[[2]unit.Port]bool{}, stored: map[unit.Port]label{}}
		for step := range 1_000 {
			i, e := unit.Port(r.IntN(ports)), unit.Port(r.IntN(ports))
			l := newLabel(unit.NodePort{Node: 1 + unit.NodeID(r.IntN(3)), Port: i}, uint8(r.IntN(2)))
			way := newTrail(uint8(i), firstRound)
			switch r.IntN(6) {
			case 0, 1:
				fast.addTraffic(i, e)
				slow.traffic[[2]unit.Port{i, e}] = true
			case 2:
				fast.clearTraffic(e)
				for k := range unit.Port(ports) {
					delete(slow.traffic, [2]unit.Port{k, e})
				}
			case 3:
				if old := slow.stored[e]; old != 0 && old != l {
					slow.displace(e, old, newTrail(uint8(old.initiator().Port), firstRound))
				}
				fast.put(e, l, way)
				slow.stored[e] = l
			case 4:
				fast.forget(e)
				delete(slow.stored, e)
				slow.drop(func(d slowDisplaced) bool { return d.port == e })
			case 5:
				trigger := unit.NodePort{Node: 1 + unit.NodeID(r.IntN(MaxNode)), Port: e}
				fast.takeovers.set(i, trigger)
				slow.takeOver(i, trigger)
				if k := unit.Port(r.IntN(ports)); r.IntN(4) == 0 {
					fast.takeovers.forget(k)
					slow.forgetTakeover(k)
				}
			}
			compareStates(t, step, &fast, &slow)
		}
	}
}

func compareStates(t *testing.T, step int, fast *state, slow *slowState) {
	t.Helper()
	for e := range unit.Port(fast.ports()) {
		for i := range unit.Port(fast.ports()) {
			if got, want := fast.traffic(e).Has(i), slow.traffic[[2]unit.Port{i, e}]; got != want {
				t.Fatalf("%d ports, step %d: bit (%d, %d) is %v, want %v", fast.ports(), step, i, e, got, want)
			}
		}
		if got, want := fast.slots[e].label(), slow.stored[e]; got != want {
			t.Fatalf("%d ports, step %d: port %d stores %#x, want %#x", fast.ports(), step, e, got, want)
		}
		if got, want := fast.takeovers.of(e), slow.trigger(e); got != want {
			t.Fatalf("%d ports, step %d: port %d took over for %v, want %v", fast.ports(), step, e, got, want)
		}
	}
	for _, d := range slow.displaced {
		if got, ok := fast.displaced.find(d.port, d.label); !ok || got != d.trail {
			t.Fatalf("%d ports, step %d: %#x at %d: found %v %v, want %v", fast.ports(), step, d.label, d.port, got, ok, d.trail)
		}
	}
	n := 0
	for _, l := range fast.displaced.labels {
		if l != 0 {
			n++
		}
	}
	if n != len(slow.displaced) {
		t.Fatalf("%d ports, step %d: %d displaced labels, want %d", fast.ports(), step, n, len(slow.displaced))
	}
}

// stub is a switch whose facts are set by hand and which counts what is asked of it.
type stub struct {
	detect.View    // nil: what only systems that act need
	detect.Actions // nil

	ports    int
	lossless unit.PrioritySet
	hosts    unit.PortSet
	xoff     [64][unit.Priorities]bool
	paused   [64][unit.Priorities]bool
	held     [64][64]int
	sent     int
	found    int
}

func (s *stub) Self() unit.NodeID          { return 2 }
func (s *stub) Ports() int                 { return s.ports }
func (s *stub) Lossless() unit.PrioritySet { return s.lossless }
func (s *stub) FacesHost(p unit.Port) bool { return s.hosts.Has(p) }
func (s *stub) XOFF(b detect.PG) (bool, uint8) {
	return s.xoff[b.Port][b.Priority], 0
}
func (s *stub) Paused(q detect.Queue) bool { return s.paused[q.Port][q.Priority] }
func (s *stub) Held(b detect.PG, q detect.Queue) int {
	if b.Priority != q.Priority {
		return 0
	}
	return s.held[b.Port][q.Port]
}
func (s *stub) Shares() bool { return false }

func (s *stub) Stays(b detect.PG, out detect.Queues) bool {
	return s.HeldIn(b, out[b.Priority]) > s.XON(b)
}

func (s *stub) XON(detect.PG) int { return 1 }

func (s *stub) HeldIn(b detect.PG, out unit.PortSet) (n int) {
	for ; !out.Empty(); out.Pop() {
		n += s.Held(b, detect.Queue{Port: out.First(), Priority: b.Priority})
	}
	return n
}
func (s *stub) Lapsed(detect.PG) bool            { return false }
func (s *stub) Hop() unit.Time                   { return unit.Microsecond }
func (s *stub) Repause(detect.PG)                { panic("never asked for") }
func (s *stub) Send(unit.Port, itsyhdr.TLV) bool { s.sent++; return true }
func (s *stub) Report(detect.Finding)            { s.found++ }
func (s *stub) Trace(detect.Trace)               {}

// Two lossless priorities share a port: a bit falls when both queues are empty, and the
// port pauses until both priority groups are XON.
func TestPrioritiesShareThePort(t *testing.T) {
	s := &stub{ports: 4, lossless: 1<<3 | 1<<4}
	d := New(s, s).(*detector)
	b3, b4 := detect.PG{Port: 0, Priority: 3}, detect.PG{Port: 0, Priority: 4}
	q3, q4 := detect.Queue{Port: 1, Priority: 3}, detect.Queue{Port: 1, Priority: 4}

	d.Enqueue(0, b3, q3, 0, 1)
	d.Enqueue(0, b4, q4, 0, 1)
	s.held[0][1] = 100 // in q4; the stub shows it in q3 too, which does not matter here
	d.Empty(0, q3)
	if !d.traffic(1).Has(0) {
		t.Error("the bit fell while priority 4 held frames")
	}
	s.held[0][1] = 0
	d.Empty(0, q4)
	if !d.traffic(1).Empty() {
		t.Error("the bit stayed in an empty port")
	}

	s.xoff[0][3], s.xoff[0][4] = true, true
	d.XOFF(0, b3, q3)
	d.XOFF(0, b4, q4)
	s.xoff[0][3] = false
	d.XON(0, b3)
	if !d.pausing.has(0) {
		t.Error("the port ceased to pause while priority 4 was XOFF")
	}
	s.xoff[0][4] = false
	d.XON(0, b4)
	if d.pausing.has(0) {
		t.Error("the port still pauses")
	}
}

func TestNoAllocs(t *testing.T) {
	s := &stub{ports: 8, lossless: 1 << 3, hosts: unit.PortsOf(7)}
	d := New(s, s)
	b0 := detect.PG{Port: 0, Priority: 3}
	q := func(p unit.Port) detect.Queue { return detect.Queue{Port: p, Priority: 3} }
	id := unit.NodePort{Node: 9, Port: 3}
	label := itsyhdr.TLV{Kind: itsyhdr.KindChecking, Priority: 3, Initiator: id, Trigger: id, Flags: 1}
	now := unit.Time(0)
	n := testing.AllocsPerRun(1000, func() {
		now += unit.Millisecond
		label.Seq = (label.Seq + 1) & 0xff
		check := label
		check.Kind = itsyhdr.KindTemporalCheck
		for p := unit.Port(1); p <= 3; p++ {
			d.Enqueue(now, b0, q(p), 0, 1)
		}
		s.xoff[0][3] = true
		d.XOFF(now, b0, q(1)) // a trigger
		own := d.Label(now, b0)
		for p := unit.Port(1); p <= 3; p++ { // stored, forwarded, middle, displaced
			d.Pause(now, q(p), label, true)
			d.Message(now, p, check)
		}
		d.Pause(now, q(7), itsyhdr.TLV{}, true)
		d.Message(now, 1, own) // home
		own.Kind = itsyhdr.KindTemporalCheck
		d.Message(now, 1, own) // declared
		s.xoff[0][3] = false
		d.XON(now, b0)
		for p := unit.Port(1); p <= 3; p++ {
			d.Resume(now, q(p), false)
			d.Empty(now, q(p))
		}
		d.Resume(now, q(7), true)
	})
	if n != 0 {
		t.Errorf("%v allocations a round, want 0", n)
	}
	if s.sent == 0 {
		t.Error("nothing was sent: the round does not go where it should")
	}
}

// FuzzEvents tells a detector of any events in any order, with facts that need not
// fit: it must not panic, and one event asks for at most two messages a port.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{4, 0, 0, 0, 1, 1, 0, 0, 2, 0, 1, 4, 1, 9, 7, 1, 0})
	f.Add([]byte{64, 5, 63, 255, 255, 63, 255, 4, 0, 2, 0, 1, 0, 0, 6, 0, 0})
	f.Add([]byte{1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		s := &stub{ports: 1 + int(data[0])%64, lossless: 1<<3 | 1<<4, hosts: unit.PortsOf(0)}
		d := New(s, s)
		size := d.StateBytes()
		for data = data[1:]; len(data) >= 8; data = data[8:] {
			s.sent = 0
			fuzzEvent(s, d, data)
			if s.sent > 2*s.ports {
				t.Fatalf("event % x: %d messages from %d ports", data[:8], s.sent, s.ports)
			}
		}
		if d.StateBytes() != size {
			t.Fatalf("the state grew from %d to %d bytes", size, d.StateBytes())
		}
	})
}

// fuzzEvent tells d of the event that e's eight octets spell: verb, two ports, priority,
// then the label.
func fuzzEvent(s *stub, d detect.Detector, e []byte) {
	i, out := unit.Port(int(e[1])%s.ports), unit.Port(int(e[2])%s.ports)
	priority := unit.Priority(3 + e[3]&1)
	b, q := detect.PG{Port: i, Priority: priority}, detect.Queue{Port: out, Priority: priority}
	label := itsyhdr.TLV{
		Kind: itsyhdr.Kind(e[3] >> 1 & 3), Priority: priority, Flags: e[3] >> 3,
		Initiator: unit.NodePort{Node: unit.NodeID(e[4]) * 0x101 & 0x4003, Port: unit.Port(e[5])},
		Seq:       uint16(e[6]), Hops: e[7],
	}
	if e[4]&1 == 0 {
		label.Trigger = label.Initiator
	}
	now := unit.Time(e[7]) << 16
	switch e[0] % 10 {
	case 0:
		s.xoff[i][priority] = true
		d.XOFF(now, b, q)
	case 1:
		s.xoff[i][priority] = false
		d.XON(now, b)
	case 2:
		d.Label(now, b)
	case 3, 4:
		fresh := !s.paused[out][priority]
		s.paused[out][priority] = true
		d.Pause(now, q, label, fresh)
	case 5:
		s.paused[out][priority] = false
		d.Resume(now, q, e[4]&1 == 0)
	case 6, 7:
		d.Message(now, out, label)
	case 8:
		s.held[i][out]++
		d.Enqueue(now, b, q, 0, 1)
	case 9:
		s.held[i][out] = 0
		d.Empty(now, q)
	}
}
