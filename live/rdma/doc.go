// Package rdma lets a host exchange RDMA with programs of verbs: it is what a NIC with RoCEv2, its
// driver and perftest are together, on the interfaces that the kernel has.
//
//	TCP (kernel) --> handshake --> queue pair (package verbs) <--> raw IP socket, UDP port 4791
//
// Read in this order: port.go (packets and queue pairs), perftest.go (its servers and clients), pingpong.go,
// rping.go.
//
// Invariants:
//   - no packet of the wire panics: it is counted by its reason and dropped;
//   - the ICRC of every packet is checked, and written.
//
// What it does not do: it heeds no pauses and sends none. Where packets must not be lost, the interface is
// that of `softswitch nic`, which does both.
package rdma
