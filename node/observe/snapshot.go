// Package observe takes snapshots of nodes: it copies what a node counts and holds into
// values that can be shown, sent and compared.
//
//	dataplane.Switch, host.Host --Take...--> snapshots, tables, labels
//	events ----------------------Journal---> declared deadlocks, history
//
// Read in this order: Switch and Host (the snapshots), TakeSwitch and TakeHost;
// tables.go (forwarding tables, setup and labels of a switch), watchdog.go, journal.go
// (the totals of a switch's events).
//
// What it does not do: it changes nothing in a machine, and it reads no clock. The
// caller must hold the machine still while a snapshot is taken.
package observe

import (
	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/link"
	"softswitch/link/auth"
	"softswitch/link/impair"
	"softswitch/unit"
)

// Switch is a switch at one instant.
type Switch struct {
	Name     string `json:"name"`
	ID       uint16 `json:"id"`
	Detector string `json:"detector"`
	Response string `json:"response,omitempty"` // of a live switch, now
	// DetectorBytes is the detector's own state, CounterBytes the buffer manager's
	// accounts, which exist with or without a detector.
	DetectorBytes int `json:"detector_bytes"`
	CounterBytes  int `json:"counter_bytes"`
	SharedBytes   int `json:"shared_bytes"`
	// HeadroomPoolBytes is the use of the pool of headroom, 0 without one.
	HeadroomPoolBytes int    `json:"headroom_pool_bytes,omitempty"`
	LosslessLost      uint64 `json:"lossless_lost"`
	Lossless          []int  `json:"lossless"` // priorities, at some port
	// Flows are the flows of which it dropped data frames, OtherDrops such frames of flows beyond
	// the first 4096 of them, and of none.
	Flows      []FlowDrops `json:"flow_drops,omitempty"`
	OtherDrops FlowDrops   `json:"other_drops,omitzero"`
	Live
	Ports []Port `json:"ports"`
}

// FlowDrops are data frames of a flow that a node dropped, lossy ones too. A flooded frame
// counts once for each copy.
type FlowDrops struct {
	Flow uint32 `json:"flow,omitempty"` // the hash of its addresses and ports
	// Lost had no way or no room. The others were dropped on purpose: Response to break a
	// deadlock, Policed above a rate or in a queue or turn that was made lossy, IncompleteARP
	// for want of a MAC entry where nothing is flooded. Unwanted were of a station elsewhere.
	Lost          uint64 `json:"lost,omitempty"`
	Response      uint64 `json:"response,omitempty"`
	Policed       uint64 `json:"policed,omitempty"`
	IncompleteARP uint64 `json:"incomplete_arp,omitempty"`
	Unwanted      uint64 `json:"unwanted,omitempty"`
}

// Loss is what a node lost of lossless frames.
type Loss struct {
	// LostBy is how many, by reason.
	LostBy map[string]uint64 `json:"lossless_lost_by,omitempty"`
	// LostOf is the same by priority, and HeadroomLost those of them for which the headroom of their
	// priority group was full.
	LostOf       [unit.Priorities]uint64 `json:"lossless_lost_of,omitzero"`
	HeadroomLost [unit.Priorities]uint64 `json:"headroom_lost,omitzero"`
}

// lossOf is what came in by the port of these counters and was lost.
func lossOf(k *dataplane.PortCounters) Loss {
	l := Loss{LostOf: k.LostOf, HeadroomLost: k.HeadroomLost}
	for r, n := range k.LostBy {
		l.add(dataplane.Reason(r).String(), n)
	}
	return l
}

func (l *Loss) add(reason string, n uint64) {
	if n == 0 {
		return
	}
	if l.LostBy == nil {
		l.LostBy = map[string]uint64{}
	}
	l.LostBy[reason] += n
}

// plus adds what another one lost.
func (l *Loss) plus(o *Loss) {
	for reason, n := range o.LostBy {
		l.add(reason, n)
	}
	for c := range unit.Priorities {
		l.LostOf[c] += o.LostOf[c]
		l.HeadroomLost[c] += o.HeadroomLost[c]
	}
}

