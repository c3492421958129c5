package topo

import (
	"fmt"

	"softswitch/unit"
)

// Ring makes n switches s1 to sn, each linked to the next and the last to the first,
// with the same number of hosts each: h<i>-0, h<i>-1, ... at s<i>. The ports to the
// hosts come first. n must be 3 to 1000, hosts 1 to unit.MaxPorts-2.
func Ring(n, hosts int) (*Fabric, error) {
	if n < 3 || n > 1000 {
		return nil, fmt.Errorf("%d switches: a ring has 3 to 1000", n)
	}
	if hosts < 1 || hosts > unit.MaxPorts-2 {
		return nil, fmt.Errorf("%d hosts a switch: a ring has 1 to %d", hosts, unit.MaxPorts-2)
	}
	b := newBuilder()
	b.withHosts("s%d", n, 1, hosts)
	for i := range n {
		b.link(i, (i+1)%n)
	}
	return b.done(inOrder), nil
}
