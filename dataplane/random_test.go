package dataplane

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// edge is a priority group that waits in a queue.
type edge struct {
	b detect.PG
	q detect.Queue
}

// mirror is what a reader of the event log knows: which priority group is XOFF in which
// period, which queue is paused, and how much of the one waits in the other.
type mirror struct {
	xoff   map[detect.PG]uint8
	period map[detect.PG]uint8 // the last of each priority group
	paused map[detect.Queue]bool
	held   map[edge]int
	strong map[edge]bool
	// shares: priority groups share a pool that may be short. Then those that are not XOFF are logged too,
	// outside is what those have outside their headrooms that use them, and no edge is strong.
	shares  bool
	outside map[detect.PG]int
}

func newMirror(shares bool) *mirror {
	return &mirror{map[detect.PG]uint8{}, map[detect.PG]uint8{}, map[detect.Queue]bool{}, map[edge]int{}, map[edge]bool{}, shares, map[detect.PG]int{}}
}

// apply reads an event; the error says what of it cannot follow from what came
// before.
func (m *mirror) apply(e event.Event) error {
	b, q := detect.PG{Port: e.Port, Priority: e.Priority}, detect.Queue{Port: e.Out, Priority: e.OutPriority}
	period, on := m.xoff[b]
	id := edge{b, q}
	switch e.Type {
	case event.XOFF:
		if on || e.Period != m.period[b]+1 {
			return fmt.Errorf("XOFF of a priority group that is XOFF: %v, or of another period than %d", on, m.period[b]+1)
		}
		m.xoff[b], m.period[b] = e.Period, e.Period
	case event.XON:
		if !on || e.Period != period || e.Bytes > e.Limit {
			return fmt.Errorf("XON of a priority group that is XOFF: %v, in period %d", on, period)
		}
		delete(m.xoff, b)
		m.forget(func(id edge) bool { return id.b == b && !m.shares })
	case event.Headroom:
		if !m.shares || m.outside[b] == int(e.Limit) {
			return fmt.Errorf("headroom: %d bytes outside it before, in a pool for all: %v", m.outside[b], !m.shares)
		}
		if m.outside[b] = int(e.Limit); e.Bytes == 0 {
			delete(m.outside, b)
		}
	case event.Paused:
		if m.paused[q] {
			return fmt.Errorf("paused twice")
		}
		m.paused[q] = true
	case event.Refreshed:
		if !m.paused[q] {
			return fmt.Errorf("refreshes no pause")
		}
	case event.Resumed, event.Expired:
		if !m.paused[q] {
			return fmt.Errorf("the end of no pause")
		}
		delete(m.paused, q)
		m.forget(func(id edge) bool { return id.q == q })
	case event.Held:
		if !on && !m.shares || !m.paused[q] || e.Bytes < 0 {
			return fmt.Errorf("held: priority group XOFF %v, queue paused %v, %d bytes", on, m.paused[q], e.Bytes)
		}
		if m.held[id] = int(e.Bytes); e.Bytes == 0 { // an action took the last of it
			delete(m.held, id)
		}
	case event.StrongCreated:
		if m.strong[id] || e.Bytes <= e.Limit || m.held[id] != int(e.Bytes) {
			return fmt.Errorf("created: strong before %v, held %d", m.strong[id], m.held[id])
		}
		m.strong[id] = true
	case event.StrongRemoved:
		if !m.strong[id] {
			return fmt.Errorf("removed, but not strong")
		}
		delete(m.strong, id)
	}
	return nil
}

func (m *mirror) forget(which func(edge) bool) {
	for id := range m.held {
		if which(id) {
			delete(m.held, id)
		}
	}
}

