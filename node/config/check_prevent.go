package config

import (
	"fmt"
	"slices"

	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// maxLimits is the number of policers of a switch.
const maxLimits = 64

// checkPrevention adds the faults of the prevention settings of s, which is filled in,
// to d.
func checkPrevention(d *strictyaml.Doc, s *Switch) {
	checkRewrites(d, s)
	if s.TTLBand != 0 && len(s.Rewrite) > 0 {
		d.Faultf("ttl_band", "%d, and there are rewrite rules: one of the two gives a frame its priority", s.TTLBand)
	}
	if s.TTLBand != 0 && len(s.PFC.Lossless) == 0 {
		d.Faultf("ttl_band", "%d: there is no lossless priority; name some in pfc.lossless", s.TTLBand)
	}
	if s.NoFlood && s.Lossless() == 1<<unit.Priorities-1 {
		d.Faultf("no_flood", "all priorities are lossless: leave one for what is flooded")
	}
	checkMarks(d, s)
	checkLimits(d, s)
	checkGFC(d, s)
	checkRings(d, s)
	for i, p := range s.Ports {
		checkThresholds(d, fmt.Sprintf("ports[%d]", i), p, &s.Buffer)
	}
}

func checkRewrites(d *strictyaml.Doc, s *Switch) {
	for i, r := range s.Rewrite {
		path := fmt.Sprintf("rewrite[%d]", i)
		if !s.Lossless().Has(unit.Priority(r.Priority)) {
			d.Faultf(path+".priority", "priority %d is not lossless; use one of %v", r.Priority, s.Lossless().List())
		}
		for _, ports := range []struct {
			key  string
			list []int
		}{{".in", r.In}, {".out", r.Out}} {
			checkPortList(d, path+ports.key, ports.list, len(s.Ports), "name some")
		}
		for j, other := range s.Rewrite[:i] {
			if r.Priority == other.Priority && overlap(r.In, other.In) && overlap(r.Out, other.Out) {
				d.Faultf(path, "priority %d has a rule for some of these ports already, rewrite[%d]: a frame has one", r.Priority, j)
			}
		}
	}
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(p int) bool { return slices.Contains(b, p) })
}

// checkMarks requires a code point for every priority that frames are rewritten to, if the
// DSCP gives the priority.
func checkMarks(d *strictyaml.Doc, s *Switch) {
	if s.Trust != "dscp" {
		return
	}
	for i, r := range s.Rewrite {
		if r.To < unit.Priorities && !s.marks(r.To) {
			d.Faultf(fmt.Sprintf("rewrite[%d].to", i), "no DSCP maps to priority %d; add one to dscp_map", r.To)
		}
	}
	for _, c := range s.PFC.Lossless {
		if s.TTLBand > 0 && !s.marks(c) {
			d.Faultf("ttl_band", "no DSCP maps to priority %d; add one to dscp_map", c)
		}
	}
	lossy := 0
	for lossy < unit.Priorities && s.Lossless().Has(unit.Priority(lossy)) {
		lossy++
	}
	if s.NoFlood && lossy < unit.Priorities && !s.marks(lossy) {
		d.Faultf("no_flood", "no DSCP maps to priority %d, the lowest lossy one; add one to dscp_map", lossy)
	}
}

// marks reports whether a DSCP maps to a priority: without an entry dscp maps to dscp/8.
func (s *Switch) marks(priority int) bool {
	for dscp := range 64 {
		c, ok := s.DSCPMap[dscp]
		if !ok {
			c = dscp >> 3
		}
		if c == priority {
			return true
		}
	}
	return false
}

func checkLimits(d *strictyaml.Doc, s *Switch) {
	if n := len(s.Limits); n > maxLimits {
		d.Faultf("limits", "%d limits: a switch has at most %d", n, maxLimits)
	}
	for i, l := range s.Limits {
		path := fmt.Sprintf("limits[%d]", i)
		d.Within(path+".port", l.Port, 0, len(s.Ports)-1)
		if l.Rate == 0 {
			d.Faultf(path+".rate", `%s is not a limit: write a rate above zero such as "2Gbit/s"`, l.Rate)
		}
		switch {
		case (l.Priority == nil) == (l.Flow == nil):
			d.Faultf(path, "a limit is for a priority or for a flow: write one of the two")
		case l.Priority != nil && !slices.Contains(s.PFC.Lossless, *l.Priority):
			d.Faultf(path+".priority", "priority %d is not lossless; use one of %v", *l.Priority, s.PFC.Lossless)
		case l.Flow != nil:
			needed(d, path+".flow.from", l.Flow.From)
			needed(d, path+".flow.to", l.Flow.To)
		}
	}
}

