package unit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/testkit"
)

// TestPortSet: sets of any ports are what a list of bools is.
func TestPortSet(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 200 {
		var s PortSet
		var list [MaxPorts]bool
		most := []int{3, 64, 65, MaxPorts}[r.IntN(4)]
		for range r.IntN(2 * most) {
			p := r.IntN(most)
			if list[p] = r.IntN(3) > 0; list[p] {
				s.Add(Port(p))
			} else {
				s.Remove(Port(p))
			}
		}
		var ports []Port
		for p, in := range list {
			if p := Port(p); s.Has(p) != in || p.Set() != PortsOf(p) || !p.Set().Has(p) || p.Set().Len() != 1 {
				t.Fatalf("%v has %d: %v, want %v; that alone is %v", s, p, s.Has(p), in, p.Set())
			}
			if in {
				ports = append(ports, Port(p))
			}
		}
		if s.Len() != len(ports) || s != PortsOf(ports...) || s.Has(NoPort) {
			t.Fatalf("%v has %d ports, want %v", s, s.Len(), ports)
		}
		if len(ports) > 0 && s.Last() != ports[len(ports)-1] {
			t.Fatalf("%v: the last is %d", s, s.Last())
		}
		var popped []Port
		for ; !s.Empty(); s.Pop() {
			popped = append(popped, s.First())
		}
		if !slices.Equal(popped, ports) || s.First() != NoPort {
			t.Fatalf("%v came out of the set of %v", popped, ports)
		}
	}
}
