// Package naming holds what a detector names as the cause of a deadlock against the
// truth: against what was planted, and against the same run with what is named handled
// from the start.
//
//	fuzz.NewPlanted --> case --detector--> declaration, diagnosis --> Answer --.
//	                      |                                                     |
//	                      |--no detector-> baselines: other Answers ------------|
//	                      |                                                     v
//	                      '--what was planted, sim/cause-------------------> Judged --> Report
//
// Read in this order: answer.go (what is named), watch.go (how a run is watched),
// baseline.go (answers that need no detector), truth.go (what was planted), play.go
// (a case), report.go and text.go (many).
//
// Words: an answer is *found* if it names what was planted: the host that misbehaves, or
// at least one of the flows, or the switches, that were planted. It is *causal* if there
// is no deadlock at the same place when what it names is handled from the start, and
// *sufficient* if there is none at all (package cause). Its *control* is as many other
// hosts or flows at random.
//
// Invariants:
//   - an answer is judged by what it names, not by whose it is: detectors and baselines
//     go the same way;
//   - no answer is an answer: it counts in every share of what was found;
//   - the same case gives the same outcome, whatever else runs.
//
// What it does not do: it runs nothing in parallel and writes no file; package runner
// does.
package naming
