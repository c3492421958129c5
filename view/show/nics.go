package show

import (
	"slices"
	"strconv"

	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// HostNICs are the NICs of a host.
type HostNICs struct {
	Host string    `json:"host"`
	NICs []HostNIC `json:"nics"`
}

// HostNIC is one of them.
type HostNIC struct {
	NIC string `json:"nic"` // its interface
	Up  bool   `json:"up"`
	// Drain is the rate at which a slow one takes frames, 0 of others.
	Drain unit.Rate `json:"drain_bps"`
	// Flows are those that leave by it now; Open, Done and GaveUp how many of them are connections in that
	// state.
	Flows  int `json:"flow_count"`
	Open   int `json:"open"`
	Done   int `json:"done"`
	GaveUp int `json:"gave_up"`
	// Sent and Received are frames of flows, Lost lossless frames that it dropped, LinkDown how often its
	// link went down.
	Sent          uint64 `json:"sent"`
	SentBytes     uint64 `json:"sent_bytes"`
	Received      uint64 `json:"received"`
	ReceivedBytes uint64 `json:"received_bytes"`
	Lost          uint64 `json:"lost"`
	LinkDown      uint64 `json:"link_down"`
	// BadPackets are frames to port 4791 that no connection takes.
	BadPackets host.BadPackets `json:"bad_packets"`
	Priorities []NICPriority   `json:"priorities"` // lossless ones
}

// NICPriority is a lossless priority of a NIC.
type NICPriority struct {
	Priority int `json:"priority"`
	// Pauses are pause frames that it heeded, Paused says that it is paused now, PausedTime for how long in
	// all.
	Pauses     uint64    `json:"pauses"`
	Paused     bool      `json:"paused"`
	PausedTime unit.Time `json:"paused_ns"`
	// Sent are pause frames that it sent, Refreshes those that repeated one; Storming says that it pauses
	// without end.
	Sent      uint64 `json:"pauses_sent"`
	Refreshes uint64 `json:"refreshes_sent"`
	Storming  bool   `json:"storming"`
	RxBuffer  int    `json:"rx_buffer"` // what the receive buffer holds, in bytes
}

// NICsOfHosts shows the NICs of hosts: what each carried, who paused whom, and what its receive buffers hold.
func NICsOfHosts() View[HostNICs] {
	return View[HostNICs]{
		Fetch: func(e control.Endpoint) (HostNICs, error) {
			h, err := client.Stats[observe.Host](e)
			return nicsOf(&h), err
		},
		Tables: func(h HostNICs) []table { return []table{h.carried(), h.pauses()} },
	}
}

func nicsOf(h *observe.Host) HostNICs {
	out := HostNICs{Host: h.Name, NICs: []HostNIC{}}
	for i := range h.NICs {
		n := &h.NICs[i]
		row := HostNIC{
			NIC: n.Name, Up: n.Up, Drain: n.Drain, Sent: n.TxFrames, SentBytes: n.TxBytes, Received: n.RxFrames, ReceivedBytes: n.RxBytes,
			Lost: lists.Sum(n.LostOf[:], func(k uint64) uint64 { return k }), LinkDown: n.Counters.LinkDown, BadPackets: n.Counters.RC, Priorities: []NICPriority{},
		}
		for _, c := range n.Lossless {
			row.Priorities = append(row.Priorities, priorityOf(n, c, h.At))
		}
		out.NICs = append(out.NICs, row)
	}
	for _, f := range h.Sent {
		n := &out.NICs[f.NIC]
		n.Flows++
		if f.Messages == nil {
			continue
		}
		switch stateOf(f.Messages) {
		case "open":
			n.Open++
		case "done":
			n.Done++
		default:
			n.GaveUp++
		}
	}
	return out
}

// priorityOf is a priority of a NIC at a time by the clock of its host.
func priorityOf(n *observe.HostNIC, c int, at unit.Time) NICPriority {
	k := &n.Counters
	p := NICPriority{
		Priority: c, Pauses: k.RxPause[c], Paused: k.PausedSince[c] > 0, PausedTime: k.PausedTime[c],
		Sent: k.TxPause[c], Refreshes: k.TxRefresh[c], Storming: slices.Contains(n.Storming, c), RxBuffer: n.RxBuffer[c],
	}
	if p.Paused {
		p.PausedTime += at - k.PausedSince[c]
	}
	return p
}

func (h *HostNICs) carried() table {
	t := table{header: []string{"NIC", "State", "Takes", "Flows", "Open", "Done", "Gave up", "Sent", "Bytes", "Received", "Bytes", "Lost", "Link downs", "Bad packets"}, left: 3}
	for _, n := range h.NICs {
		takes := "all"
		if n.Drain > 0 {
			takes = n.Drain.String()
		}
		bad := n.BadPackets.Malformed + n.BadPackets.ICRC + n.BadPackets.UnknownQP
		t.add(n.NIC, map[bool]string{true: "up", false: "down"}[n.Up], takes, Thousands(n.Flows), Thousands(n.Open), Thousands(n.Done), Thousands(n.GaveUp), Thousands(n.Sent), Thousands(n.SentBytes),
			Thousands(n.Received), Thousands(n.ReceivedBytes), Thousands(n.Lost), Thousands(n.LinkDown), Thousands(bad))
	}
	return t
}

func (h *HostNICs) pauses() table {
	t := table{header: []string{"NIC", "Priority", "Paused", "Pauses heeded", "Total MS", "Pauses sent", "Repeated", "Storms", "Receive buffer"}, left: 1}
	for _, n := range h.NICs {
		for _, p := range n.Priorities {
			t.add(n.NIC, strconv.Itoa(p.Priority), yesNo[p.Paused], Thousands(p.Pauses), Milliseconds(p.PausedTime), Thousands(p.Sent), Thousands(p.Refreshes),
				yesNo[p.Storming], Thousands(p.RxBuffer))
		}
	}
	return t
}
