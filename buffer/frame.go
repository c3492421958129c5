package buffer

import "softswitch/internal/unit"

// Frame is a slot of a Pool that holds one Ethernet frame, or, while a frame is
// flooded, one of the copies that share the bytes of the original.
//
// Who holds a *Frame owns it; ownership moves with the call that takes it.
type Frame struct {
	// Data is the frame from its destination MAC on, without FCS, the VLAN tag
	// in place. Its capacity is the slot's.
	Data []byte
	// Len is the frame's length on the wire in bytes, without FCS. It equals
	// len(Data), except in simulations that keep only the headers.
	Len int

	// What the parser read, outside any lock.
	Info Info

	// Where the frame is charged and queued.
	In, Out           unit.Port
	InClass, OutClass unit.Priority
	// Area is where Admit charged it.
	area  area
	orig  *Frame // the frame whose bytes a copy shares; itself otherwise
	refs  int32  // copies that share this original's bytes, itself included
	next  *Frame // in a queue or in the pool's free list
	state slotState
}

// Info is what the parser learned about a frame.
type Info struct {
	Kind    uint8         // the dataplane's frame kind
	Drop    uint8         // the dataplane's reason, for a kind that is dropped
	Class   unit.Priority // by the trusted field
	L3      int16         // offset of the IPv4 or ARP header, 0 if none
	DstIP   uint32        // big-endian value
	Hash    uint32        // of the 5-tuple, before a switch mixes in its seed
	TTL     uint8
	DstMAC  uint64 // low 48 bits
	SrcMAC  uint64 // low 48 bits
	IsGroup bool   // broadcast or multicast destination
}
