package buffer

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"softswitch/unit"
)

// slowMMU is the reference model of MMU, slow and obvious. A priority group is a string with a letter a
// byte, those that fill its frames' cells included: R in the reserved area, S in the shared pool, H in the headroom. Every
// account is counted anew from the letters.
type slowMMU struct {
	cfg  Config
	pgs  map[slowPG]*slowGroup
	held map[slowEdge]int
}

type slowPG struct {
	in       unit.Port
	priority unit.Priority
}

type slowEdge struct {
	b        slowPG
	out      unit.Port
	priority unit.Priority
}

type slowGroup struct {
	letters []byte
	th      *Threshold // nil: the profile's
	extra   int
	xoff    bool
	period  uint8
	// Watermarks.
	bytesMax, headroomMax int
}

func newSlowMMU(c Config) *slowMMU {
	s := &slowMMU{cfg: c, pgs: make(map[slowPG]*slowGroup), held: make(map[slowEdge]int)}
	for in := range unit.Port(c.Ports) {
		for priority := range unit.Priority(unit.Priorities) {
			if c.Lossless.Has(priority) {
				g := &slowGroup{}
				if c.Thresholds != nil {
					g.th = &c.Thresholds[in]
				}
				s.pgs[slowPG{in, priority}] = g
			}
		}
	}
	return s
}

// cells is what a frame of n bytes is charged: one cell after the other, until they hold it.
func (s *slowMMU) cells(n int) int {
	cell, charged := max(s.cfg.Cell, 1), 0
	for charged < n {
		charged += cell
	}
	return charged
}

// xoff is the most letters H of a priority group, slack apart.
func (s *slowMMU) xoff(b slowPG) int {
	if s.cfg.Headroom != nil {
		return s.cfg.Headroom[b.in]
	}
	return s.cfg.Profile.XOFF
}

// pooled is the use of the pool of headroom: the letters H of the priority groups of each port, those that
// are slack and those that are the port's own apart.
func (s *slowMMU) pooled() (n int) {
	if s.cfg.HeadroomPool == nil {
		return 0
	}
	for in := range unit.Port(s.cfg.Ports) {
		used := 0
		for b, g := range s.pgs {
			if b.in == in {
				used += min(g.count("H"), s.xoff(b))
			}
		}
		n += max(0, used-s.cfg.HeadroomPool.Port)
	}
	return n
}

func (g *slowGroup) count(letter string) int { return bytes.Count(g.letters, []byte(letter)) }

// shared is the use of the pool: the letters S of all priority groups.
func (s *slowMMU) shared() (n int) {
	for _, g := range s.pgs {
		n += g.count("S")
	}
	return n
}

// limit is how many letters S a priority group may have: static_th, or alpha x what is free.
func (s *slowMMU) limit(g *slowGroup) int {
	p := s.cfg.Profile
	if g.th != nil {
		return g.th.StaticTh
	}
	if !p.Dynamic {
		return p.StaticTh
	}
	return int(math.Floor(math.Pow(2, float64(p.DynamicTh)) * float64(s.cfg.Shared-s.shared())))
}

func (s *slowMMU) xon(g *slowGroup) int {
	p := s.cfg.Profile
	offset := p.XONOffset
	if g.th != nil {
		offset = g.th.XONOffset
	}
	most := p.Size + s.limit(g) + g.extra
	spare := s.cfg.Shared - s.shared() + max(p.Size-g.count("R"), 0)
	return min(max(p.XON, most-offset), most, g.count("R")+g.count("S")+spare)
}

// setExtra raises the limit of a priority group by n.
func (s *slowMMU) setExtra(b slowPG, n int) (xon, ok bool) {
	g, extra := s.pgs[b], 0
	for _, other := range s.pgs {
		extra += other.extra
	}
	if n > g.extra && s.shared()+extra-g.extra+n > s.cfg.Shared {
		return false, false
	}
	g.extra = n
	return s.resume(g), true
}

// drain relabels headroom as reserved and shared bytes while the limit of before and the pool
// take one more.
func (s *slowMMU) drain(g *slowGroup) {
	limit := s.limit(g) + g.extra
	for g.count("H") > 0 && g.count("R")+g.count("S") < s.cfg.Profile.Size+limit {
		letter := byte('S')
		if g.count("R") < s.cfg.Profile.Size {
			letter = 'R'
		} else if s.shared() == s.cfg.Shared {
			return
		}
		g.letters[bytes.IndexByte(g.letters, 'H')] = letter
	}
}

