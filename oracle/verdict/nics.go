package verdict

import (
	"fmt"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/unit"
)

// HostResult is what became of a host with several NICs.
type HostResult struct {
	Host string `json:"host"`
	Carried
	NICs []NICResult `json:"nics"`
}

// NICResult is what became of one of them.
type NICResult struct {
	NIC    string `json:"nic"`    // its interface
	Switch string `json:"switch"` // to which it leads
	Carried
}

// Carried is what a host, or a NIC, sent and received.
type Carried struct {
	// Flows are those that it sends, at the end of the run; Done those with an end that have reached it,
	// and Completion the longest that one took. Moves is how often one left by another NIC from then on.
	Flows      int       `json:"flows"`
	Done       int       `json:"done"`
	Completion unit.Time `json:"completion_max_ns"`
	Moves      int       `json:"moves"`
	// Sent and Received are frames of flows, their bytes, lossless frames that it dropped, and how often
	// its link went down.
	Sent          int64 `json:"sent"`
	SentBytes     int64 `json:"sent_bytes"`
	Received      int64 `json:"received"`
	ReceivedBytes int64 `json:"received_bytes"`
	Lost          int   `json:"lost"`
	LinkDown      int   `json:"link_down"`
	// Paused is for how long it was paused, all priorities added up; Pauses how many pause frames it
	// got, and PausesSent how many it sent.
	Paused     unit.Time `json:"paused_ns"`
	Pauses     int       `json:"pauses"`
	PausesSent int       `json:"pauses_sent"`
}

// nicName is the interface of NIC i of a host.
func nicName(i int) string { return fmt.Sprintf("eth%d", i) }

// countersOf are those of each NIC of a host.
func countersOf(h *observe.Host) (all []*host.Counters) {
	for i := range h.NICs {
		all = append(all, &h.NICs[i].Counters)
	}
	return all
}

// pausedFor is for how long a priority was paused until the end of a run.
func pausedFor(k *host.Counters, c unit.Priority, end unit.Time) unit.Time {
	paused := k.PausedTime[c]
	if since := k.PausedSince[c]; since > 0 {
		paused += max(0, end-since)
	}
	return paused
}

// countHosts fills in Hosts. It comes after count.
func (v *Verdict) countHosts(p *scenario.Plan, hosts []observe.Host, end func(host string) unit.Time) {
	for i := range hosts {
		h := &hosts[i]
		node, ok := p.Fabric.Node(h.Name)
		if len(h.NICs) < 2 || !ok {
			continue
		}
		r := HostResult{Host: h.Name}
		for k := range h.NICs {
			n := &h.NICs[k]
			port := p.Fabric.Nodes[node].Ports[k]
			nic := NICResult{NIC: port.Name, Switch: p.Fabric.Nodes[port.Peer.Node].Name}
			nic.Carried = Carried{
				Sent: int64(n.TxFrames), SentBytes: int64(n.TxBytes), Received: int64(n.RxFrames), ReceivedBytes: int64(n.RxBytes),
				Lost: int(lists.Sum(n.LostOf[:], func(k uint64) uint64 { return k })), LinkDown: int(n.Counters.LinkDown),
			}
			for c := range unit.Priority(unit.Priorities) {
				nic.Paused += pausedFor(&n.Counters, c, end(h.Name))
				nic.Pauses += int(n.Counters.RxPause[c])
				nic.PausesSent += int(n.Counters.TxPause[c])
			}
			r.add(&nic.Carried)
			r.NICs = append(r.NICs, nic)
		}
		for _, f := range h.Sent {
			one := Carried{Flows: 1, Moves: int(f.Moves)}
			if m := f.Messages; m != nil && m.Completion > 0 {
				one.Done, one.Completion = 1, m.Completion
			}
			r.add(&one)
			r.NICs[f.NIC].add(&one)
		}
		v.Hosts = append(v.Hosts, r)
	}
}

func (c *Carried) add(o *Carried) {
	c.Flows, c.Done, c.Completion, c.Moves = c.Flows+o.Flows, c.Done+o.Done, max(c.Completion, o.Completion), c.Moves+o.Moves
	c.Sent, c.SentBytes = c.Sent+o.Sent, c.SentBytes+o.SentBytes
	c.Received, c.ReceivedBytes = c.Received+o.Received, c.ReceivedBytes+o.ReceivedBytes
	c.Lost, c.LinkDown = c.Lost+o.Lost, c.LinkDown+o.LinkDown
	c.Paused, c.Pauses, c.PausesSent = c.Paused+o.Paused, c.Pauses+o.Pauses, c.PausesSent+o.PausesSent
}

// tableNICs is how many NICs the table shows; above that it shows their hosts alone.
const tableNICs = 32

// writeHosts writes a line for each host with several NICs that sent or received something, and one for
// each of its NICs.
func (v *Verdict) writeHosts(t *table) {
	busy := lists.Where(v.Hosts, func(h HostResult) bool { return h.Sent+h.Received > 0 })
	if len(busy) == 0 {
		return
	}
	rows := [][]string{{"host", "nic", "switch", "flows", "done", "longest ms", "moves", "sent", "received", "lost", "paused ms", "pauses", "sent"}}
	row := func(host, nic, sw string, c *Carried) {
		rows = append(rows, cells(host, nic, sw, c.Flows, c.Done, or("–", c.Completion > 0, ms(c.Completion)), c.Moves, c.Sent, c.Received, c.Lost, ms(c.Paused), c.Pauses, c.PausesSent))
	}
	nics := lists.Sum(busy, func(h HostResult) int { return len(h.NICs) })
	for i := range busy[:min(len(busy), tableNICs)] {
		h := &busy[i]
		row(h.Host, "all", "", &h.Carried)
		for k := range h.NICs {
			if n := &h.NICs[k]; nics <= tableNICs {
				row("", n.NIC, n.Switch, &n.Carried)
			}
		}
	}
	t.line("")
	t.rows(rows, "lllrrrrrrrrrr", func(int) {})
	t.more("  and %d more", len(busy)-tableNICs)
	if nics > tableNICs {
		t.line("  --json has each NIC")
	}
}
