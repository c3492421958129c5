package fuzz

import (
	"context"
	"slices"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Shrink makes c smaller as long as fails reports that the smaller case still fails,
// and returns the smallest one it found. It calls fails at most tries times, and not once ctx has
// ended. A candidate may be an invalid scenario: fails must return false for it.
//
// It removes flows, workloads, events, switches, hosts, links, routes and dead hosts, halves
// first, then shortens the run, then rounds numbers, and starts over until nothing
// helps.
func Shrink(ctx context.Context, c *Case, tries int, fails func(*Case) bool) *Case {
	s := &shrinker{ctx: ctx, best: c, tries: tries, fails: fails}
	for s.progress = true; s.progress && s.tries > 0; {
		s.progress = false
		s.parts()
		s.times()
		s.numbers()
	}
	return s.best
}

type shrinker struct {
	ctx      context.Context
	best     *Case
	tries    int
	fails    func(*Case) bool
	progress bool
}

// try applies change to a copy of the best case and keeps it if it still fails. change
// returns false if there is nothing to change.
func (s *shrinker) try(change func(*Case) bool) bool {
	if s.tries == 0 || s.ctx.Err() != nil {
		return false
	}
	c := s.best.clone()
	if !change(c) {
		return false
	}
	s.tries--
	if !s.fails(c) {
		return false
	}
	s.best, s.progress = c, true
	return true
}

func (c *Case) clone() *Case {
	d := *c
	d.Shared = slices.Clone(c.Shared)
	d.Switches, d.Hosts, d.Links = slices.Clone(c.Switches), slices.Clone(c.Hosts), slices.Clone(c.Links)
	d.LAGs = slices.Clone(c.LAGs)
	d.Ports = slices.Clone(c.Ports)
	d.Routes, d.Dead = slices.Clone(c.Routes), slices.Clone(c.Dead)
	d.Workloads = slices.Clone(c.Workloads) // each shares its Hosts, which nobody changes
	d.Flows, d.Events, d.Plants = slices.Clone(c.Flows), slices.Clone(c.Events), slices.Clone(c.Plants)
	return &d
}

// parts removes parts.
func (s *shrinker) parts() {
	s.remove(func(c *Case) int { return len(c.Flows) }, func(c *Case, i, j int) { c.Flows = slices.Delete(c.Flows, i, j) })
	s.remove(func(c *Case) int { return len(c.Workloads) }, func(c *Case, i, j int) { c.Workloads = slices.Delete(c.Workloads, i, j) })
	s.remove(func(c *Case) int { return len(c.Events) }, func(c *Case, i, j int) { c.Events = slices.Delete(c.Events, i, j) })
	s.remove(func(c *Case) int { return len(c.Switches) }, func(c *Case, i, j int) { c.drop(slices.Clone(c.Switches[i:j])) })
	s.remove(func(c *Case) int { return len(c.Hosts) }, func(c *Case, i, j int) { c.drop(slices.Clone(c.Hosts[i:j])) })
	s.remove(func(c *Case) int { return len(c.Links) }, func(c *Case, i, j int) { c.dropLinks(c.Links[i:j]) })
	s.remove(func(c *Case) int { return len(c.LAGs) }, func(c *Case, i, j int) {
		gone := slices.Clone(c.LAGs[i:j])
		c.dropLAGs(func(l LAG) bool { return slices.Contains(gone, l) })
	})
	s.remove(func(c *Case) int { return len(c.Ports) }, func(c *Case, i, j int) { c.Ports = slices.Delete(c.Ports, i, j) })
	s.remove(func(c *Case) int { return len(c.Routes) }, func(c *Case, i, j int) { c.Routes = slices.Delete(c.Routes, i, j) })
	s.remove(func(c *Case) int { return len(c.Shared) }, func(c *Case, i, j int) { c.Shared = slices.Delete(c.Shared, i, j) })
	s.remove(func(c *Case) int { return len(c.Dead) }, func(c *Case, i, j int) { c.Dead = slices.Delete(c.Dead, i, j) })
}

// remove cuts runs of parts, from half of them down to single ones.
func (s *shrinker) remove(size func(*Case) int, cut func(c *Case, from, to int)) {
	for n := max(size(s.best)/2, 1); ; n /= 2 {
		for i := 0; i < size(s.best); {
			removed := s.try(func(c *Case) bool {
				cut(c, i, min(i+n, size(c)))
				return true
			})
			if !removed {
				i += n
			}
		}
		if n == 1 {
			return
		}
	}
}

// drop removes nodes with everything attached to them or that names them: links, a
// switch's hosts, flows, routes and events.
func (c *Case) drop(names []string) {
	stays := func(host string) bool {
		return slices.ContainsFunc(c.Links, func(l Link) bool { return l.B == host && !slices.Contains(names, l.A) })
	}
	var with []string
	for _, l := range c.Links { // a switch takes its hosts with it
		if slices.Contains(names, l.A) && slices.Contains(c.Hosts, l.B) && !stays(l.B) {
			with = append(with, l.B)
		}
	}
	names = append(names, with...)
	is := func(name string) bool { return slices.Contains(names, name) }
	c.Switches = slices.DeleteFunc(c.Switches, is)
	c.Hosts = slices.DeleteFunc(c.Hosts, is)
	c.Shared = slices.DeleteFunc(c.Shared, is)
	c.Dead = slices.DeleteFunc(c.Dead, is)
	c.dropLinks(lists.Where(c.Links, func(l Link) bool { return is(l.A) || is(l.B) }))
	c.Routes = slices.DeleteFunc(c.Routes, func(r Route) bool { return is(r.At) || is(r.To) || is(r.Next) })
	c.Flows = slices.DeleteFunc(c.Flows, func(f Flow) bool { return is(f.From) || is(f.To) })
	c.dropWorkers(is)
	c.Events = slices.DeleteFunc(c.Events, func(e Event) bool { return is(e.Node) })
}

// dropLinks removes links, and what names them.
func (c *Case) dropLinks(links []Link) {
	gone := slices.Clone(links)
	c.Links = slices.DeleteFunc(c.Links, func(l Link) bool { return slices.Contains(gone, l) })
	c.dropPorts()
	for _, l := range gone {
		c.dropLAGs(func(lag LAG) bool { return lag.Link == l.name() })
		c.Events = slices.DeleteFunc(c.Events, func(e Event) bool { return e.Link == l.name() })
		c.Routes = slices.DeleteFunc(c.Routes, func(r Route) bool {
			return r.At == l.A && r.Next == l.B || r.At == l.B && r.Next == l.A
		})
	}
}

// times shortens the run, and moves the start and end of flows and events earlier.
func (s *shrinker) times() {
	for s.try(func(c *Case) bool { c.cut(c.Duration * 3 / 4); return true }) {
	}
	for i := range s.best.Flows {
		s.try(func(c *Case) bool { return set(&c.Flows[i].Start, 0) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].Stop, 0) })
		s.try(func(c *Case) bool {
			f := &c.Flows[i]
			return f.Stop > 0 && set(&f.Stop, f.Start+(f.Stop-f.Start)/2)
		})
	}
	for i := range s.best.Events {
		s.try(func(c *Case) bool { return set(&c.Events[i].For, 0) })
	}
}

