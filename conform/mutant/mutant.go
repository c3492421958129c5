// Package mutant plants defects into a DUT, to test the tester: each of them has to fail the case that is
// there for it.
//
//	wires --[In: change, hold, drop]--> machine --[Out: change]--> wires
//
// A Wrapper stands before any machine, live or in virtual time, and does to frames what the defect would.
// Defects that no frame shows are statements of the switch that are replaced by others: the package's
// tests have those.
//
// Read in this order: Wrapper (wrapper.go), then All (defects.go).
//
// Invariant: a Wrapper with no Defect is its machine.
//
// What it does not do: it judges nothing.
package mutant
