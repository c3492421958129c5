package lldp

import (
	"errors"
	"slices"

	"softswitch/unit"
)

// NeighboursMax is how many neighbours an end keeps. Chosen: a link has one, and a hub may show a
// few more.
const NeighboursMax = 4

// Reasons for which a frame changes nothing. Others are in frame.go.
var (
	ErrMany = errors.New("too many frames")
	ErrFull = errors.New("too many neighbours")
)

// Neighbour is what an end knows of another.
type Neighbour struct {
	Chassis, Port   string // as people write them
	System          string
	PortDescription string
	Capabilities    Capabilities
	Heard, Until    unit.Time // when it was heard last, and when it is forgotten
	DCBX            DCBX
	Discarded       int // TLVs of its last frame that were too short, or had values that are reserved

	chassis, port id // it is known by these (802.1AB, 8.5.1)
}

// Neighbours are those that the end knows, in the order in which they came. The caller must not
// change them.
func (a *Agent) Neighbours() []Neighbour { return a.neighbours }

// Receive takes a whole frame, without its FCS, which Is knows to be one. An error says why it
// changes nothing.
func (a *Agent) Receive(now unit.Time, frame []byte) error {
	if !a.mayRead(now) {
		return ErrMany
	}
	n, ttl, err := Parse(frame)
	if err != nil {
		return err
	}
	a.count.Received++
	n.Heard, n.Until = now, now+unit.Time(ttl)*unit.Second
	i := slices.IndexFunc(a.neighbours, func(o Neighbour) bool { return o.chassis == n.chassis && o.port == n.port })
	switch {
	case i < 0 && ttl == 0:
		return nil // goodbye of one that is not known
	case i < 0 && len(a.neighbours) == NeighboursMax:
		return ErrFull
	case i < 0:
		a.neighbours = append(a.neighbours, n)
		a.change(Change{What: Learned})
		// It is to know this end soon (txFastStart in 802.1AB, figure 9-2).
		if a.fast == 0 {
			a.fast = fastFrames
		}
		a.sendAt = now
	case ttl == 0:
		a.neighbours = slices.Delete(a.neighbours, i, i+1)
		a.change(Change{What: Gone})
	default:
		a.neighbours[i] = n
	}
	a.compare()
	return nil
}

// mayRead reports whether a frame that comes now is to be read.
func (a *Agent) mayRead(now unit.Time) bool {
	if a.read > now+readBurst*readInterval {
		return false
	}
	a.read = max(a.read, now) + readInterval
	return true
}
