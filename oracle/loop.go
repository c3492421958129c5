package oracle

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// forwards reports whether a detector's step sends a label that reached a queue on to an upstream. The
// others begin it, end it, or ask downstream.
func forwards(s detect.Step) bool { return s == detect.StepForward || s == detect.StepCheck }

// labelLoop reconstructs the loop of a finding that is not true from the path of its
// label: from the upstream of the declared priority group, by the steps that forwarded the
// label of the same initiator and number, until it reached the declared queue. It is nil if the logs
// do not show the whole path.
//
// A label travels against the direction of waiting, from a priority group to the queue that it
// pauses, so the path is reversed at the end. The search is by breadth: of several paths a shortest.
// It says where the label went, and proves nothing about waiting.
func (r *Replay) labelLoop(f *Finding) []Queue {
	start, wired := r.fabric.Up(f.PG)
	if !wired {
		return nil
	}
	before := map[Queue]Queue{start: start}
	for work := []Queue{start}; len(work) > 0; work = work[1:] {
		if work[0] == f.Queue {
			return waitingOrder(before, start, f.Queue)
		}
		for _, next := range r.forwarded(f, work[0]) {
			if _, seen := before[next]; !seen {
				before[next] = work[0]
				work = append(work, next)
			}
		}
	}
	return nil
}

// forwarded returns the queues to which f's label went on from q, until f was declared: what the label
// did later did not lead to it. Steps have the times of the time line, and so f's is taken there.
func (r *Replay) forwarded(f *Finding, q Queue) (next []Queue) {
	for _, s := range r.steps[labelID(f.Label)] {
		if up, wired := r.fabric.Up(s.pg); wired && s.queue == q && s.at <= f.told {
			next = append(next, up)
		}
	}
	return next
}

// label identifies a label: who made it, and its number.
type label struct {
	initiator unit.NodePort
	seq       uint16
}

func labelID(t itsyhdr.TLV) label { return label{t.Initiator, t.Seq} }

// waitingOrder is the path from end back to start: against the way of the label, so in the order of
// waiting.
func waitingOrder(before map[Queue]Queue, start, end Queue) []Queue {
	loop := []Queue{end}
	for q := end; q != start; {
		q = before[q]
		loop = append(loop, q)
	}
	return loop
}

// LinkNames are the links that queues transmit on, each in the direction of its
// frames: "core0--agg2-0".
func (f *Fabric) LinkNames(queues []Queue) []string {
	names := make([]string, 0, len(queues))
	for _, q := range queues {
		names = append(names, f.LinkName(q.NodePort))
	}
	return names
}

// Trigger is an initial trigger, by names.
type Trigger struct {
	Node string
	Port string
	// Kind is "switch" or "host", or "" if the finding names no trigger.
	Kind   string
	OnLoop bool
}

// Trigger gives names to the initial trigger of a finding: the switch port, or the host
// that this port faces, with the host's own port.
func (r *Result) Trigger(f Finding) Trigger {
	t := Trigger{OnLoop: f.OnLoop}
	at := f.Trigger
	if at.IsZero() {
		return t
	}
	t.Kind = "switch"
	if r.Fabric.FacesHost(at) {
		t.Kind = "host"
		at, _ = r.Fabric.Far(at)
	} else if n := r.Fabric.node(at.Node); n != nil && n.Host {
		t.Kind = "host"
	}
	t.Node, t.Port = r.Fabric.Name(at.Node), r.Fabric.Port(at)
	return t
}
