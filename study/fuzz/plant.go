package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/sim"
	"softswitch/unit"
)

// Disturbance is a kind of cause that can be planted.
type Disturbance string

// Disturbances.
const (
	Storm       Disturbance = "storm"        // a host pauses its switch for good
	Slow        Disturbance = "slow"         // a host receives slowly
	Chatter     Disturbance = "chatter"      // a host storms on and off
	EndedStorm  Disturbance = "ended-storm"  // a host stormed, and it was over before the deadlock was there
	Incast      Disturbance = "incast"       // several hosts send to one
	Hog         Disturbance = "hog"          // one flow at line rate
	RoutingLoop Disturbance = "routing-loop" // two switches send what is for a third one to each other
	LinkFailure Disturbance = "link"         // a link fails, and the way round it closes a loop
	Flooding    Disturbance = "flooding"     // a server has died, and frames for it are flooded
)

// OfHost reports whether it is what a host does by itself, so that it is the host that
// has to be handled.
func (d Disturbance) OfHost() bool {
	return d == Storm || d == Slow || d == Chatter || d == EndedStorm
}

// Planting is what is planted in a case: one disturbance, two, or none (a control).
type Planting string

// Plantings other than single disturbances.
const (
	Two     Planting = "two"
	Control Planting = "control"
)

// Plantings are all of them, in the order in which the cases of a seed have them.
var Plantings = []Planting{
	Planting(Storm), Planting(Slow), Planting(Chatter), Planting(EndedStorm), Planting(Incast), Planting(Hog),
	Planting(RoutingLoop), Planting(LinkFailure), Planting(Flooding), Two, Control,
}

// Plant is a disturbance in a case that does not deadlock without its plants.
type Plant struct {
	Kind Disturbance
	// Host misbehaves, is dead, or is the receiver of an incast or a hog.
	Host string
	// Switches are the two of a routing loop, or the ends of the link that fails.
	Switches [2]string
	// To is the switch whose hosts' frames a routing loop holds.
	To string
	// Idle: the case deadlocks without this one, and not without the other.
	Idle bool

	instead []Route // what its routes replace
}

// Planted is a case with what was planted in it.
type Planted struct {
	*Case
	Planting Planting
	// Locked: it deadlocks, at Onset. A control does not; other cases do unless Tries
	// plants were played in vain, which is rare.
	Locked bool
	Onset  unit.Time
	// Fabrics and Tries are how many fabrics and how many plants were tried.
	Fabrics, Tries int
}

// How often it is tried: fabrics for a case, plants for a fabric, and how often the
// flows of a fabric are slowed.
const (
	fabricsMax = 160
	plantsMax  = 6
	slowMax    = 40
)

// NewPlanted generates case index of seed: a fabric none of whose hosts misbehaves, and
// whose flows are slow enough that it does not deadlock with two seeds of the wires; and
// in it what Plantings has for index, by which it deadlocks. So what is planted is a
// cause of the deadlock.
func NewPlanted(seed uint64, index int) *Planted {
	p := &Planted{Planting: Plantings[index%len(Plantings)]}
	for p.Fabrics < fabricsMax {
		stream := uint64(index)*fabricsMax + uint64(p.Fabrics)
		p.Fabrics++
		m := newMaker(&Case{Seed: seed, Index: index, Mode: Cause}, plantStream+stream)
		kinds := m.kinds(p.Planting)
		m.quietFabric(kinds)
		p.Case = m.Case
		if !m.slowDown() {
			continue
		}
		if p.Planting == Control {
			return p
		}
		for range plantsMax {
			p.Tries++
			if p.plant(m, kinds) {
				return p
			}
		}
	}
	return p
}

// plant adds plants of these kinds to a copy of the maker's case, and reports whether
// they make a deadlock; then the copy is the case.
func (p *Planted) plant(m *maker, kinds []Disturbance) bool {
	base := m.Case
	defer func() { m.Case = base }()
	m.Case = base.clone()
	for _, k := range kinds {
		if !m.add(k) {
			return false
		}
	}
	m.sortEvents()
	onset, how := m.locks(m.Wires, m.locksBy())
	if how != locked || onset <= m.storms() {
		return false
	}
	if len(kinds) == 2 {
		_, first := m.Without(2).locks(m.Wires, m.Duration)
		_, second := m.Without(1).locks(m.Wires, m.Duration)
		m.Plants[0].Idle, m.Plants[1].Idle = second == locked && first != locked, first == locked && second != locked
	}
	if m.relieves() || !m.press() {
		return false
	}
	p.Case, p.Locked, p.Onset = m.Case, true, onset
	return true
}

// Sound reports whether it still is what NewPlanted promises: it deadlocks, and does not
// without its plants.
func (c *Case) Sound() bool {
	base := c
	for i := range c.Plants {
		base = base.Without(i + 1)
	}
	onset, how := c.locks(c.Wires, c.Duration)
	return how == locked && onset > c.storms() && base.free() && !c.relieves() && c.press()
}

