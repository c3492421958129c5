// Package host is an end host as a pure state machine, like the switch: a NIC that
// sends flows of numbered UDP frames, honours PFC, measures what arrives, and
// misbehaves on request.
//
//	flows --> paced, less the paused priorities --> Transmit
//	(UDP, or packets of a reliable connection and what answers them: rc.go)
//	Receive --> pause?  honour
//	        --> data?   count by flow; into the receive buffer, which drains at
//	                    once or, in a slow host, at a rate --> full: PFC
//
// Read in this order: config.go, host.go (the state, and scheduled acts), receive.go,
// transmit.go, frame.go (the bytes of a flow's frame), rc.go (reliable connections).
//
// Invariants:
//   - paused: no frame of a paused priority leaves;
//   - sequence: the frames of a flow are numbered from 0 without gaps, so that a gap at
//     the receiver means loss, those of a connection as they leave, sent again or not;
//   - plain: its pause frames carry no TLV: to a switch it is like any other NIC.
//
// What it does not do: it runs no protocol and answers neither ARP nor ping; on a live
// host the kernel's stack does, behind the same interface.
package host
