package config

import (
	"fmt"
	"maps"
	"slices"

	"softswitch/dataplane"
	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// Scheds is how priorities share a link, by priority. Strict ones go first, 7 before 0; the others
// share what is left by their weights. One that is not named is dwrr with weight 1.
type Scheds map[int]Sched

// Sched is how one priority shares a link.
type Sched struct {
	// Type is strict, which goes before all that is dwrr and before strict ones of a lower
	// priority, or dwrr: deficit weighted round robin (the ETS of IEEE 802.1Q).
	Type string `yaml:"type" schema:"strict|dwrr,required"`
	// Weight of a dwrr priority: its share of the link's time beside the other weights.
	Weight int `yaml:"weight,omitempty" schema:"1..100"`
}

// Check reports what is wrong with s, which is at path.
func (s Scheds) Check(d *strictyaml.Doc, path string) {
	for _, priority := range slices.Sorted(maps.Keys(s)) {
		sc, path := s[priority], fmt.Sprintf("%s.%d", path, priority)
		d.Within(path, priority, 0, unit.Priorities-1)
		schema.CheckAt(d, path, &sc)
		switch {
		case sc.Type == "dwrr":
			d.Within(path+".weight", sc.Weight, 1, dataplane.WeightMax)
		case sc.Weight != 0 && sc.Type == "strict":
			d.Faultf(path+".weight", "%d: a strict priority has no weight; remove it or choose type dwrr", sc.Weight)
		}
	}
}

// Strict is the strict priorities, the highest first.
func (s Scheds) Strict() (priorities []int) {
	for c := unit.Priorities - 1; c >= 0; c-- {
		if s[c].Type == "strict" {
			priorities = append(priorities, c)
		}
	}
	return priorities
}

// bands is s with strict for the lossless priorities that it does not name: of the bands of TTLs, those that
// have gone farther leave first.
func (s Scheds) bands(lossless []int) Scheds {
	var bands Scheds
	for _, c := range lossless {
		if _, ok := s[c]; !ok {
			if bands == nil {
				bands = Scheds{}
			}
			bands[c] = Sched{Type: "strict"}
		}
	}
	return bands.Over(s)
}

// Over is s, and what base says of other priorities.
func (s Scheds) Over(base Scheds) Scheds {
	if len(s) == 0 {
		return base
	}
	all := maps.Clone(base)
	if all == nil {
		all = Scheds{}
	}
	maps.Copy(all, s)
	return all
}

// WeightsAt is by priority what the scheduler of a port goes by, 0 of a strict one.
func (s *Switch) WeightsAt(port int) (weights [unit.Priorities]int) {
	m := s.Ports[port].Sched.Over(s.Sched).build()
	for c := range weights {
		weights[c] = m.Weight(unit.Priority(c))
	}
	return weights
}

// build is the machine's form of s.
func (s Scheds) build() (m dataplane.Scheduler) {
	for c := range unit.Priorities {
		if sc := s[c]; sc.Type == "strict" {
			m.Strict.Add(unit.Priority(c))
		} else {
			m.Weights[c] = uint8(sc.Weight)
		}
	}
	return m
}
