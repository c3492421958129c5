// Package eventlog reads the event logs of all nodes of a lab as one stream in the
// order of time, while they grow.
//
//	node/events.jsonl --source--.
//	node/events.jsonl --source---+--> Merger.Next --> Entry --> text, JSON
//	node/events.jsonl --source--'
//
// Read in this order: Merger (merge.go), source.go (one log), text.go (an event for
// people).
//
// Invariants:
//   - order: entries come in the order of their times, those of one time in the order of
//     the nodes, those of one node in the order of its log; only an event that its node
//     wrote later than Next was called for a later one comes late;
//   - whole lines: a line that is being written is read when it is whole;
//   - bounded: of each log at most chunk bytes are in memory.
//
// What it does not do: it judges nothing (package oracle does), and it waits for
// nothing: who follows a lab calls Next again.
package eventlog
