// Package nic is the NIC of a host, for programs that use the kernel's stack: it
// honours and sends PFC, which no kernel's stack does.
//
//	programs      |        NIC: a switch of two ports         |     fabric
//	              |                                           |
//	kernel's  ----+--> send queue of each class, less the  ---+--> wire
//	stack (TAP)   |    paused ones; full: dropped             |
//	          <---+--- receive buffer of each class, drained <+---
//	              |    at once or at a rate; full: PFC        |
//
// It is a configuration of dataplane.Switch, not another machine: a bridge between
// port Wire and port Stack. Two things differ from a switch. The stack neither heeds nor
// sends a pause, so what a program sends into a full queue is dropped here, in the host,
// before the fabric has seen it. And pauses are plain: a switch takes the NIC for any.
//
// Read in this order: config.go, nic.go.
//
// Invariants:
//   - lossless behind it: a frame of a lossless class that came by the wire is dropped
//     only if the far end goes on for more than the headroom, a quarter of RxBuffer;
//   - a frame that is lost in the host is counted at port Stack, one that the fabric
//     delivered and the NIC lost at port Wire;
//   - events: it logs what a host logs, so that whoever reads the log of a host need not
//     know that there is a switch in it.
//
// What it does not do: it opens no device, has no address of its own and runs no
// protocol; of how full the buffers of sockets are it knows nothing.
package nic