func takeFlowDrops(s *dataplane.Switch) (flows []FlowDrops, other FlowDrops) {
	of := func(d dataplane.FlowDrops) FlowDrops {
		return FlowDrops{uint32(d.Flow), d.Lost, d.Response, d.Policed, d.IncompleteARP, d.Unwanted}
	}
	all, rest := s.FlowDrops()
	return lists.Map(all, of), of(rest)
}

// Live is data that only a live node has.
type Live struct {
	// At is when the snapshot was taken, by the node's clock.
	At unit.Time `json:"at_ns"`
	// Clock says whose CLOCK_MONOTONIC that is: nodes that say the same share it.
	Clock      string `json:"clock,omitempty"`
	EventsLost uint64 `json:"events_lost"` // missing from the log
	// Lateness is the longest time by which a deadline was missed, or for which a frame
	// waited to be read.
	Lateness unit.Time `json:"lateness_ns"`
	// Goroutines and HeapBytes are those of the node's process, which may run other nodes too.
	// HeapBytes are of what was in use after its last garbage collection.
	Goroutines int    `json:"goroutines"`
	HeapBytes  uint64 `json:"heap_bytes"`
	// LogBytes is the length of the node's event log, 0 if it has none.
	LogBytes int64 `json:"log_bytes,omitempty"`
	// Problems say which files are incomplete, and why: "event log: it is full ...".
	Problems []string `json:"problems,omitempty"`
	// Restarts is how often the machine was restarted in its process. What it held at
	// those times is counted nowhere.
	Restarts int `json:"restarts,omitempty"`
	// Impaired are the ports whose wires do something else than at the start.
	Impaired []string `json:"impaired,omitempty"`
}

// PortWire is the wire from a port.
type PortWire struct {
	Port string `json:"port"`
	impair.State
}

// Port is a port at one instant. Arrays are indexed by priority.
type Port struct {
	// Lossless are the port's lossless priorities, if they differ from the switch's.
	Lossless *[]int `json:"lossless,omitempty"`
	Name     string `json:"name"`
	Up       bool   `json:"up"`
	// PortChannel is the LAG of which the port is a member.
	PortChannel string `json:"port_channel,omitempty"`

	RxFrames  [unit.Priorities]uint64 `json:"rx_frames"`
	RxBytes   [unit.Priorities]uint64 `json:"rx_bytes"`
	TxFrames  [unit.Priorities]uint64 `json:"tx_frames"`
	TxBytes   [unit.Priorities]uint64 `json:"tx_bytes"`
	RxPause   [unit.Priorities]uint64 `json:"rx_pause"`
	RxResume  [unit.Priorities]uint64 `json:"rx_resume"`
	TxPause   [unit.Priorities]uint64 `json:"tx_pause"`
	TxResume  [unit.Priorities]uint64 `json:"tx_resume"`
	TxRefresh [unit.Priorities]uint64 `json:"tx_refresh"`
	// PausesInVain are pauses, first or repeated, after which the far end sent on, RxUnheeded the frames that it
	// sent then, and UnheededLost those of them for which the headroom was full.
	PausesInVain [unit.Priorities]uint64 `json:"pauses_in_vain,omitzero"`
	RxUnheeded   [unit.Priorities]uint64 `json:"rx_unheeded,omitzero"`
	UnheededLost [unit.Priorities]uint64 `json:"unheeded_lost,omitzero"`
	// RxPause8023 is 802.3x PAUSE frames that were honoured; others are among Drops.
	RxPause8023 uint64                 `json:"rx_pause_8023,omitempty"`
	Paused      [unit.Priorities]bool  `json:"paused"`
	Pause       [unit.Priorities]Pause `json:"pause"`
	XOFF        [unit.Priorities]bool  `json:"xoff"`
	Queue       [unit.Priorities]Queue `json:"queue"`
	// Starved is the longest time for which a queue had frames, was not paused and did not send
	// because others did, and Waiting for how long it is so at this instant, 0 if it is not.
	Starved  [unit.Priorities]unit.Time `json:"starved_ns,omitzero"`
	Waiting  [unit.Priorities]unit.Time `json:"waiting_ns,omitzero"`
	Group    [unit.Priorities]Group     `json:"priority_group"`
	Messages [2]uint64                  `json:"messages"` // received, sent
	// Frames that came in by this port and were dropped, by reason, and anomalies of
	// frames that were forwarded.
	Drops map[string]uint64 `json:"drops,omitempty"`
	Odd   map[string]uint64 `json:"odd,omitempty"`
	Loss                    // of frames that came in by this port
	// Frames marked with Congestion Experienced as they left, by priority.
	Marked [unit.Priorities]uint64 `json:"ecn_marked,omitzero"`
	// Frames dropped on purpose, by priority: at the egress, and on arrival. ResponseBytes
	// are their bytes in total, by this ingress port.
	TxDropped     [unit.Priorities]uint64 `json:"tx_dropped"`
	RxDropped     [unit.Priorities]uint64 `json:"rx_dropped"`
	ResponseBytes uint64                  `json:"response_bytes"`
	Link          link.Stats              `json:"link"`
	// Auth is how it authenticates its far end, nil if it does not.
	Auth *Auth `json:"auth,omitempty"`
	// LLDP is what it says and hears by LLDP, nil if it does not speak it.
	LLDP *LLDP `json:"lldp,omitempty"`
}

