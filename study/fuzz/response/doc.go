// Package response measures what responses do about random deadlocks: whether they stay
// away, and what that costs those who had no part in them.
//
//	fuzz.New --Endless--> case --no detector--> a deadlock? --.
//	                        |                                 v
//	                        |--- each response, with and without reserve --> Run
//	                        |                                                 |
//	                        '--- study/cause: the smallest cause, handled ------'--> Report
//
// Read in this order: play.go (a case), report.go and text.go (many).
//
// Words: a deadlock *comes back* whenever there is one again after all were gone,
// wherever it is. A case is *cured* if none came back and none is there at the end.
// *Innocent* is a lossless flow that is not in the smallest set of hosts and flows
// without which the first deadlock does not come about (package cause), and goes to no
// host of it. Its goodput is held against that of the run in which that set is handled from
// the start. Finding that set takes longer than all else, so it is sought in one case
// of four.
//
// Invariants:
//   - every response has the same cases: those that deadlock without one, and in which no
//     lossless frame is lost then;
//   - the same case gives the same outcome, whatever else runs.
//
// What it does not do: it runs nothing in parallel; package runner does.
package response
