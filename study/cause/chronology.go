package cause

import (
	"slices"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/oracle"
	"softswitch/unit"
)

// Chronology is how a deadlock formed: the XOFF periods that led to it, each with
// those that caused it. A period is caused, if more than XON of its bytes waited in
// paused queues when it began, by the periods that paused those; else it is a source.
// It is history: that a source came first does not say that the deadlock needed it.
type Chronology struct {
	// Periods that the loop goes back to, oldest first.
	Periods []Period `json:"periods"`
	// Sources are the periods that nothing caused, oldest first: indices of Periods.
	Sources []int `json:"sources"`
}

// Period is a time for which a priority group of a switch was XOFF, or a host paused.
type Period struct {
	Node     string        `json:"node"` // the switch or host
	Port     string        `json:"port"` // of the priority group, or of the host
	Priority unit.Priority `json:"priority"`
	Host     bool          `json:"host,omitempty"`
	// From and To are its beginning and end, the latter 0 if it still lasted when the
	// deadlock began. A host's are those of its pause at the switch.
	From unit.Time `json:"from_ns"`
	To   unit.Time `json:"to_ns,omitempty"`
	// Bytes were in the priority group when it began, of which Waiting were in paused queues; it
	// was to resume at XON bytes. All are 0 of a host.
	Bytes   int `json:"bytes,omitempty"`
	Waiting int `json:"waiting_bytes,omitempty"`
	XON     int `json:"xon_bytes,omitempty"`
	// CausedBy are indices of Chronology.Periods; none for a source.
	CausedBy []int `json:"caused_by,omitempty"`
	// OnLoop: it paused a queue of the deadlock when that began.
	OnLoop bool `json:"on_loop,omitempty"`
}

// history is all periods of a run so far.
type history struct {
	run     *run
	periods []Period
	number  []uint8              // by period: its number in pauses
	of      map[oracle.PG][]int  // periods of a priority group, the last is the newest
	pausing map[oracle.Queue]int // by paused queue: the period that pauses it
	holds   []dataplane.Holds    // scratch
}

// see takes the next event of the run; the switches are as they are right after it.
func (h *history) see(n event.Node, e event.Event) {
	pg := oracle.PG{NodePort: unit.NodePort{Node: n.ID, Port: e.Port}, Priority: e.Priority}
	queue := oracle.Queue{NodePort: unit.NodePort{Node: n.ID, Port: e.Out}, Priority: e.OutPriority}
	switch e.Type {
	case event.XOFF:
		h.begin(n, pg, e)
	case event.XON:
		all := h.of[pg]
		h.periods[all[len(all)-1]].To = e.At
	case event.Paused:
		h.pause(queue, e)
	case event.Resumed, event.Expired:
		if p, ok := h.pausing[queue]; ok && h.periods[p].Host {
			h.periods[p].To = e.At
		}
		delete(h.pausing, queue)
	}
}

// begin adds the period that a priority group's XOFF begins.
func (h *history) begin(n event.Node, b oracle.PG, e event.Event) {
	p := Period{Node: n.Name, Port: n.Ports[b.Port], Priority: b.Priority, From: e.At, Bytes: int(e.Bytes), XON: int(e.Limit)}
	h.holds = h.run.world.Switch(n.Name).AppendHolds(h.holds[:0], detect.PG{Port: b.Port, Priority: b.Priority})
	var causes []int
	for _, held := range h.holds {
		p.Waiting += held.Bytes
		for out := held.Ports; !out.Empty(); out.Pop() {
			if by, ok := h.pausing[oracle.Queue{NodePort: unit.NodePort{Node: n.ID, Port: out.First()}, Priority: held.Priority}]; ok {
				causes = append(causes, by)
			}
		}
	}
	if p.Waiting > p.XON {
		slices.Sort(causes)
		p.CausedBy = slices.Compact(causes)
	}
	h.of[b] = append(h.of[b], len(h.periods))
	h.add(p, e.Period)
}

func (h *history) add(p Period, number uint8) {
	h.periods, h.number = append(h.periods, p), append(h.number, number)
}

// pause finds the period that pauses a queue of a switch; a host's begins with it.
func (h *history) pause(q oracle.Queue, e event.Event) {
	b, wired := h.run.fabric.Down(q)
	if !wired {
		return
	}
	if h.run.fabric.FacesHost(q.NodePort) {
		h.pausing[q] = len(h.periods)
		h.add(Period{Node: h.run.fabric.Name(b.Node), Port: h.run.fabric.Port(b.NodePort), Priority: q.Priority, Host: true, From: e.At}, 0)
		return
	}
	for _, p := range slices.Backward(h.of[b]) {
		if !e.HasPeriod || h.number[p] == e.Period {
			h.pausing[q] = p
			return
		}
	}
}

// before is the chronology of a deadlock that begins now.
func (h *history) before(d *Deadlock) *Chronology {
	led, onLoop := map[int]bool{}, map[int]bool{}
	var work []int
	for _, q := range d.Queues {
		if p, ok := h.pausing[q]; ok {
			onLoop[p] = true
			work = append(work, p)
		}
	}
	for ; len(work) > 0; work = work[1:] {
		if p := work[0]; !led[p] {
			led[p] = true
			work = append(work, h.periods[p].CausedBy...)
		}
	}
	c, index := &Chronology{}, make([]int, len(h.periods))
	for i, p := range h.periods {
		if !led[i] {
			continue
		}
		index[i] = len(c.Periods)
		p.OnLoop = onLoop[i]
		p.CausedBy = slices.Clone(p.CausedBy)
		for k, by := range p.CausedBy {
			p.CausedBy[k] = index[by]
		}
		if p.CausedBy == nil {
			c.Sources = append(c.Sources, len(c.Periods))
		}
		c.Periods = append(c.Periods, p)
	}
	return c
}

// hosts are those that have paused, in the order of their first pauses.
func (h *history) hosts() (names []string) {
	for _, p := range h.periods {
		if p.Host && !slices.Contains(names, p.Node) {
			names = append(names, p.Node)
		}
	}
	return names
}
