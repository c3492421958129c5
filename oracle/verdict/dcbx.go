package verdict

import (
	"fmt"
	"slices"

	"softswitch/internal/lists"
	"softswitch/link/lldp"
	"softswitch/node/observe"
	"softswitch/unit"
)

// DCBXFault is an end of a link that has heard by LLDP that the far end says something else.
type DCBXFault struct {
	Node string `json:"node"`
	Port string `json:"port"`
	// Far is the name of the system at the far end.
	Far     string `json:"far"`
	Feature string `json:"feature"` // "pfc", "ets" or "app"
	Times   int    `json:"times"`
	Lasts   bool   `json:"lasts"` // until the end
	// Own and Peer are the lossless priorities of both ends, of "pfc", and the one of RoCEv2, of "app".
	Own  []int `json:"own"`
	Peer []int `json:"peer"`
}

// countDCBX fills in where the two ends of a link said different things. The port of a host with one NIC has
// no name, those of others are as topo names them.
func (v *Verdict) countDCBX(switches []observe.Switch, hosts []observe.Host) {
	v.DCBX = nil
	add := func(node, port string, l *observe.LLDP) {
		if l == nil {
			return
		}
		for _, m := range l.Mismatches {
			v.DCBX = append(v.DCBX, DCBXFault{node, port, m.System, m.Feature, m.Times, m.Lasts, m.Own, m.Peer})
		}
	}
	for _, s := range switches {
		for _, p := range s.Ports {
			add(s.Name, p.Name, p.LLDP)
		}
	}
	for _, h := range hosts {
		for i, n := range h.NICs {
			port := nicName(i)
			if len(h.NICs) == 1 {
				port = ""
			}
			add(h.Name, port, n.LLDP)
		}
	}
}

// String is the fault for people: "s1 to-h1 and h1 disagree on lossless priorities: 3, 4 at s1, 3 at h1".
func (f DCBXFault) String() string {
	at := f.Node
	if f.Port != "" {
		at += " " + f.Port
	}
	of := lldp.FeaturePFC
	for _, c := range lldp.Compared {
		if c.String() == f.Feature {
			of = c
		}
	}
	text := fmt.Sprintf("%s and %s disagree on %s", at, f.Far, of.Says())
	if of.OfPriorities() {
		text += fmt.Sprintf(": %s at %s, %s at %s", setOf(f.Own), f.Node, setOf(f.Peer), f.Far)
	}
	if f.Times > 1 {
		text += fmt.Sprintf("; %d times", f.Times)
	}
	if !f.Lasts {
		text += "; over at the end"
	}
	return text
}

func setOf(priorities []int) (s unit.PrioritySet) {
	for _, c := range priorities {
		s.Add(unit.Priority(c))
	}
	return s
}

// disagree are the faults that can lose lossless frames: a frame that one end takes for lossless is
// lossy at the other.
func (v *Verdict) disagree() []DCBXFault {
	return lists.Where(v.DCBX, func(f DCBXFault) bool { return f.Feature == lldp.FeaturePFC.String() && !slices.Equal(f.Own, f.Peer) })
}

func (v *Verdict) writeDCBX(t *table) {
	t.ends("dcbx        ", lists.Map(v.DCBX, DCBXFault.String))
}
