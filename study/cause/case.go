package cause

import (
	"errors"
	"fmt"
	"slices"

	"softswitch/event"
	"softswitch/host"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/unit"
)

// ErrNoDeadlock is why nothing has a cause.
var ErrNoDeadlock = errors.New("no deadlock")

// Case is a scenario that deadlocks, on which treatments are tried. Its methods may be
// called from many goroutines.
type Case struct {
	Scenario *scenario.Scenario
	Seed     uint64 // of the simulation
	Deadlock *Deadlock
	// Chronology is which pause led to which, up to the deadlock.
	Chronology *Chronology
	// Paused are the hosts that had paused by the time of the deadlock, those of the
	// chronology and others, in the order of their first pauses.
	Paused []string
	// Untreated is the run as it is.
	Untreated Effect
	// Watch, unless nil, is as in sim.Options, for the runs of Try.
	Watch func(unit.Time) error

	plan   *scenario.Plan // untreated
	events uint64         // of the untreated run
}

// Effect is what a treatment does to a run with the same seed.
type Effect struct {
	// Causal: there is no deadlock that shares a queue with the untreated one.
	// Sufficient: there is none at all.
	Causal     bool `json:"causal"`
	Sufficient bool `json:"sufficient"`
	// Goodput of each flow of the scenario, in its order: what arrived, in bits per
	// second over the whole run. It is nil for a treatment that is not causal, because
	// that run ends as soon as this is known.
	Goodput []unit.Rate `json:"goodput_bps,omitempty"`
	// Total is that of all flows together.
	Total unit.Rate `json:"goodput_total_bps,omitempty"`
}

// New plays a scenario, without its detector and response, to its end. watch, unless
// nil, is as in sim.Options, for this run. The error is ErrNoDeadlock, with the
// scenario's name, if there is none.
func New(s *scenario.Scenario, seed uint64, watch func(unit.Time) error) (*Case, error) {
	plan, err := Apply(s, Treatment{})
	if err != nil {
		return nil, err
	}
	r, err := newRun(plan, seed)
	if err != nil {
		return nil, err
	}
	c := &Case{Scenario: s, Seed: seed, plan: plan}
	h := &history{run: r, of: map[oracle.PG][]int{}, pausing: map[oracle.Queue]int{}}
	r.watch = watch
	r.events = func(n event.Node, e event.Event) {
		if c.Deadlock == nil {
			h.see(n, e)
		}
	}
	err = r.play(func(at unit.Time, stuck *oracle.Stuck) bool {
		if c.Deadlock == nil && !stuck.Empty() {
			c.Deadlock = r.deadlock(at, stuck)
			c.Chronology, c.Paused = h.before(c.Deadlock), h.hosts()
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case c.Deadlock == nil:
		return nil, fmt.Errorf("scenario %s, seed %d: %w", s.Name, seed, ErrNoDeadlock)
	}
	c.Untreated.measure(r)
	_, c.events = r.world.Frames()
	return c, nil
}

// Try plays the case treated by t. The error is Apply's, Watch's or the simulator's.
func (c *Case) Try(t Treatment) (Effect, error) {
	if c.changesNothing(t) {
		return c.Untreated, nil
	}
	plan, err := Apply(c.Scenario, t)
	if err != nil {
		return Effect{}, err
	}
	r, err := newRun(plan, c.Seed)
	if err != nil {
		return Effect{}, err
	}
	r.watch = c.Watch
	e := Effect{Causal: true, Sufficient: true}
	err = r.play(func(_ unit.Time, stuck *oracle.Stuck) bool {
		e.Sufficient = e.Sufficient && stuck.Empty()
		e.Causal = !c.Deadlock.Shares(stuck)
		return e.Causal
	})
	if err != nil {
		return Effect{}, err
	}
	if e.Causal {
		e.measure(r)
	}
	return e, nil
}

// changesNothing reports whether t treats only hosts that do not misbehave.
func (c *Case) changesNothing(t Treatment) bool {
	return len(t.Flows) == 0 && len(t.Turns) == 0 && !slices.ContainsFunc(t.Hosts, func(name string) bool {
		node, ok := c.Scenario.Fabric.Node(name)
		return !ok || c.Scenario.Misbehaves(node)
	})
}

// measure fills in the goodput of a run that was played to its end.
func (e *Effect) measure(r *run) {
	s := r.plan.Scenario
	e.Goodput, e.Total = make([]unit.Rate, len(s.Flows)), 0
	r.world.EachHost(func(h *host.Host) {
		for _, f := range h.Receivers() {
			if int(f.Number) < len(s.Flows) {
				rate := unit.Rate(float64(f.Bytes) * 8 * float64(unit.Second) / float64(s.Duration))
				e.Goodput[f.Number] += rate
				e.Total += rate
			}
		}
	})
}
