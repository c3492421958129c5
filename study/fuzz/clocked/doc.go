// Package clocked measures what the oracle says of logs that go by several clocks: each node
// of a random case is put on one of two to four clocks, and what comes of that is held
// against the same logs by one clock.
//
//	fuzz.New --> case --play--> logs --one clock--> truth -------------.
//	                             |                                     v
//	                             '----------> logs by several --> compare --> Report
//	                             (clock.go)     JudgeClocks, and a naive merge
//
// Read in this order: clock.go (what a clock shows), play.go (a case), compare.go (what is
// wrong), report.go (many cases).
//
// The clocks are apart by up to ten hours, drift by up to what is assumed of clocks, and in
// a third of the cases one steps: forward by up to an hour, or back as after the machine
// was suspended. In a quarter of the cases findings at random take the place of those of the
// detector, so that all outcomes come about.
//
// Words: *wrong* is a finding or a deadlock of which several clocks say other than one;
// *undecided* is one of which several clocks say that they do not know. *Near* is a finding
// whose time is known to less than a hop.
//
// Invariant: the same case gives the same outcome, whatever else runs.
//
// What it does not do: it runs nothing in parallel; package runner does.
package clocked
