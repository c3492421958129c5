package buffer

import "softswitch/unit"

// Frame is a slot of a Pool that holds one Ethernet frame, or, while a frame is
// flooded, one of the copies that share the bytes of the original.
//
// Who holds a *Frame owns it; ownership moves with the call that takes it.
type Frame struct {
	// Data is the frame from its destination MAC on, without FCS, the VLAN tag
	// in place. Its capacity is the slot's.
	Data []byte
	// Len is the frame's length on the wire in bytes, without FCS: the driver's to
	// set on a frame that it read. It equals len(Data), except in simulations that
	// keep only the headers.
	Len int

	// Info is what the parser read, outside any lock.
	Info Info

	// Where the frame came in; the priority in which it is charged, and that in which it is queued.
	In                      unit.Port
	InPriority, OutPriority unit.Priority
	// Charged says that bytes of priority group (In, InPriority) are this frame's: what the MMU charges for
	// Len. Uncharged, of an original, says that it counts among those that wait charged to nobody.
	Charged, Uncharged bool
	// Control marks a frame that the switch built: it is charged nowhere.
	Control bool
	// Flooded marks a frame that was put into several queues, and its copies: each
	// counts in M of its queue, and all of them once in the priority group.
	Flooded bool
	// Waiting is, of the original of a flooded frame, the ports in whose queues it or
	// a copy of it waits.
	Waiting unit.PortSet

	orig *Frame // the frame whose bytes a copy shares; itself otherwise
	refs int32  // of an original: frames that share its bytes, itself included
	next *Frame // in a queue or a free list
}

// Orig is the frame that carries the charge: f itself, or for a copy the frame it
// was copied from.
func (f *Frame) Orig() *Frame { return f.orig }

// Info is what a parser learned about a frame.
type Info struct {
	Kind     uint8         // the parser's frame kind
	Reason   uint8         // why it is dropped, for a kind that is; of IPv4, why it must not be routed
	Priority unit.Priority // by the trusted field
	TTL      uint8
	L3       int16  // offset of the IPv4 or ARP header, 0 if none
	DstIP    uint32 // of IPv4, big-endian value
	Hash     uint32 // of the 5-tuple, before a switch mixes in its seed
	DstMAC   uint64 // low 48 bits
	SrcMAC   uint64 // low 48 bits
}