// cut ends the run at end, and removes what would happen later.
func (c *Case) cut(end unit.Time) {
	c.Duration = end
	c.Flows = slices.DeleteFunc(c.Flows, func(f Flow) bool { return f.Start >= end })
	for i := range c.Flows {
		c.Flows[i].Stop = min(c.Flows[i].Stop, end)
	}
	c.Workloads = slices.DeleteFunc(c.Workloads, func(w Workload) bool { return w.Start >= end })
	for i := range c.Workloads {
		c.Workloads[i].Stop = min(c.Workloads[i].Stop, end)
	}
	c.Events = slices.DeleteFunc(c.Events, func(e Event) bool { return e.At+e.For > end })
}

// numbers rounds numbers and goes back to defaults.
func (s *shrinker) numbers() {
	s.try(func(c *Case) bool { return set(&c.ControlLoss, 0) })
	for i := range s.best.LAGs {
		for s.try(func(c *Case) bool {
			l := &c.LAGs[i]
			if l.Members == 2 {
				return false
			}
			c.dropMembers(l.names()[l.Members-1:])
			l.Members--
			return true
		}) {
		}
	}
	s.try(func(c *Case) bool { return set(&c.Congestion, Congestion{}) })
	s.try(func(c *Case) bool { return c.eachLink(func(l *Link) bool { return set(&l.Jitter, 0) }) })
	s.try(func(c *Case) bool { return c.eachLink(func(l *Link) bool { return set(&l.Delay, round(l.Delay)) }) })
	s.try(func(c *Case) bool {
		def := c.Links[0]
		return c.eachLink(func(l *Link) bool {
			was := *l
			l.Rate, l.Delay, l.Jitter = def.Rate, def.Delay, def.Jitter
			return *l != was
		})
	})
	for i := range s.best.Flows {
		s.try(func(c *Case) bool { return set(&c.Flows[i].Rate, 0) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].Frame, c.full()) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].TTL, 64) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].RC, nil) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].NIC, nil) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].ToNIC, nil) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].Size, 0) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].Start, round(c.Flows[i].Start)) })
		s.try(func(c *Case) bool { return set(&c.Flows[i].Stop, round(c.Flows[i].Stop)) })
	}
	s.try(func(c *Case) bool { return set(&c.Sched, "") })
	s.try(func(c *Case) bool { return c.eachLink(func(l *Link) bool { return set(&l.Sched, "") }) })
	for i := range s.best.Workloads {
		s.try(func(c *Case) bool { return set(&c.Workloads[i].RC, nil) })
		s.try(func(c *Case) bool { return set(&c.Workloads[i].Chunks, 0) })
		s.try(func(c *Case) bool { return set(&c.Workloads[i].Start, 0) })
		s.try(func(c *Case) bool {
			return c.Workloads[i].Off > 0 && set(&c.Workloads[i].On, 0) && set(&c.Workloads[i].Off, 0)
		})
	}
	for i := range s.best.Events {
		s.try(func(c *Case) bool { return set(&c.Events[i].At, round(c.Events[i].At)) })
		s.try(func(c *Case) bool { return set(&c.Events[i].For, round(c.Events[i].For)) })
	}
}

func (c *Case) eachLink(change func(*Link) bool) (changed bool) {
	for i := range c.Links {
		changed = change(&c.Links[i]) || changed
	}
	return changed
}

// set assigns v and reports whether that changed anything.
func set[T comparable](to *T, v T) bool {
	was := *to
	*to = v
	return v != was
}

// round rounds t down to two digits.
func round(t unit.Time) unit.Time {
	step := unit.Time(1)
	for t/step >= 100 {
		step *= 10
	}
	return t / step * step
}
