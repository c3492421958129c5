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
