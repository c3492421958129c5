// Package dataplane is the switch: a pure state machine that frames go into and
// come out of, with PFC, an L2 bridge, L3 forwarding with ECMP and local fast
// reroute, and room for a deadlock detector.
//
//	Receive                                                     Transmit
//	-------> parse -> pause?  -> honour, tell the detector      <- owed pauses, messages
//	                  message? -> tell the detector             <- queue by priority,
//	                  data?   -> forward -> MMU.Admit -> Queue     less the paused ones
//	                                        |XOFF                        |
//	                                        v                            v
//	                              the in-port owes a pause  <--XON--  Sent: release
//
// Read in this order: machine.go (the contract that a switch and a host share),
// config.go, switch.go (the state), then along a frame's way: parse.go,
// receive.go, forward.go, pause.go, transmit.go, schedule.go, sent.go; control.go
// is the one place where pause frames and ITSY labels meet; tables.go holds the
// FIB and the MAC and ARP tables; prevent.go is the class in which a frame leaves, and
// limits on what comes in; view.go is what a detector sees.
//
// Invariants:
//   - paused: no frame leaves a queue while a pause is in force there;
//   - state, not events: a pause frame is built when it leaves, from the state of
//     that moment; owed pauses and messages of a port leave in the order in which
//     they became owed;
//   - pauses first: a full buffer stops neither the receipt nor the sending of a
//     pause, since control frames have slots of their own;
//   - accounts: a frame is charged from Receive until Sent, and is in M(b, q) while
//     it waits in q;
//   - every dropped frame is counted once, with its reason.
//
// What it does not do: it reads no clock (now comes in), owns no socket, no
// goroutine and no lock, and knows no detector by name.
package dataplane
