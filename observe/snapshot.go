// Package observe takes what a node counts and holds and makes values of it that
// can be shown, sent and compared: snapshots.
//
// Read in this order: Switch and Host (the snapshots), TakeSwitch and TakeHost.
//
// What it does not do: it changes nothing in a machine, and it reads no clock.
// The caller keeps the machine still while a snapshot is taken.
package observe

import (
	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/internal/unit"
	"softswitch/link"
)

// Switch is a switch at one instant.
type Switch struct {
	Name     string `json:"name"`
	ID       uint16 `json:"id"`
	Detector string `json:"detector"`
	// DetectorBytes is the detector's own state, CounterBytes the buffer manager's
	// accounts, which exist with or without a detector.
	DetectorBytes int    `json:"detector_bytes"`
	CounterBytes  int    `json:"counter_bytes"`
	SharedBytes   int    `json:"shared_bytes"`
	LosslessLost  uint64 `json:"lossless_lost"`
	Live
	Ports []Port `json:"ports"`
}

// Live is what only a live node has.
type Live struct {
	EventsLost uint64 `json:"events_lost"` // of the log
	// Lateness is by how much a deadline was missed at worst.
	Lateness unit.Time `json:"lateness_ns"`
}

// Port is a port at one instant. Arrays are indexed by class.
type Port struct {
	Name      string                  `json:"name"`
	Up        bool                    `json:"up"`
	RxFrames  [unit.Priorities]uint64 `json:"rx_frames"`
	RxBytes   [unit.Priorities]uint64 `json:"rx_bytes"`
	TxFrames  [unit.Priorities]uint64 `json:"tx_frames"`
	TxBytes   [unit.Priorities]uint64 `json:"tx_bytes"`
	RxPause   [unit.Priorities]uint64 `json:"rx_pause"`
	RxResume  [unit.Priorities]uint64 `json:"rx_resume"`
	TxPause   [unit.Priorities]uint64 `json:"tx_pause"`
	TxResume  [unit.Priorities]uint64 `json:"tx_resume"`
	TxRefresh [unit.Priorities]uint64 `json:"tx_refresh"`
	Paused    [unit.Priorities]bool   `json:"paused"`
	XOFF      [unit.Priorities]bool   `json:"xoff"`
	Queue     [unit.Priorities]Queue  `json:"queue"`
	Group     [unit.Priorities]Group  `json:"priority_group"`
	Messages  [2]uint64               `json:"messages"` // received, sent
	Drops     map[string]uint64       `json:"drops,omitempty"`
	Link      link.Stats              `json:"link"`
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

// TakeSwitch takes a snapshot of s; stats gives the link statistics of a port.
func TakeSwitch(s *dataplane.Switch, stats func(unit.Port) link.Stats) Switch {
	c := s.Config()
	out := Switch{
		Name: c.Name, ID: uint16(c.ID), Detector: s.Detector().Name(), DetectorBytes: s.Detector().StateBytes(),
		CounterBytes: s.MMU().CounterBytes(), SharedBytes: s.MMU().Shared(),
	}
	for i := range c.Ports {
		p := takePort(s, unit.Port(i))
		p.Link = stats(unit.Port(i))
		out.LosslessLost += s.Counters(unit.Port(i)).LosslessLost
		out.Ports = append(out.Ports, p)
	}
	return out
}

func takePort(s *dataplane.Switch, n unit.Port) Port {
	k := s.Counters(n)
	p := Port{
		Name: s.Config().Ports[n].Name, Up: s.LinkUp(n), RxFrames: k.RxFrames, RxBytes: k.RxBytes, TxFrames: k.TxFrames, TxBytes: k.TxBytes,
		RxPause: k.RxPause, RxResume: k.RxResume, TxPause: k.TxPause, TxResume: k.TxResume, TxRefresh: k.TxRefresh,
		Messages: [2]uint64{k.RxMessages, k.TxMessages}, Drops: map[string]uint64{},
	}
	for c := range unit.Priority(unit.Priorities) {
		q := s.Queue(n, c)
		p.Queue[c] = Queue{Bytes: q.Bytes(), Watermark: q.Watermark()}
		p.Paused[c] = s.QueuePaused(n, c)
		p.XOFF[c], _ = s.MMU().XOFF(n, c)
		g := &p.Group[c]
		g.Bytes, g.Headroom = s.MMU().Bytes(n, c)
		g.Watermark, g.HeadroomWatermark = s.MMU().Watermark(n, c)
	}
	for r := range dataplane.Reasons {
		if k.Drops[r] > 0 {
			p.Drops[r.String()] = k.Drops[r]
		}
	}
	return p
}

// Host is a host at one instant.
type Host struct {
	Name     string          `json:"name"`
	ID       uint16          `json:"id"`
	Sent     []host.Sent     `json:"sent"`
	Received []host.Received `json:"received"`
	Counters host.Counters   `json:"counters"`
	Link     link.Stats      `json:"link"`
	Live
}

// TakeHost takes a snapshot of h.
func TakeHost(h *host.Host, stats func(unit.Port) link.Stats) Host {
	c := h.Config()
	return Host{Name: c.Name, ID: uint16(c.ID), Sent: h.Senders(), Received: h.Receivers(), Counters: *h.Counters(), Link: stats(0)}
}
