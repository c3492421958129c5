package compare

import (
	"context"
	"errors"
	"slices"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/study/cause"
	"softswitch/unit"
)

// Truth is the part of a result that does not depend on the system under test: the flows
// that are innocent of the first deadlock, and the frames dropped without a system.
type Truth struct {
	// Innocents is nil if there is no deadlock, or nothing prevents it.
	Innocents *cause.Innocents
	// Drops without a system, by flow; nil if this world does not know.
	Drops []Drops
}

// Drops are frames of a flow that switches dropped.
type Drops struct {
	// OnPurpose: to break a deadlock, by a policer, in a lossy queue or of a lossy turn.
	OnPurpose int
	// Overran: for which there was no room, as where a queue sends in spite of a pause.
	Overran int
	// Lost is by reason those for which there was no way or no room, lossy ones too (dataplane.Lost).
	Lost map[dataplane.Reason]int
}

// counter returns a counter of frames by flow of p, for sim.Options.Dropped. A flooded
// frame is not counted: that which was dropped may not be the one that was wanted.
func counter(p *scenario.Plan) ([]Drops, func(*buffer.Frame, dataplane.Reason)) {
	drops := make([]Drops, len(p.Scenario.Flows))
	flow := map[uint32]*Drops{}
	for i := range drops {
		flow[p.Hash(i)] = &drops[i]
	}
	return drops, func(f *buffer.Frame, why dataplane.Reason) {
		d := flow[f.Info.Hash]
		if d == nil || f.Orig().Flooded {
			return
		}
		if why.Fate() == dataplane.Lost {
			if d.Lost == nil {
				d.Lost = map[dataplane.Reason]int{}
			}
			d.Lost[why]++
		}
		switch why {
		case dataplane.DropResponse, dataplane.DropPoliced, dataplane.DropLossyPort, dataplane.DropLossyTurn, dataplane.DropLossyQueue:
			d.OnPurpose++
		case dataplane.DropHeadroom, dataplane.DropNoSlot:
			d.Overran++
		}
	}
}

// simTruth is the truth of a simulation.
func simTruth(ctx context.Context, s *scenario.Scenario, seed uint64) (*Truth, error) {
	plan, err := cause.Apply(s, cause.Treatment{})
	if err != nil {
		return nil, err
	}
	without, err := playSim(ctx, plan, seed)
	if err != nil {
		return nil, err
	}
	t := &Truth{Drops: without.Drops}
	if without.Deadlock {
		t.Innocents, err = innocents(ctx, s, seed)
	}
	return t, err
}

// liveTruth is that of a simulation of the same scenario, without what only such a run
// can be compared with. Where the scenario cannot be simulated, or does not deadlock
// then, nobody is to blame.
func liveTruth(ctx context.Context, s *scenario.Scenario) (*Truth, error) {
	plan, err := cause.Apply(s, cause.Treatment{})
	if err != nil {
		return nil, err
	}
	if sim.Refuse(plan) != nil {
		return &Truth{}, nil
	}
	n, err := innocents(ctx, s, 1)
	if errors.Is(err, cause.ErrNoDeadlock) {
		return &Truth{}, nil
	}
	if n != nil {
		n.Goodput = 0
	}
	return &Truth{Innocents: n}, err
}

func innocents(ctx context.Context, s *scenario.Scenario, seed uint64) (*cause.Innocents, error) {
	watch := func(unit.Time) error { return ctx.Err() }
	c, err := cause.New(s, seed, watch)
	if err != nil {
		return nil, err
	}
	c.Watch = watch
	return c.Innocents(cause.InTurn)
}

// innocentNote is who is innocent, and what is said of them.
const innocentNote = `A flow is innocent if it is lossless and had no part in the first deadlock that forms without a system: it is not in the smallest set of hosts and flows without which that does not form, of several the one that does least harm (docs/cause.md), and goes to no host of that set. Where there is no deadlock, or none that hosts and flows cause, it is innocent if it goes to no host that misbehaves. So the same flows are innocent whatever system is put in. Live, those of a simulation of the same scenario are.`

// touchedNote is what the sums say of innocent flows.
const touchedNote = `Under "innocent touched" are the innocent flows of which switches dropped frames because of the system, of all, in all runs: to break a deadlock, by a policer, in a lossy queue or of a lossy turn, or for want of room where the flow had room without a system. Flows that were only led another way are not counted. Under "innocent lost" are these frames, of a hundred of these and of those that arrived of innocent flows. Under "innocent of treated" is what innocent flows got over the whole run, of what they get in the run in which that set is treated from the start, in per cent: the median of the scenarios' medians, over 100 where a system does better than that. All three count the innocent flows of scenarios that deadlock without a system. Live none is known.`

// found is a truth for use with every system.
type found struct {
	*Truth
	innocent []bool // by flow
	err      error
}

// truth finds out about a scenario and a seed. Where there is no deadlock, or none that
// hosts and flows cause, every lossless flow is innocent but those to hosts that
// misbehave.
func (m *Matrix) truth(ctx context.Context, src *Source, seed uint64) (f found) {
	s, err := src.Parse()
	if err != nil {
		return found{err: err}
	}
	if f.Truth, f.err = m.World.Truth(ctx, s, seed); f.err != nil {
		return f
	}
	if f.Innocents != nil {
		f.innocent = f.Innocents.Flows
		return f
	}
	f.innocent = lists.Map(s.Flows, func(flow scenario.Flow) bool {
		return slices.Contains(s.Lossless(), int(flow.Priority)) && !s.Suffers(&flow)
	})
	return f
}

// String is the truth in a few words.
func (f found) String() string {
	switch {
	case f.err != nil:
		return f.err.Error()
	case f.Innocents == nil:
		return "no cause"
	}
	return "cause: " + f.Innocents.Cause.String()
}

// because is how many frames of flow i a run dropped because of the system. Frames that found no room
// count if the flow has none such without a system.
func (f found) because(r *Played, i int) int {
	n := r.Drops[i].OnPurpose
	if f.Drops[i].Overran == 0 {
		n += r.Drops[i].Overran
	}
	return n
}

// robbed is how many innocent flows a run dropped frames of because of the system, how many frames, and how
// many those are with the ones of innocent flows that arrived; known is false if this world does not say.
func (f found) robbed(r *Played) (flows, frames, of int, known bool) {
	if f.Drops == nil || r.Drops == nil {
		return 0, 0, 0, false
	}
	for i := range r.Drops {
		if !f.innocent[i] {
			continue
		}
		n := f.because(r, i)
		if n > 0 {
			flows++
		}
		frames, of = frames+n, of+n+int(r.Flows[i].Received)
	}
	return flows, frames, of, true
}

// share is what innocents got in a run, as a share of what they get without the cause.
func (f found) share(flows []verdict.FlowResult) (share float64, ok bool) {
	if f.Innocents == nil {
		return 0, false
	}
	return f.Innocents.Share(flows)
}
