package mutant

import (
	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/unit"
)

// Defect is something that a Wrapper does to frames.
type Defect struct {
	// Number is that of the defect in the list of all.
	Number int
	Name   string
	// Cases are those that have to fail, each by itself.
	Cases []string
	// In, unless nil, is called with each frame that comes, before it is parsed. It may change f.Data and
	// f.Len; the frame is handed to the machine after hold.
	In func(in unit.Port, f *buffer.Frame) (hold unit.Time)
	// Out, unless nil, is called with each frame that leaves, and may change it if it is a control frame;
	// the bytes of others may be shared.
	Out func(out unit.Port, f *buffer.Frame)
}

// Wrapper is a machine with a defect. Its driver has to parse frames by it.
type Wrapper struct {
	dataplane.Machine
	defect Defect
	held   [][]held // by port, in order
	ready  unit.PortSet
}

type held struct {
	at unit.Time
	f  *buffer.Frame
}

// New puts a defect before a machine.
func New(m dataplane.Machine, d Defect) *Wrapper {
	return &Wrapper{Machine: m, defect: d, held: make([][]held, m.Ports())}
}

// Receive implements dataplane.Machine.
func (w *Wrapper) Receive(now unit.Time, in unit.Port, fs []*buffer.Frame) {
	w.release(now, in)
	for i := range fs {
		hold := unit.Time(0)
		if w.defect.In != nil {
			hold = w.defect.In(in, fs[i])
			w.Parse(fs[i])
		}
		if hold > 0 {
			w.held[in] = append(w.held[in], held{now + hold, fs[i]})
			w.ready.Add(in)
			continue
		}
		w.Machine.Receive(now, in, fs[i:i+1])
	}
}

// release hands over the frames that were held long enough.
func (w *Wrapper) release(now unit.Time, in unit.Port) {
	for len(w.held[in]) > 0 && w.held[in][0].at <= now {
		w.Machine.Receive(now, in, []*buffer.Frame{w.held[in][0].f})
		w.held[in] = w.held[in][1:]
	}
}

// Transmit implements dataplane.Machine.
func (w *Wrapper) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (n int, next unit.Time) {
	w.release(now, out)
	n, next = w.Machine.Transmit(now, out, fs)
	if w.defect.Out != nil {
		for _, f := range fs[:n] {
			w.defect.Out(out, f)
		}
	}
	if len(w.held[out]) > 0 {
		next = min(next, w.held[out][0].at)
	}
	return n, next
}

// Work implements dataplane.Machine.
func (w *Wrapper) Work(ev []event.Event) (unit.PortSet, []event.Event) {
	ready, ev := w.Machine.Work(ev)
	ready, w.ready = ready.Or(w.ready), unit.PortSet{}
	return ready, ev
}
