package testkit

import (
	"os"
	"testing"
)

// Long reports whether this is make long.
func Long() bool { return os.Getenv("LONG") == "1" }

// Sized is usual, or all of it in make long.
func Sized[T any](usual, all T) T {
	if Long() {
		return all
	}
	return usual
}

// LongOnly skips a test of which make test has no part.
func LongOnly(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("played by make long")
	}
}

// Docs skips a test that compares documents with what programs print, and takes long, unless this
// is make docs-check or make long.
func Docs(t testing.TB) {
	t.Helper()
	if os.Getenv("DOCS") != "1" && !Long() {
		t.Skip("documents are compared by make docs-check")
	}
}
