// Package validate says what a file is good for: a scenario, or the configuration of a
// switch or a host.
//
//	content --> what kind it is --> its reader --> faults
//	                                    `--> sim.Refuse, lab.Refuse --> simulated, live, or both
//
// Invariant: what it says holds. A file that it calls good makes all machines of each world
// that it names, and a world that it denies refuses the file (TestAgrees).
//
// What it does not do: it builds no machine, and it does not look whether an interface or a
// path of the file exists.
package validate
