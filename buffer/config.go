package buffer

import (
	"errors"
	"fmt"

	"softswitch/unit"
)

// Profile is the buffer profile of a lossless priority group, in bytes.
type Profile struct {
	// Size is the reserved minimum.
	Size int
	// StaticTh is how much of the shared pool a group may use before XOFF.
	StaticTh int
	// Dynamic replaces StaticTh by alpha x (free shared bytes), alpha = 2^DynamicTh.
	Dynamic   bool
	DynamicTh int
	// XON and XONOffset give the resume threshold: max(XON, XOFF threshold - XONOffset).
	XON, XONOffset int
	// XOFF is the headroom above the XOFF threshold: what may still arrive until the
	// pause takes effect; [LinkEnd.Headroom] is what a link needs. With less, lossless frames
	// are lost.
	XOFF int
	// Slack is additional headroom, for what arrives while a driver is late, which could
	// not arrive on a wire. It holds only what would have been lost beyond XOFF: neither
	// Room nor Unique counts on it.
	Slack int
}

// Threshold is the number of bytes at which a group with a static threshold goes
// XOFF.
func (p Profile) Threshold() int { return p.Size + p.StaticTh }

// XONThreshold is the number of bytes at or below which a group whose XOFF
// threshold is threshold resumes.
func (p Profile) XONThreshold(threshold int) int { return max(p.XON, threshold-p.XONOffset) }

// Unique reports whether 2 x XON >= XOFF threshold + headroom. Then at most one
// queue can hold more than XON bytes of a group: the wait for each other that
// makes a deadlock is a plain cycle.
func (p Profile) Unique() bool {
	return !p.Dynamic && 2*p.XONThreshold(p.Threshold()) >= p.Threshold()+p.XOFF
}

// DefaultProfile crosses XOFF at 40960 bytes (40 KB, the value of Hu et al.),
// resumes at 36864 and has 30720 of headroom; it is Unique: 73728 >= 71680.
//
// 40 KB is the PFC threshold of Hu et al., "Deadlocks in Datacenter Networks" (HotNets 2016). Size, offset and
// headroom are chosen: 30720 leaves bursts of ten frames of 1514 bytes (UsualAtOnce), and is what the
// scenarios of papers were made with (docs/decisions/headroom.md).
var DefaultProfile = Profile{Size: 4096, StaticTh: 36864, XONOffset: 4096, XOFF: 30720}

// UsualAtOnce is the AtOnce of DefaultProfile in bytes: that of a far end of which
// nobody knows more.
var UsualAtOnce = min(DefaultProfile.Threshold(), DefaultProfile.XOFF) / 2

// Threshold is where a port's priority groups go XOFF and XON, in bytes; both are as
// in Profile.
type Threshold struct {
	StaticTh, XONOffset int
}

// shortest is the length of the shortest frame, without FCS (IEEE 802.3, 3.2.8).
const shortest = 60

// HeadroomPool is a shared headroom pool, in bytes: the headroom of a group is then only the
// most that it may take of it (sonic-net/sonic-swss, BUFFER_POOL xoff).
type HeadroomPool struct {
	Bytes int
	// Port is what each port has in addition, for its own groups. It is used first.
	Port int
}

// Config is an MMU's configuration.
type Config struct {
	Ports    int
	Lossless unit.PrioritySet
	// LosslessOf, unless it is nil, is by port the priorities that are lossless there; Lossless has
	// those of all ports. A group of another priority holds nothing.
	LosslessOf []unit.PrioritySet
	Shared     int     // bytes of the shared pool, reserved minima and headroom apart
	Profile    Profile // of every lossless priority group
	// Thresholds, unless it is nil, are by port and replace those of the Profile, which
	// is not dynamic, for the port's priority groups.
	Thresholds []Threshold
	// Headroom, unless it is nil, is by port and replaces the Profile's XOFF.
	Headroom []int
	// HeadroomPool, unless it is nil, is what the headrooms of all groups have together.
	HeadroomPool *HeadroomPool
	// Cell is the piece of memory that holds bytes of one frame only: each frame is charged
	// whole cells, while all sizes and thresholds stay in bytes. 0 and 1 charge bytes.
	Cell int
	// LossyQueue bounds the bytes of an egress queue of a lossy priority.
	LossyQueue int
}

