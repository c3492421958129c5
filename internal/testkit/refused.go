package testkit

import (
	"bytes"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Refused runs a program with each of these arguments, parted by blanks, and wants it to print
// nothing, to say on its error output what the expression says, and to exit with 2, the status of
// what was not done.
func Refused(t *testing.T, program string, wants map[string]string) {
	t.Helper()
	for args, want := range wants {
		var out, said bytes.Buffer
		cmd := exec.Command(program, strings.Fields(args)...)
		cmd.Stdout, cmd.Stderr = &out, &said
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 || out.Len() > 0 || !regexp.MustCompile(want).Match(said.Bytes()) {
			t.Errorf("%s %s: %v, said %q and printed %q; want exit status 2 and %s", program, args, err, said.String(), out.String(), want)
		}
	}
}
