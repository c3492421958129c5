package scenario

import (
	"fmt"
	"slices"
)

// hosts returns the hosts of the list of a key, each of which is there once.
func (p *parser) hosts(key string, names []string) (hosts []int) {
	for i, name := range names {
		path := fmt.Sprintf("%s[%d]", key, i)
		h, ok := p.node(path, name, "host")
		if ok && slices.Contains(hosts, h) {
			p.Faultf(path, "%q is in the list already", name)
		}
		if ok {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// silent checks that no dead host sends: its switch would learn its port.
func (p *parser) silent(s *Scenario) {
	for i, f := range s.Flows {
		if slices.Contains(s.Dead, f.From) {
			name := s.Fabric.Nodes[f.From].Name
			p.Faultf(s.key(i)+".from", "%q is dead: its switch would learn where it is, and flood no longer; use another host or take it out of dead", name)
		}
	}
}
