package sim

import (
	"cmp"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/host"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/unit"
)

// lateHops is for how many hops after a deadlock has ended a declaration is late rather
// than false: no detector can hear of the end sooner.
const lateHops = 32

// recorder passes the events of all nodes to the oracle, in order.
type recorder struct {
	replay *oracle.Replay
	result *oracle.Result
	sink   func(event.Node, event.Event)
	seq    int
	err    error
}

// add passes on events of a node, and what the priority groups of f, from the given one on, hold.
func (r *recorder) add(w *World, node int32, events []event.Event, f *flooded, from int) {
	for i := range events {
		e := &events[i]
		if r.sink != nil {
			r.sink(w.nodes[node].name, *e)
		}
		r.seq++
		if w.nodes[node].name.ID != 0 && r.err == nil {
			r.err = r.replay.Add(oracle.Entry{Node: w.nodes[node].name.ID, Seq: r.seq, Event: e})
		}
	}
	if r.err == nil {
		r.countOnce(f, from)
	}
}

// countOnce corrects the byte counts of these priority groups as the events give them: events
// count a flooded frame once in every queue that it waits in.
func (r *recorder) countOnce(f *flooded, from int) {
	for i := from; i < len(f.pgs); i++ {
		of, first := f.pgs[i], 0
		if i > 0 {
			first = f.pgs[i-1].holds
		}
		facts := r.replay.Exact(of.PG)
		for _, h := range f.holds[first:of.holds] {
			if h.Flooded {
				facts.SetFlooded(of.PG, h.Ports, h.Priority, h.Bytes)
			} else {
				facts.SetHeld(of.PG, h.Ports, h.Priority, h.Bytes)
			}
		}
	}
}

// Play builds the world of a plan and runs it to its end.
func Play(plan *scenario.Plan, opt Options) (*verdict.Verdict, error) {
	w, err := New(plan, opt)
	if err != nil {
		return nil, err
	}
	return w.Run()
}

// Run plays the scenario to its end and judges it. A World can run only once.
func (w *World) Run() (*verdict.Verdict, error) {
	if _, err := w.Play(); err != nil {
		return nil, err
	}
	return w.verdict(), nil
}

// Play is Run without the verdict (and the snapshots of every node that it needs). It
// returns the oracle's result, as of the time at which Options.Settled ended the run, if
// it did.
func (w *World) Play() (*oracle.Result, error) {
	f, err := verdict.Fabric(w.plan.Fabric, func(i int) buffer.Config { return w.nodes[i].sw.Config().Buffer })
	if err != nil {
		return nil, err
	}
	w.log = recorder{replay: oracle.NewReplay(f), sink: w.opt.Events}
	w.start()
	w.play(w.plan.Scenario.Duration)
	return w.finish()
}

// finish ends the oracle's replay and returns its result.
func (w *World) finish() (*oracle.Result, error) {
	if err := cmp.Or(w.failed(), w.log.err); err != nil {
		return nil, err
	}
	end := w.plan.Scenario.Duration
	if w.over {
		end = w.now
	}
	w.log.result = w.log.replay.Finish(end, lateHops*w.hop())
	return w.log.result, nil
}

func (w *World) verdict() *verdict.Verdict {
	switches, hosts := w.snapshots()
	return verdict.Of(verdict.Run{Plan: w.plan, World: "sim", Seed: w.opt.Seed, Truth: w.log.result, Switches: switches, Hosts: hosts})
}

// Result is the oracle's result, once Run or Play has returned.
func (w *World) Result() *oracle.Result { return w.log.result }

// Stuck is the largest stuck set as of now, while the world is being played.
func (w *World) Stuck() *oracle.Stuck { return w.log.replay.Stuck() }

// EachSwitch calls fn for every switch, in the order of the fabric. fn must only read.
func (w *World) EachSwitch(fn func(*dataplane.Switch)) {
	for i := range w.nodes {
		if sw := w.nodes[i].sw; sw != nil {
			fn(sw)
		}
	}
}

// EachHost calls fn for every host, in the order of the fabric. fn must only read.
func (w *World) EachHost(fn func(*host.Host)) {
	for i := range w.nodes {
		if h := w.nodes[i].host; h != nil {
			fn(h)
		}
	}
}

// hop is the longest time a pause takes over any link, once the frame before it has
// left.
func (w *World) hop() (worst unit.Time) {
	longest := config.MaxFrame(w.plan.Scenario.MTU)
	for _, l := range w.plan.Links {
		worst = max(worst, l.Rate.FrameTime(longest)+l.Rate.FrameTime(60)+l.Delay+l.Jitter)
	}
	return worst
}

func (w *World) snapshots() (switches []observe.Switch, hosts []observe.Host) {
	for i := range w.nodes {
		switch n := &w.nodes[i]; {
		case n.dead:
		case n.sw != nil:
			switches = append(switches, observe.TakeSwitch(n.sw, nil))
		case n.host != nil:
			hosts = append(hosts, observe.TakeHost(n.host, nil))
		}
	}
	return switches, hosts
}

// Frames returns the number of frame-hops so far (frames that arrived at a node), and
// the number of events handled.
func (w *World) Frames() (frames, events uint64) {
	for i := range w.partitions {
		frames += w.partitions[i].frames
		events += w.partitions[i].events
	}
	return frames, events
}
