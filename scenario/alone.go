package scenario

import (
	"softswitch/host"
	"softswitch/host/roce"
	"softswitch/unit"
)

// Alone is how long flow i, a connection with a Size, takes until all is acknowledged if
// nothing else is on its path: every frame goes over every link after the one before it. It
// supposes that the window never makes the sender wait. It is 0 for another flow, and for
// one that does not arrive.
func (p *Plan) Alone(i int) unit.Time { return p.alone(i, p.Scenario.Flows[i].Size) }

// AloneMessage is as Alone, for one full message of a connection with or without a Size.
func (p *Plan) AloneMessage(i int) unit.Time {
	if p.Scenario.Flows[i].RC == nil {
		return 0
	}
	return p.alone(i, p.Scenario.Flows[i].RC.Message)
}

// InFlight is how many packets of flow i, a connection, its path holds: the time from when a full packet
// begins to leave until its acknowledgement is back, by the time that one within a message takes on the
// slowest link, or at the rate of the flow if that is lower, rounded up. It is 1 to roce.SackBits, and that
// if the flow does not arrive. With no more in flight a selective connection of full packets alone never
// waits (IRN, section 3.2, takes the longest path of the network for all).
func (p *Plan) InFlight(i int) int {
	f := p.Scenario.Flows[i]
	if p.Flows[i].Err != nil {
		return roce.SackBits
	}
	w := passage{links: p.way(i)}
	w.there, w.back = make([]unit.Time, len(w.links)), make([]unit.Time, len(w.links))
	w.frame(f.Frame, true)
	within := f.Frame - roce.RETHLen
	slowest := unit.Rate(f.Rate).FrameTime(within)
	for _, l := range w.links {
		slowest = max(slowest, l.Rate.FrameTime(within))
	}
	return int(min(roce.SackBits, max(1, (w.acked+slowest-1)/max(1, slowest))))
}

// aloneMessages is how many full messages of a long flow are followed frame by frame: from
// then on each takes as long as on the slowest link.
const aloneMessages = 100

// alone is Alone for this number of bytes.
func (p *Plan) alone(i, bytes int) unit.Time {
	f := p.Scenario.Flows[i]
	if f.RC == nil || bytes == 0 || p.Flows[i].Err != nil {
		return 0
	}
	w := passage{links: p.way(i), rate: unit.Rate(f.Rate)}
	w.there, w.back = make([]unit.Time, len(w.links)), make([]unit.Time, len(w.links))
	connection := f.RC.Connection(bytes)
	shape := connection.Shape
	skipped := uint64(0)
	if n := shape.Total / uint64(shape.Message); n > aloneMessages {
		skipped = n - aloneMessages
		shape.Total -= skipped * uint64(shape.Message)
	}
	seq := 0
	var slowest unit.Time
	for m := range shape.Messages() {
		before, frames := w.there[len(w.there)-1], seq
		host.Frames(shape.MTU, shape.Length(m), func(frame int, last bool) {
			seq++
			w.frame(frame, last || seq%connection.AckEvery == 0)
		})
		if m == aloneMessages-1 { // the last full one
			slowest = w.there[len(w.there)-1] - before
			seq += int(skipped) * (seq - frames) // which of the rest ask depends on those between
		}
	}
	return w.acked + unit.Time(skipped)*slowest
}

// passage is frames that go over links one after the other, and acknowledgements back.
type passage struct {
	links       []Link
	rate        unit.Rate   // of the flow, 0: as fast as the link
	release     unit.Time   // when the rate allows the next frame
	there, back []unit.Time // until when a link is busy
	acked       unit.Time   // when the last acknowledgement is back
}

// frame is the next frame of n bytes; asks says that it asks for an acknowledgement.
func (w *passage) frame(n int, asks bool) {
	at := w.release
	w.release += w.rate.FrameTime(n)
	for k, l := range w.links {
		w.there[k] = max(at, w.there[k]) + l.Rate.FrameTime(n)
		at = w.there[k] + l.Delay
	}
	if !asks {
		return
	}
	for k := len(w.links) - 1; k >= 0; k-- {
		l := w.links[k]
		w.back[k] = max(at, w.back[k]) + l.Rate.FrameTime(host.AckFrame)
		at = w.back[k] + l.Delay
	}
	w.acked = at
}

// way is the links of flow i's path, in order.
func (p *Plan) way(i int) []Link {
	f, nodes := p.Scenario.Flows[i], p.Fabric.Nodes
	way := []Link{p.Links[nodes[f.From].Ports[p.From(i).Port].Link]}
	for _, h := range p.Flows[i].Hops {
		way = append(way, p.Links[nodes[h.Node].Ports[h.Out].Link])
	}
	return way
}
