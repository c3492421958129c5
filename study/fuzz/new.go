package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// full is the largest frame where the MTU is the usual one, control a PFC frame or a
// message, in bytes.
const (
	full    = 1514
	control = 60
)

// maker generates a case.
type maker struct {
	*Case
	rng  *rand.Rand
	rate unit.Rate // of a usual link
	tick unit.Time // time of a full frame on a usual link

	at    map[string][]string // hosts, by switch
	home  map[string]string   // switch, by host
	wired map[[2]string]bool
	arcs  []arc     // a directed graph that routes follow
	pairs []pair    // host pairs whose flows make the loops, as the shape asks for
	end   unit.Time // flows that stop have stopped by then

	// Of a planted case: the link that will fail, the server that will be dead, and the
	// hosts that have been tried.
	cut    arc
	server string
	tried  []string
}

// arc is one direction of a link.
type arc struct{ from, to string }

// pair is a flow that a shape asks for.
type pair struct {
	from, to string
	ttl      int // 0: any that is enough
}

// shape is a kind of fabric, with its relative frequency.
type shape struct {
	name   string
	weight int
	make   func(*maker)
}

// shapes are the kinds of fabric.
var shapes = []shape{
	{"ring", 4, (*maker).ring},
	{"eight-switch", 4, (*maker).eightSwitch},
	{"eight-link", 3, (*maker).eightLink},
	{"split-arms", 2, (*maker).splitArms},
	{"tree", 2, (*maker).tree},
	{"leaf-spine", 3, (*maker).leafSpine},
	{"fat-tree", 3, (*maker).fatTree},
	{"graph", 4, (*maker).graph},
	{"dead-servers", 3, (*maker).deadServers},
}

// Where the random numbers of cases begin: those of modes with a stream of their own, and of planted
// cases. Those of two of TruthModes are truthApart apart.
const (
	losslessStream = 1 << 57
	builtStream    = 1 << 56
	longStream     = 1 << 58
	truthStream    = 1 << 58
	attackStream   = 1 << 59
	rdmaStream     = 1 << 60
	jumboStream    = 1 << 61
	plantStream    = 1 << 62

	truthApart = 1 << 40
)

// stream is the number of the random numbers of case index of a mode.
func stream(index int, mode Mode) uint64 {
	if k := slices.Index(TruthModes, mode); k >= 0 {
		return truthStream + uint64(k)*truthApart + uint64(index)
	}
	own := map[Mode]uint64{Lossless: losslessStream, Long: longStream, Attack: attackStream, RDMA: rdmaStream, Jumbo: jumboStream, Built: builtStream}
	if first := own[mode]; first > 0 {
		return first + uint64(index)
	}
	return uint64(index)*uint64(len(Modes)) + uint64(slices.Index(Modes, mode))
}

// New generates case index of seed.
func New(seed uint64, index int, mode Mode) *Case {
	c := &Case{Seed: seed, Index: index, Mode: mode}
	switch mode {
	case Jumbo:
		c.MTU = jumboMTU
	case TruthJumbo, TruthSONiC:
		c.MTU = truthMTU
	}
	m := newMaker(c, stream(index, mode))
	switch {
	case slices.Contains(TruthModes, mode):
		m.truth()
	case mode == Lossless:
		m.lossless()
	default:
		m.usual()
	}
	if mode == Built || mode == TruthBuilt {
		m.built()
	}
	m.sortEvents()
	return m.Case
}

// usual makes a case in which a detector is judged.
func (m *maker) usual() {
	kinds := shapes
	if m.Mode == Long {
		kinds = longShapes
	}
	m.fabric(kinds)
	if m.Mode == Long {
		m.longDelay()
	}
	m.traffic()
	if m.Mode == RDMA {
		m.rdma()
	}
	m.trouble()
	m.buffers()
	if m.Mode == RDMA {
		m.control()
		m.workload()
	}
	if m.Mode == Attack {
		m.attack()
	}
	m.last()
}

// fabric makes one of these kinds, with routes and speeds.
func (m *maker) fabric(kinds []shape) {
	m.shape(kinds)
	m.keepToArcs()
	m.floodJunction()
	m.speeds()
}

