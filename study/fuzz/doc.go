// Package fuzz generates scenarios, plays them in virtual time and checks what a
// detector declared against the oracle: thousands of fabrics that nobody thought of,
// most of them built to deadlock.
//
//	(seed, index) --New--> Case --Text--> scenario file --Play--> Outcome --Add--> Report
//	                         ^                                       |
//	                         '--------------- Shrink <---- a failure-'
//
// Several detectors are compared on the same cases (paired.go).
//
// In mode RDMA most flows are reliable connections, short ones come and go (rdma.go), and a
// third of the cases has workloads (workload.go). In mode Attack there are control frames of
// strangers and of hosts on the wires (attack.go). In modes truth-* the oracle itself is judged, by what
// never moves (rest.go).
//
// NewPlanted makes other cases: a fabric that does not deadlock until a disturbance is
// added, which so is a cause.
//
// Read in this order: case.go (a case, and its text), new.go (the random choices), the
// shapes: loops.go, fabrics.go, traffic.go; then play.go (judge a case), report.go
// (many cases), shrink.go; for planted cases plant.go, disturb.go and press.go; then modes.go
// (what else is asked of cases, a line each) with a file or more for each mode, runner.go (many
// cases at a time, and the files of those that failed) and shard.go.
//
// Invariants:
//   - one case, one key: (seed, index, mode) determine a case, whatever else runs;
//   - planted causes: without its plants a planted case does not deadlock, with two seeds
//     of the wires;
//   - the file is the case: what gets played is the parsed text, so a failure that is
//     written to a file can be played again from it;
//   - enough headroom: no lossless frame may be lost for lack of buffer. A case in
//     which one is lost is invalid, and says nothing about the detector;
//   - time to detect: the flows stop (or do not), and the run lasts until every
//     deadlock they may have left behind is many laps old. A deadlock that was a knot
//     for less than graceLaps, because it ended, began to depend on another one, or the
//     run ended, counts as neither detected nor missed unless it was declared;
//   - any order: the report and the files are the same for one worker and for many, and for
//     all shards put together.
//
// A lap is the longest time that a full frame, and a pause behind it, take to go round
// a loop: the sum over its links.
//
// What it does not do: it judges nothing by itself; the oracle does, but in modes truth-*.
package fuzz
