// Package verdict summarises the outcome of a scenario, played live or simulated: one
// type, one table, one JSON.
//
//	oracle.Result --judge--.
//	snapshots ----count-----+--> Verdict --> WriteText, JSON, ExitCode
//	scenario.Expect --check-'       '--Summarize--> Summary
//
// Read in this order: Verdict (verdict.go), Of (judge.go: what the oracle knows), count.go
// (what the nodes counted), completion.go (how long flows took), check.go (what was expected), audit.go (what cannot be true),
// table.go, figures.go (every figure, once), sums.go (those of several runs), summary.go (several runs), schema.go.
//
// Invariants:
//   - one way: every verdict comes from Of, whichever world played the scenario;
//   - no contradiction: figures that cannot all be true make the run not valid;
//   - one list: whatever shows figures of runs side by side is made of Figures;
//   - one clock: times are from the scenario's start, and all figures are as of its end.
//
// What it does not do: it decides nothing about deadlocks (package oracle does), and it
// asks no node (packages lab and sim do).
package verdict
