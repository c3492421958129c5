// Package fuzz makes up scenarios, plays them in virtual time and holds what a
// detector declared against the oracle: thousands of fabrics that nobody thought
// of, most of them built so that they deadlock.
//
//	(seed, index) --New--> Case --Text--> scenario file --Play--> Outcome --Add--> Report
//	                         ^                                       |
//	                         '--------------- Shrink <---- a failure-'
//
// Read in this order: case.go (a case, and its text), new.go (what is drawn), the
// shapes: loops.go, fabrics.go, traffic.go; then play.go (a case judged), report.go
// (many), shrink.go.
//
// Invariants:
//   - one case, one pair: (seed, index, mode) determine a case, whatever else runs;
//   - a file is the case: what is judged is the parsed text, so a failure that is
//     written out is the failure;
//   - enough headroom: a case may not lose a lossless frame for want of room. One
//     that does is invalid, and says nothing of the detector;
//   - time to speak: flows stop (or go on) and a run lasts until every deadlock that
//     they can have left behind is many laps old. A deadlock that was a knot for less
//     than grace, because it was over, hangs on another one, or the run ends, is
//     neither detected nor missed unless it was declared.
//
// A lap is the sum over the links of a loop of the time that a full frame and a
// pause behind it take to arrive at most.
//
// What it does not do: it runs nothing in parallel and writes no file; the command
// does.
package fuzz
