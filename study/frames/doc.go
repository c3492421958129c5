// Package frames feeds a switch in memory with frames without end, well-formed and damaged, of all
// kinds, and checks after each what always has to hold.
//
//	(seed, epoch) --> a switch, a generator --frame--> Parse, Receive --> checks
//	                                          Transmit, Sent, SetLink       |
//	                                                                 Finding, or counts
//
// Read in this order: run.go (many epochs), epoch.go (one switch, and the checks), generate.go
// (the frames).
//
// Invariants:
//   - one epoch, one key: (seed, epoch) determine all frames and calls, whatever else runs.
//
// What is checked:
//   - fate: each frame is counted once: as data, as a message, as a pause, or as dropped for a
//     reason;
//   - paused: no frame leaves a queue while a pause is active there;
//   - room: a priority group uses no more headroom than it has;
//   - conservation: when all links are down, each slot and each byte is back;
//   - no panic.
//
// It runs no detector against an oracle: package fuzz does.
package frames
