// Package capture captures what all nodes of a lab send and receive, as one pcapng in the
// order of time.
//
//	node --control socket--> pcapng --.
//	node --control socket--> pcapng ---+--> link/merge --> file or pipe
//
// Read in this order: capture.go, file.go (where it goes).
//
// Invariants:
//   - no node waits for a capture: what it is too slow for is missed, and counted;
//   - a file ends at whole blocks, also where the disk is full.
//
// What it does not do: the order of time is link/merge's, what a frame says internal/decode's.
package capture
