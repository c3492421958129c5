// A Loop finds, by simulation, the rate at which a routing loop turns into a
// deadlock, and compares it with theory.
//
//	          .---- one flow at rate r, initial TTL
//	          v
//	h -----> S1 ----> S2 ----> ... ----> Sn
//	          ^                          |
//	          '--------------------------'   nothing ever arrives; frames die of TTL
//
// Hu et al., "Deadlocks in Datacenter Networks", section 3.1: in the boundary state the
// loop's n links of rate B carry n B in total, and every frame crosses TTL links, so
// there is a deadlock if and only if
//
//	r > n B / TTL        (Eq. 3)
//
// The equation spreads a frame's crossings evenly over the links, but they are whole
// numbers: a frame that reaches its first switch with TTL crosses TTL-1 links (the
// switch that receives it with TTL 1 drops it), and so crosses the first link of the
// loop ceil((TTL-1)/n) times. That link fills up first, at B / ceil((TTL-1)/n), which
// is Eq. 3 where n divides TTL. Loop.First is this rate. Where frames cross the link
// three times or more, the simulation flips at that rate.
//
// Read in this order: Loop, Try, Flip.
//
// Invariants: the same Loop always gives the same result; all rates count the wire's
// overhead, of links and flow alike.
//
// It runs nothing in parallel; the caller may.

package main

import (
	"fmt"
	"strings"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// Link is the rate B of every link: 40 Gbit/s, as in the paper.
const Link unit.Rate = 40_000_000_000

// duration is the simulated time of a loop. Close to the boundary a deadlock forms slowly: in a loop
// of two with TTL 64, at a thousandth above the boundary, it takes 139 ms.
const duration = 100 * unit.Millisecond

// Loop is a routing loop.
type Loop struct {
	Switches int // n, 2 to 50
	TTL      int // of the frames that the host sends, 1 to 255
}

// Eq3 returns n B / TTL, in bits per second.
func (l Loop) Eq3() unit.Rate { return Link * unit.Rate(l.Switches) / unit.Rate(l.TTL) }

// First returns the rate at which the first link of the loop is full, or 0 if a frame crosses it only
// once: then no rate that a link can carry fills it.
func (l Loop) First() unit.Rate {
	times := (l.TTL - 1 + l.Switches - 1) / l.Switches
	if times < 2 {
		return 0
	}
	return Link / unit.Rate(times)
}

// Trial is the result at one rate.
type Trial struct {
	Rate     unit.Rate `json:"rate_bps"`
	Deadlock bool      `json:"deadlock"`
	Onset    unit.Time `json:"onset_ns"` // after the flow's start; 0 without a deadlock
}

// Try injects traffic at rate r into the loop, above 0 and at most Link. It ends with
// the error of watch, which may be nil: see sim.Options.
func (l Loop) Try(r unit.Rate, watch func(unit.Time) error) (Trial, error) {
	s, err := scenario.Parse("boundary", []byte(l.scenario(r)), scenario.Known{})
	if err != nil {
		return Trial{}, err
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		return Trial{}, err
	}
	v, err := sim.Play(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"none": detect.NewNone}, Watch: watch})
	if err != nil {
		return Trial{}, err
	}
	if lost := v.LosslessLost - v.LosslessLostBy[dataplane.DropTTL.String()]; lost > 0 { // the loop ends by the TTL
		return Trial{}, fmt.Errorf("boundary: %d switches, TTL %d, %d bit/s: %d lossless frames were lost", l.Switches, l.TTL, r, lost)
	}
	return Trial{Rate: r, Deadlock: v.Deadlock, Onset: v.Onset}, nil
}

// scenario returns the loop as a scenario file. The flow's receiver is attached to a separate switch,
// to which no switch of the loop sends.
func (l Loop) scenario(r unit.Rate) string {
	var switches, links, routes []string
	for i := 1; i <= l.Switches; i++ {
		next := i%l.Switches + 1
		switches = append(switches, fmt.Sprintf("s%d", i))
		if i < next || l.Switches > 2 {
			links = append(links, fmt.Sprintf("s%d--s%d", i, next))
		}
		routes = append(routes, fmt.Sprintf("  - {at: s%d, to: z, ports: [s%d]}\n", i, next))
	}
	return fmt.Sprintf(`name: boundary
topology:
  switches: [%s, end]
  hosts: [h, z]
  links: [%s, h--s1, s1--end, end--z]
  rate: %dbit/s
  delay: 1us
buffer: {pool: 12582912}
routes:
%sdetector: none
flows:
  - {name: loop, from: h, to: z, rate: %dbit/s, ttl: %d, frame: 1500}
duration: %dns
`, strings.Join(switches, ", "), strings.Join(links, ", "), Link, strings.Join(routes, ""), r, l.TTL, duration)
}

// Flip is where the loop turns into a deadlock in simulation: Above is the lowest rate
// tried that deadlocks, Below the highest that does not. Both are 0 if even the rate of
// a link does not.
type Flip struct {
	Below, Above unit.Rate
}

// Flip bisects between 0 and the link rate until the interval is a 500th of its upper
// end. It ends with the error of watch, as Try does.
func (l Loop) Flip(watch func(unit.Time) error) (Flip, error) {
	f := Flip{Below: 0, Above: Link}
	t, err := l.Try(Link, watch)
	if err != nil || !t.Deadlock {
		return Flip{}, err
	}
	for f.Above-f.Below > f.Above/500 {
		middle := f.Below + (f.Above-f.Below)/2
		t, err := l.Try(middle, watch)
		if err != nil {
			return Flip{}, err
		}
		if t.Deadlock {
			f.Above = middle
		} else {
			f.Below = middle
		}
	}
	return f, nil
}
