package dataplane

import "softswitch/unit"

// copies remembers which of the latest messages of a link have come, by their numbers: acknowledgements are
// counted, and one that a wire made two of would end a verification that is still under way. The zero value
// has heard nothing.
type copies struct {
	newest uint16
	come   uint64 // bit k: the one of number newest-k
}

// again reports whether the message of this number has come before. One that is far from the newest is the
// first of a far end that has begun anew. What has no number never came before.
func (c *copies) again(number uint16) bool {
	if number == 0 {
		return false
	}
	switch ahead := int(int16(number - c.newest)); {
	case c.come == 0, ahead <= -64, ahead >= 64:
		c.newest, c.come = number, 1
	case ahead > 0:
		c.newest, c.come = number, c.come<<ahead|1
	case c.come>>-ahead&1 != 0:
		return true
	default:
		c.come |= 1 << -ahead
	}
	return false
}

// nextNumber is the number of the next message that leaves the port. The first one is of the time, in
// microseconds: a switch that begins anew does not repeat those of its life before.
func (p *port) nextNumber(now unit.Time) uint16 {
	if p.number == 0 {
		p.number = uint16(now / unit.Microsecond)
	}
	if p.number++; p.number == 0 {
		p.number = 1
	}
	return p.number
}
