package fuzz

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"softswitch/unit"
)

// full is the largest frame, control a PFC frame or a message, in bytes.
const (
	full    = 1514
	control = 60
)

// maker draws a case.
type maker struct {
	*Case
	rng  *rand.Rand
	rate unit.Rate // of a usual link
	tick unit.Time // a full frame on a usual link

	at    map[string][]string // hosts, by switch
	home  map[string]string   // switch, by host
	wired map[[2]string]bool
	arcs  []arc     // a directed graph that routes keep to
	pairs []pair    // of hosts whose flows make the loops, with the shape's own wishes
	end   unit.Time // flows that stop have stopped
}

// arc is a link in a direction.
type arc struct{ from, to string }

// pair is a flow that a shape wants.
type pair struct {
	from, to string
	ttl      int // 0: any that suffices
}

// shapes are the kinds of fabric, with how many of the cases are one.
var shapes = []struct {
	name   string
	weight int
	make   func(*maker)
}{
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

// New is case index of seed.
func New(seed uint64, index int, mode Mode) *Case {
	stream := uint64(index)*uint64(len(Modes)) + uint64(slices.Index(Modes, mode))
	m := &maker{
		Case: &Case{Seed: seed, Index: index, Mode: mode},
		rng:  rand.New(rand.NewPCG(seed, stream)),
		at:   map[string][]string{}, home: map[string]string{}, wired: map[[2]string]bool{},
	}
	m.Wires = uint64(m.rng.Uint32())
	m.rate = pick(m, unit.Rate(1), 10, 10, 40) * 1_000_000_000
	m.tick = m.rate.FrameTime(full)
	m.classes()
	total := 0
	for _, s := range shapes {
		total += s.weight
	}
	n := m.rng.IntN(total)
	for _, s := range shapes {
		if n -= s.weight; n < 0 {
			m.Shape = s.name
			s.make(m)
			break
		}
	}
	m.keepToArcs()
	m.floodJunction()
	m.speeds()
	m.traffic()
	m.trouble()
	m.buffers()
	slices.SortStableFunc(m.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	m.last()
	return m.Case
}

// pick is one of all.
func pick[T any](m *maker, all ...T) T { return all[m.rng.IntN(len(all))] }

// one in n.
func (m *maker) one(n int) bool { return m.rng.IntN(n) == 0 }

// between is lo to hi.
func (m *maker) between(lo, hi int) int { return lo + m.rng.IntN(hi-lo+1) }

// ticks is a time of lo to hi ticks, to the nanosecond.
func (m *maker) ticks(lo, hi int) unit.Time {
	return unit.Time(lo)*m.tick + unit.Time(m.rng.Int64N(int64(unit.Time(hi-lo)*m.tick)+1))
}

// sw adds a switch with hosts.
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

func (m *maker) classes() {
	m.Lossless = pick(m, []int{3}, []int{3}, []int{3, 4}, []int{3, 4}, []int{2, 3, 4})
}

// class of a flow or a storm: most are in the first one, so that they meet.
func (m *maker) class() int {
	if m.one(3) {
		return pick(m, m.Lossless...)
	}
	return m.Lossless[0]
}

// speeds gives every link its rate, delay and jitter.
func (m *maker) speeds() {
	delay := m.ticks(0, pick(m, 1, 3, 8))
	jitter := unit.Time(0)
	if !m.one(4) {
		jitter = m.ticks(0, pick(m, 1, 4, 10))
	}
	for i := range m.Links {
		m.Links[i].Rate, m.Links[i].Delay, m.Links[i].Jitter = m.rate, delay, jitter
	}
	if m.one(3) { // links of their own
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
	case 0: // resumes late: a bucket is stuck by little
		m.Threshold = m.between(4*full, 20*full)
		m.XONOffset = m.Threshold - m.between(0, 2*full)
	case 1: // at most one strong egress a bucket
		m.XONOffset = m.between(400, 3*full)
		m.Threshold = m.Headroom + 2*m.XONOffset + m.between(0, 4*full)
	case 2: // resumes soon, with headroom for a second strong egress
		m.XONOffset = m.between(400, 3*full)
		m.Threshold = m.XONOffset + m.between(3*full, 20*full)
	default:
		m.Threshold = m.between(4*full, 30*full)
		m.XONOffset = m.between(1, m.Threshold)
	}
	m.Threshold = max(m.Threshold, 2*reserved)
	m.XONOffset = min(m.XONOffset, m.Threshold)
}

// timers draws how long pauses last. In mode Loss a pause survives the loss of
// several refreshes, in mode Expiry it is short enough for a switch to miss it.
func (m *maker) timers() {
	fastest := m.rate
	for _, l := range m.Links {
		fastest = max(fastest, l.Rate)
	}
	quanta := func(ticks int) int { return int(int64(ticks) * full / 64 * int64(fastest/m.rate)) }
	switch m.Mode {
	case Usual:
		m.Quanta = pick(m, 65535, 16384, 4096)
		m.Refresh = fastest.QuantaTime(uint16(m.Quanta)) / 3
	case Loss:
		m.Quanta = quanta(m.between(30, 80))
		m.Refresh = fastest.QuantaTime(uint16(m.Quanta)) / 8
	case Expiry: // no jitter may use up what is between a refresh and the end of the pause
		m.Quanta = quanta(m.between(8, 20) + 2*int(m.hop()/m.tick))
		m.Refresh = fastest.QuantaTime(uint16(m.Quanta)) / 3
	}
}

// headroom is what may arrive after XOFF: until the pause has left behind a full
// frame and other control frames, has travelled, and the frame that the far end has
// begun is through, and what is on the wire then. A lost pause adds a refresh, a
// stop of either end its time. When a failed link heals, all this comes once more:
// the far end sends before it hears that the bucket is still XOFF.
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
		t := 2*l.Delay + 2*l.Jitter + 3*l.Rate.FrameTime(full) + 30*l.Rate.FrameTime(control) + extra
		t += max(stopped[l.A], 0) + max(stopped[l.B], 0)
		t *= unit.Time(1 + heals[l.A+"--"+l.B])
		m.Headroom = max(m.Headroom, int(int64(l.Rate)/8*int64(t)/int64(unit.Second))+full)
	}
}

// last makes the run as long as a detector may need after the flows: hops for
// several ways to look for a deadlock one after the other, and refreshes for labels
// that were lost.
func (m *maker) last() {
	m.Duration = m.end + 600*m.hop() + 6*m.Refresh
	for _, e := range m.Events {
		m.Duration = max(m.Duration, e.At+e.For+200*m.hop())
	}
}

// hop is how long a pause takes at most over the usual link that takes longest.
func (c *Case) hop() (worst unit.Time) {
	for _, l := range c.Links {
		worst = max(worst, l.hop())
	}
	return worst
}

func (l Link) hop() unit.Time {
	return l.Rate.FrameTime(full) + l.Rate.FrameTime(control) + l.Delay + l.Jitter
}
