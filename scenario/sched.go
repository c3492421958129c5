package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/topo"
)

// scheds gives ports the schedulers that they have of their own.
func (p *parser) scheds(s *Scenario, overrides []fileOverride) {
	for i, o := range overrides {
		path := fmt.Sprintf("topology.overrides[%d].scheduler", i)
		l, ok := p.fabric.Link(o.Link)
		if len(o.Scheduler) == 0 || !ok {
			continue
		}
		ends := []topo.End{p.fabric.Links[l].A, p.fabric.Links[l].B}
		if len(o.Scheduler) > 2 {
			p.Faultf(path, "%d schedulers; write one, or one for each end", len(o.Scheduler))
			continue
		}
		for k, own := range o.Scheduler {
			at := path
			if len(o.Scheduler) > 1 {
				at = fmt.Sprintf("%s[%d]", path, k)
			}
			own.Check(p.Doc, at)
		}
		for k, end := range ends {
			own := o.Scheduler[min(k, len(o.Scheduler)-1)]
			if p.fabric.Nodes[end.Node].Kind == topo.Switch {
				if s.Ports == nil {
					s.Ports = make(PerEnd[Port], len(p.fabric.Links))
				}
				s.Ports.of(p.fabric, end).Sched = own
			} else if len(o.Scheduler) > 1 && len(own) > 0 {
				p.Faultf(fmt.Sprintf("%s[%d]", path, k), "%s is a host, whose flows take turns; write {} for its end", p.fabric.Nodes[end.Node].Name)
			}
		}
	}
}

// starving warns of lossless priorities that a strict one can starve.
func (p *parser) starving(s *Scenario, overrides []fileOverride) {
	warned := map[string]bool{}
	warn := func(path string, scheds config.Scheds, lossless []int) {
		lossless = slices.Sorted(slices.Values(lossless))
		for _, first := range scheds.Strict() {
			behind := lists.Where(lossless, func(c int) bool { return c != first && (scheds[c].Type != "strict" || c < first) })
			if len(behind) == 0 {
				continue
			}
			text := fmt.Sprintf("priority %d is strict: while it has frames, lossless %s nothing", first, send(behind))
			if !warned[text] {
				warned[text] = true
				s.Warnings = append(s.Warnings, p.At(path, text+"; that is starving if it lasts, and no deadlock").String())
			}
		}
	}
	warn("scheduler", s.Sched, s.Lossless())
	for i, o := range overrides {
		for _, own := range o.Scheduler {
			warn(fmt.Sprintf("topology.overrides[%d].scheduler", i), own.Over(s.Sched), s.Lossless())
		}
	}
}

// send says that one or more priorities send: "priority 3 sends", "priorities 3, 4 send".
func send(priorities []int) string {
	if len(priorities) == 1 {
		return fmt.Sprintf("priority %d sends", priorities[0])
	}
	return fmt.Sprintf("priorities %s send", strings.Join(lists.Map(priorities, strconv.Itoa), ", "))
}
