package scenario

import (
	"slices"
)

// nics returns the hosts for programs of their own. The flows and events of s, already
// read, must not involve them: they would need a host that makes frames by itself.
func (p *parser) nics(s *Scenario, names []string) (hosts []int) {
	hosts = p.hosts("nics", names)
	for i, f := range s.Flows {
		if slices.Contains(hosts, f.From) || slices.Contains(hosts, f.To) {
			p.Faultf(s.key(i), "flow %q begins or ends at a host of nics, which has programs instead of flows; use other hosts", f.Name)
		}
	}
	for _, e := range s.Events {
		if (e.Do == Storm || e.Do == Slow || e.Do == Normal) && slices.Contains(hosts, e.Node) {
			p.Faultf("nics", "%q has an event %q: a host of nics has none; slow it by `softswitch nic slow`", s.Fabric.Nodes[e.Node].Name, e.Do)
		}
	}
	return hosts
}
