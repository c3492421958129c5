package dataplane

import "softswitch/unit"

// Reason says why a frame was dropped, or what was odd about one. Those below OddMessageQueue are
// the ends of a frame: each frame that is dropped counts as one of them. The others count beside
// what becomes of the frame.
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
	DropControlBudget // a control frame too many; see budget.go
	DropHostMessage   // a message by a host: it has nothing to say but pauses
	DropRepeated      // a message that came before; see copies.go
	DropUntagged      // control frames that are not authenticated; see auth.go
	DropUnknown       // no counter of the far end is known yet
	DropWrongTag      //
	DropReplayed      //
	DropReflected     //
	DropReservedGroup
	DropLLDP           // malformed LLDP
	DropLLDPNeighbours // of a neighbour beyond those that are kept
	DropNotForUs
	DropIPChecksum // a damaged IPv4 header in a frame to be routed; see belief.go
	DropMartian    // to be routed to or from an address to which nothing is
	DropARPSender  // ARP by a sender that nobody can be
	DropFiltered   // bridged, and its station is where it came from
	DropNoRoute
	DropNoPort // every port that leads on is down
	DropTTL
	DropARPUnresolved
	DropIncompleteARP // no MAC entry for its station, and not to be flooded
	DropResponse      // on purpose, to break a deadlock
	DropPoliced       // above a policer's rate
	DropLossyPort     // a lossless frame for a lossy queue that is full
	DropLossyTurn     // a lossless frame of a lossy turn of which too much waits
	DropStack         // a lossless frame of a kernel's stack that found no room
	DropHeadroom
	DropLossyQueue
	DropNoSlot
	DropNoCopy // a port should have got a flooded frame, and there was no header for it
	DropLinkDown
	OddMessageQueue // a message of the detector's did not go out
	OddTLV
	OddHostLabel // a TLV on a pause of a host
	OddPFCPriority
	OddMACTable
	OddARPTable
	Reasons
)

var reasonNames = [Reasons]string{
	"none", "short", "too_long", "malformed_ip", "malformed_arp", "pfc_short", "pfc_long", "pfc_address", "pfc_opcode",
	"pfc_reserved_bits", "pause_8023", "message_malformed", "control_budget", "host_message", "message_repeated", "auth_missing", "auth_unknown", "auth_wrong", "auth_replayed", "auth_reflected", "reserved_group", "lldp_malformed", "lldp_neighbors_full", "not_for_us", "ip_checksum", "martian", "arp_sender", "filtered", "no_route", "no_port", "ttl_expired", "arp_unresolved", "incomplete_arp", "response", "policed", "lossy_port_full", "lossy_turn_full", "stack_queue_full",
	"headroom_full", "lossy_queue_full", "no_slot", "no_copy", "link_down", "message_queue_full",
	"tlv_malformed", "host_label", "pfc_priority_not_lossless", "mac_table_full", "arp_table_full",
}

// String is the reason's name in logs, metrics and verdicts.
func (r Reason) String() string { return reasonNames[r] }

// Odd reports whether r is no reason to drop: what was odd went on.
func (r Reason) Odd() bool { return r >= OddMessageQueue }

// Fate is what a reason to drop means for a data frame of a lossless priority.
type Fate uint8

// The fates.
const (
	// Unwanted is the fate of a frame that nobody should get: it is malformed, or of a station elsewhere.
	Unwanted Fate = iota
	// OnPurpose is the fate of a frame that an action, or a rule of the configuration, exists to drop.
	OnPurpose
	// Lost is the fate of a frame that should have gone on, but found no way or no room.
	Lost
)

// Fate is what becomes of a lossless data frame that is dropped for r.
func (r Reason) Fate() Fate {
	switch r {
	// It was on its way, and there was no way on or no room: what a lossless priority promises is
	// broken.
	case DropNoRoute, DropNoPort, DropTTL, DropARPUnresolved, DropStack, DropHeadroom, DropLossyQueue, DropNoSlot, DropNoCopy, DropLinkDown:
		return Lost
	// Something is there to drop it: an action, a policer, a queue or a turn that was made lossy,
	// a rule against flooding. See docs/decisions/lossless.md.
	case DropIncompleteARP, DropResponse, DropPoliced, DropLossyPort, DropLossyTurn:
		return OnPurpose
	}
	return Unwanted
}

// PortCounters are a port's counts since the switch started. Bytes are without FCS. Frames that come
// in count at their ingress port, whatever queue they were dropped in; Tx, pauses and marks count at
// the egress.
//
// Invariant: LosslessLost is the sum of LostBy, and that of LostOf (countLost). Every verdict is
// audited by it.
type PortCounters struct {
	RxFrames, RxBytes [unit.Priorities]uint64 // data, by priority
	TxFrames, TxBytes [unit.Priorities]uint64
	RxPause, RxResume [unit.Priorities]uint64 // PFC frames that named the priority
	TxPause, TxResume [unit.Priorities]uint64 // first pauses and resumes
	TxRefresh         [unit.Priorities]uint64
	// PausesInVain are pauses, first or repeated, after which the far end sent on, RxUnheeded the frames that
	// it sent then, and UnheededLost those of LostOf for which the headroom was full: see heed.go.
	PausesInVain, RxUnheeded, UnheededLost [unit.Priorities]uint64
	Expired                                [unit.Priorities]uint64
	Pauses                                 [unit.Priorities]uint64    // times that the queue became paused
	PausedTime                             [unit.Priorities]unit.Time // queue paused, without the active pause
	LastPause                              [unit.Priorities]LastPause // the latest that ended
	Starved                                [unit.Priorities]unit.Time // the longest time that others kept the queue from sending: starve.go
	Marked                                 [unit.Priorities]uint64    // with Congestion Experienced, of TxFrames
	TxDropped                              [unit.Priorities]uint64    // on purpose, in a queue of this port or on the way there
	RxDropped                              [unit.Priorities]uint64    // on purpose, on arrival
	RxPause8023                            uint64                     // 802.3x PAUSE frames that were honoured
	RxMessages                             uint64
	TxMessages                             uint64
	Drops                                  [Reasons]uint64 // frames that came in by this port, by reason; of an Odd one, how often
	LosslessLost                           uint64          // of Drops: data frames of a priority that is lossless at this port, whose Fate is Lost
	LostBy                                 [Reasons]uint64 // of LosslessLost, by reason
	// LostOf are those of LosslessLost by priority, and HeadroomLost those of them for which the
	// headroom of their group, this port and the priority, was full.
	LostOf, HeadroomLost [unit.Priorities]uint64
	ResponseBytes        uint64 // of the frames that were dropped to break a deadlock
}

// LastPause is a pause of a queue that has ended.
type LastPause struct {
	Start, Time unit.Time // when it began and how long it lasted
}
