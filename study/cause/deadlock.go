package cause

import (
	"fmt"
	"slices"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// Deadlock is the first deadlock of a run: the knots of the largest stuck set (package
// oracle) at the first instant at which that is not empty.
type Deadlock struct {
	At unit.Time `json:"at_ns"`
	// Queues are those of all its knots, in order of node, port and priority. Names are
	// their links and priorities: "s1--s2, priority 3".
	Queues []oracle.Queue `json:"-"`
	Names  []string       `json:"queues"`
	// Loops are the links of a shortest cycle of each knot, in the order of waiting.
	Loops [][]string `json:"loops"`
	// Flows are those with frames in its queues, in the order of the scenario.
	Flows []string `json:"flows"`
	// Turns are what holds it: frames of the priority group that keeps one of its queues paused
	// wait in another of its queues.
	Turns []Turn `json:"turns"`
	// Waiting are the flows with frames that wait on each of Turns.
	Waiting [][]string `json:"-"`
	// Strong and Flooded are as in oracle.Kind, of any of its knots.
	Strong  bool `json:"strong"`
	Flooded bool `json:"flooded"`
}

// Shares reports whether one of its queues is in a deadlock of s.
func (d *Deadlock) Shares(s *oracle.Stuck) bool {
	return !s.Empty() && slices.ContainsFunc(d.Queues, s.InCore)
}

// run is one simulation.
type run struct {
	plan   *scenario.Plan
	seed   uint64
	fabric *oracle.Fabric
	world  *sim.World
	// Each is as in sim.Options, nil for none.
	watch  func(unit.Time) error
	events func(event.Node, event.Event)
}

func newRun(plan *scenario.Plan, seed uint64) (*run, error) {
	fabric, err := verdict.Fabric(plan.Fabric, verdict.Buffers(plan))
	return &run{plan: plan, seed: seed, fabric: fabric}, err
}

// play plays it until settled, which is told of each instant, returns false.
func (r *run) play(settled func(unit.Time, *oracle.Stuck) bool) (err error) {
	plan, s := *r.plan, *r.plan.Scenario
	s.Detector, s.Response = "none", "none"
	plan.Scenario = &s
	r.world, err = sim.New(&plan, sim.Options{
		Seed: r.seed, Detectors: map[string]detect.Factory{"none": detect.NewNone},
		Events: r.events, Settled: settled, Watch: r.watch,
	})
	if err == nil {
		_, err = r.world.Play()
	}
	return err
}

// deadlock describes the knots of a set of the present time.
func (r *run) deadlock(at unit.Time, stuck *oracle.Stuck) *Deadlock {
	d := &Deadlock{At: at}
	for _, c := range stuck.Components {
		if c.Knot {
			d.Queues = append(d.Queues, c.Queues...)
			d.Loops = append(d.Loops, r.fabric.LinkNames(stuck.Cycle(c.Queues[0])))
			d.Strong, d.Flooded = d.Strong || c.Strong, d.Flooded || c.Flooded
		}
	}
	d.Queues = slices.DeleteFunc(slices.Clone(stuck.Queues), func(q oracle.Queue) bool { return !slices.Contains(d.Queues, q) })
	d.Names = lists.Map(d.Queues, func(q oracle.Queue) string {
		return fmt.Sprintf("%s, priority %d", r.fabric.LinkName(q.NodePort), q.Priority)
	})
	d.Flows = r.flowsIn(d.Queues, func(*buffer.Frame) bool { return true })
	for _, q := range d.Queues {
		b, _ := r.fabric.Down(q)
		for _, next := range stuck.WaitsFor(q) {
			d.Turns = append(d.Turns, Turn{Switch: r.fabric.Name(b.Node), In: r.fabric.Port(b.NodePort), Out: r.fabric.Port(next.NodePort), Priority: b.Priority})
			d.Waiting = append(d.Waiting, r.flowsIn([]oracle.Queue{next}, func(f *buffer.Frame) bool { return f.In == b.Port && f.InPriority == b.Priority }))
		}
	}
	return d
}

// flowsIn are the flows with such frames in queues, in the order of the scenario.
func (r *run) flowsIn(queues []oracle.Queue, such func(*buffer.Frame) bool) (names []string) {
	waiting := map[uint32]bool{}
	for _, q := range queues {
		queue := r.world.Switch(r.fabric.Name(q.Node)).Queue(q.Port, q.Priority)
		for f := queue.Head(); f != nil; f = f.Next() {
			if such(f) {
				waiting[f.Info.Hash] = true
			}
		}
	}
	for i, f := range r.plan.Scenario.Flows {
		if waiting[r.plan.Hash(i)] {
			names = append(names, f.Name)
		}
	}
	return names
}