// newMaker begins case c, with the random numbers of a stream of its seed.
func newMaker(c *Case, stream uint64) *maker {
	m := &maker{
		Case: c, rng: rand.New(rand.NewPCG(c.Seed, stream)),
		at: map[string][]string{}, home: map[string]string{}, wired: map[[2]string]bool{},
	}
	m.Wires = uint64(m.rng.Uint32())
	m.rate = pick(m, unit.Rate(1), 10, 10, 40) * 1_000_000_000
	m.tick = m.rate.FrameTime(m.full())
	m.priorities()
	return m
}

// shape draws one of all, and makes it.
func (m *maker) shape(all []shape) {
	total := 0
	for _, s := range all {
		total += s.weight
	}
	n := m.rng.IntN(total)
	for _, s := range all {
		if n -= s.weight; n < 0 {
			m.Shape = s.name
			s.make(m)
			return
		}
	}
}

// pick draws one of all.
func pick[T any](m *maker, all ...T) T { return all[m.rng.IntN(len(all))] }

// one is true once in n times.
func (m *maker) one(n int) bool { return m.rng.IntN(n) == 0 }

// between draws from lo to hi, both included.
func (m *maker) between(lo, hi int) int { return lo + m.rng.IntN(hi-lo+1) }

// ticks draws a time from lo to hi ticks, to the nanosecond.
func (m *maker) ticks(lo, hi int) unit.Time {
	return unit.Time(lo)*m.tick + unit.Time(m.rng.Int64N(int64(unit.Time(hi-lo)*m.tick)+1))
}

// sw adds a switch with hosts and returns its name.
func (m *maker) sw(name string, hosts int) string {
	m.Switches = append(m.Switches, name)
	for i := range hosts {
		h := fmt.Sprintf("h-%s-%d", name, i)
		m.Hosts = append(m.Hosts, h)
		m.at[name], m.home[h] = append(m.at[name], h), name
		m.link(name, h)
	}
	return name
}

func (m *maker) link(a, b string) {
	if !m.wired[[2]string{a, b}] {
		m.wired[[2]string{a, b}], m.wired[[2]string{b, a}] = true, true
		m.Links = append(m.Links, Link{A: a, B: b})
	}
}

func (m *maker) priorities() {
	m.Lossless = pick(m, []int{3}, []int{3}, []int{3, 4}, []int{3, 4}, []int{2, 3, 4})
}

// priority draws the priority of a flow or a storm: mostly the first one, so that they meet.
func (m *maker) priority() int {
	if m.one(3) {
		return pick(m, m.Lossless...)
	}
	return m.Lossless[0]
}

// speeds draws the rate, delay and jitter of every link.
func (m *maker) speeds() {
	delay := m.ticks(0, pick(m, 1, 3, 8))
	jitter := unit.Time(0)
	if !m.one(4) {
		jitter = m.ticks(0, pick(m, 1, 4, 10))
	}
	for i := range m.Links {
		m.Links[i].Rate, m.Links[i].Delay, m.Links[i].Jitter = m.rate, delay, jitter
	}
	if m.one(3) { // some links get their own
		for i := range m.Links {
			l := &m.Links[i]
			if m.one(4) {
				l.Delay, l.Jitter = m.ticks(0, pick(m, 1, 5, 30)), m.ticks(0, pick(m, 1, 5))
			}
			if m.one(6) {
				l.Rate = pick(m, m.rate/2, m.rate*2, m.rate*4)
			}
		}
	}
}

// buffers draws thresholds and the pause time, and computes the headroom.
func (m *maker) buffers() {
	m.timers()
	m.headroom()
	switch m.rng.IntN(4) {
	case 0:
		m.resumeLate()
	case 1: // at most one strong egress a priority group
		m.XONOffset = m.between(400, 3*m.full())
		m.Threshold = m.Headroom + 2*m.XONOffset + m.between(0, 4*m.full())
	case 2: // resumes soon, with headroom for a second strong egress
		m.XONOffset = m.between(400, 3*m.full())
		m.Threshold = m.XONOffset + m.between(3*m.full(), 20*m.full())
	default:
		m.Threshold = m.between(4*m.full(), 30*m.full())
		m.XONOffset = m.between(1, m.Threshold)
	}
	m.limitXON()
}