func (s *slowMMU) admit(b slowPG, n int) (v Verdict, xoff bool) {
	g, n := s.pgs[b], s.cells(n)
	limit := s.limit(g) + g.extra
	was := g.letters
	for range n {
		if g.count("R") < s.cfg.Profile.Size {
			g.letters = append(g.letters, 'R')
		} else {
			g.letters = append(g.letters, 'S')
		}
	}
	if g.count("S") > limit || s.shared() > s.cfg.Shared {
		v = InHeadroom
		g.letters = append(slices.Clip(was), bytes.Repeat([]byte("H"), n)...)
		if g.count("H") > s.xoff(b)+s.cfg.Profile.Slack || s.cfg.HeadroomPool != nil && s.pooled() > s.cfg.HeadroomPool.Bytes {
			g.letters, v = was, HeadroomFull
		} else {
			s.drain(g)
		}
	}
	g.bytesMax = max(g.bytesMax, len(g.letters))
	g.headroomMax = max(g.headroomMax, g.count("H"))
	if !g.xoff && (v == HeadroomFull || g.count("H") > 0 || len(g.letters) >= s.cfg.Profile.Size+limit) && len(g.letters) > s.xon(g) {
		g.xoff, xoff = true, true
		g.period++
	}
	return v, xoff
}

func (s *slowMMU) release(b slowPG, n int) (xon bool) {
	g := s.pgs[b]
	for range s.cells(n) {
		g.strike()
	}
	return s.resume(g)
}

// strike takes a byte: from the headroom, else from the shared pool, else from
// the reserved area.
func (g *slowGroup) strike() {
	for _, letter := range []byte("HSR") {
		if i := bytes.IndexByte(g.letters, letter); i >= 0 {
			g.letters = append(g.letters[:i:i], g.letters[i+1:]...)
			return
		}
	}
	panic("slowMMU: a byte is released that is not there")
}

func (s *slowMMU) resume(g *slowGroup) bool {
	if !g.xoff {
		return false
	}
	if s.drain(g); len(g.letters) <= s.xon(g) {
		g.xoff = false
		return true
	}
	return false
}

// reopened makes XON every priority group that is to be, in the order of ports and
// priorities.
func (s *slowMMU) reopened() (all []slowPG) {
	for in := range unit.Port(s.cfg.Ports) {
		for priority := range unit.Priority(unit.Priorities) {
			b := slowPG{in, priority}
			if g := s.pgs[b]; g != nil && (s.cfg.Profile.Dynamic || g.count("H") > 0) && s.resume(g) {
				all = append(all, b)
			}
		}
	}
	return all
}

func (s *slowMMU) clearWatermarks() {
	for _, g := range s.pgs {
		g.bytesMax, g.headroomMax = len(g.letters), g.count("H")
	}
}

// diff says where m and s differ, "" if nowhere.
func (s *slowMMU) diff(m *MMU) string {
	if got, want := m.Shared(), s.shared(); got != want {
		return fmt.Sprintf("Shared() = %d, want %d", got, want)
	}
	if got, want := m.HeadroomPool(), s.pooled(); got != want {
		return fmt.Sprintf("HeadroomPool() = %d, want %d", got, want)
	}
	for in := range unit.Port(s.cfg.Ports) {
		for priority := range unit.Priority(unit.Priorities) {
			if d := s.diffPG(m, slowPG{in, priority}); d != "" {
				return fmt.Sprintf("priority group (%d, %d): %s", in, priority, d)
			}
		}
	}
	return ""
}

func (s *slowMMU) diffPG(m *MMU, b slowPG) string {
	g := s.pgs[b]
	if m.Lossless(b.priority) != (g != nil) {
		return fmt.Sprintf("Lossless = %v", m.Lossless(b.priority))
	}
	if g == nil {
		g = &slowGroup{}
	} else if got, want := m.XON(b.in, b.priority), s.xon(g); got != want || m.Extra(b.in, b.priority) != g.extra {
		return fmt.Sprintf("XON = %d with an extra threshold of %d, want %d with %d", got, m.Extra(b.in, b.priority), want, g.extra)
	}
	type account struct {
		bytes, headroom, bytesMax, headroomMax int
		xoff                                   bool
		period                                 uint8
	}
	var got account
	got.bytes, got.headroom = m.Bytes(b.in, b.priority)
	got.bytesMax, got.headroomMax = m.Watermark(b.in, b.priority)
	got.xoff, got.period = m.XOFF(b.in, b.priority)
	want := account{len(g.letters), g.count("H"), g.bytesMax, g.headroomMax, g.xoff, g.period}
	if got != want {
		return fmt.Sprintf("%+v, want %+v", got, want)
	}
	for out := range unit.Port(s.cfg.Ports) {
		for priority := range unit.Priority(unit.Priorities) {
			if got, want := m.Held(b.in, b.priority, out, priority), s.held[slowEdge{b, out, priority}]; got != want {
				return fmt.Sprintf("Held(%d, %d) = %d, want %d", out, priority, got, want)
			}
		}
	}
	return ""
}
