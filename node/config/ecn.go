package config

import (
	"fmt"

	"softswitch/dataplane"
	"softswitch/internal/stat"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// ECN marks frames with Congestion Experienced as they leave, if their sender heeds that
// (ECT): by the queue, by a phantom queue, or by both.
type ECN struct {
	// Priorities whose queues mark; default pfc.lossless.
	Priorities []int    `yaml:"priorities,omitempty" schema:"0..7" was:"classes"`
	RED        *RED     `yaml:"red,omitempty"`
	Phantom    *Phantom `yaml:"phantom,omitempty"`
}

// RED marks by the bytes that a frame leaves behind in its egress queue: none up to Kmin,
// all above Kmax, between them a share that rises to Pmax.
type RED struct {
	Kmin *int `yaml:"kmin,omitempty" schema:"0..1073741824,default=5120"`
	Kmax int  `yaml:"kmax,omitempty" schema:"1..1073741824,default=30720"`
	// Pmax in percent.
	Pmax int `yaml:"pmax,omitempty" schema:"1..100,default=10"`
}

// Phantom is a phantom queue: a counter of bytes on the wire that drains more slowly than
// the link. All frames that leave it above Mark are marked.
type Phantom struct {
	// Drain in percent of the port's rate.
	Drain int `yaml:"drain,omitempty" schema:"1..100,default=95"`
	// Mark in bytes.
	Mark int `yaml:"mark,omitempty" schema:"1..1073741824,default=6144"`
}

// checkECN adds the faults of s.ECN, and warns as WarnRED does.
func checkECN(d *strictyaml.Doc, s *Switch) (warnings []string) {
	e := s.ECN
	if e == nil {
		return nil
	}
	if e.RED == nil && e.Phantom == nil {
		d.Faultf("ecn", "nothing says when to mark; write red, phantom or both")
	}
	if len(e.Priorities) == 0 {
		d.Faultf("ecn.priorities", "no priority, so that nothing is marked; name some of 0 to %d, or leave ecn out", unit.Priorities-1)
	}
	checkPriorities(d, "ecn.priorities", e.Priorities)
	CheckRED(d, "ecn.red", e.RED)
	lowest := 0
	for i, p := range s.Ports {
		if threshold := s.Buffer.at(p).XOFFThreshold(); i == 0 || threshold < lowest {
			lowest = threshold
		}
	}
	return WarnRED(d, "ecn.red", e.RED, lowest)
}

// CheckRED adds the faults of r, which is filled in or nil, at the key path.
func CheckRED(d *strictyaml.Doc, path string, r *RED) {
	if r == nil {
		return
	}
	if !d.Faulty(path+".kmin") && !d.Faulty(path+".kmax") && *r.Kmin > r.Kmax {
		d.Faultf(path+".kmin", "%d, and kmax is %d: marking begins at kmin, so use 0 to kmax", *r.Kmin, r.Kmax)
	}
}

// WarnRED warns of a kmax, at the key path, above the XOFF threshold of a priority group: it would
// pause its upstream while RED does not mark all yet.
func WarnRED(d *strictyaml.Doc, path string, r *RED, threshold int) (warnings []string) {
	if r != nil && r.Kmax > threshold {
		warnings = append(warnings, d.At(path+".kmax", fmt.Sprintf("%d bytes, and a priority group pauses its upstream at %d: pauses come before every frame is marked; use at most that, or a higher buffer.static_th",
			r.Kmax, threshold)).String())
	}
	return warnings
}

// buildECN adds what marks to c.
func (s *Switch) buildECN(c *dataplane.Config) {
	if s.ECN == nil {
		return
	}
	c.ECN.Priorities, c.ECN.Seed = prioritySet(s.ECN.Priorities), stat.Mix(uint64(s.HashSeed))
	if r := s.ECN.RED; r != nil {
		c.ECN.RED = dataplane.RED{Kmin: *r.Kmin, Kmax: r.Kmax, Pmax: r.Pmax}
	}
	if p := s.ECN.Phantom; p != nil {
		c.ECN.Phantom = dataplane.Phantom{Drain: p.Drain, Mark: p.Mark}
	}
}
