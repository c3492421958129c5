package lab

import (
	"fmt"
	"slices"

	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/host"
	"softswitch/link"
	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/unit"
)

// Record is what one node reports after a run.
type Record struct {
	Name   string
	Switch *observe.Switch // of a switch that answers
	Host   *observe.Host   // of a host that answers
	Log    event.Log       // without events if they were judged while they were read: see readLogs
	// Clock says whose CLOCK_MONOTONIC the log's times are of, and Start and End are the
	// run's on it.
	Clock      string
	Start, End unit.Time
	// ignoredPauses says that a system made the node ignore pauses, by its log.
	ignoredPauses bool
}

// starvedMax is the lateness above which a node counts as starved: pauses of 100 Mbit/s
// are refreshed every 10 ms and expire after 335 ms.
const starvedMax = 100 * unit.Millisecond

// collect asks every node for its counters, and reads its log.
func (r *Run) collect(st *netnslab.State) error {
	var logs []*nodeLog
	for _, s := range r.Plan.Switches {
		rec := r.record(s.Name)
		snap, ok := ask[observe.Switch](r, st, s.Name)
		if ok {
			rec.Switch = &snap
			for _, p := range snap.Ports {
				r.distrust(s.Name, p.Name, p.Link)
			}
			r.starved(s.Name, snap.Live)
		}
		r.Nodes = append(r.Nodes, rec)
		logs = append(logs, r.openLog(st, snap.LogBytes))
	}
	for _, h := range r.Plan.Hosts {
		rec := r.record(h.Name)
		snap, ok := ask[observe.Host](r, st, h.Name)
		if ok {
			rec.Host = &snap
			for _, n := range snap.NICs {
				r.distrust(h.Name, n.Name, n.Link)
			}
			r.starved(h.Name, snap.Live)
			r.leftOut(h.Name, snap.Sent)
		}
		r.Nodes = append(r.Nodes, rec)
		logs = append(logs, r.openLog(st, snap.LogBytes))
	}
	err := r.readLogs(logs)
	r.doubtLoss()
	r.doubtLinks(st.Inspect())
	if st.Attached() {
		r.doubtTunnels(st)
	}
	// After all have answered: make sure that it was this lab that did.
	if err := st.Replaced(); err != nil {
		r.doubt("this run's lab is not there any more: %v", err)
	}
	return err
}

// record is a Record without what the node has to be asked for.
func (r *Run) record(name string) Record {
	at := r.clocks[name]
	return Record{Name: name, Clock: at.id, Start: r.Start + at.ahead, End: r.End + at.ahead}
}

// doubt records a reason not to trust the run.
func (r *Run) doubt(format string, args ...any) {
	r.Invalid = append(r.Invalid, fmt.Sprintf(format, args...))
}

// ask asks a node for its counters at the end of the run; false if it is not alive, or
// has not kept them.
func ask[T client.Node](r *Run, st *netnslab.State, name string) (snap T, ok bool) {
	if r.Killed[name] {
		return snap, false
	}
	at := endpoint(st, name)
	snap, err := client.StatsOf[T](at, r.End+r.clocks[name].ahead)
	if err == nil {
		return snap, true
	}
	if now, err := client.Stats[observe.Live](at); err == nil && now.Restarts > 0 {
		r.restarted(name, now.Restarts)
		return snap, false
	}
	r.doubt("%s does not answer: %v", name, err)
	return snap, false
}

func (r *Run) restarted(name string, times int) {
	r.doubt("%s was restarted, %d times in all: what it held is counted nowhere, and its event log starts over", name, times)
}

// doubtLinks checks for links that are not in the state in which the scenario left
// them.
func (r *Run) doubtLinks(now netnslab.Report) {
	failed := map[int]bool{}
	for _, e := range r.Plan.Events {
		switch e.Do {
		case scenario.Fail:
			failed[e.Link] = true
		case scenario.Heal:
			failed[e.Link] = false
		}
	}
	for i, l := range now.Links {
		for _, end := range []struct {
			netnslab.End
			there bool
		}{{l.A, l.AThere}, {l.B, l.BThere}} {
			if !end.there {
				r.doubt("interface %v is gone", end.End)
			}
		}
		if l.AThere && l.BThere && l.Up == failed[i] {
			r.doubt("link %s is %s, and not by the scenario", r.Plan.Links[i].Name, map[bool]string{true: "up", false: "down"}[l.Up])
		}
	}
}

// distrust checks for frames that the machine, not the fabric, lost at a port of a
// node. A stopped node reads nothing; its losses are the scenario's doing.
func (r *Run) distrust(node, port string, s link.Stats) {
	if r.Stopped[node] {
		s.Drops = 0
	}
	if s.Lost+s.Reopened > 0 && r.mayCut(node, port) {
		s.Lost, s.Reopened = 0, 0
	}
	for _, l := range []struct {
		n    uint64
		what string
	}{
		{s.Drops, "frames lost in the receive ring"},
		{s.Truncated, "frames truncated"},
		{s.Busy, "times the kernel refused to send"},
		{s.Lost, "frames lost on their way out"},
		{s.Reopened, "times its link was reopened"},
	} {
		if l.n > 0 {
			r.doubt("%s %s: %d %s", node, port, l.n, l.what)
		}
	}
}