// Check lists what is impossible in c, all at once.
func (c Config) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	p := c.Profile
	if c.Ports < 1 || c.Ports > unit.MaxPorts {
		bad("ports: %d; valid: 1 to %d", c.Ports, unit.MaxPorts)
	}
	for _, f := range []struct {
		name string
		v    int
	}{{"pool", c.Shared}, {"size", p.Size}, {"static_th", p.StaticTh}, {"xon", p.XON}, {"xon_offset", p.XONOffset}, {"xoff", p.XOFF}, {"slack", p.Slack}, {"cell", c.Cell}, {"lossy_queue", c.LossyQueue}} {
		// Chosen: 1 GiB, the bound that files have (docs/configuration.md). Accounts are of 32 bits.
		if f.v < 0 || f.v > 1<<30 {
			bad("%s: %d bytes; valid: 0 to %d", f.name, f.v, 1<<30)
		}
	}
	// Chosen: alpha from 1/128 to 8, which shifts by few bits; the key of files has the same bounds.
	if p.Dynamic && (p.DynamicTh < -8 || p.DynamicTh > 8) {
		bad("dynamic_th: %d; valid: -8 to 8 (alpha = 2^n)", p.DynamicTh)
	}
	if !p.Dynamic {
		if p.Threshold() == 0 {
			bad("size + static_th: 0 bytes; a group would be XOFF when empty")
		}
		if p.XON >= p.Threshold() && p.Threshold() > 0 {
			bad("xon: %d bytes; valid: below the XOFF threshold of %d (size + static_th)", p.XON, p.Threshold())
		}
	}
	if c.LosslessOf != nil && len(c.LosslessOf) != c.Ports {
		bad("lossless priorities of %d ports; valid: of all %d", len(c.LosslessOf), c.Ports)
	}
	for i, set := range c.LosslessOf {
		if more := set &^ c.Lossless; more != 0 {
			bad("port %d: priority %d is lossless; valid: those of the switch, %v", i, more.First(), c.Lossless)
		}
	}
	return errors.Join(append(append(errs, c.checkThresholds()...), c.checkHeadroom()...)...)
}

// LosslessAt is the priorities that are lossless at a port.
func (c *Config) LosslessAt(in unit.Port) unit.PrioritySet {
	if c.LosslessOf != nil {
		return c.LosslessOf[in]
	}
	return c.Lossless
}

// checkHeadroom lists what is impossible in the headroom of ports and in the pool of them.
func (c *Config) checkHeadroom() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Headroom != nil && len(c.Headroom) != c.Ports {
		bad("headroom of %d ports; valid: of all %d", len(c.Headroom), c.Ports)
	}
	for i, n := range c.Headroom {
		if n < 0 || n > 1<<30 {
			bad("port %d: xoff: %d bytes; valid: 0 to %d", i, n, 1<<30)
		}
	}
	if h := c.HeadroomPool; h != nil && (h.Bytes < 0 || h.Bytes > 1<<30 || h.Port < 0 || h.Port > 1<<30) {
		bad("headroom_pool: %d bytes and %d a port; valid: 0 to %d", h.Bytes, h.Port, 1<<30)
	}
	return errs
}

// XOFF is the headroom of each group of a port in bytes.
func (c *Config) XOFF(in unit.Port) int {
	if c.Headroom != nil {
		return c.Headroom[in]
	}
	return c.Profile.XOFF
}

// Charge is what a frame of n bytes is charged.
func (c *Config) Charge(n int) int {
	if c.Cell <= 1 {
		return n
	}
	return (n + c.Cell - 1) / c.Cell * c.Cell
}

// Most is how many bytes all groups together are charged at most.
func (c *Config) Most() int {
	own := 0
	for in := range unit.Port(c.Ports) {
		groups := c.LosslessAt(in).Len()
		own += groups * (c.Profile.Size + c.Profile.Slack)
		if c.HeadroomPool == nil {
			own += groups * c.XOFF(in)
		} else {
			own += c.HeadroomPool.Port
		}
	}
	if c.HeadroomPool != nil {
		own += c.HeadroomPool.Bytes
	}
	return own + c.Shared
}

// checkThresholds lists what is impossible in the thresholds of ports.
func (c *Config) checkThresholds() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Thresholds == nil {
		return nil
	}
	if c.Profile.Dynamic {
		bad("thresholds of ports: the profile has dynamic_th; valid: with static_th only")
	}
	if len(c.Thresholds) != c.Ports {
		bad("thresholds of %d ports; valid: of all %d", len(c.Thresholds), c.Ports)
	}
	for i, t := range c.Thresholds {
		if t.StaticTh < 0 || t.StaticTh > 1<<30 || t.XONOffset < 0 || t.XONOffset > 1<<30 {
			bad("port %d: static_th %d, xon_offset %d bytes; valid: 0 to %d", i, t.StaticTh, t.XONOffset, 1<<30)
			continue
		}
		if threshold := c.Profile.Size + t.StaticTh; c.Profile.XON >= threshold {
			bad("port %d: XOFF threshold %d (size + static_th); valid: above xon, %d", i, threshold, c.Profile.XON)
		}
	}
	return errs
}