// relieves reports whether a host's pauses make the deadlock by what they take away: it
// is there too if nothing more is sent to the host from then on, and not if the host
// behaves. Such a host is no cause that anybody looks for.
func (c *Case) relieves() bool {
	for i, p := range c.Plants {
		if !p.Kind.OfHost() {
			continue
		}
		behaves := c.Without(i + 1)
		if _, how := behaves.locks(c.Wires, c.Duration); how == locked {
			continue
		}
		at := c.Events[slices.IndexFunc(c.Events, func(e Event) bool { return e.Plant == i+1 })].At
		for k := range behaves.Flows {
			if f := &behaves.Flows[k]; f.To == p.Host {
				f.Start, f.Stop = min(f.Start, at-1), at
			}
		}
		if _, how := behaves.locks(c.Wires, c.Duration); how == locked {
			return true
		}
	}
	return false
}

// free reports whether the case does not deadlock with two seeds of the wires.
func (c *Case) free() bool {
	for _, wires := range []uint64{c.Wires, c.Wires ^ 1<<31} {
		if _, how := c.locks(wires, c.Duration); how != flowing {
			return false
		}
	}
	return true
}

// storms is when the storms that have to end before the deadlock are over.
func (c *Case) storms() (end unit.Time) {
	for _, e := range c.Events {
		if e.Plant > 0 && c.Plants[e.Plant-1].Kind == EndedStorm {
			end = max(end, e.At+e.For)
		}
	}
	return end
}

// Without is the case without what plant n, from 1, has added. The number stays taken.
func (c *Case) Without(n int) *Case {
	d := c.clone()
	d.Events = slices.DeleteFunc(d.Events, func(e Event) bool { return e.Plant == n })
	d.Flows = slices.DeleteFunc(d.Flows, func(f Flow) bool { return f.Plant == n })
	d.Routes = slices.DeleteFunc(d.Routes, func(r Route) bool { return r.Plant == n })
	p := &d.Plants[n-1]
	d.Routes = append(d.Routes, p.instead...)
	if p.Kind == Flooding {
		d.Dead = slices.DeleteFunc(d.Dead, func(h string) bool { return h == p.Host })
	}
	return d
}

// ending is how a run without a detector ends.
type ending int

const (
	unplayable ending = iota // it cannot be played, or a frame is lost for want of room
	flowing                  // without a deadlock
	locked                   // with one
)

// locks plays the case without a detector up to end, and reports when it deadlocks, if
// it does.
func (c *Case) locks(wires uint64, end unit.Time) (at unit.Time, how ending) {
	d := *c
	d.Wires = wires
	w, _, err := d.World("none", detect.NewNone, sim.Options{Settled: func(now unit.Time, s *oracle.Stuck) bool {
		if !s.Empty() {
			at, how = now, locked
		}
		return s.Empty() && now <= end
	}})
	if err != nil {
		return 0, unplayable
	}
	if _, err := w.Play(); err != nil || Lost(w) != "" {
		return 0, unplayable
	}
	return at, max(how, flowing)
}

// plantText says what plant n is.
func (c *Case) plantText(n int) string {
	p := c.Plants[n-1]
	var flows []string
	for i, f := range c.Flows {
		if f.Plant == n {
			flows = append(flows, fmt.Sprintf("F%d", i))
		}
	}
	var first, last Event
	if own := lists.Where(c.Events, func(e Event) bool { return e.Plant == n }); len(own) > 0 {
		first, last = own[0], own[len(own)-1]
	}
	text := string(p.Kind) + ": "
	switch p.Kind {
	case Storm:
		text += fmt.Sprintf("host %s pauses from %s on", p.Host, span(first.At))
	case Slow:
		text += fmt.Sprintf("host %s receives at %s from %s on", p.Host, first.Rate, span(first.At))
	case Chatter:
		text += fmt.Sprintf("host %s pauses on and off from %s to %s", p.Host, span(first.At), span(last.At+last.For))
	case EndedStorm:
		text += fmt.Sprintf("host %s pauses from %s to %s", p.Host, span(first.At), span(first.At+first.For))
	case Incast, Hog:
		text += fmt.Sprintf("%s to host %s", strings.Join(flows, ", "), p.Host)
	case RoutingLoop:
		text += fmt.Sprintf("%s and %s send what is for %s to each other", p.Switches[0], p.Switches[1], p.To)
	case LinkFailure:
		text += fmt.Sprintf("link %s--%s fails at %s", p.Switches[0], p.Switches[1], span(first.At))
	case Flooding:
		text += fmt.Sprintf("host %s is dead, and what is for it is flooded", p.Host)
	}
	if p.Idle {
		text += " (not needed)"
	}
	return text
}
