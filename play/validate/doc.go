// Package validate checks a file: a scenario, or the configuration of a switch or a
// host.
//
//	content --> what kind it is --> its reader --> faults
//	                                    `--> sim.Refuse, lab.Refuse --> simulated, live, or both
//
// Invariant: its answer is right. Every world that it says can play a file can make all
// machines of it, and every other world refuses the file (TestAgrees).
//
// What it does not do: it builds no machine, and it does not check whether an interface
// or a path in the file exists.
package validate
