// Package roce reads and writes the packets of RoCEv2 (InfiniBand Architecture volume 1,
// annex A17): what a UDP datagram to port 4791 carries.
//
//	Ethernet | IPv4 | UDP 4791 | BTH 12 | RETH 16 or AETH 4 | payload | ICRC 4
//	                             \------ Header ----------/             InvariantCRC
//
// Read in this order: Opcode and Header (header.go), Parse, Put, InvariantCRC (icrc.go).
//
// Invariants:
//   - round trip: what Put writes, Parse reads as the same;
//   - no panic: Parse takes any bytes, and names why it refuses them;
//   - invariant: InvariantCRC is the same at both ends, whatever switches between do to
//     TTL, DSCP and ECN.
//
// A reliable connection's two ends are in requester.go and responder.go.
//
// What it does not do: it knows no queue pair, and no transport but the reliable connection.
package roce
