package config

import (
	"fmt"
	"maps"
	"slices"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// What a port has of its own: lossless priorities, what it does with their pauses, and how what comes
// in by it gets its priority.

// What a port does with pauses.
const (
	PFCBoth = "both"
	PFCTx   = "tx" // sends them, and honours none
	PFCRx   = "rx" // honours them, and sends none
	// PFCAsymmetric sends those of the lossless priorities, and honours those of all: SONiC's pfc_asym
	// (sonic-net/SONiC, doc/asymmetric-pfc).
	PFCAsymmetric = "asymmetric"
)

// Honours reports whether a port with these lossless priorities honours pauses of priority c, where pfc is
// what it does with pauses.
func Honours(pfc string, lossless []int, c unit.Priority) bool {
	return pfc == PFCAsymmetric || pfc != PFCTx && slices.Contains(lossless, int(c))
}

// LosslessAt is the lossless priorities of a port, where f is the rest of the file's pfc.
func (f PFC) LosslessAt(p Port) []int {
	if p.Lossless != nil {
		return *p.Lossless
	}
	return f.Lossless
}

// Lossless is the priorities that are lossless at some port of s.
func (s *Switch) Lossless() (all unit.PrioritySet) {
	for _, p := range s.Ports {
		all |= prioritySet(s.PFC.LosslessAt(p))
	}
	return all
}

// losslessOf is the lossless priorities by port, nil if they are the same at all ports.
func (s *Switch) losslessOf() (sets []unit.PrioritySet) {
	if !slices.ContainsFunc(s.Ports, func(p Port) bool { return p.Lossless != nil }) {
		return nil
	}
	return lists.Map(s.Ports, func(p Port) unit.PrioritySet { return prioritySet(s.PFC.LosslessAt(p)) })
}

// classes is how what comes in by p gets its priority, nil if it is as at other ports, c.
func (p *Port) classes(c dataplane.Classes) *dataplane.Classes {
	if p.Trust == "" && len(p.DSCPMap) == 0 {
		return nil
	}
	if p.Trust != "" {
		c.TrustPCP = p.Trust == "pcp"
	}
	for dscp := range c.DSCP {
		if priority, ok := p.DSCPMap[dscp]; ok {
			c.DSCP[dscp] = unit.Priority(priority)
		}
	}
	return &c
}

// checkClasses adds the faults of what the ports of s have of their own to d.
func checkClasses(d *strictyaml.Doc, s *Switch) {
	for i, p := range s.Ports {
		path := fmt.Sprintf("ports[%d]", i)
		if p.Lossless != nil {
			checkPriorities(d, path+".lossless", *p.Lossless)
		}
		checkMap(d, path+".dscp_map", p.DSCPMap)
		if s.Trust == "pcp" && p.Trust != "dscp" && len(p.DSCPMap) > 0 || p.Trust == "pcp" && len(p.DSCPMap) > 0 {
			d.Faultf(path+".dscp_map", "the priority of what comes in by the port is that of its 802.1Q tag; write trust: dscp, or take the map away")
		}
		if why := s.marksFrames(); why != "" && (p.Trust != "" || len(p.DSCPMap) > 0) {
			d.Faultf(path, "trust or dscp_map of its own, and %s marks frames for the next switch by those of this one; write the ones of the switch", why)
		}
	}
	for i, p := range s.Ports {
		lack := lists.Where(s.PFC.Lossless, func(c int) bool { return !slices.Contains(s.PFC.LosslessAt(p), c) })
		if s.TTLBand > 0 && len(lack) > 0 {
			d.Faultf(fmt.Sprintf("ports[%d].lossless", i), "%v, and ttl_band gives frames priorities %v, which may come by any port: add %v", *p.Lossless, s.PFC.Lossless, lack)
		}
	}
}

// marksFrames is the key by which s gives frames another priority, "" if none does.
func (s *Switch) marksFrames() string {
	switch {
	case len(s.Rewrite) > 0:
		return "rewrite"
	case s.TTLBand > 0:
		return "ttl_band"
	case s.NoFlood:
		return "no_flood"
	}
	return ""
}

// checkMap adds the faults of a map from code points to priorities to d.
func checkMap(d *strictyaml.Doc, path string, m map[int]int) {
	for _, dscp := range slices.Sorted(maps.Keys(m)) {
		path := fmt.Sprintf("%s.%d", path, dscp)
		d.Within(path, dscp, 0, 63)
		d.Within(path, m[dscp], 0, unit.Priorities-1)
	}
}

// groupSizes is what the groups of each port take at most of a pool for the headroom of all.
func (s *Switch) groupSizes() []int {
	sizes := make([]int, len(s.Ports))
	for i, p := range s.Ports {
		sizes[i] = len(s.PFC.LosslessAt(p)) * s.XOFFOf(i)
	}
	return sizes
}

// Groups is how many priority groups s has.
func (s *Switch) Groups() (n int) {
	for _, p := range s.Ports {
		n += len(s.PFC.LosslessAt(p))
	}
	return n
}

// buildLossless adds the lossless priorities of s to c.
func (s *Switch) buildLossless(c *buffer.Config) {
	c.Lossless, c.LosslessOf = s.Lossless(), s.losslessOf()
}
