package testkit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Documented wants each command of a program in cmd that a page names to be one, with its flags: what
// stands behind "./cmd/" and the name of the program, up to where a shell or the sentence goes on. It
// asks the program of that name in PATH for its help.
func Documented(t *testing.T, program string) {
	t.Helper()
	named := regexp.MustCompile(`\./cmd/` + program + ` ([a-z][^` + "`" + `|>&#;'"\n]*)`)
	n := 0
	for _, glob := range []string{"../../*.md", "../../docs/*.md", "../../docs/*/*.md", "../../Makefile"} {
		paths, err := filepath.Glob(glob)
		if err != nil || paths == nil {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, path := range paths {
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range named.FindAllSubmatch(page, -1) {
				n++
				args := strings.Fields(string(m[1]))
				help, err := exec.Command(program, append(args, "--help")...).CombinedOutput()
				if err != nil || !bytes.Contains(help, []byte("\n  "+program+" "+args[0])) {
					t.Errorf("%s: %s %s: %v: %s", path, program, m[1], err, help)
				}
			}
		}
	}
	if n == 0 {
		t.Errorf("no page names %s", program)
	}
}
