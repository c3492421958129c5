package lldp

import "softswitch/unit"

// DCBX is what an end says of its priorities. A nil part is not said.
type DCBX struct {
	PFC *PFC
	ETS *ETS // its configuration: how it sends
	// Recommends is how the far end should send.
	Recommends *ETS
	// RoCE is the priority of RoCEv2, UDP port 4791, in the Application Priority TLV.
	RoCE *unit.Priority
}

// NewRoCE is the priority of RoCEv2 at a port with these lossless priorities: the usual one, which the port's
// map gives to its frames, or, where that is lossy, the lowest lossless one; nil if none is lossless.
func NewRoCE(usual unit.Priority, lossless unit.PrioritySet) *unit.Priority {
	switch {
	case lossless == 0:
		return nil
	case !lossless.Has(usual):
		usual = lossless.First()
	}
	return &usual
}

// PFC is the PFC Configuration TLV.
type PFC struct {
	Willing bool // it would rather have what the far end has
	MBC     bool // it cannot bypass MACsec, so that its pauses are late
	Cap     uint8
	Enable  unit.PrioritySet
}

// NewPFC is that of a port with these lossless priorities.
func NewPFC(lossless unit.PrioritySet) *PFC { return &PFC{Cap: unit.Priorities, Enable: lossless} }

// TSA is how a traffic class is chosen for transmission.
type TSA uint8

// Transmission selection algorithms (IEEE 802.1Q, table 8-6).
const (
	Strict      TSA = 0
	CreditBased TSA = 1
	Enhanced    TSA = 2 // a share of the link
	Vendor      TSA = 255
)

// ETS is the ETS Configuration and the ETS Recommendation TLV.
type ETS struct {
	Willing     bool // of a configuration
	CreditBased bool // of a configuration: it can do that
	Max         uint8
	// Class is the traffic class of each priority; Bandwidth, in per cent, and TSA are by traffic
	// class.
	Class     [unit.Priorities]uint8
	Bandwidth [unit.Priorities]uint8
	TSA       [unit.Priorities]TSA
}

// Feature is something of which the two ends of a link ought to say the same.
type Feature uint8

// Features that are compared.
const (
	FeaturePFC Feature = iota // the lossless priorities
	FeatureETS                // how the priorities share the link
	FeatureApp                // the priority of RoCEv2
	features
)

// Compared are all of them.
var Compared = [features]Feature{FeaturePFC, FeatureETS, FeatureApp}

// String is the feature's name in logs.
func (f Feature) String() string { return [...]string{"pfc", "ets", "app"}[f] }

// Says is the feature for people.
func (f Feature) Says() string {
	return [...]string{"lossless priorities", "shares of the priorities (ETS)", "the priority of RoCEv2"}[f]
}

// OfPriorities reports whether what an end says of the feature is a set of priorities.
func (f Feature) OfPriorities() bool { return f != FeatureETS }

// Features are a set of them.
type Features uint8

// Has reports whether f is in the set.
func (s Features) Has(f Feature) bool { return s>>f&1 != 0 }

// Disagreement is how often the ends have said different things of a feature, and what they said
// last when they did.
type Disagreement struct {
	Times     int
	Own, Peer unit.PrioritySet // if the feature is OfPriorities
	System    string           // the far end's name
}

// Disagreements are those of a feature, and whether it lasts.
func (a *Agent) Disagreements(f Feature) (d Disagreement, lasts bool) {
	return a.disagreed[f], a.differ.Has(f)
}

// Several reports whether there is more than one neighbour. Then nothing is compared: DCBX is for
// two ends (IEEE 802.1Q, 38.4).
func (a *Agent) Several() bool { return len(a.neighbours) > 1 }

// compare holds what the far end says against what this end says, and notes what changed.
func (a *Agent) compare() {
	var differ Features
	var peer Neighbour
	if len(a.neighbours) == 1 {
		peer = a.neighbours[0]
		differ = a.cfg.DCBX.differs(&peer.DCBX)
	}
	for f := range features {
		d := &a.disagreed[f]
		if differ.Has(f) {
			d.System = peer.System
			d.Own, d.Peer = a.cfg.DCBX.priorities(f), peer.DCBX.priorities(f)
		}
		switch {
		case differ.Has(f) && !a.differ.Has(f):
			d.Times++
			a.change(Change{Disagree, f, d.Own, d.Peer})
		case !differ.Has(f) && a.differ.Has(f):
			a.change(Change{Agree, f, d.Own, d.Peer})
		}
	}
	a.differ = differ
}

// priorities are those that d, which says something of f, says.
func (d *DCBX) priorities(f Feature) (s unit.PrioritySet) {
	switch f {
	case FeaturePFC:
		s = d.PFC.Enable
	case FeatureApp:
		s.Add(*d.RoCE)
	}
	return s
}

// differs are the features of which two ends say different things. A peer that is willing takes
// what this end has, which is not willing (IEEE 802.1Q, 38.4.2 for PFC, 38.4.3 for ETS): it
// is not counted as different while it has not done so yet.
func (d *DCBX) differs(peer *DCBX) (f Features) {
	if d.PFC != nil && peer.PFC != nil && !peer.PFC.Willing && d.PFC.Enable != peer.PFC.Enable {
		f |= 1 << FeaturePFC
	}
	if d.ETS != nil && peer.ETS != nil && !peer.ETS.Willing && !d.ETS.same(peer.ETS) {
		f |= 1 << FeatureETS
	}
	// The TLV has no bit for an end that is willing.
	if d.RoCE != nil && peer.RoCE != nil && *d.RoCE != *peer.RoCE {
		f |= 1 << FeatureApp
	}
	return f
}

// same reports whether the priorities share a link alike. Which numbers the traffic classes have
// does not matter as long as those of strict priority keep their order.
func (e *ETS) same(o *ETS) bool {
	for p := range unit.Priorities {
		c, k := e.Class[p], o.Class[p]
		if e.TSA[c] != o.TSA[k] || e.TSA[c] == Enhanced && e.Bandwidth[c] != o.Bandwidth[k] {
			return false
		}
		for q := range p {
			if (e.Class[q] == c) != (o.Class[q] == k) {
				return false
			}
			if e.TSA[c] == Strict && e.TSA[e.Class[q]] == Strict && (e.Class[q] < c) != (o.Class[q] < k) {
				return false
			}
		}
	}
	return true
}

// NewETS is that of a port with a traffic class for each priority, which share by weight; those
// of weight 0 are strict.
func NewETS(weights [unit.Priorities]int) *ETS {
	e := &ETS{Max: unit.Priorities}
	sum, given := 0, 0
	for _, w := range weights {
		sum += w
	}
	last := 0
	for p, w := range weights {
		e.Class[p] = uint8(p)
		if w == 0 {
			continue
		}
		// Rounded so that they add up to 100 in the end.
		last += w
		share := last*100/sum - given
		given += share
		e.TSA[p], e.Bandwidth[p] = Enhanced, uint8(share)
	}
	return e
}
