package lldp

import "softswitch/unit"

// The TLVs of DCBX are organizationally specific, of IEEE 802.1 (IEEE 802.1Q, annex D): its OUI,
// a subtype, and then
//
//	ETS Configuration   octet 0: willing 1 bit, credit-based shaper 1, reserved 3, most traffic classes 3
//	09, 21 octets       1 to 4: the class of each priority, 4 bits each, priority 0 in the high bits
//	                    5 to 12: bandwidth in per cent of each class; 13 to 20: its algorithm
//	ETS Recommendation  the same, with octet 0 reserved
//	0A, 21 octets
//	PFC Configuration   octet 0: willing 1 bit, MBC 1, reserved 2, capability 4
//	0B, 2 octets        octet 1: the priorities that PFC is enabled for, priority 7 in the high bit
//	Application         octet 0: reserved; then of each application 3 octets: its priority 3 bits, reserved 2,
//	Priority, 0C        selector 3, and in two octets its port: of UDP with selector 3, of any transport with 4
const (
	subtypeETS        = 0x09
	subtypeRecommends = 0x0a
	subtypePFC        = 0x0b
	subtypeApp        = 0x0c

	lenETS = 21
	lenPFC = 2
	lenApp = 3 // of an application

	selectUDP = 3
	selectAny = 4
	portRoCE  = 4791
)

// oui is that of IEEE 802.1.
var oui = [3]byte{0x00, 0x80, 0xc2}

// tlvs are the values of the TLVs that say d.
func (d *DCBX) tlvs() (all [][]byte) {
	add := func(subtype byte, octets ...byte) {
		all = append(all, append([]byte{oui[0], oui[1], oui[2], subtype}, octets...))
	}
	if d.ETS != nil {
		add(subtypeETS, d.ETS.octets(bit(d.ETS.Willing, 7)|bit(d.ETS.CreditBased, 6)|d.ETS.Max&7)...)
	}
	if d.Recommends != nil {
		add(subtypeRecommends, d.Recommends.octets(0)...)
	}
	if p := d.PFC; p != nil {
		add(subtypePFC, bit(p.Willing, 7)|bit(p.MBC, 6)|p.Cap&15, byte(p.Enable))
	}
	if d.RoCE != nil {
		add(subtypeApp, 0, byte(*d.RoCE)<<5|selectUDP, portRoCE>>8, portRoCE&0xff)
	}
	return all
}

// bit is b as bit n.
func bit(b bool, n int) byte {
	if b {
		return 1 << n
	}
	return 0
}

// octets are those of a TLV of ETS, which begins with first.
func (e *ETS) octets(first byte) []byte {
	b := make([]byte, 1, lenETS)
	b[0] = first
	for p := 0; p < unit.Priorities; p += 2 {
		b = append(b, e.Class[p]<<4|e.Class[p+1]&15)
	}
	b = append(b, e.Bandwidth[:]...)
	for _, t := range e.TSA {
		b = append(b, byte(t))
	}
	return b
}

// read takes the value of a TLV, if it is one of DCBX. It returns false, and takes nothing, if it is too
// short or has values that are reserved.
func (d *DCBX) read(v []byte) bool {
	if len(v) < 4 || [3]byte(v) != oui {
		return true
	}
	subtype, v := v[3], v[4:]
	switch subtype {
	case subtypeETS:
		e := readETS(v)
		if e == nil {
			return false
		}
		e.Willing, e.CreditBased, e.Max = v[0]>>7 != 0, v[0]>>6&1 != 0, v[0]&7
		if e.Max == 0 {
			e.Max = unit.Priorities // 3 bits have no 8
		}
		d.ETS = e
	case subtypeRecommends:
		e := readETS(v)
		if e == nil {
			return false
		}
		d.Recommends = e
	case subtypePFC:
		if len(v) < lenPFC {
			return false
		}
		d.PFC = &PFC{Willing: v[0]>>7 != 0, MBC: v[0]>>6&1 != 0, Cap: v[0] & 15, Enable: unit.PrioritySet(v[1])}
	case subtypeApp:
		if len(v)%lenApp != 1 {
			return false
		}
		if c := readApp(v); c != nil {
			d.RoCE = c
		}
	}
	return true
}

// readApp reads the priority of RoCEv2 in an Application Priority TLV, nil if it has none. Of several the
// first counts.
func readApp(v []byte) *unit.Priority {
	for v = v[1:]; len(v) > 0; v = v[lenApp:] {
		if s := v[0] & 7; (s == selectUDP || s == selectAny) && int(v[1])<<8|int(v[2]) == portRoCE {
			priority := unit.Priority(v[0] >> 5)
			return &priority
		}
	}
	return nil
}

// readETS reads all of a TLV of ETS but its first octet, nil if it cannot.
func readETS(v []byte) *ETS {
	if len(v) < lenETS {
		return nil
	}
	e := &ETS{}
	for p := range unit.Priorities {
		if e.Class[p] = v[1+p/2] >> (4 * (1 - p%2)) & 15; e.Class[p] >= unit.Priorities {
			return nil // 8 to 15 are no traffic classes
		}
		e.Bandwidth[p], e.TSA[p] = v[5+p], TSA(v[13+p])
	}
	return e
}
