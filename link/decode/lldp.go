package decode

import (
	"fmt"

	"softswitch/link/lldp"
	"softswitch/unit"
)

// LLDP is what a frame of LLDP says.
type LLDP struct {
	ChassisID string `json:"chassis_id"`
	PortID    string `json:"port_id"`
	System    string `json:"system"`
	TTL       uint16 `json:"ttl"`
	// Lossless are the priorities of its PFC Configuration TLV; absent without one.
	Lossless *[]int `json:"lossless,omitempty"`
	Willing  bool   `json:"willing,omitempty"` // to take those of the far end
	// Discarded is how many of its TLVs are wrong.
	Discarded int `json:"tlvs_discarded,omitempty"`

	set unit.PrioritySet // of Lossless
}

// readLLDP reads a frame of LLDP.
func (rec *Record) readLLDP(b []byte) {
	n, ttl, err := lldp.Parse(b)
	if err != nil {
		rec.malformed(err.Error())
		return
	}
	rec.Kind, rec.LLDP = KindLLDP, &LLDP{ChassisID: n.Chassis, PortID: n.Port, System: n.System, TTL: ttl, Discarded: n.Discarded}
	if p := n.DCBX.PFC; p != nil {
		all := []int{}
		for s := p.Enable; s != 0; s &= s - 1 {
			all = append(all, int(s.First()))
		}
		rec.LLDP.Lossless, rec.LLDP.Willing, rec.LLDP.set = &all, p.Willing, p.Enable
	}
}

// String is what it says for people.
func (l *LLDP) String() string {
	text := fmt.Sprintf("%s port %s of %s", l.System, l.PortID, l.ChassisID)
	if l.Lossless != nil {
		text += fmt.Sprintf(", lossless priorities %s", l.set)
	}
	if l.Willing {
		text += ", willing"
	}
	if l.Discarded > 0 {
		text += fmt.Sprintf(", %s discarded", unit.Count(l.Discarded, "wrong TLV"))
	}
	if l.TTL == 0 {
		return text + ", goodbye"
	}
	return text + fmt.Sprintf(", for %d s", l.TTL)
}
