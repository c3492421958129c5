// Package nic is the NIC of a host, for programs that use the kernel's stack: it
// honours and sends PFC, which no kernel's stack does.
//
//	programs      |        NIC: a switch of two ports         |     fabric
//	              |                                           |
//	kernel's  ----+--> send queue of each priority, less the  ---+--> wire
//	stack (TAP)   |    paused ones; full: dropped             |
//	          <---+--- receive buffer of each priority, drained <+---
//	              |    at once or at a rate; full: PFC        |
//
// It is a configuration of dataplane.Switch, not another machine: a bridge between port
// Wire and port Stack. Two things differ from a switch. The stack neither honours nor
// sends pauses, so what a program sends into a full queue is dropped here, in the host,
// before it reaches the fabric. And pauses are plain: to a switch it is like any other
// NIC.
//
// Read in this order: config.go, nic.go.
//
// Invariants:
//   - lossless receive: a lossless frame that came by the wire is dropped only if the
//     far end sends more than the headroom, a quarter of RxBuffer and RxSlack, after the pause;
//   - a frame lost on its way out is counted at port Stack, one that the fabric
//     delivered and the NIC lost at port Wire;
//   - events: it logs what a host logs, so a reader of the log need not know that there
//     is a switch inside.
//
// What it does not do: it opens no device, has no address of its own and runs no
// protocol; it does not know how full the buffers of sockets are.
package nic
