package scenario

import (
	"hash/fnv"
	"slices"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// Draws reports whether runs with different seeds begin their flows at different times.
func (s *Scenario) Draws() bool {
	return slices.ContainsFunc(s.Flows, func(f Flow) bool { return f.Jitter > 0 })
}

// Drawn is p as a run with this seed plays it: with the starts that it draws, uniformly. p stays as it is.
// What a flow draws depends on the seed and its name alone, so that a scenario without another flow
// draws the same.
func (p *Plan) Drawn(seed uint64) *Plan {
	if !p.Scenario.Draws() {
		return p
	}
	d, s := *p, *p.Scenario
	s.Flows, d.Hosts = slices.Clone(s.Flows), slices.Clone(p.Hosts)
	d.Scenario = &s
	for i := range s.Flows {
		s.Flows[i].draw(seed)
	}
	for i := range d.Hosts {
		h := &d.Hosts[i]
		h.Flows = slices.Clone(h.Flows)
		for k, j := range p.from[p.Fabric.Switches()+i] {
			h.Flows[k].Start = s.Flows[j].Start
		}
	}
	return &d
}

func (f *Flow) draw(seed uint64) {
	name := fnv.New64a()
	name.Write([]byte(f.Name))
	coin := stat.Rand(stat.Mix(stat.Mix(seed) + name.Sum64()))
	f.Start += unit.Time(coin.Next()%uint64(2*f.Jitter+1)) - f.Jitter
	f.Jitter = 0
}
