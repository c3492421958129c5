// Package verbs is an end of a reliable connection of RoCEv2 as programs of verbs use it: a queue
// pair that sends, writes and reads messages of any length, with memory that the far end may write
// and read (InfiniBand Architecture volume 1, chapter 9.7).
//
//	Post --> QueuePair.Next --> packet --> the far end
//	far end --> packet --> QueuePair.Receive --> Memory, Arrived, and what Next answers
//
// Read in this order: memory.go, pair.go (the state, and Next), requester.go, responder.go.
//
// Invariants:
//   - in order: a responder takes each packet once, in order, and answers requests in their order;
//   - once: a request is complete when all its packets are acknowledged, a READ when all its octets
//     have come;
//   - checked: no octet outside of a Region is written or read, and no key but that of the Region opens it;
//   - no panic: Receive takes any packet that package roce parses.
//
// Flows of a host are simpler, messages of equal size without content, and have machines of their
// own (package roce).
//
// What it does not do: no atomics, no immediate data, no shared receive queues; it takes no time from
// a clock and sends nothing by itself.
package verbs
