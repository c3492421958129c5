// Package nicdemo demonstrates that a fabric loses nothing while programs send more
// than a receiver takes: iperf3 and ping between two hosts with NICs.
//
//	iperf3 -c, ping --> NIC h1 --> s1 --> s2 --> NIC h2 (slow) --> iperf3 -s
//	                     ^---------- pauses ----------'
//
// Read in this order: nicdemo.go, programs.go (the output of iperf3 and ping).
//
// Invariants:
//   - every datagram that iperf3 misses is accounted for: in a host, or in the fabric;
//   - the lab is gone when Play returns;
//   - a run on a machine that was too busy is not valid, and proves nothing.
package nicdemo
