// Package follow reads the event logs of nodes while they grow: each on its own, or all
// of a lab as one stream in the order of time.
//
//	node/events.jsonl --Log.Read--.
//	node/events.jsonl --Log.Read---+--> Merger.Next --> Entry --> Writer: text, JSON
//	node/events.jsonl --Log.Read--'
//
// The live page and the judge of a run read single Logs; people who follow a lab read
// the Merger.
//
// Read in this order: Log (log.go), Merger (merge.go), text.go (an event for people),
// Writer (writer.go).
//
// Invariants:
//   - whole lines: a line that is still being written is read once it is complete;
//   - late logs: a log that does not exist yet is read when it appears; one that was
//     replaced is read from its beginning, and the caller is told;
//   - order: entries are ordered by time, then node, then position in the node's log.
//     Only an event that its node writes after Next has returned a later one comes out
//     of order;
//   - bounded: at most chunk bytes of each log are in memory.
//
// What it does not do: it judges nothing (package oracle does). A Merger does not wait:
// to follow a lab, call it again, as Writer.Follow does.
package follow
