package observe

import (
	"softswitch/internal/lists"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// LLDP is what a port says and hears by LLDP.
type LLDP struct {
	Own        DCBX        `json:"own"`
	Neighbours []Neighbour `json:"neighbors"`
	// Mismatches are the features of which the two ends of the link say different things, or did.
	Mismatches []Mismatch `json:"mismatches"`
	lldp.Counters
}

// Neighbour is what a port knows of its far end.
type Neighbour struct {
	ChassisID    string    `json:"chassis_id"`
	PortID       string    `json:"port_id"`
	System       string    `json:"system"`
	Description  string    `json:"port_description"`
	Capabilities string    `json:"capabilities"` // letters: B bridge, R router, S station
	Heard        unit.Time `json:"heard_ns"`     // when it was heard last
	Until        unit.Time `json:"until_ns"`     // when it is forgotten, unless it is heard again
	DCBX         DCBX      `json:"dcbx"`
	Discarded    int       `json:"tlvs_discarded,omitempty"` // of its last frame, that were wrong
}

// DCBX is what an end says of its priorities; what it does not say is nil.
type DCBX struct {
	PFC        *PFC `json:"pfc,omitempty"`
	ETS        *ETS `json:"ets,omitempty"`
	Recommends *ETS `json:"ets_recommendation,omitempty"`
	// RoCE is the priority of RoCEv2 in the Application Priority TLV.
	RoCE *unit.Priority `json:"roce_priority,omitempty"`
}

// PFC is the PFC Configuration TLV.
type PFC struct {
	Willing  bool  `json:"willing"`
	MBC      bool  `json:"mbc"`
	Cap      int   `json:"pfc_cap"`
	Lossless []int `json:"lossless"`
}

// ETS is the ETS Configuration or Recommendation TLV.
type ETS struct {
	Willing bool                      `json:"willing"`
	Class   [unit.Priorities]uint8    `json:"traffic_class"` // by priority
	Share   [unit.Priorities]uint8    `json:"bandwidth_percent"`
	TSA     [unit.Priorities]lldp.TSA `json:"tsa"`
}

// Mismatch is a feature of which the ends of a link say different things, or did.
type Mismatch struct {
	Feature string `json:"feature"` // "pfc", "ets" or "app"
	Times   int    `json:"times"`
	Lasts   bool   `json:"lasts"`
	System  string `json:"system"` // the far end's name
	// Own and Peer are the lossless priorities of "pfc", and the one of RoCEv2 of "app".
	Own  []int `json:"own"`
	Peer []int `json:"peer"`
}

// takeLLDP copies what an agent knows, nil of none.
func takeLLDP(a *lldp.Agent) *LLDP {
	if a == nil {
		return nil
	}
	l := &LLDP{Own: takeDCBX(&a.Config().DCBX), Mismatches: []Mismatch{}, Counters: a.Counters()}
	l.Neighbours = lists.Map(a.Neighbours(), func(n lldp.Neighbour) Neighbour {
		return Neighbour{n.Chassis, n.Port, n.System, n.PortDescription, n.Capabilities.String(), n.Heard, n.Until, takeDCBX(&n.DCBX), n.Discarded}
	})
	for _, f := range lldp.Compared {
		if d, lasts := a.Disagreements(f); d.Times > 0 {
			l.Mismatches = append(l.Mismatches, Mismatch{f.String(), d.Times, lasts, d.System, priorities(d.Own), priorities(d.Peer)})
		}
	}
	return l
}

func takeDCBX(d *lldp.DCBX) (out DCBX) {
	if p := d.PFC; p != nil {
		out.PFC = &PFC{p.Willing, p.MBC, int(p.Cap), priorities(p.Enable)}
	}
	ets := func(e *lldp.ETS) *ETS {
		if e == nil {
			return nil
		}
		return &ETS{e.Willing, e.Class, e.Bandwidth, e.TSA}
	}
	out.RoCE = d.RoCE
	out.ETS, out.Recommends = ets(d.ETS), ets(d.Recommends)
	return out
}

func priorities(s unit.PrioritySet) []int {
	all := []int{}
	for ; s != 0; s &= s - 1 {
		all = append(all, int(s.First()))
	}
	return all
}
