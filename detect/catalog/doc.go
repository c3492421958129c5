// Package catalog is the one list of what a switch can run against deadlocks: every
// detector and every response, each with its name, what it is in a line, and what
// others must know of it.
//
//	detect/NAME --> one line here --> help, completion, schema, validate, lab, sim, compare, fuzz
//
// Nothing else lists detectors: adding one is a folder below detect and a line in Detectors.
//
// Invariants:
//   - the order is that in which names are offered, and the first is "none";
//   - no name is there twice.
//
// It makes nothing: what it hands out are factories.
package catalog
