// Package model goes through all states of a small fabric in which each switch runs a real
// detector: every order of frames, timers, losses and failures, within bounds. It looks for a
// declaration without a deadlock, and for a deadlock that stands and is not declared, and tells
// the shortest way to either.
//
//	Fabric, Bounds --> explorer --- state: a number for each switch and wire ---> store
//	                      |                                                        |
//	                  automaton: (state, step) -> (state, frames sent)         breadth first
//	                      |          asked once, then remembered                   |
//	                    node: bytes and pauses of a switch                     Result, or
//	                      |                                                    Trouble: a story
//	                   Detector: the one that runs in switches
//
// Why not a model of the detector. What has to be right is the code, and a model would be right
// about itself. A switch answers each event from its state alone. So its detector is put into a
// state (SetState), told an event, and its new state is read (State): each pair of a state and an
// event is played once by the code, and the fabric is a walk through tables. A few thousand
// states of each switch make millions of states of the fabric, at a microsecond for each step. A
// model in another language (TLA+ was considered) would go through as many, of something else.
//
// What is abstracted:
//
//   - Bytes are units. A priority group goes XOFF with its second unit and XON with its last but one,
//     and may be given a third. A unit waits in one queue, or in several if it was flooded. Of a
//     priority group that is XON nothing is known, since nothing depends on it: it goes XOFF by any two
//     units, at any time, also behind a paused queue, as frames do that were on their way. That
//     is more than a network does, so what is found wrong may be impossible, and what is found
//     right is right.
//   - Time stands still. What waits for a time may happen at any: a detector's timer whenever it
//     is set, with either result of what it leaves to chance.
//   - A pause runs out if its repetition was late (Lapses), if two frames of it in a row were
//     lost and none is on its way, or if its priority group is XON and the resume lost or slow. It does
//     not while frames arrive in time: they are repeated three times as often as they last.
//   - A link fails at one end, and what is on it is lost; the other end learns of it later.
//   - What only the diagnosis sends is lost.
//
// What must hold. A declared queue is in the core (package oracle) at that instant. Where links
// fail or pauses run out it may have left it since the messages that declare it were under way:
// then the declaration is late. Whenever nothing is on its way and there is a deadlock that waits
// for no other, it was declared, or it is when the fabric is left alone: pauses are repeated and
// timers fire, one after the other. Since who acts, and when, is left to chance, that does happen.
// With Bounds.Prompt it was declared before any timer.
//
// Read in this order: fabric.go, bounds.go; node.go (a switch), frame.go (wires), automaton.go (a
// switch as a table); plan.go, truth.go (who is stuck); explore.go, store.go, move.go (what may
// happen), judge.go (what must hold), alone.go (until when), story.go.
//
// Invariants:
//   - wires keep their order;
//   - nothing leaves a paused queue, and what has begun to leave holds nothing;
//   - every state is one that the code made: none is put together by hand;
//   - exact: states are compared by their contents, not by a hash.
//
// What it does not do: it goes no further than its bounds; it knows one priority, fixed thresholds
// and no responses; and it does not find messages that go round for ever unless a deadlock is
// left alone with them.
package model