// mayCut reports whether the link of a port may have been down by right: the scenario did something to
// it, or to a node at its end. Links of an attached lab may have been down before the run, while
// somebody else built it; doubtTunnels looks at what they lose in the run.
func (r *Run) mayCut(node, port string) bool {
	if r.attached {
		return true
	}
	i := slices.IndexFunc(r.Plan.Links, func(l scenario.Link) bool {
		return l.A.Name == node && l.A.Iface == port || l.B.Name == node && l.B.Iface == port
	})
	return i < 0 || r.spared(r.Plan.Links[i].A.Name) || r.spared(r.Plan.Links[i].B.Name) ||
		slices.ContainsFunc(r.Plan.Events, func(e scenario.Event) bool {
			return (e.Do == scenario.Fail || e.Do == scenario.Heal) && e.Link == i
		})
}

// starved checks whether a node lacked a processor or lost events.
func (r *Run) starved(name string, l observe.Live) {
	if l.Lateness > starvedMax && !r.Stopped[name] {
		r.doubt("%s was starved: %.0f ms late", name, float64(l.Lateness)/1e6)
	}
	if l.EventsLost > 0 {
		r.doubt("%s: %d events lost", name, l.EventsLost)
	}
	if l.Restarts > 0 {
		r.restarted(name, l.Restarts)
	}
	for _, p := range l.Impaired {
		r.doubt("%s %s: its wire was impaired, and not by the scenario", name, p)
	}
	for _, p := range l.Problems {
		r.doubt("%s: %s", name, p)
	}
}

// leftOutMost is which part of the time for which a flow sends may be left out because its host was late.
// Chosen: the verdict tells of a hundredth; w6-late-edge lost its deadlock to a third.
const leftOutMost = 4

// leftOut checks whether a host was so late that it sent much less of a flow than the scenario says. One
// with a size sends the rest later.
func (r *Run) leftOut(name string, sent []host.Sent) {
	flows := r.Plan.Scenario.Flows
	for _, out := range sent {
		if int(out.Number) >= len(flows) { // of a node that somebody else configured
			continue
		}
		f := &flows[out.Number]
		if lasts := r.Plan.Scenario.Lasts(f); f.Size == 0 && out.LeftOut > max(0, lasts)/leftOutMost && !r.Stopped[name] {
			r.doubt("%s was late: it left out %.0f of the %.0f ms for which its flow %s sends", name, float64(out.LeftOut)/1e6, float64(lasts)/1e6, f.Name)
		}
	}
}

// doubtLoss decides whether lossless frames may have been lost because nodes waited for
// a processor. The nodes at the ends of a link then send pauses, or react to them, too
// late. Together with the bursts in which frames leave, that delay must not exceed the
// time for which headroom lasts. A node that the scenario stops, or that a system made
// ignore pauses, delays too; loss is expected then.
func (r *Run) doubtLoss() {
	if len(r.Stopped) > 0 || slices.ContainsFunc(r.Nodes, func(n Record) bool { return n.ignoredPauses }) {
		return
	}
	var lost uint64
	late := map[string]unit.Time{}
	for _, n := range r.Nodes {
		switch {
		case n.Switch != nil:
			for i := range n.Switch.Ports {
				lost += noRoom(&n.Switch.Ports[i].Loss)
			}
			late[n.Name] = n.Switch.Lateness
		case n.Host != nil:
			lost += noRoom(&n.Host.Loss)
			late[n.Name] = n.Host.Lateness
		}
	}
	if lost == 0 {
		return
	}
	spare := func(i int) unit.Time {
		l := r.Plan.Links[i]
		room := lasts(r.Plan, i) - roundTrip(l)
		if room < 0 {
			return unit.Never // that it does not last for the wire is the scenario's doing
		}
		return room - live.Granularity - late[l.A.Name] - late[l.B.Name]
	}
	worst := 0
	for i := range r.Plan.Links {
		if spare(i) < spare(worst) {
			worst = i
		}
	}
	if spare(worst) < 0 {
		a, b := r.Plan.Links[worst].A.Name, r.Plan.Links[worst].B.Name
		if late[a] < late[b] {
			a, b = b, a
		}
		r.doubt("%d lossless frames were dropped where headroom lasts %.1f ms, and %s and %s were starved: %.1f and %.1f ms late",
			lost, float64(lasts(r.Plan, worst))/1e6, a, b, float64(late[a])/1e6, float64(late[b])/1e6)
	}
}

// noRoom is how many lossless frames found no room: the loss for which lateness is to blame.
func noRoom(l *observe.Loss) uint64 {
	return l.LostBy[dataplane.DropHeadroom.String()] + l.LostBy[dataplane.DropNoSlot.String()]
}
