package sim

import (
	"iter"

	"softswitch/dataplane"
	"softswitch/unit"
)

// play runs the world up to end, and calls Options.Sample at the times it asked for.
func (w *World) play(end unit.Time) {
	if w.opt.Sample != nil {
		for at := range w.opt.SampleAt {
			if at > end {
				break
			}
			for w.step(at) {
			}
			w.opt.Sample(at, w)
		}
	}
	if len(w.partitions) > 1 {
		w.windows(end)
		return
	}
	for w.step(end) {
	}
}

// Every is the multiples of d, which is above 0.
func Every(d unit.Time) iter.Seq[unit.Time] {
	return func(yield func(unit.Time) bool) {
		for at := d; yield(at); at += d {
		}
	}
}

// Switch is the switch called name, to be read while a sample is taken; nil if there is
// no such switch.
func (w *World) Switch(name string) *dataplane.Switch {
	i, ok := w.plan.Fabric.Node(name)
	if !ok {
		return nil
	}
	return w.nodes[i].sw
}
