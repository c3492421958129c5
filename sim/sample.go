package sim

import (
	"softswitch/dataplane"
	"softswitch/unit"
)

// play lets everything happen up to end, and shows the world to whoever asked for
// samples.
func (w *World) play(end unit.Time) {
	if w.opt.Sample != nil {
		for at := w.opt.SampleEvery; at > 0 && at <= end; at += w.opt.SampleEvery {
			for w.step(at) {
			}
			w.opt.Sample(at, w)
		}
	}
	for w.step(end) {
	}
}

// Switch is the switch called name, to read while a sample is taken; nil if there
// is none.
func (w *World) Switch(name string) *dataplane.Switch {
	i, ok := w.plan.Fabric.Node(name)
	if !ok {
		return nil
	}
	return w.nodes[i].sw
}
