// Package rc is the reliable connection of RoCEv2 (InfiniBand Architecture volume 1, chapter
// 9.7) as two pure state machines: a requester sends messages of equal size as RDMA
// writes, a responder takes their packets in order, and what is lost is sent again from
// the gap on (go-back-N).
//
//	Requester.Next --> packet --> Responder.Receive --> Ack or Nak pending
//	Requester.Answer <-- ACK, NAK <-- Responder.Answer
//
// Read in this order: Shape (how messages become packets), Requester, Responder.
//
// Invariants:
//   - in order: the responder takes every packet of every message exactly once, in order;
//   - window: of at most Config.Window messages packets are sent and not acknowledged;
//   - one NAK a gap: the responder asks for a packet once, until it comes;
//   - state, not events: what is answered is the newest state, however many packets came.
//
// What it does not do: it builds no bytes (package roce does), keeps no rate (package
// congestion does) and takes no time from a clock; no reads, no atomics, no RNR, no
// selective retransmission.
package roce
