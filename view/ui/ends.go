package ui

import (
	"cmp"
	"slices"

	"softswitch/node/config"
)

// End is the port that a direction leaves, as the file of its node has it.
type End struct {
	Port string `json:"port"` // the interface
	// Lossless are its lossless priorities, and PFC what it does with their pauses: "tx" or "rx",
	// "" for both.
	Lossless []int  `json:"lossless"`
	PFC      string `json:"pfc,omitempty"`
	// Trust is the field that gives what comes in its priority, "dscp" or "pcp", Headroom the bytes
	// of each priority group, and Weights by priority what the scheduler goes by, 0 of a strict one.
	// A host has none of them.
	Trust    string `json:"trust,omitempty"`
	Headroom int    `json:"headroom,omitempty"`
	Weights  []int  `json:"weights,omitempty"`
	// LLDP: it speaks LLDP, and tells of a far end that says something else of its priorities.
	LLDP bool `json:"lldp,omitempty"`
	// LAG is the name of the LAG of which it is a member, "" for none.
	LAG string `json:"lag,omitempty"`
}

// ends are the ports that the directions leave, in order.
func (w *wiring) ends() []End {
	ends := make([]End, len(w.far))
	for d := range ends {
		near := w.far[d^1]
		if node := w.index[near.Node]; node < len(w.switches) {
			ends[d] = switchEnd(&w.switches[node], int(near.Port))
		} else {
			ends[d] = hostEnd(&w.hosts[node-len(w.switches)], int(near.Port))
		}
	}
	return ends
}

// switchEnd is a port of a switch.
func switchEnd(s *config.Switch, port int) End {
	p, weights := s.Ports[port], s.WeightsAt(port)
	e := End{Port: p.Name, Lossless: losslessAt(s.PFC, p), PFC: oneWay(p), Trust: cmp.Or(p.Trust, s.Trust), Headroom: s.XOFFOf(port), Weights: weights[:], LLDP: s.LLDP != nil}
	for _, l := range s.LAGs {
		if slices.Contains(l.Ports, port) {
			e.LAG = l.Name
		}
	}
	return e
}

// hostEnd is a NIC of a host.
func hostEnd(h *config.Host, nic int) End {
	p := h.Ports()[nic]
	return End{Port: p.Name, Lossless: losslessAt(h.PFC, p), PFC: oneWay(p), LLDP: h.LLDP != nil}
}

// losslessAt is what is lossless at a port, as a list that is there if it is empty.
func losslessAt(f config.PFC, p config.Port) []int { return append([]int{}, f.LosslessAt(p)...) }

// oneWay is what a port does with pauses, "" for both.
func oneWay(p config.Port) string {
	if p.PFC == config.PFCBoth {
		return ""
	}
	return p.PFC
}
