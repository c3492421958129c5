// Package testlong says how much a test does that could go on for long: a part of it in make
// test, all of it in make long, which sets LONG=1. What compares documents with what programs print
// is played by make docs-check, which sets DOCS=1, and by make long.
//
// What it does not do: of what a program does it leaves no test out. In make test every one of them
// plays something; make long plays more cases, more seeds, and the blocks of guides that take
// longest.
package testlong

import (
	"os"
	"testing"
)

// All reports whether this is make long.
func All() bool { return os.Getenv("LONG") == "1" }

// Of is usual, or all of it in make long.
func Of[T any](usual, all T) T {
	if All() {
		return all
	}
	return usual
}

// Docs skips a test that compares documents with what programs print, and takes long, unless this
// is make docs-check or make long.
func Docs(t testing.TB) {
	t.Helper()
	if os.Getenv("DOCS") != "1" && !All() {
		t.Skip("documents are compared by make docs-check")
	}
}
