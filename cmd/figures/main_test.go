package main

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"softswitch/internal/testkit"
)

// TestMain makes the test binary serve as figures, in PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"figures": main})
}

// TestRefused: what makes no sense is not begun, and the exit status says so.
func TestRefused(t *testing.T) {
	testkit.Refused(t, "figures", map[string]string{
		"nonsense":               `^figures: unknown command "nonsense" for "figures"; valid: draw, boundary, scale\n$`,
		"draw everything":        `^figures: "everything" is no figure; valid: hu-fig3, .*, boundary\n$`,
		"draw --out /dev/null":   `^figures: mkdir /dev/null: not a directory\n$`,
		"scale --detector magic": `^figures: --detector: "magic" is no detector`,
		"scale everything":       `usage: figures scale `,
	})
}

// TestDocumentedCommands: what pages name is there.
func TestDocumentedCommands(t *testing.T) { testkit.Documented(t, "figures") }

// TestControlC: each command ends once Ctrl-C is typed. That of fabrics builds one first, in make long.
func TestControlC(t *testing.T) {
	for args, shown := range map[string]string{
		"scale":                     "fat-tree",
		"boundary":                  "routing loops",
		"draw --out " + t.TempDir(): "figures",
	} {
		t.Run(strings.Fields(args)[0], func(t *testing.T) {
			if args == "scale" {
				testkit.LongOnly(t)
			}
			t.Parallel()
			testkit.ControlC(t, shown, "figures", strings.Fields(args)...)
		})
	}
}