// Auth is one end of an authenticated link.
type Auth struct {
	Mode   string `json:"mode"`
	Link   string `json:"link"`
	Agreed bool   `json:"agreed"` // the far end has answered
	// Behind is how often its counter was behind what the far end had believed: its clock went
	// back.
	Behind int `json:"behind,omitempty"`
}

// RefusedBy is how many control frames that came in by the port were not believed, by the
// verdict on them (auth.Verdict).
func (p Port) RefusedBy() map[string]uint64 {
	by := map[string]uint64{}
	for v := auth.Missing; v < auth.Verdicts; v++ {
		if n := p.Drops[dataplane.DropOf(v).String()]; n > 0 {
			by[v.String()] = n
		}
	}
	return by
}

// refused is how many those are in all.
func (p Port) refused() (n uint64) {
	for _, k := range p.RefusedBy() {
		n += k
	}
	return n
}

// Sent is how many frames left by the port, each priority of a PFC frame counted as one.
func (p Port) Sent() uint64 {
	n := total(p.TxFrames, p.TxPause, p.TxResume, p.TxRefresh) + p.Messages[1]
	if p.LLDP != nil {
		n += p.LLDP.Sent
	}
	return n
}

// Came is how many frames came in by the port, counted as Sent counts them.
func (p Port) Came() uint64 {
	n := total(p.RxFrames, p.RxDropped, p.RxPause, p.RxResume) + p.Drops[dataplane.DropPoliced.String()] + p.Messages[0] + p.refused()
	if p.LLDP != nil {
		n += p.LLDP.Received
	}
	return n
}

func total(counts ...[unit.Priorities]uint64) (n uint64) {
	for _, byPriority := range counts {
		for _, k := range byPriority {
			n += k
		}
	}
	return n
}

// Pause is the pause history of an egress queue.
type Pause struct {
	// Count is how often the queue was paused, Time for how long in all pauses that
	// have ended.
	Count uint64    `json:"count,omitzero"`
	Time  unit.Time `json:"time_ns,omitzero"`
	// Start and Last are when the latest pause began and how long it lasted; Last is 0
	// while it is active.
	Start unit.Time `json:"start_ns,omitzero"`
	Last  unit.Time `json:"last_ns,omitzero"`
}

// Total is how long the queue has been paused in all at the time of the snapshot, at.
func (p Pause) Total(paused bool, at unit.Time) unit.Time {
	if paused {
		return p.Time + at - p.Start
	}
	return p.Time
}

