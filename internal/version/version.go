// Package version says which build of the program this is.
package version

import "runtime/debug"

// Text is the module's version as the Go tool stamped it into the program: a tag, or
// the time and hash of a commit, with "+dirty" if files were changed since. "(devel)"
// if the tool knew none, as in a test.
func Text() string {
	b, ok := debug.ReadBuildInfo()
	if !ok || b.Main.Version == "" {
		return "(devel)"
	}
	return b.Main.Version
}
