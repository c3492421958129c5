package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
	netnslab "softswitch/netns-lab"
)

var backquoted = regexp.MustCompile("`([^`]+)`")

// TestDoctorsAdvice: every command of the doctor's advice is one, as it stands there. The
// machine lacks what a machine can: rights, programs; and labs are left over.
func TestDoctorsAdvice(t *testing.T) {
	var advice []string
	for _, k := range sickDoctor(t) {
		for _, command := range backquoted.FindAllStringSubmatch(k.Detail+" "+k.Remedy, -1) {
			advice = append(advice, command[1])
		}
	}
	for _, want := range []string{"softswitch lab destroy old", "softswitch lab destroy --lost torn", "softswitch demo --rootless"} {
		if !slices.Contains(advice, want) {
			t.Errorf("%q is not advised, but %q", want, advice)
		}
	}
	for _, command := range advice {
		if err := understood(strings.Fields(command)); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// sickDoctor is what the doctor says to a user without rights and programs.
func sickDoctor(t *testing.T) (checks []netnslab.Check) {
	t.Helper()
	program, err := exec.LookPath("softswitch-unprivileged")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "sick") // t.TempDir is not for others to read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for lab, record := range map[string]string{
		"old":  `{"version": 1, "name": "old", "boot": "another", "complete": true}`,
		"torn": `{"vers`,
	} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, lab), 0o755), os.WriteFile(filepath.Join(dir, lab, "state.json"), []byte(record), 0o644))
	}
	if err := errors.Join(err, os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "doctor", "--json")
	cmd.Env = []string{"PATH=/nowhere", netnslab.RunDirVariable + "=" + dir}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != cli.ExitUnmet {
		t.Fatalf("doctor: %v, want exit status %d", err, cli.ExitUnmet)
	}
	if err := json.Unmarshal(out, &checks); err != nil {
		t.Fatal(err)
	}
	return checks
}

// understood returns what keeps a command line from being carried out: flags or arguments
// that softswitch does not know, or a program that no Debian has.
func understood(argv []string) error {
	if argv[0] != "softswitch" {
		if known := []string{"apt-get", "mkdir", "modprobe", "sysctl"}; !slices.Contains(known, argv[0]) {
			return errors.New("want one of " + strings.Join(known, ", ") + ", softswitch")
		}
		return nil
	}
	c, rest, err := root().Find(argv[1:])
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err == nil && cli.IsGroup(c) {
		err = errors.New("it only holds other commands")
	}
	return err
}
