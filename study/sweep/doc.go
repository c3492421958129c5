// Package sweep plays a scenario many times in virtual time, on all processors: with
// several seeds, and with every combination of values of some of its keys.
//
//	file, axes --> combinations --Check--> every one can be played
//	                     |
//	                     '-- x seeds --play--> verdicts, in any order --rows--> CSV, JSON lines
//	                                              '--Repeat--> verdict.Summary
//
// Read in this order: play.go (many runs at a time, Repeat), axis.go (a key and its values),
// sweep.go (Sweep, Check, Play), columns.go (what stands in a row), rows.go (rows in their
// order).
//
// Invariants:
//   - the same bytes for any number of workers: rows stand in the order of the combinations,
//     the values of the last axis changing first, and then of the seeds;
//   - whole rows: what is written when a sweep ends early is rows of runs that were played to
//     their end;
//   - all or nothing: no run begins unless every combination can be played.
//
// What it does not do: it reads no file, and judges nothing.
package sweep
