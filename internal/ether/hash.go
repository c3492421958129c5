package ether

import "softswitch/internal/stat"

// FlowHash mixes a 5-tuple into 32 bits. It is the same on every switch and for
// every frame of a flow; Pick adds what differs from switch to switch.
func FlowHash(srcIP, dstIP uint32, proto uint8, srcPort, dstPort uint16) uint32 {
	h := uint64(srcIP)<<32 | uint64(dstIP)
	h = stat.Mix(h) ^ (uint64(proto)<<32 | uint64(srcPort)<<16 | uint64(dstPort))
	return uint32(stat.Mix(h) >> 32)
}

// Pick chooses one of n members for a flow's hash at the switch with this seed:
// a number from 0 to n-1; n must be positive.
func Pick(hash, seed uint32, n int) int {
	h := stat.Mix(uint64(hash)<<32 | uint64(seed))
	// The upper 32 bits times n, shifted back: no division, no bias worth naming.
	return int((h >> 32) * uint64(n) >> 32)
}

// PickMember chooses one of n members of a LAG by the other half of what Pick mixes, so that the two
// choices do not depend on each other: a number from 0 to n-1; n must be positive.
func PickMember(hash, seed uint32, n int) int {
	h := stat.Mix(uint64(hash)<<32 | uint64(seed))
	return int(uint64(uint32(h)) * uint64(n) >> 32)
}
