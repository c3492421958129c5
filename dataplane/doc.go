// Package dataplane is the switch: a pure state machine that frames go into and
// come out of, with PFC, an L2 bridge, L3 forwarding with ECMP and local fast
// reroute, and room for a deadlock detector.
//
//	Receive                                                      Transmit
//	-------> parse -> pause?   -> honour, tell the detector      <- pauses, messages
//	                  message? -> tell the detector              <- queue by priority,
//	                  data?    -> forward -> MMU.Admit -> Queue     less the paused ones
//	                                         |XOFF                        |
//	                                         v                            v
//	                               send a pause upstream  <----XON---- Sent: release
//
// Read in this order: machine.go (the contract that a switch and a host share), config.go,
// switch.go (the state). Then along a frame's way: parse.go, receive.go, police.go (limits on
// what comes in), belief.go (what a router neither believes nor forwards), forward.go with its
// tables fib.go, lag.go (links that act as one), learned.go (stations, and what neighbours share) and arp.go,
// icmp.go (the reply to a frame that ends here), pfc.go (what a port has of its own), prevent.go
// (the priority in which a frame leaves), pause.go,
// schedule.go, starve.go (which queues others keep from sending), gentle.go (rates
// in the place of pauses), ring.go (what may enter a ring), heed.go (who sends on while it is
// paused), transmit.go, ecn.go (marks on what leaves),
// sent.go. Then what goes between neighbours: budget.go and storm.go
// (how much of it), control.go, where pause frames and ITSY labels meet, auth.go (which of them are
// believed), copies.go (which came before), and controlqueue.go; lldp.go (who they are). Then what a detector has to do with the switch: view.go (what it
// sees), requests.go, actions.go and turns.go (what it may do), edges.go (the rules of the strong
// edge). Last what is read between calls: counters.go, flowdrops.go, tables.go, holds.go, ways.go.
//
// Invariants, and the file that keeps each:
//   - paused: no frame leaves a queue while a pause is active there, unless an action forces it
//     (sendable in schedule.go);
//   - state, not events: a pause frame is built when it leaves, from the state of that
//     moment (buildControl in control.go); pauses and messages of a port leave in the
//     order in which they were asked for (controlqueue.go);
//   - pauses first: a full buffer stops neither the receipt nor the sending of a pause,
//     since control frames have slots of their own (reserve in switch.go);
//   - accounts: a frame is charged from Receive (admit in forward.go) until Sent (free in
//     switch.go), and is in M(b, q) while it waits in q (push in forward.go, popped in
//     transmit.go);
//   - every dropped frame is counted once, with its reason (drop in switch.go,
//     counters.go);
//   - the same marks in every run: chance is a generator with a seed, drawn only where
//     marking is on and chance decides (early in ecn.go);
//   - nothing is done in silence: an action that changes something is an event (actions.go).
//
// The counters that a data frame touches, so that it is counted once:
//
//	arrives: RxFrames and RxBytes; or RxDropped and Drops, if an action discards it; or Drops alone,
//	         if it is malformed, above a rate or a budget, or the link is down
//	leaves:  TxFrames and TxBytes of the egress port, each copy of a flooded frame
//	dropped: Drops of the ingress port, by reason; TxDropped of the queue too, if an action drops there
//	lost:    of Drops also LosslessLost, LostBy and LostOf, if its priority is lossless and its Fate Lost
//
// What it does not do: it reads no clock (now comes in), owns no socket, no
// goroutine and no lock, and knows no detector by name.
package dataplane
