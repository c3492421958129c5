// Package oracle knows whether a PFC deadlock is real. It sees what no detector can
// see, the state of every switch of a fabric at one instant, and judges what the
// detectors declared.
//
//	logs of all switches --Merge--> Replay --facts--> State --Stuck--> History
//	                                   |                 ^                |
//	                                   |    a simulator feeds it directly |
//	                                   `--findings, traces------> Judge <-'
//	                                                                |
//	                                                             Result
//
// Read in this order: fabric.go (the wiring), state.go (the facts), stuck.go (the
// largest stuck set, its core and its victims), graph.go (how it is found), history.go (the same
// over time, and the life of each deadlock), replay.go (logs to facts), judge.go (right, late, premature
// or false), loop.go and timeline.go (for people). For logs of several machines, which
// share no clock: pairs.go (frames that left by one and came by another), package clocks
// (what that says), steps.go and several.go (facts between bounds), undecided.go and
// settled.go (what is so whatever the clocks did).
//
// A queue q waits for the priority group at the far end of its link, down(q), and that
// priority group waits for the queues that hold its bytes. A set S of queues is stuck if
// for every q in S, with b = down(q):
//
//  1. q is paused, and the pause is from the XOFF period that b is in now;
//  2. b is XOFF;
//  3. b would stay XOFF even if everything that has no copy in some queue of S had left b's
//     switch: of each priority group of the pool stay only its bytes in S, its headroom is released
//     first, and b has more bytes in S than the XON that it has in such a pool
//     ([softswitch/buffer.Rule], the rule of the switch). Where no priority group takes what is
//     another's, as with static thresholds in an ample pool, XON is a constant.
//
// No queue of such a set transmits again by itself: the first to do so would need a
// resume, but its priority group is held above XON by bytes that none of the others has
// released. What stays only ever makes XON lower for others, so the union of stuck sets is
// stuck, and there is a largest one, S*. There is a PFC deadlock at an instant if S* is not
// empty then. In the words of Stramaglia, Keiren and Zantema ("Deadlock in packet switching
// networks", arXiv 2101.06015), S* is a local deadlock: a part of the network that never moves
// again, whatever the rest does.
//
// The parts of S* have names. G, the wait-for graph, has an edge from q to q' if bytes of down(q)
// wait in q', both in S* (what a shared pool adds to it: see Stuck). The core is what lies on a cycle
// of G, and falls into strongly connected components. A component that no edge leaves is a knot: it
// waits for nothing but itself, so nothing that is done elsewhere frees it. A queue of S* on no cycle
// is a victim: it is stuck only because the edges from it lead to the core. Each queue of S* has an
// edge, for its priority group has more than XON bytes in S*; so the edges lead from everywhere to a knot,
// and no deadlock is without one.
//
// A set that meets condition 3 only by the XON of the moment, because others have taken of the
// pool what they are about to give back, opens by itself: it is no deadlock, and is told apart
// (Stuck.Opening). What never moves if nobody sends any more is found by playing a run without
// its sources (package fuzz, modes truth-*), and held against S*.
//
// Invariants:
//   - present pause: a pause of an older period, whose resume is still on the wire,
//     makes no queue stuck. Nor does a frame that has begun to leave hold a priority group,
//     because the facts do not count it;
//   - live hosts: a queue that leads to a host is never stuck. A host that pauses for
//     ever is a storm, and a storm alone is no deadlock;
//   - end of instant: S* is taken after all events of one time, so that neither the
//     order of the logs nor that of the nodes changes a result. Equal times say nothing of
//     order across nodes; within a node the order of its log counts;
//   - never wrong: with several clocks a judgement is the one that their true times would
//     give, or it is Undecided.
//
// What it may call a victim for too long: bytes in a headroom count as outside the pool, and move
// there when others leave. A set that will stand alone then is reported as one behind another.
//
// What it does not do: it reads no file and no clock, it gives detectors no
// information, and it does not predict: a fabric that is bound to deadlock has no
// deadlock until it happens.
package oracle

import (
	"cmp"
	"fmt"

	"softswitch/unit"
)

// Queue is an egress queue of a fabric: q = (s, e, c), of switch s, egress port e and priority c.
type Queue struct {
	unit.NodePort
	Priority unit.Priority
}

// PG is an ingress account of a fabric, a priority group: b = (s, i, c), of switch s, ingress
// port i and priority c.
type PG struct {
	unit.NodePort
	Priority unit.Priority
}

func (q Queue) String() string { return fmt.Sprintf("%v/%d", q.NodePort, q.Priority) }
func (b PG) String() string    { return fmt.Sprintf("%v/%d", b.NodePort, b.Priority) }

// compareQueues is the order of all lists of queues that leave this package: node, port, priority. It
// carries no meaning. It makes equal results equal byte for byte, and Stuck.index searches by it.
func compareQueues(a, b Queue) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Priority, b.Priority))
}
