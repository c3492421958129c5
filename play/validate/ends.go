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
	lossless unit.PrioritySet
	ports    []config.Port
	stations map[unit.MAC]int // the port of each, as a switch's file has it
}

func nodeOfSwitch(name string, s *config.Switch) *node {
	n := &node{file: name, lossless: setOf(s.PFC.Lossless), ports: s.Ports, stations: map[unit.MAC]int{}}
	for _, m := range s.MAC {
		n.stations[m.MAC] = m.Port
	}
	return n
}

func nodeOfHost(name string, h *config.Host) *node {
	return &node{file: name, lossless: setOf(h.PFC.Lossless), ports: []config.Port{h.Port}}
}

func setOf(priorities []int) (s unit.PrioritySet) {
	for _, c := range priorities {
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
	if n.lossless == far.lossless {
		return nil
	}
	for _, p := range far.ports {
		if p.MAC == 0 {
			continue
		}
		if i := n.faces(p.MAC); i >= 0 {
			warnings = append(warnings, strictyaml.NewDoc(n.file).At("pfc.lossless", fmt.Sprintf(
				"%s here, and %s in %s, the far end of port %s: what one end takes for lossless the other may drop", n.lossless, far.lossless, far.file, n.ports[i].Name)).String())
		}
	}
	return warnings
}