// resumeLate draws a low XON: few bytes suffice to keep a priority group stuck.
func (m *maker) resumeLate() {
	m.Threshold = m.between(4*m.full(), 20*m.full())
	m.XONOffset = m.Threshold - m.between(0, 2*m.full())
}

func (m *maker) limitXON() {
	m.Threshold = max(m.Threshold, 2*m.reserved())
	m.XONOffset = min(m.XONOffset, m.Threshold)
}

// timers draws how long pauses last. In mode Loss a pause survives the loss of several
// refreshes; in mode Expiry it is short enough to expire while a switch is stopped.
func (m *maker) timers() {
	fastest := m.fastest()
	quanta := func(ticks int) int { return int(int64(ticks) * int64(m.full()) / 64 * int64(fastest/m.rate)) }
	switch m.Mode {
	default:
		m.Quanta = pick(m, 65535, 16384, 4096)
		m.Refresh = fastest.QuantaTime(uint16(m.Quanta)) / 3
	case Loss:
		m.Quanta = quanta(m.between(30, 80))
		m.Refresh = fastest.QuantaTime(uint16(m.Quanta)) / 8
	case Expiry: // jitter must not use up the margin between a refresh and the end of the pause
		m.Quanta = quanta(m.between(8, 20) + 2*int(m.hop()/m.tick))
		m.Refresh = fastest.QuantaTime(uint16(m.Quanta)) / 3
	}
}

// fastest is the rate of the fastest link, at least that of a usual one.
func (m *maker) fastest() unit.Rate {
	return slices.Max(append(lists.Map(m.Links, func(l Link) unit.Rate { return l.Rate }), m.rate))
}

// headroom computes how much can arrive after XOFF: everything until the pause has
// waited for a full frame and other control frames, has crossed the wire, and the frame
// in transmission at the far end is through; then what is on the wire. A lost pause
// adds a refresh interval, a stop of either end its time. When a failed link heals, all
// this happens again: the far end sends before it hears that the priority group is still XOFF.
func (m *maker) headroom() {
	extra := unit.Time(0)
	if m.Mode == Loss {
		extra = 5 * m.Refresh
	}
	stopped, heals := map[string]unit.Time{}, map[string]int{}
	for _, e := range m.Events {
		switch e.Do {
		case "stop":
			stopped[e.Node] -= e.At
		case "continue":
			stopped[e.Node] += e.At + 4*m.tick
		case "heal":
			heals[e.Link]++
		}
	}
	for _, l := range m.Links {
		t := 2*l.Delay + 2*l.Jitter + 3*l.Rate.FrameTime(m.full()) + 30*l.Rate.FrameTime(control) + extra
		t += max(stopped[l.A], 0) + max(stopped[l.B], 0)
		most := 0
		for _, name := range m.namesOf(l) {
			most = max(most, heals[name])
		}
		t *= unit.Time(1 + most)
		m.Headroom = max(m.Headroom, int(int64(l.Rate)/8*int64(t)/int64(unit.Second))+m.full())
	}
}

// last extends the run by the time a detector may need after the flows: hops for
// looking at several ways round a deadlock one after the other, and refreshes for
// labels that were lost.
func (m *maker) last() {
	after := unit.Time(600) // hops
	if m.Mode == Long {
		after = longHops
	}
	m.Duration = m.end + after*m.hop() + 6*m.Refresh
	m.outlast()
}

// outlast extends the run beyond its events.
func (m *maker) outlast() {
	for _, e := range m.Events {
		m.Duration = max(m.Duration, e.At+e.For+200*m.hop())
	}
}

// hop is the longest time a pause takes over a link with the usual rate and delay.
func (c *Case) hop() (worst unit.Time) {
	for _, l := range c.Links {
		worst = max(worst, l.hop(c.full()))
	}
	return worst
}

// hop is the longest time that a pause takes behind a frame of full bytes.
func (l Link) hop(full int) unit.Time {
	return l.Rate.FrameTime(full) + l.Rate.FrameTime(control) + l.Delay + l.Jitter
}
