// Package capture captures what all nodes of a lab send and receive, as one pcapng in the
// order of time.
//
//	node --control socket--> pcapng --.
//	node --control socket--> pcapng ---+--> link/merge --> file or pipe
//
// Read in this order: capture.go, file.go (where it goes).
//
// Invariants:
//   - no node waits for a capture: frames for which the capture is too slow are missed,
//     and counted;
//   - a file ends with a whole block, even if the disk is full.
//
// What it does not do: package link/merge puts the frames in order, link/decode
// explains them.
package capture
