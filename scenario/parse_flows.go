package scenario

import (
	"cmp"
	"fmt"

	"softswitch/scenario/config"
	"softswitch/unit"
)

func (p *parser) flows(flows []fileFlow) (out []Flow) {
	seen := map[string]int{}
	for i, f := range flows {
		path := fmt.Sprintf("flows[%d]", i)
		if first, ok := seen[f.Name]; ok || f.Name == "" {
			if ok {
				p.Faultf(path+".name", "%q is flow %d already", f.Name, first)
			} else {
				p.Faultf(path+".name", "missing: a flow has a name")
			}
		}
		seen[f.Name] = i
		out = append(out, p.flow(path, f))
	}
	return out
}

func (p *parser) flow(path string, f fileFlow) Flow {
	from, ok1 := p.node(path+".from", f.From, "host")
	to, ok2 := p.node(path+".to", f.To, "host")
	if ok1 && ok2 && from == to {
		p.Faultf(path+".to", "%q is where the flow comes from: it goes to another host", f.To)
	}
	flow := Flow{
		Name: f.Name, From: from, To: to,
		Class: unit.Priority(p.within(path+".class", or(f.Class, defaultClass), 0, unit.Priorities-1)),
		Rate:  p.flowRate(path+".rate", cmp.Or(f.Rate, "line"), true),
		Frame: p.within(path+".frame", or(f.Frame, config.DefaultFrame), 64, 1514),
		TTL:   p.within(path+".ttl", or(f.TTL, config.DefaultTTL), 1, 255),
		Start: p.timeWithin(path+".start", cmp.Or(f.Start, "0s")),
		Stop:  p.timeWithin(path+".stop", cmp.Or(f.Stop, "0s")),
	}
	if flow.Stop != 0 && flow.Stop <= flow.Start {
		p.Faultf(path+".stop", "%q is not after start %q; use a later time, or leave it out for never", f.Stop, cmp.Or(f.Start, "0s"))
	}
	for j, name := range f.Via {
		if v, ok := p.node(fmt.Sprintf("%s.via[%d]", path, j), name, "switch"); ok {
			flow.Via = append(flow.Via, v)
		}
	}
	return flow
}

func or(n *int, def int) int {
	if n == nil {
		return def
	}
	return *n
}
