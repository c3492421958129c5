package config

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/dataplane"
	"softswitch/internal/stat"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// ECN marks frames with Congestion Experienced as they leave, if their sender heeds that
// (ECT): by the queue, by a phantom queue, or by both.
type ECN struct {
	// Classes whose queues mark; default pfc.lossless.
	Classes []int    `yaml:"classes,omitempty" schema:"0..7"`
	RED     *RED     `yaml:"red,omitempty"`
	Phantom *Phantom `yaml:"phantom,omitempty"`
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

// Defaults of marking, for buckets that pause at 40,960 bytes.
const (
	DefaultKmin  = 5120
	DefaultKmax  = 30720
	DefaultPmax  = 10
	DefaultDrain = 95
	DefaultMark  = 6144
)

// fill sets every unset field to its default.
func (e *ECN) fill(lossless []int) {
	if e.Classes == nil {
		e.Classes = slices.Clone(lossless)
	}
	if e.RED != nil {
		e.RED.Fill()
	}
	if e.Phantom != nil {
		e.Phantom.Fill()
	}
}

// Fill sets every unset field to its default.
func (r *RED) Fill() {
	fillInt(&r.Kmin, DefaultKmin)
	r.Kmax = cmp.Or(r.Kmax, DefaultKmax)
	r.Pmax = cmp.Or(r.Pmax, DefaultPmax)
}

// Fill sets every unset field to its default.
func (p *Phantom) Fill() {
	p.Drain = cmp.Or(p.Drain, DefaultDrain)
	p.Mark = cmp.Or(p.Mark, DefaultMark)
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
	if len(e.Classes) == 0 {
		d.Faultf("ecn.classes", "no class, so that nothing is marked; name some of 0 to %d, or leave ecn out", unit.Priorities-1)
	}
	checkClasses(d, "ecn.classes", e.Classes)
	CheckRED(d, "ecn.red", e.RED)
	CheckPhantom(d, "ecn.phantom", e.Phantom)
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
	ok := within(d, path+".kmin", *r.Kmin, 0, 1<<30)
	ok = within(d, path+".kmax", r.Kmax, 1, 1<<30) && ok
	within(d, path+".pmax", r.Pmax, 1, 100)
	if ok && *r.Kmin > r.Kmax {
		d.Faultf(path+".kmin", "%d, and kmax is %d: marking begins at kmin, so use 0 to kmax", *r.Kmin, r.Kmax)
	}
}

// WarnRED warns of a kmax, at the key path, above the XOFF threshold of a bucket: it would
// pause its upstream while RED does not mark all yet.
func WarnRED(d *strictyaml.Doc, path string, r *RED, threshold int) (warnings []string) {
	if r != nil && r.Kmax > threshold {
		warnings = append(warnings, d.At(path+".kmax", fmt.Sprintf("%d bytes, and a bucket pauses its upstream at %d: pauses come before every frame is marked; use at most that, or a higher buffer.static_th",
			r.Kmax, threshold)).String())
	}
	return warnings
}

// CheckPhantom adds the faults of p, which is filled in or nil, at the key path.
func CheckPhantom(d *strictyaml.Doc, path string, p *Phantom) {
	if p == nil {
		return
	}
	within(d, path+".drain", p.Drain, 1, 100)
	within(d, path+".mark", p.Mark, 1, 1<<30)
}

// buildECN adds what marks to c.
func (s *Switch) buildECN(c *dataplane.Config) {
	if s.ECN == nil {
		return
	}
	c.ECN.Classes, c.ECN.Seed = classSet(s.ECN.Classes), stat.Mix(uint64(s.HashSeed))
	if r := s.ECN.RED; r != nil {
		c.ECN.RED = dataplane.RED{Kmin: *r.Kmin, Kmax: r.Kmax, Pmax: r.Pmax}
	}
	if p := s.ECN.Phantom; p != nil {
		c.ECN.Phantom = dataplane.Phantom{Drain: p.Drain, Mark: p.Mark}
	}
}