// diff compares the mirror with the switch, "" if they agree.
func (m *mirror) diff(v detect.View, mmu *buffer.MMU) string {
	queues := func(do func(port unit.Port, priority unit.Priority)) {
		for p := range unit.Port(v.Ports()) {
			for c := range unit.Priority(unit.Priorities) {
				do(p, c)
			}
		}
	}
	var diff string
	queues(func(p unit.Port, c unit.Priority) {
		b, q := detect.PG{Port: p, Priority: c}, detect.Queue{Port: p, Priority: c}
		on, period := v.XOFF(b)
		if logged, ok := m.xoff[b]; ok != on || on && logged != period {
			diff = fmt.Sprintf("priority group %v: XOFF %v period %d, logged %v %d", b, on, period, ok, logged)
		}
		if bytes, headroom := mmu.Bytes(p, c); m.shares && headroom > 0 && m.outside[b] != bytes-headroom || headroom == 0 && m.outside[b] != 0 {
			diff = fmt.Sprintf("priority group %v: %d bytes, %d in its headroom, logged %d outside", b, bytes, headroom, m.outside[b])
		}
		if v.Paused(q) != m.paused[q] {
			diff = fmt.Sprintf("queue %v: paused %v, logged %v", q, v.Paused(q), m.paused[q])
		}
		queues(func(p unit.Port, c unit.Priority) {
			id := edge{b, detect.Queue{Port: p, Priority: c}}
			want, strong := 0, false
			if (on || m.shares) && v.Paused(id.q) {
				want = v.Held(b, id.q)
				strong = !m.shares && want > v.XON(b)
			}
			if m.held[id] != want || m.strong[id] != strong {
				diff = fmt.Sprintf("edge %v: held %d strong %v, logged %d %v", id, want, strong, m.held[id], m.strong[id])
			}
		})
	})
	return diff
}

// chaos is a switch under random traffic, pauses and link failures.
type chaos struct {
	*testSwitch
	rng     *rand.Rand
	mirror  *mirror
	flood   bool // some destinations are unknown
	acts    bool // actions are taken
	given   int  // data frames received
	ids     [4][unit.Priorities]uint32
	highest map[[3]int]uint32 // of the ids that left: in, priority, out
	where   string
	ups     int // pauses, XOFFs and strong edges seen
	strongs int
}

