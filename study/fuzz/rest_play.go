package fuzz

import (
	"fmt"
	"slices"

	"softswitch/detect/catalog"
	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// still is a plan in which the same happens up to a time, itself included, and then every source
// stops, every host is well again, a stopped switch goes on, and nothing else happens: a link that
// is down stays down. It lasts until end. What is not changed is shared with p.
func still(p *scenario.Plan, at, end unit.Time) *scenario.Plan {
	q, s := *p, *p.Scenario
	s.Duration = end
	q.Scenario, q.Hosts, q.Events = &s, slices.Clone(p.Hosts), nil
	for i := range q.Hosts {
		stillHost(&q.Hosts[i], at, end)
	}
	stopped := map[int]bool{}
	for _, e := range p.Events {
		if e.At > at {
			break
		}
		q.Events = append(q.Events, e)
		stopped[e.Node] = e.Do == scenario.Stop || stopped[e.Node] && e.Do != scenario.Continue
	}
	for i := range p.Switches {
		if stopped[i] {
			q.Events = append(q.Events, scenario.Event{At: at + 1, Do: scenario.Continue, Node: i})
		}
	}
	return &q
}

// stillHost stops the flows of a host after a time, and what it does to others; none begins by
// end.
func stillHost(h *config.Host, at, end unit.Time) {
	flows := h.Flows
	h.Flows = nil
	h.Acts = lists.Where(h.Acts, func(a config.Act) bool { return a.At <= at })
	for _, f := range flows {
		switch {
		case f.Start > at: // it stays: how many flows a host has changes when it sends
			f.Start, f.Stop = end+1, 0
		case f.Stop == 0 || f.Stop > at:
			f.Stop = at + 1
		}
		h.Flows = append(h.Flows, f)
	}
	if len(h.Acts) > 0 {
		h.Acts = append(h.Acts, config.Act{At: at + 1, Do: "normal"})
	}
}

// hopOf is the longest time that a pause takes over a link behind a full frame.
func hopOf(p *scenario.Plan) (worst unit.Time) {
	for _, l := range p.Links {
		worst = max(worst, l.Rate.FrameTime(config.MaxFrame(p.Scenario.MTU))+l.Rate.FrameTime(control)+l.Delay+l.Jitter)
	}
	return worst
}

// quietOf is how long nothing moves when nothing ever will: by then every pause that nobody repeats
// is over, and whatever it held has had the time to move.
func quietOf(p *scenario.Plan) (quiet unit.Time) {
	for _, l := range p.Links {
		quiet = max(quiet, 3*l.Rate.QuantaTime(uint16(p.Scenario.PFC.Quanta)))
	}
	return quiet + 600*hopOf(p) + 30*unit.Second/1000
}

// mostQuiets is how long a run may last after its sources have stopped, in units of its quiet.
const mostQuiets = 1000

// judge says which queues are stuck, for ever, in a world as it is.
type judge func(w *sim.World) []oracle.Queue

// theOracle is the one that is put to the test.
func theOracle(w *sim.World) []oracle.Queue { return w.Stuck().Queues }

// restRun is a second run, and its result.
type restRun struct {
	*rest
	plan  *scenario.Plan // of the first run
	opt   sim.Options    // as for the first run
	judge judge

	hop               unit.Time      // the longest of a link
	stuckAt, stuckEnd []oracle.Queue // by the judge, at the instant and at the end
	coreAt            []oracle.Queue // of stuckAt, those that wait for one another by the oracle, and not behind others
	frames            uint64
	lost              string // lossless frames for which there was no room
}

func newRestRun(plan *scenario.Plan, at unit.Time, opt sim.Options, judge judge) *restRun {
	return &restRun{rest: newRest(plan.Fabric, at, quietOf(plan)), plan: plan, opt: opt, judge: judge, hop: hopOf(plan)}
}

// playRest plays a plan until an instant, and without any source until nothing moves any more. opt
// is as for the first run.
func playRest(plan *scenario.Plan, at unit.Time, opt sim.Options, judge judge) (*restRun, error) {
	r := newRestRun(plan, at, opt, judge)
	return r, r.play()
}

func (r *restRun) play() error {
	end := still(r.plan, r.at, r.at+mostQuiets*r.quiet)
	for _, e := range end.Events {
		if e.Do == scenario.Kill {
			r.dead[r.fabric.Nodes[e.Node].ID] = true
		}
	}
	opt := r.opt
	opt.Events, opt.Sent = r.see, r.leaves
	opt.SampleAt = slices.Values([]unit.Time{r.at})
	opt.Sample = func(_ unit.Time, w *sim.World) {
		w.EachSwitch(r.instant)
		r.stuckAt = slices.Clone(r.judge(w))
		stuck := w.Stuck()
		r.coreAt = slices.DeleteFunc(slices.Clone(r.stuckAt), func(q oracle.Queue) bool { return !stuck.InCore(q) })
	}
	opt.Settled = func(now unit.Time, _ *oracle.Stuck) bool { return !r.restful(now) }
	w, err := sim.New(end, opt)
	if err != nil {
		return err
	}
	if _, err := w.Play(); err != nil {
		return err
	}
	w.EachSwitch(r.end)
	r.endOfHosts()
	r.stuckEnd = slices.Clone(r.judge(w))
	r.frames, _ = w.Frames()
	r.lost = lostOf(w, r.plan)
	if !r.over && r.last+r.quiet > end.Scenario.Duration {
		return fmt.Errorf("at %d ns the sources stopped, and %d times the quiet later frames still move", r.at, mostQuiets)
	}
	if odd := r.restless(); len(odd) > 0 {
		return fmt.Errorf("at %d ns the sources stopped, and at the end %v has frames, and is not paused by a switch", r.at, odd[0])
	}
	return nil
}

// firstRun is the result of a case as it is.
type firstRun struct {
	plan   *scenario.Plan
	opt    sim.Options // without what watches
	past   trail
	result *oracle.Result
	frames uint64
	lost   string
}

// playFirst plays a case with a detector as it is.
func (c *Case) playFirst(d catalog.Detector) (*firstRun, error) {
	plan, err := c.Plan(d.Name)
	if err != nil {
		return nil, err
	}
	return playFirst(plan, c.options(d))
}

// playFirst plays a plan as it is.
func playFirst(plan *scenario.Plan, opt sim.Options) (*firstRun, error) {
	f := &firstRun{plan: plan, opt: opt, past: trail{keep: true}}
	opt.Events, opt.Sent = f.past.event, f.past.sent
	w, err := sim.New(plan, opt)
	if err != nil {
		return nil, err
	}
	if f.result, err = w.Play(); err != nil {
		return nil, err
	}
	f.frames, _ = w.Frames()
	f.lost = lostOf(w, plan)
	return f, nil
}
