package event

import (
	"softswitch/link/lldp"
	"softswitch/unit"
)

// OfLLDP is the event of a change of what is known of the far end of a port.
func OfLLDP(p unit.Port, c lldp.Change) Event {
	e := Event{Port: p, Feature: c.Feature}
	switch c.What {
	case lldp.Learned:
		e.Type = NeighbourLearned
	case lldp.Gone:
		e.Type = NeighbourGone
	case lldp.Disagree:
		e.Type, e.Bytes, e.Limit = DCBXMismatch, int32(c.Own), int32(c.Peer)
	case lldp.Agree:
		e.Type = DCBXAgreed
	}
	return e
}