// Queue is an egress queue.
type Queue struct {
	Bytes     int `json:"bytes"`
	Watermark int `json:"watermark"`
}

// Group is an ingress priority group.
type Group struct {
	Bytes             int `json:"bytes"`
	Headroom          int `json:"headroom"`
	Watermark         int `json:"watermark"`
	HeadroomWatermark int `json:"headroom_watermark"`
}

// LosslessOf are the lossless priorities of a port.
func (w *Switch) LosslessOf(p *Port) []int {
	if p.Lossless != nil {
		return *p.Lossless
	}
	return w.Lossless
}

// TakeSwitch takes a snapshot of s. links are the statistics of its ports' links, nil
// if it has none.
func TakeSwitch(s *dataplane.Switch, links []link.Stats) Switch {
	c := s.Config()
	out := Switch{
		Name: c.Name, ID: uint16(c.ID), Detector: s.Detector().Name(), DetectorBytes: s.Detector().StateBytes(),
		Lossless: c.Buffer.Lossless.List(), CounterBytes: s.MMU().CounterBytes(), SharedBytes: s.MMU().Shared(), HeadroomPoolBytes: s.MMU().HeadroomPool(),
	}
	for i := range c.Ports {
		p := takePort(s, unit.Port(i))
		if links != nil {
			p.Link = links[i]
		}
		out.LosslessLost += s.Counters(unit.Port(i)).LosslessLost
		out.Ports = append(out.Ports, p)
	}
	out.Flows, out.OtherDrops = takeFlowDrops(s)
	return out
}

func takePort(s *dataplane.Switch, n unit.Port) Port {
	k := s.Counters(n)
	p := Port{
		Lossless: ownLossless(s.Config(), n),
		Name:     s.Config().Ports[n].Name, Up: s.LinkUp(n), RxFrames: k.RxFrames, RxBytes: k.RxBytes, TxFrames: k.TxFrames, TxBytes: k.TxBytes,
		RxPause: k.RxPause, RxResume: k.RxResume, TxPause: k.TxPause, TxResume: k.TxResume, TxRefresh: k.TxRefresh,
		PausesInVain: k.PausesInVain, RxUnheeded: k.RxUnheeded, UnheededLost: k.UnheededLost,
		RxPause8023: k.RxPause8023, Messages: [2]uint64{k.RxMessages, k.TxMessages}, Drops: drops(k, false), Odd: drops(k, true),
		Loss: lossOf(k), Marked: k.Marked, Starved: dataplane.StarvedOf(s, n), Waiting: dataplane.WaitingOf(s, n), TxDropped: k.TxDropped, RxDropped: k.RxDropped, ResponseBytes: k.ResponseBytes,
	}
	if lag := s.Config().LAGOf(n); lag != nil {
		p.PortChannel = lag.Name
	}
	p.LLDP = takeLLDP(dataplane.LLDPOf(s, n))
	for c := range unit.Priority(unit.Priorities) {
		q := s.Queue(n, c)
		p.Queue[c] = Queue{Bytes: q.Bytes(), Watermark: q.Watermark()}
		p.Paused[c] = s.QueuePaused(n, c)
		p.Pause[c] = takePause(s, n, c)
		p.XOFF[c], _ = s.MMU().XOFF(n, c)
		g := &p.Group[c]
		g.Bytes, g.Headroom = s.MMU().Bytes(n, c)
		g.Watermark, g.HeadroomWatermark = s.MMU().Watermark(n, c)
	}
	if a := s.Auth(n); a.Mode != auth.Off {
		p.Auth = &Auth{a.Mode.String(), a.Link, a.Agreed, a.Behind}
	}
	return p
}

// drops are the frames of these counters that were dropped, by reason, or those that were odd and went on; nil
// if there are none.
func drops(k *dataplane.PortCounters, odd bool) (by map[string]uint64) {
	for r := range dataplane.Reasons {
		if n := k.Drops[r]; n > 0 && r.Odd() == odd {
			if by == nil {
				by = map[string]uint64{}
			}
			by[r.String()] = n
		}
	}
	return by
}

