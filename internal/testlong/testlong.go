// Package testlong says how much a test does that could go on for long: a part of it in make
// test, all of it in make long, which sets LONG=1.
//
// What it does not do: it leaves no test out. In make test every one of them plays something;
// make long plays more cases, more seeds, and the blocks of guides that take longest.
package testlong

import "os"

// Of is usual, or all of it in make long.
func Of[T any](usual, all T) T {
	if os.Getenv("LONG") == "1" {
		return all
	}
	return usual
}
