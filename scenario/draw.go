package scenario

import (
	"hash/fnv"
	"slices"

	"softswitch/internal/stat"
	"softswitch/link/auth"
	"softswitch/node/config"
	"softswitch/unit"
)

// Draws reports whether a simulation of s draws anything from its seed. If not, its runs are the same
// whatever the seed: what else is random has a seed of its own.
func (s *Scenario) Draws() bool {
	impairs := func(l LinkSpeed) bool { return l.Jitter > 0 || l.ControlLoss|l.Loss|l.Duplicate|l.Reorder != 0 }
	signs := func(ends Ends[auth.Mode]) bool { return ends.A != auth.Off || ends.B != auth.Off } // by a key that is drawn
	return s.spreads() || slices.ContainsFunc(s.Links, impairs) || slices.ContainsFunc(s.Auth, signs) ||
		s.Congestion != nil && s.Congestion.ECN != nil
}

// spreads reports whether a run draws something before it begins.
func (s *Scenario) spreads() bool {
	return slices.ContainsFunc(s.Flows, func(f Flow) bool { return f.Jitter > 0 || f.RateSpread > 0 }) ||
		slices.ContainsFunc(s.Links, func(l LinkSpeed) bool { return l.DelaySpread > 0 })
}

// Drawing is what a run drew of a flow or a link, which is named; the values that it did not draw are nil.
type Drawing struct {
	Flow  string
	Link  string
	Start *unit.Time
	Rate  *unit.Rate
	Delay *unit.Time
}

// Drawn is p as a run with this seed plays it: with the starts, rates and delays that it draws, uniformly. p
// stays as it is. What a flow or a link draws depends on the seed and its name alone, so that a scenario
// without another one draws the same.
func (p *Plan) Drawn(seed uint64) *Plan {
	if !p.Scenario.spreads() {
		return p
	}
	d, s := *p, *p.Scenario
	d.Scenario, d.Seed = &s, seed
	s.Flows, s.Links = slices.Clone(s.Flows), slices.Clone(s.Links)
	d.Hosts, d.Links = slices.Clone(p.Hosts), slices.Clone(p.Links)
	for i := range s.Flows {
		if f := &s.Flows[i]; f.Jitter > 0 || f.RateSpread > 0 {
			d.Drawings = append(d.Drawings, f.draw(seed))
		}
	}
	for i := range s.Links {
		if l := &s.Links[i]; l.DelaySpread > 0 {
			d.Drawings = append(d.Drawings, l.draw(seed, d.Links[i].Name))
			d.Links[i].LinkSpeed = *l
		}
	}
	for i := range d.Hosts {
		h := &d.Hosts[i]
		h.Flows = slices.Clone(h.Flows)
		if p.Scenario.HasNIC(p.Fabric.Switches() + i) {
			h.Programs = p.asDrawn(h.Programs, s.Flows)
			continue
		}
		for k, j := range p.from[p.Fabric.Switches()+i] {
			h.Flows[k].Start, h.Flows[k].Rate = s.Flows[j].Start, s.Flows[j].Rate
		}
	}
	return &d
}

// asDrawn are flows with the starts and rates that were drawn.
func (p *Plan) asDrawn(flows []config.ProgramFlow, drawn []Flow) []config.ProgramFlow {
	flows = slices.Clone(flows)
	for i := range flows {
		f := &drawn[flows[i].Number]
		flows[i].Start, flows[i].Rate = f.Start, f.Rate
	}
	return flows
}

// coin is where the values of what is called name are drawn from.
func coin(seed uint64, name string) stat.Rand {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return stat.Rand(stat.Mix(stat.Mix(seed) + hash.Sum64()))
}

func (f *Flow) draw(seed uint64) Drawing {
	coin, of := coin(seed, f.Name), Drawing{Flow: f.Name}
	// The start is drawn first, so that a spread of the rate changes none.
	if from := between(&coin, f.Jitter); f.Jitter > 0 {
		f.Start, f.Jitter = f.Start+from, 0
		of.Start = &f.Start
	}
	if f.RateSpread > 0 {
		f.Rate, f.RateSpread = f.Rate+unit.FlowRate(between(&coin, f.RateSpread)), 0
		rate := unit.Rate(f.Rate)
		of.Rate = &rate
	}
	return of
}

func (l *LinkSpeed) draw(seed uint64, name string) Drawing {
	coin := coin(seed, "link "+name)
	l.Delay, l.DelaySpread = l.Delay+between(&coin, l.DelaySpread), 0
	return Drawing{Link: name, Delay: &l.Delay}
}

// between draws a number from -spread to spread.
func between[T ~int64](coin *stat.Rand, spread T) T {
	return T(coin.Next()%uint64(2*spread+1)) - spread
}
