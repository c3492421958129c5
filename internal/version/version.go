// Package version says which build of the program this is.
package version

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Unknown is the version of a program for which the Go tool knew none, as in a test.
const Unknown = "(devel)"

// Text is the module's version as the Go tool stamped it into the program: a tag, or
// the time and hash of a commit, with "+dirty" if files were changed since; or Unknown.
func Text() string {
	b, ok := debug.ReadBuildInfo()
	if !ok || b.Main.Version == "" {
		return Unknown
	}
	return b.Main.Version
}

// Exact is Text and, where that stands for more than one program, the first digits of the
// SHA-256 of this one.
var Exact = sync.OnceValue(func() string {
	text := Text()
	if text != Unknown && !strings.Contains(text, "+dirty") {
		return text
	}
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return text
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return text
	}
	return fmt.Sprintf("%s sha256:%x", text, h.Sum(nil)[:8])
})
