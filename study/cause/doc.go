// Package cause says what caused a PFC deadlock, and proves it: it treats a suspect
// from the start, plays the same run again, and looks whether the deadlock still forms.
//
//	Scenario, seed --New--> Case: the first deadlock, and which pause led to which
//	                          |
//	       Treatment --Apply--> Plan --Try, the same seed--> Effect: causal? sufficient? goodput
//	                          |
//	              Singles --Smallest--> the smallest sets that prevent it --Innocents--> flows
//	                          |
//	                          '--Explain, with controls--> Report: text, JSON, a drawing
//
// Read in this order: treatment.go (what can be taken away), deadlock.go (the first
// deadlock), case.go (an effect), chronology.go, smallest.go, control.go; explain.go
// (all of it), run.go (on many processors), innocent.go (who had no part in it), text.go and
// draw.go (for people).
//
// Invariants:
//   - one change: a treated run differs from the untreated one in what its Treatment
//     names and in nothing else, random numbers of the wires included;
//   - no detector: all runs are without one, and without a response. The oracle alone
//     says what a deadlock is;
//   - the same in every run: a scenario and a seed determine everything.
//
// What it does not do: it writes no file, and does not say what a detector should have named at
// the time: a cause is known afterwards.
package cause
