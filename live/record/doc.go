// Package record writes down what a live node's machine is told, for package
// event/replay to play again.
//
//	live.Node --calls--> Recorder --calls--> the machine
//	                        '--entries--> buffer --one goroutine--> writer
//
// Read in this order: Recorder, New, Close.
//
// Invariants:
//   - in order: an entry is made under the node's lock, in the call that it is of;
//   - never in the way: the node does not wait for the writer. What waits to be written
//     is bounded; a recording that reaches the bound ends there, and says so.
//
// What it does not do: it opens no file, knows no link and judges nothing. Its format is
// package event/replay's. Package live knows nothing of it.
package record