// checkGFC requires of what GFC slows down that it has room of its own: what another priority group takes of
// a pool no rate can take back.
func checkGFC(d *strictyaml.Doc, s *Switch) {
	if s.GFC == nil || d.Faulty("gfc") || d.Faulty("buffer") {
		return
	}
	if !checkOwnRoom(d, "gfc", s) {
		return
	}
	for i, p := range s.Ports {
		c := s.gfc(i)
		if c == nil {
			continue
		}
		path := fmt.Sprintf("ports[%d]", i)
		switch {
		case p.Rate == 0:
			d.Faultf(path+".rate", "%s, and gfc tells its far end a part of it: write a rate above zero such as \"10Gbit/s\"", p.Rate)
		case s.GFC.Lowest == 0 || s.GFC.Lowest > p.Rate/2:
			d.Faultf("gfc.lowest", "%s, and the rate of %s is %s: use a rate above zero and at most half of that", s.GFC.Lowest, p.Name, p.Rate)
		case s.GFC.Start == nil && c.Start < 1:
			threshold, _ := s.Thresholds(i)
			d.Faultf("gfc", "at %s a priority group goes XOFF at %d bytes, and has %d of headroom: rates fall from the one less the other and two frames on; use a static_th that is larger by %d or more, or write start", p.Name, threshold, s.XOFFOf(i), 1-c.Start)
		case c.Start >= c.Full:
			d.Faultf("gfc.start", "%d bytes, and a priority group of %s has room for %d and two frames; use less than that", c.Start, p.Name, c.Full)
		default:
			continue
		}
		return // other ports repeat it
	}
}

// checkOwnRoom requires that each priority group has for itself what it may hold, for the sake of a key. It
// reports whether it has.
func checkOwnRoom(d *strictyaml.Doc, key string, s *Switch) bool {
	switch {
	case s.Buffer.DynamicTh != nil:
		d.Faultf(key, "buffer.dynamic_th is %d, and it needs thresholds that stay; use static_th there", *s.Buffer.DynamicTh)
	case s.Buffer.HeadroomPool != nil:
		d.Faultf(key, "there is buffer.headroom_pool, and each priority group needs its own headroom; take it away")
	case s.Lossless() == 0:
		d.Faultf(key, "there is no lossless priority; name some in pfc.lossless")
	default:
		c := s.BuildBuffer()
		if !c.Shares() {
			return true
		}
		d.Faultf(key, "buffer.pool is %d bytes, and it has to hold what all priority groups may use of it, %d of each: use more, or a smaller static_th", s.Buffer.Pool, *s.Buffer.StaticTh)
	}
	return false
}

// checkRings requires that each port leads on in one ring at most.
func checkRings(d *strictyaml.Doc, s *Switch) {
	if len(s.Rings) == 0 || d.Faulty("buffer") || !checkOwnRoom(d, "rings", s) {
		return
	}
	leads := map[int]int{}
	for i, r := range s.Rings {
		path := fmt.Sprintf("rings[%d]", i)
		if !d.Within(path+".in", r.In, 0, len(s.Ports)-1) || !d.Within(path+".out", r.Out, 0, len(s.Ports)-1) {
			continue
		}
		if first, ok := leads[r.Out]; ok {
			d.Faultf(path+".out", "%s leads on in rings[%d] already: a link is in one ring", s.Ports[r.Out].Name, first)
			continue
		}
		leads[r.Out] = i
	}
}

// checkThresholds checks a port's own thresholds.
func checkThresholds(d *strictyaml.Doc, path string, p Port, b *Buffer) {
	if p.StaticTh == nil && p.XONOffset == nil {
		return
	}
	if b.DynamicTh != nil {
		d.Faultf(path, "thresholds of its own, and buffer.dynamic_th is %d: use static_th there", *b.DynamicTh)
		return
	}
	own := b.at(p)
	ok := d.Within(path+".static_th", *own.StaticTh, 0, max(b.Pool, 0))
	if !d.Within(path+".xon_offset", *own.XONOffset, 0, 1<<30) || !ok {
		return
	}
	if threshold, _ := own.thresholds(); *own.XON >= threshold {
		d.Faultf(path+".static_th", "XOFF threshold %d (buffer.size + static_th): use more than buffer.xon, %d", threshold, *own.XON)
	}
}
