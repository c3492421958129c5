package fuzz

import (
	"slices"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/unit"
)

// pressure follows the pauses of a host upstream. A queue is pressed from when the host
// pauses it, or a priority group that was pressed when it went XOFF; a priority group that goes XOFF is
// pressed if some of its bytes wait in a pressed queue.
type pressure struct {
	world  *sim.World
	fabric *oracle.Fabric
	host   string
	queues map[oracle.Queue]bool
	pgs    map[oracle.PG]bool
}

func (p *pressure) see(n event.Node, e event.Event) {
	pg := oracle.PG{NodePort: unit.NodePort{Node: n.ID, Port: e.Port}, Priority: e.Priority}
	queue := oracle.Queue{NodePort: unit.NodePort{Node: n.ID, Port: e.Out}, Priority: e.OutPriority}
	switch e.Type {
	case event.Paused:
		if down, wired := p.fabric.Down(queue); wired && (p.pgs[down] || p.fabric.Name(down.Node) == p.host) {
			p.queues[queue] = true
		}
	case event.XOFF:
		p.pgs[pg] = p.waits(n.Name, pg)
	}
}

// waits reports whether bytes of a priority group wait in a pressed queue.
func (p *pressure) waits(name string, b oracle.PG) bool {
	sw := p.world.Switch(name)
	view := sw.View()
	for out := range unit.Port(sw.Ports()) {
		q := detect.Queue{Port: out, Priority: b.Priority}
		if p.queues[oracle.Queue{NodePort: unit.NodePort{Node: b.Node, Port: out}, Priority: b.Priority}] && view.Held(detect.PG{Port: b.Port, Priority: b.Priority}, q) > 0 {
			return true
		}
	}
	return false
}

// press reports whether the pauses of every host that was planted, and counts, have reached
// the deadlock: whether they press one of its queues when it begins.
func (c *Case) press() bool {
	return !slices.ContainsFunc(c.Plants, func(p Plant) bool { return p.Kind.OfHost() && !p.Idle && !c.presses(p.Host) })
}

func (c *Case) presses(host string) (yes bool) {
	p := pressure{host: host, queues: map[oracle.Queue]bool{}, pgs: map[oracle.PG]bool{}}
	w, plan, err := c.World("none", detect.NewNone, sim.Options{Events: p.see, Settled: func(_ unit.Time, s *oracle.Stuck) bool {
		yes = slices.ContainsFunc(s.Queues, func(q oracle.Queue) bool { return p.queues[q] && s.InCore(q) })
		return s.Empty()
	}})
	if err != nil {
		return false
	}
	if p.fabric, err = verdict.Fabric(plan.Fabric, verdict.Buffers(plan)); err != nil {
		return false
	}
	p.world = w
	_, err = w.Play()
	return yes && err == nil
}
