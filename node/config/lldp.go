package config

import (
	"softswitch/dataplane"
	"softswitch/internal/strictyaml"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// LLDP is what a node tells its neighbours of itself (IEEE 802.1AB), with DCBX (IEEE 802.1Q, clause
// 38): its name, and of each port the lossless priorities and how they share the link. It learns the
// same of them, and says where the two ends of a link disagree; it changes nothing by that.
type LLDP struct {
	// Interval is how often each port sends a frame, in whole seconds from 1s to 3600s; a neighbour
	// is forgotten when nothing came of it for four of its intervals and a second. A new neighbour
	// is sent four frames within three seconds.
	Interval *unit.Time `yaml:"interval,omitempty" schema:"time,default=30s"`
}

// CheckLLDP adds the faults of LLDP, which is filled in, at d's key "lldp".
func CheckLLDP(d *strictyaml.Doc, l *LLDP) {
	if l == nil {
		return
	}
	if t := *l.Interval; t < lldp.IntervalMin || t > lldp.IntervalMax || t%unit.Second != 0 {
		d.Faultf("lldp.interval", "%s: write whole seconds from 1s to 3600s", t)
	}
}

func (s Switch) buildLLDP() (l dataplane.LLDP) {
	if s.LLDP != nil {
		l.Interval = *s.LLDP.Interval
	}
	return l
}

func (h Host) buildLLDP() (interval unit.Time) {
	if h.LLDP != nil {
		interval = *h.LLDP.Interval
	}
	return interval
}
