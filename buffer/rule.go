package buffer

import "softswitch/unit"

// Rule decides when a priority group of an MMU resumes, and so how long a priority group keeps others
// waiting: the one rule that the MMU, the oracle and the detectors use. All is in bytes.
//
//	      most outside the headroom = min(size + limit, what it has there + what the pool has left)
//	XON = max(xon, size + limit - xon_offset), but never more than that
//
// A priority group is XOFF until it holds XON bytes at most. Whatever is in its headroom moves to
// the shared area as soon as limit and pool allow, and XON is never more than what both
// allow: a priority group that resumes has its headroom empty, and can take what still arrives.
type Rule struct {
	// Pool is the size of the shared pool, Size a priority group's reserved minimum.
	Pool, Size int
	// Dynamic: the limit is alpha x (free shared bytes), alpha = 2^DynamicTh; if not, it is
	// StaticTh.
	Dynamic             bool
	StaticTh, DynamicTh int
	// Extra is added to the limit.
	Extra int
	// MinXON and XONOffset are XON and XONOffset of a Profile.
	MinXON, XONOffset int
}

// Shares reports whether what some priority groups hold of the pool decides when others resume: with
// dynamic thresholds, or with a pool that is less than all may use of it.
func (c *Config) Shares() bool {
	return c.Profile.Dynamic || c.staticShares() > c.Shared
}

// staticShares is how much of the pool all priority groups may use with static thresholds.
func (c *Config) staticShares() (all int) {
	for in := range unit.Port(c.Ports) {
		all += c.Rule(in).StaticTh * c.LosslessAt(in).Len()
	}
	return all
}

// Rule is the rule of the priority groups of a port, without an extra threshold.
func (c *Config) Rule(in unit.Port) Rule {
	p := c.Profile
	r := Rule{Pool: c.Shared, Size: p.Size, Dynamic: p.Dynamic, StaticTh: p.StaticTh, DynamicTh: p.DynamicTh, MinXON: p.XON, XONOffset: p.XONOffset}
	if c.Thresholds != nil {
		r.StaticTh, r.XONOffset = c.Thresholds[in].StaticTh, c.Thresholds[in].XONOffset
	}
	return r
}

// XON is the number of bytes at or below which a priority group resumes while all priority groups use shared
// bytes of the pool, and it has usual bytes outside its headroom, its part of shared
// included.
func (r *Rule) XON(shared, usual int) int {
	return min(max(r.MinXON, r.Size+r.limit(shared)-r.XONOffset), r.room(shared, usual))
}

// Shared is how much of the pool a priority group uses that has usual bytes outside its headroom.
func (r *Rule) Shared(usual int) int { return max(usual-r.Size, 0) }

// limit is how many shared bytes a priority group may use.
func (r *Rule) limit(shared int) int {
	switch free := r.Pool - shared; {
	case !r.Dynamic:
		return r.StaticTh + r.Extra
	case r.DynamicTh >= 0:
		return free<<r.DynamicTh + r.Extra
	default:
		return free>>-r.DynamicTh + r.Extra
	}
}

// room is the most that a priority group can hold outside its headroom.
func (r *Rule) room(shared, usual int) int {
	return min(r.Size+r.limit(shared), max(usual, r.Size)+r.Pool-shared)
}
