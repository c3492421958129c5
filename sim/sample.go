package sim

import (
	"iter"
	"slices"

	"softswitch/dataplane"
	"softswitch/unit"
)

// play runs the world up to end, and calls Options.Sample at the times it asked for.
func (w *World) play(end unit.Time) {
	if w.opt.Sample != nil {
		for at := range w.opt.samples(end) {
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

// samples are the times of samples up to end.
func (o *Options) samples(end unit.Time) iter.Seq[unit.Time] {
	if o.SampleEvery == 0 {
		return slices.Values(o.SampleAt)
	}
	return func(yield func(unit.Time) bool) {
		for at := o.SampleEvery; at <= end && yield(at); at += o.SampleEvery {
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