func TestRandomTraffic(t *testing.T) {
	for _, tc := range []struct {
		name   string
		flood  bool
		acts   bool
		change func(c *Config)
	}{
		{"unicast", false, false, func(*Config) {}},
		{"flooding", true, false, func(c *Config) { c.MAC = c.MAC[:2] }},
		{"paced", false, false, func(c *Config) {
			for i := range c.Ports {
				c.Ports[i].Rate = 10_000 * mega
			}
		}},
		{"weighted", false, false, func(c *Config) { weigh(c, map[unit.Priority]uint8{3: 2, 0: 1}) }},
		{"few slots", false, false, func(c *Config) { c.Slots = 20 }},
		{"cells", true, true, func(c *Config) { c.Buffer.Cell = 208 }},
		{"a pool of headroom", false, false, func(c *Config) {
			c.Buffer.Cell, c.Buffer.Headroom, c.Buffer.HeadroomPool = 254, []int{1500, 3000, 5000, 5000}, &buffer.HeadroomPool{Bytes: 2000, Port: 1000}
		}},
		{"a pool for two priority groups", true, false, func(c *Config) { c.Buffer.Shared = 8000 }},
		{"dynamic thresholds", false, false, func(c *Config) {
			c.Buffer.Profile.Dynamic, c.Buffer.Shared = true, 3*c.Buffer.Profile.Threshold()
		}},
		{"actions, dynamic thresholds", true, true, func(c *Config) {
			c.Buffer.Profile.Dynamic, c.Buffer.Profile.DynamicTh, c.Buffer.Shared = true, -1, 4*c.Buffer.Profile.Threshold()
		}},
		{"actions", false, true, func(*Config) {}},
		{"ports of their own", true, true, func(c *Config) {
			twoKinds(c)
			c.Buffer.LosslessOf = append(c.Buffer.LosslessOf, 0)
			c.Ports[0].PFCRxAll, c.Ports[1].PFCTxOff, c.Ports[2].PFCRxOff = true, true, true
		}},
		{"actions and cells", false, true, func(c *Config) { c.Buffer.Cell = 208 }},
		{"actions and flooding", true, true, func(c *Config) { c.MAC = c.MAC[:2] }},
		{"actions, weighted and paced", false, true, func(c *Config) {
			weigh(c, map[unit.Priority]uint8{3: 2, 4: 1})
			for i := range c.Ports {
				c.Ports[i].Rate = 10_000 * mega
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seed := testkit.Seed(t)
			c := chaos{rng: rand.New(rand.NewPCG(seed, 0)), flood: tc.flood, acts: tc.acts, highest: map[[3]int]uint32{}}
			c.testSwitch = newTestSwitch(t, 4, tc.change)
			c.mirror = newMirror(c.mmu.Shares())
			for step := range 3000 {
				c.where = fmt.Sprintf("seed %d, step %d", seed, step)
				c.step()
				c.check()
			}
			c.undo()
			if c.ups == 0 || c.strongs == 0 && !c.mirror.shares {
				t.Errorf("seed %d: %d XOFF and %d strong edges: the test tests nothing", seed, c.ups, c.strongs)
			}
		})
	}
}

func (c *chaos) step() {
	p := unit.Port(c.rng.IntN(4))
	if c.acts && c.rng.IntN(8) == 0 {
		c.act()
		c.work()
		return
	}
	switch k := c.rng.IntN(100); {
	case k < 40:
		c.arrive(p)
	case k < 62:
		if room := c.cfg.Batch - len(c.lent[p]); room > 0 {
			c.where += fmt.Sprintf(", transmit %d", p)
			c.leave(p, 1+c.rng.IntN(room))
		}
	case k < 80:
		n := c.rng.IntN(len(c.lent[p]) + 1)
		c.where += fmt.Sprintf(", sent %d of %d at %d", n, len(c.lent[p]), p)
		c.Sent(c.now, p, c.lent[p][:n])
		c.lent[p] = c.lent[p][n:]
	case k < 92:
		c.pause(p)
	case k < 98:
		c.advance(unit.Time(c.rng.IntN(30_000)))
	case k == 98:
		c.det.Repause(detect.PG{Port: p, Priority: 3})
		c.det.Send(p, label(1))
	case c.rng.IntN(4) == 0:
		c.where += fmt.Sprintf(", link %d", p)
		c.SetLink(c.now, p, !c.LinkUp(p))
	default:
		c.SetLink(c.now, p, true)
	}
	c.work()
}

func (c *chaos) arrive(in unit.Port) {
	var fs [][]byte
	for range 1 + c.rng.IntN(6) {
		priority := []unit.Priority{0, 3, 3, 3, 4, 7}[c.rng.IntN(6)]
		dst := stationMAC(unit.Port(c.rng.IntN(4)))
		if c.flood && c.rng.IntN(8) == 0 {
			dst = unit.Broadcast
		}
		c.ids[in][priority]++
		fs = append(fs, datagram{dst: dst, src: stationMAC(in), priority: priority, size: 60 + c.rng.IntN(1455), id: c.ids[in][priority]}.frame())
	}
	c.where += fmt.Sprintf(", %d frames at %d", len(fs), in)
	c.given += len(fs)
	c.receive(in, fs...)
}

func (c *chaos) pause(p unit.Port) {
	if !c.LinkUp(p) {
		return
	}
	priority, quanta := unit.Priority(3+c.rng.IntN(2)), uint16(0)
	if c.rng.IntN(3) > 0 {
		quanta = uint16(1 + c.rng.IntN(3000))
	}
	c.where += fmt.Sprintf(", pause %d.%d %d", p, priority, quanta)
	switch c.rng.IntN(4) {
	case 0:
		c.receive(p, pfc(map[unit.Priority]uint16{priority: quanta}))
	case 1:
		c.receive(p, pfc(map[unit.Priority]uint16{3: quanta, 4: quanta / 2}))
	default:
		c.receive(p, pauseOf(priority, quanta, uint8(c.rng.IntN(3))))
	}
}

// leave lends frames and checks those that leave: none is of a priority that is
// paused, and those of one way keep their order.
func (c *chaos) leave(out unit.Port, n int) {
	c.t.Helper()
	for _, f := range c.lend(out, n) {
		if f.Control {
			continue
		}
		if z := &c.ports[out]; z.paused.Has(f.OutPriority) && !c.acts {
			c.t.Fatalf("%s: paused: a frame of priority %d leaves by port %d", c.where, f.OutPriority, out)
		}
		way := [3]int{int(f.In), int(f.InPriority), int(out)}
		id := binary.BigEndian.Uint32(f.Data[ether.HeaderLen+ether.IPv4Len+ether.UDPLen:])
		if id <= c.highest[way] {
			c.t.Fatalf("%s: order: frame %d of %v leaves after frame %d", c.where, id, way, c.highest[way])
		}
		c.highest[way] = id
	}
}

func (c *chaos) check() {
	c.t.Helper()
	for _, e := range c.log {
		if err := c.mirror.apply(e); err != nil {
			c.t.Fatalf("%s: event %s: %v", c.where, eventText(e), err)
		}
		switch e.Type {
		case event.XOFF:
			c.ups++
		case event.StrongCreated:
			c.strongs++
		}
	}
	c.log, c.det.calls = nil, nil
	if d := c.mirror.diff(c.det.view, c.mmu); d != "" {
		c.t.Fatalf("%s: %s", c.where, d)
	}
	c.checkAccounts()
	c.holdsAgree()
	c.checkAnnounced()
}

// checkAccounts counts bytes, slots and frames anew.
func (c *chaos) checkAccounts() {
	c.t.Helper()
	queued, lent := 0, 0
	wire := make(map[detect.PG]int) // charged, on the wire
	for _, fs := range c.lent {
		lent += len(fs)
		seen := make(map[*buffer.Frame]bool)
		for _, f := range fs {
			if o := f.Orig(); f.Charged && !seen[o] {
				seen[o] = true
				wire[detect.PG{Port: f.In, Priority: f.InPriority}] += c.mmu.Charge(f.Len)
			}
		}
	}
	held, flooded := make(map[detect.PG]int), 0
	for p := range unit.Port(4) {
		for cl := range unit.Priority(unit.Priorities) {
			queued += c.Queue(p, cl).Frames()
			charged := 0 // others wait in a queue that is or was lossy, or take a lossy turn
			for f := c.Queue(p, cl).Head(); f != nil; f = f.Next() {
				if f.Flooded && c.Lossless().Has(cl) {
					flooded++
				}
				if f.Orig().Charged {
					charged += c.mmu.Charge(f.Len)
				}
			}
			sum := 0
			for in := range unit.Port(4) {
				for icl := range unit.Priority(unit.Priorities) {
					b := detect.PG{Port: in, Priority: icl}
					n := c.Held(b, detect.Queue{Port: p, Priority: cl})
					held[b] += n
					sum += n
				}
			}
			if c.Lossless().Has(cl) && sum != charged {
				c.t.Fatalf("%s: held: queue %d.%d has %d charged bytes, M sums to %d", c.where, p, cl, charged, sum)
			}
		}
	}
	c.checkTurns()
	for p := range unit.Port(4) {
		for cl := range unit.Priority(unit.Priorities) {
			b := detect.PG{Port: p, Priority: cl}
			bytes, _ := c.MMU().Bytes(p, cl)
			if bytes > 0 && !c.ports[p].lossless.Has(cl) {
				c.t.Fatalf("%s: accounts: priority %d is lossy at port %d, and %d bytes are charged", c.where, cl, p, bytes)
			}
			if most := held[b] + wire[b]; bytes > most || !c.flood && bytes != most {
				c.t.Fatalf("%s: accounts: priority group %v holds %d bytes, %d wait and %d are on the wire", c.where, b, bytes, held[b], wire[b])
			}
		}
	}
	if flooded != c.flooded {
		c.t.Fatalf("%s: %d flooded frames wait in lossless queues, counted %d", c.where, flooded, c.flooded)
	}
	if used := c.pool.Slots() - c.pool.Free(); used > queued+lent || !c.flood && used != queued+lent {
		c.t.Fatalf("%s: slots: %d used, %d frames wait and %d are lent", c.where, used, queued, lent)
	}
	if !c.flood {
		c.checkFrames(queued)
	}
}

// checkTurns counts anew what lossy turns have waiting.
func (c *chaos) checkTurns() {
	c.t.Helper()
	for p := range unit.Port(4) {
		for _, turn := range c.ports[p].acted.turns {
			n, charge := 0, 0
			for f := c.Queue(turn.queue.Port, turn.queue.Priority).Head(); f != nil; f = f.Next() {
				if f.In == p && f.InPriority == turn.pg.Priority && !f.Orig().Charged {
					n, charge = n+f.Len, charge+c.mmu.Charge(f.Len)
				}
			}
			if n != turn.bytes || charge != turn.charge {
				c.t.Fatalf("%s: the lossy turn from %v to %v counts %d bytes, charged %d; %d wait, charged %d", c.where, turn.pg, turn.queue, turn.bytes, turn.charge, n, charge)
			}
		}
	}
}

// checkFrames wants every frame that came to have left, to wait, or to be counted
// as dropped, once.
func (c *chaos) checkFrames(queued int) {
	c.t.Helper()
	left, dropped := 0, 0
	for p := range unit.Port(4) {
		n := c.Counters(p)
		for cl := range n.TxFrames {
			left += int(n.TxFrames[cl])
		}
		for r := DropShort; !r.Odd(); r++ {
			dropped += int(n.Drops[r])
		}
		lost, ofPriorities := uint64(0), uint64(0)
		for r, k := range n.LostBy {
			lost += k
			if k > n.Drops[r] || k > 0 && Reason(r).Fate() != Lost {
				c.t.Fatalf("%s: port %d: %d lossless frames lost as %v, of %d", c.where, p, k, Reason(r), n.Drops[r])
			}
		}
		for _, k := range n.LostOf {
			ofPriorities += k
		}
		if n.LosslessLost != lost || n.LosslessLost != ofPriorities || n.LostBy[DropHeadroom] != n.Drops[DropHeadroom] {
			c.t.Fatalf("%s: port %d: %d lossless frames lost, %d by reason, %d by priority, of %v", c.where, p, n.LosslessLost, lost, ofPriorities, n.Drops)
		}
	}
	if c.given != left+dropped+queued {
		c.t.Fatalf("%s: %d frames came, %d left, %d were dropped, %d wait", c.where, c.given, left, dropped, queued)
	}
}

// checkAnnounced wants the far end of each port to know each priority group's state, or a frame
// that says it to wait.
func (c *chaos) checkAnnounced() {
	c.t.Helper()
	for i := range c.ports {
		p := &c.ports[i]
		for cl := range unit.Priority(unit.Priorities) {
			on, period := c.MMU().XOFF(unit.Port(i), cl)
			on = on && p.sends.Has(cl)
			told, known := p.told.Has(cl), p.announced[cl].period
			if p.up && !p.control.pauses.Has(cl) && (told != on || on && known != period) {
				c.t.Fatalf("%s: priority group %d.%d is XOFF %v period %d, the far end knows %v %d and no frame waits", c.where, i, cl, on, period, told, known)
			}
		}
	}
}

// TestMutatedFrames sends what a broken wire or a bad neighbour makes of good
// frames: nothing panics, and every slot comes back.
func TestMutatedFrames(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	good := [][]byte{
		between(0, 1, 3, 1), tagged(between(0, 1, 4, 1), 5), plain(unit.Broadcast, stationMAC(0), 200),
		pauseOf(3, 100, 1), message(label(1)), datagram{dst: portMAC(0), from: "10.0.1.10", to: "10.9.1.1"}.frame(),
		datagram{dst: portMAC(3), to: "10.0.1.77"}.frame(),
		arp(ether.ARPRequest, unit.Broadcast, stationMAC(0), "10.0.1.10", 0, "10.0.1.1"),
		arp(ether.ARPReply, portMAC(0), stationMAC(0), "10.0.1.10", portMAC(0), "10.0.1.1"),
	}
	for _, change := range []func(c *Config){nil, withHosts, func(c *Config) { routed(c); c.TrustPCP = true }} {
		s := newTestSwitch(t, 6, change)
		for range 5000 {
			f := append([]byte{}, good[rng.IntN(len(good))]...)
			for range rng.IntN(4) {
				f[rng.IntN(min(len(f), 64))] = byte(rng.Uint32())
			}
			if rng.IntN(4) == 0 {
				f = f[:rng.IntN(len(f)+1)]
			}
			s.receive(unit.Port(rng.IntN(6)), f)
			s.drain(unit.Port(rng.IntN(6)))
			if s.advance(unit.Time(rng.IntN(50_000))); rng.IntN(500) == 0 {
				s.advance(unit.Second)
			}
			s.log, s.det.calls = nil, nil
		}
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}
	t.Logf("seed %d", seed)
}

// FuzzReceive feeds a switch a sequence of frames: each is a byte for the port, two
// for the length, and its bytes. The first byte chooses the switch.
func FuzzReceive(f *testing.F) {
	pack := func(kind byte, frames ...[]byte) (b []byte) {
		b = append(b, kind)
		for i, f := range frames {
			b = append(b, byte(i), byte(len(f)>>8), byte(len(f)))
			b = append(b, f...)
		}
		return b
	}
	f.Add([]byte{0})
	f.Add(pack(0, between(0, 1, 3, 1), pauseOf(3, 100, 1), message(label(1)), resumeOf(3, 1)))
	f.Add(pack(1, datagram{dst: portMAC(0), to: "10.0.2.10"}.frame(), arp(ether.ARPRequest, unit.Broadcast, stationMAC(0), "10.0.1.10", 0, "10.0.1.1")))
	f.Add(pack(2, tagged(between(0, 1, 3, 1), 3), plain(unit.Broadcast, stationMAC(1), 60)))
	f.Add(pack(3, edit(pauseOf(3, 1, 1), 16, 1), edit(pauseOf(3, 1, 1), 34, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		s := newTestSwitch(t, 6, func(c *Config) {
			c.Slots, c.Batch = 4, 1
			if b[0]&1 != 0 {
				withHosts(c)
			}
			c.TrustPCP = b[0]&2 != 0
		})
		for b = b[1:]; len(b) >= 3; {
			in, n := unit.Port(b[0]%6), int(binary.BigEndian.Uint16(b[1:]))
			n = min(n, len(b)-3, s.cfg.SlotBytes)
			s.parseIsPure(b[3 : 3+n])
			s.receive(in, b[3:3+n])
			b = b[3+n:]
			s.advance(unit.Microsecond)
			s.drain(unit.Port(n % 6))
		}
	})
}

// parseIsPure wants Parse to leave the bytes alone and to say the same twice.
func (s *testSwitch) parseIsPure(b []byte) {
	s.t.Helper()
	fs := s.fill(0, b)
	first := fs[0].Info
	if string(fs[0].Data) != string(b) {
		s.t.Fatal("Parse changed the frame")
	}
	fs[0].Info = buffer.Info{Kind: 99, Reason: 99, Priority: 7, TTL: 1, L3: 1, DstIP: 1, Hash: 1, DstMAC: 1, SrcMAC: 1}
	s.Parse(fs[0])
	if fs[0].Info != first {
		s.t.Fatalf("Parse says %+v, then %+v", first, fs[0].Info)
	}
	if k := first.Kind; k == kindBad && (first.Reason == 0 || Reason(first.Reason) >= Reasons) {
		s.t.Fatalf("a bad frame without a reason: %+v", first)
	}
	s.pool.Put(fs[0])
}