func takePause(s *dataplane.Switch, n unit.Port, c unit.Priority) Pause {
	k := s.Counters(n)
	p := Pause{Count: k.Pauses[c], Time: k.PausedTime[c], Start: k.LastPause[c].Start, Last: k.LastPause[c].Time}
	if since, ok := s.PausedSince(n, c); ok {
		p.Start, p.Last = since, 0
	}
	return p
}

// Host is a host at one instant.
type Host struct {
	Name string `json:"name"`
	ID   uint16 `json:"id"`
	// Started says that its flows were started, whatever came after.
	Started  bool            `json:"started,omitempty"`
	Start    unit.Time       `json:"start_ns,omitzero"` // when they were started last
	Sent     []host.Sent     `json:"sent"`
	Received []host.Received `json:"received"`
	Counters host.Counters   `json:"counters"`
	// LosslessLost is how many lossless frames it dropped: a host those for which its receive
	// buffer had no headroom, and those of flows beyond what it counts; a NIC for programs also
	// what found no room on the way out.
	LosslessLost uint64 `json:"lossless_lost"`
	Loss
	Link link.Stats `json:"link"` // of all its NICs
	// NICs are those of a host, one or several, of which Counters are the sum.
	NICs []HostNIC `json:"nics"`
	Live
}

// HostNIC is a NIC of a host.
type HostNIC struct {
	Name string `json:"name"` // of its interface
	// Lossless are the NIC's lossless priorities, and PFC what it does with their pauses: tx, send them; rx,
	// honour them; "", both.
	Lossless []int  `json:"lossless"`
	PFC      string `json:"pfc,omitempty"`
	host.NICState
	Loss
	// LLDP is what it says and hears by LLDP, nil if it does not speak it.
	LLDP *LLDP      `json:"lldp,omitempty"`
	Link link.Stats `json:"link"`
}

// FlowsFull is the reason of a host that drops a frame of a flow for which it keeps no count.
const FlowsFull = "flows_full"

// TakeHost takes a snapshot of h; links are the statistics of its NICs' links, nil if it has none.
func TakeHost(h *host.Host, links []link.Stats) Host {
	c := h.Config()
	out := Host{Name: c.Name, ID: uint16(c.ID), Started: h.Started(), Start: h.StartedAt(), Sent: h.Senders(), Received: h.Receivers(), Counters: *h.Counters()}
	is := c.NICs()
	for i, n := range h.NICs() {
		nic := HostNIC{
			Name: is[i].Name, Lossless: is[i].Lossless.List(), PFC: pfcOf(is[i].PFCTxOff, is[i].PFCRxOff, is[i].PFCRxAll),
			NICState: n, Loss: lossOfNIC(&n.Counters, is[i].Lossless), LLDP: takeLLDP(h.LLDP(unit.Port(i))),
		}
		out.Loss.plus(&nic.Loss)
		out.NICs = append(out.NICs, nic)
	}
	out.LosslessLost = total(out.LostOf)
	out.SetLinks(links)
	return out
}

// SetLinks sets the statistics of the links of a host's NICs.
func (h *Host) SetLinks(links []link.Stats) {
	h.Link = link.Stats{}
	for i, l := range links {
		h.Link = h.Link.Plus(l)
		if i < len(h.NICs) {
			h.NICs[i].Link = l
		}
	}
}

// lossOfNIC is what a NIC of a host lost of lossless frames.
func lossOfNIC(k *host.Counters, lossless unit.PrioritySet) (l Loss) {
	for priority := range unit.Priority(unit.Priorities) {
		if !lossless.Has(priority) {
			continue
		}
		full, uncounted := k.OverflowOf[priority], k.FlowsFull[priority]
		l.HeadroomLost[priority], l.LostOf[priority] = full, full+uncounted
		l.add(dataplane.DropHeadroom.String(), full)
		l.add(FlowsFull, uncounted)
	}
	return l
}
