// Package follow reads the event logs of nodes while they grow: each by itself, or all of a
// lab as one stream in the order of time.
//
//	node/events.jsonl --Log.Read--.
//	node/events.jsonl --Log.Read---+--> Merger.Next --> Entry --> Writer: text, JSON
//	node/events.jsonl --Log.Read--'
//
// The live page and whoever judges a run read each Log; people who follow a lab read the
// Merger.
//
// Read in this order: Log (log.go), Merger (merge.go), text.go (an event for people),
// Writer (writer.go).
//
// Invariants:
//   - whole lines: a line that is being written is read when it is whole;
//   - no log too early: one that is not there yet is read when it comes, and one that was
//     made anew is read from its beginning, which is told;
//   - order: entries come in the order of their times, those of one time in the order of
//     the nodes, those of one node in the order of its log; only an event that its node
//     wrote later than Next was called for a later one comes late;
//   - bounded: of each log at most chunk bytes are in memory.
//
// What it does not do: it judges nothing (package oracle does). A Merger waits for
// nothing: who follows a lab calls again, as Writer.Follow does.
package follow
