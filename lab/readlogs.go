package lab

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/event/follow"
	netnslab "softswitch/netns-lab"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// nodeLog is the log of a node, which is read to its end.
type nodeLog struct {
	run     *Run
	node    int         // index in Nodes
	id      unit.NodeID // by its log
	written int64       // bytes, by what the node said
	*follow.Log
	events []event.Event // read ahead
	read   int           // events before them
	over   bool          // there is nothing more to read
}

// openLog opens the log of the node that was added last, of the length that the node reported.
func (r *Run) openLog(st *netnslab.State, written int64) *nodeLog {
	n := len(r.Nodes) - 1
	path := filepath.Join(netnslab.Dir(st.Name), r.Nodes[n].Name, EventsName)
	if st.Attached() {
		awaitCopy(path, written)
	}
	return &nodeLog{run: r, node: n, written: written, Log: follow.Open(path)}
}

// next is the next event, nil behind the last one. It is valid until the next call.
func (l *nodeLog) next() *event.Event {
	for len(l.events) == 0 && !l.over {
		l.fill()
	}
	if len(l.events) == 0 {
		return nil
	}
	return &l.events[0]
}

func (l *nodeLog) skip() { l.events, l.read = l.events[1:], l.read+1 }

// fill reads on. At the end it is seen whether the log is whole.
func (l *nodeLog) fill() {
	rec := &l.run.Nodes[l.node]
	events, more, err := l.Read()
	if err != nil {
		l.run.doubt("%s: event log: %v", rec.Name, err)
	}
	if l.over = !more; l.over {
		// A killed node may have been writing; a live one may still be.
		last, cut := l.End()
		events = append(events, last...)
		rec.Log.Node, rec.Log.Cut = *l.Node(), cut
		if l.Size() < l.written || l.Size() == 0 && l.run.Killed[rec.Name] {
			l.run.doubt("%s: event log: %d bytes of the %d that were written are there", rec.Name, l.Size(), l.written)
		}
		l.Close()
	}
	if l.events = events; len(events) > 0 {
		l.id = l.Node().ID
	}
	rec.note(events)
}

// note keeps what the events of its log say about a node, apart from what they say about deadlocks.
func (n *Record) note(events []event.Event) {
	for i := range events {
		e := &events[i]
		n.ignoredPauses = n.ignoredPauses || e.Type == event.Acted && (e.Action == detect.ActionIgnore || e.Action == detect.ActionContain)
	}
}

// readLogs reads all logs. If they use one clock, they are judged while they are read, for together they
// may be larger than memory; else they are kept, because what they say about the clocks is needed first.
func (r *Run) readLogs(logs []*nodeLog) (err error) {
	if !r.severalClocks() {
		r.truth, err = r.judgeLogs(logs)
		return err
	}
	for _, l := range logs {
		log := &r.Nodes[l.node].Log
		for e := l.next(); e != nil; e = l.next() {
			log.Events = append(log.Events, *e)
			l.skip()
		}
	}
	return nil
}

// judgeLogs holds logs by one clock against the truth. Events after the end do not count: nodes are
// asked for their logs one after the other, so only some logs cover that time.
func (r *Run) judgeLogs(logs []*nodeLog) (*oracle.Result, error) {
	f, err := verdict.Fabric(r.Plan.Fabric, verdict.Buffers(r.Plan))
	if err != nil {
		return nil, err
	}
	replay := oracle.NewReplay(f)
	var waiting []*nodeLog // by time
	of := map[unit.NodeID]*nodeLog{}
	for _, l := range logs {
		if l.next() == nil {
			continue
		}
		if other := of[l.id]; other != nil {
			err = fmt.Errorf("two logs of node %d: %q and %q", l.id, r.Nodes[other.node].Name, r.Nodes[l.node].Name)
		}
		of[l.id], waiting = l, append(waiting, l)
	}
	slices.SortFunc(waiting, byTime)
	for len(waiting) > 0 {
		l, others := waiting[0], waiting[1:]
		e := l.next()
		if e.At <= r.Nodes[l.node].End && err == nil {
			err = replay.Add(oracle.Entry{Node: l.id, Seq: l.read, Event: e})
		}
		if l.skip(); l.next() == nil {
			waiting = others
			continue
		}
		i, _ := slices.BinarySearchFunc(others, l, byTime)
		copy(waiting, others[:i])
		waiting[i] = l
	}
	if err != nil {
		return nil, err
	}
	return replay.Finish(r.Nodes[0].End, lateMax), nil
}

// byTime is the order of logs that have a next event, by that, as [oracle.Merge] has it.
func byTime(a, b *nodeLog) int {
	return cmp.Or(cmp.Compare(a.events[0].At, b.events[0].At), cmp.Compare(a.id, b.id))
}
