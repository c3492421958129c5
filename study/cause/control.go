package cause

import (
	"slices"

	"softswitch/internal/stat"
	"softswitch/topo"
	"softswitch/unit"
)

// Control is a treatment of the same number of other hosts, lossless flows and turns, drawn
// at random from seed: what a treatment does says something only beside what a treatment of
// any others does. Other turns are those that lossless flows take. ok is false if there are
// not enough others.
func (c *Case) Control(t Treatment, seed uint64) (control Treatment, ok bool) {
	rng := stat.Rand(seed)
	var enough [3]bool
	control.Hosts, enough[0] = others(&rng, namesOf(c.Scenario.Fabric, topo.Host), t.Hosts)
	control.Flows, enough[1] = others(&rng, c.losslessFlows(), t.Flows)
	control.Turns, enough[2] = others(&rng, c.turnsTaken(), t.Turns)
	return control, enough == [3]bool{true, true, true}
}

// LoopControl is the same number of hosts, flows and turns as t treats, drawn at random from
// seed out of what the oracle knows of the loop without trying anything: hosts that have
// paused, flows with frames in it, turns that hold it. It is a guess that knows the loop, so
// what t treats may be drawn too. If there are fewer of a kind, all of them are drawn.
func (c *Case) LoopControl(t Treatment, seed uint64) Treatment {
	rng := stat.Rand(seed)
	return Treatment{
		Hosts: draw(&rng, c.Paused, len(t.Hosts)),
		Flows: draw(&rng, c.Deadlock.Flows, len(t.Flows)),
		Turns: draw(&rng, c.Deadlock.Turns, len(t.Turns)),
	}
}

// draw is n of all, in their order, all if there are fewer.
func draw[T any](rng *stat.Rand, all []T, n int) []T {
	rest := slices.Clone(all)
	for len(rest) > n {
		i := rng.Below(len(rest))
		rest = slices.Delete(rest, i, i+1)
	}
	return rest
}

// others draws len(not) random elements of all that are not in not, and keeps the order of
// all. ok is false if there are too few.
func others[T comparable](rng *stat.Rand, all, not []T) (drawn []T, ok bool) {
	rest := slices.DeleteFunc(slices.Clone(all), func(x T) bool { return slices.Contains(not, x) })
	if len(rest) < len(not) {
		return nil, false
	}
	return draw(rng, rest, len(not)), true
}

// turnsTaken are the turns of the paths of lossless flows, each once. With rules that
// change priorities, a turn is of the priority in which the flow started.
func (c *Case) turnsTaken() (turns []Turn) {
	for i, f := range c.Scenario.Flows {
		if !c.lossless(f) {
			continue
		}
		for _, hop := range c.plan.Flows[i].Hops {
			if hop.Out == unit.NoPort {
				continue
			}
			n := c.Scenario.Fabric.Nodes[hop.Node]
			t := Turn{Switch: n.Name, In: n.Ports[hop.In].Name, Out: n.Ports[hop.Out].Name, Priority: f.Priority}
			if !slices.Contains(turns, t) {
				turns = append(turns, t)
			}
		}
	}
	return turns
}
