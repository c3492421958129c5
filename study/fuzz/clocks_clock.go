package fuzz

import (
	"slices"
	"sort"

	"softswitch/event"
	"softswitch/internal/stat"
	"softswitch/oracle/clocks"
	"softswitch/unit"
)

// clock is what one machine's clock shows.
type clock struct {
	offset unit.Time
	drift  unit.Time // parts per million
	// From stepAt on it is ahead by step more.
	stepAt, step unit.Time
}

const (
	second = unit.Second
	hours  = 10 * 3600 * second // offsets are up to this
)

// at is what the clock shows at a true time.
func (c *clock) at(t unit.Time) unit.Time {
	local := c.offset + t + (t*c.drift-t*c.drift%1e6)/1e6
	if c.step != 0 && t >= c.stepAt {
		local += c.step
	}
	return local
}

// random are the numbers of a case.
func random(seed uint64, i int) *stat.Rand {
	r := stat.Rand(stat.Mix(seed) + stat.Mix(uint64(i)))
	return &r
}

// below is a time from 0 to before n, which must be positive.
func below(r *stat.Rand, n unit.Time) unit.Time { return unit.Time(r.Next()>>1) % n }

// draw are n clocks, of which one may step. busy are the true times of what is in the logs
// of each.
func draw(r *stat.Rand, n int, busy [][]unit.Time, end unit.Time) []clock {
	all := make([]clock, n)
	for i := range all {
		all[i].offset = second + below(r, hours)
		all[i].drift = unit.Time(r.Below(2*clocks.MaxDrift+1)) - clocks.MaxDrift
	}
	if r.Below(3) > 0 {
		return all
	}
	n = r.Below(n)
	c, of := &all[n], busy[n]
	c.stepAt = below(r, end)
	c.step = unit.Microsecond << r.Below(32) // up to 36 minutes
	c.step += below(r, c.step)
	if r.Below(2) == 0 && len(of) > 1 {
		// A machine was suspended: its clock stood still, and nothing happened on it. It is
		// behind by as long as that took.
		i := 1 + sort.Search(len(of)-2, func(i int) bool { return of[i+1] > c.stepAt })
		c.stepAt = of[i]
		c.step = -min(c.step, (of[i]-of[i-1])*9/10)
	}
	return all
}

// shown are logs as the clocks of their nodes have them.
func shown(logs []event.Log, by []int, all []clock) []event.Log {
	return moved(logs, func(i int, at unit.Time) unit.Time { return all[by[i]].at(at) })
}

// moved are logs with other times: to is that of an event of log i.
func moved(logs []event.Log, to func(i int, at unit.Time) unit.Time) []event.Log {
	out := slices.Clone(logs)
	for i := range out {
		out[i].Events = slices.Clone(out[i].Events)
		for k := range out[i].Events {
			out[i].Events[k].At = to(i, out[i].Events[k].At)
		}
	}
	return out
}
