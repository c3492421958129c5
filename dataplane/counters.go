package dataplane

import "softswitch/internal/unit"

// Reason says why a frame was dropped, or what was odd about one.
type Reason uint8

// Reasons.
const (
	NoReason Reason = iota
	DropShort
	DropLong
	DropMalformedIP
	DropMalformedARP
	DropPFCShort
	DropPFCLong
	DropPFCAddress
	DropPFCOpcode
	DropPFCReserved
	DropPause8023
	DropMessage
	DropReservedGroup
	DropNotForUs
	DropNoRoute
	DropNoPort
	DropTTL
	DropARPUnresolved
	DropHeadroom
	DropLossyQueue
	DropNoSlot
	DropNoCopy
	DropLinkDown
	DropMessageQueue
	OddTLV
	OddPFCClass
	OddMACTable
	OddARPTable
	Reasons
)

var reasonNames = [Reasons]string{
	"none", "short", "too_long", "malformed_ip", "malformed_arp", "pfc_short", "pfc_long", "pfc_address", "pfc_opcode",
	"pfc_reserved_bits", "pause_8023", "message_malformed", "reserved_group", "not_for_us", "no_route", "no_port", "ttl_expired", "arp_unresolved",
	"headroom_full", "lossy_queue_full", "no_slot", "no_copy", "link_down", "message_queue_full",
	"tlv_malformed", "pfc_class_not_lossless", "mac_table_full", "arp_table_full",
}

func (r Reason) String() string { return reasonNames[r] }

// PortCounters count since the switch started. Bytes are without FCS.
type PortCounters struct {
	RxFrames, RxBytes [unit.Priorities]uint64 // data, by class
	TxFrames, TxBytes [unit.Priorities]uint64
	RxPause, RxResume [unit.Priorities]uint64 // PFC frames that named the class
	TxPause, TxResume [unit.Priorities]uint64 // first pauses and resumes
	TxRefresh         [unit.Priorities]uint64
	Expired           [unit.Priorities]uint64
	PausedTime        [unit.Priorities]unit.Time // queue paused, without the pause in force
	RxMessages        uint64
	TxMessages        uint64
	Drops             [Reasons]uint64 // frames that came in by this port, by reason
	LosslessLost      uint64          // of Drops: well-formed frames of a lossless class
}
