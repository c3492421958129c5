package sim

import (
	"softswitch/dataplane"
	"softswitch/unit"
)

// play runs the world up to end, and calls Options.Sample at the times it asked for.
func (w *World) play(end unit.Time) {
	if w.opt.Sample != nil {
		for at := w.opt.SampleEvery; at > 0 && at <= end; at += w.opt.SampleEvery {
			for w.step(at) {
			}
			w.opt.Sample(at, w)
		}
	}
	if len(w.parts) > 1 {
		w.windows(end)
		return
	}
	for w.step(end) {
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
