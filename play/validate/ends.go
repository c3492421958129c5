package validate

import (
	"fmt"

	"softswitch/internal/strictyaml"
	"softswitch/node/config"
	"softswitch/unit"
)

// node is what a file of a switch or a host says of its ends of links.
type node struct {
	file     string
	pfc      config.PFC
	ports    []config.Port
	stations map[unit.MAC]int // the port of each, as a switch's file has it
}

func nodeOfSwitch(name string, s *config.Switch) *node {
	n := &node{file: name, pfc: s.PFC, ports: s.Ports, stations: map[unit.MAC]int{}}
	for _, m := range s.MAC {
		n.stations[m.MAC] = m.Port
	}
	return n
}

func nodeOfHost(name string, h *config.Host) *node {
	return &node{file: name, pfc: h.PFC, ports: h.Ports()}
}

// lossless are the lossless priorities of a port.
func (n *node) lossless(port int) (s unit.PrioritySet) {
	for _, c := range n.pfc.LosslessAt(n.ports[port]) {
		s.Add(unit.Priority(c))
	}
	return s
}

// faces is the port of n that leads to an end with this address, as its file says, -1 if it does
// not.
func (n *node) faces(m unit.MAC) int {
	for i, p := range n.ports {
		if p.PeerMAC == m {
			return i
		}
	}
	if i, ok := n.stations[m]; ok {
		return i
	}
	return -1
}

// TellMismatches warns of links of which both ends are in these files, and take other priorities
// for lossless.
func (all Files) TellMismatches() {
	for i := range all {
		for _, far := range all {
			if n := all[i].node; n != nil && far.node != nil && n.file != far.node.file {
				all[i].Warnings = append(all[i].Warnings, n.mismatches(far.node)...)
			}
		}
	}
}

// mismatches are the warnings of n's links to far.
func (n *node) mismatches(far *node) (warnings []string) {
	for k, p := range far.ports {
		if p.MAC == 0 {
			continue
		}
		if i := n.faces(p.MAC); i >= 0 && n.lossless(i) != far.lossless(k) {
			warnings = append(warnings, strictyaml.NewDoc(n.file).At("pfc.lossless", fmt.Sprintf(
				"%s here, and %s in %s, the far end of port %s: what one end takes for lossless the other may drop", n.lossless(i), far.lossless(k), far.file, n.ports[i].Name)).String())
		}
	}
	return warnings
}
