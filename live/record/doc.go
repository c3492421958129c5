// Package record records the calls of a live node's machine, so that package
// live/replay can play them again.
//
//	live.Node --calls--> Recorder --calls--> the machine
//	                        '--entries--> buffer --one goroutine--> writer
//
// Read in this order: Recorder, New, Close.
//
// Invariants:
//   - in order: an entry is made under the node's lock, during the call that it
//     describes;
//   - never in the way: the node does not wait for the writer. The data waiting to be
//     written is bounded; a recording that reaches the bound ends there, and says so.
//
// What it does not do: it opens no file, has nothing to do with links, and judges
// nothing. Package live/replay defines the format. Package live does not depend on it.
package record
