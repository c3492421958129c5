// Package rates measures what this machine holds: the highest rate of links of a lab, and the
// speed of the simulator.
//
// Find finds the rate by playing it: two incasts at line rate on a fat-tree, those of
// scenarios/fattree-no-loop.yaml, at rates that a bisection chooses.
//
//	Fabric, rate --Scenario--> lab, built, played, removed --> verdict --judge--> held or not
//	      ^                                                                          |
//	      '------------------------------- the next rate -----------------------------'
//
// Simulator plays a fat-tree under load in virtual time and counts frame-hops a second.
//
// Read in this order: scenario.go, rates.go, speed.go.
//
// Invariants:
//   - a rate is held only if every run at it is valid by the rules of any run, met what is
//     expected (no lossless frame lost, no deadlock), and brought both receivers what their
//     links carry;
//   - no lab is left when Find returns.
//
// What it does not do: it does not guess. What it did not play it does not report.
package rates
