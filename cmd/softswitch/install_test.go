package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"softswitch/internal/testkit"
)

// TestInstall installs into a folder of its own: what a user looks for is there, and
// uninstalling leaves nothing.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	testkit.Need(t, "make", "go", "install", "rm")
	besideLabs(t, smallLab)
	dest := t.TempDir()
	run := func(target string) {
		t.Helper()
		out, err := exec.Command("make", "-s", "-C", "../..", target, "DESTDIR="+dest, "PREFIX=/opt/ss", "BIN="+filepath.Join(dest, "built")).CombinedOutput()
		if err != nil {
			t.Fatalf("make %s: %v\n%s", target, err, out)
		}
	}
	run("install")
	for _, want := range []string{
		"bin/softswitch", "share/man/man1/softswitch.1", "share/man/man1/softswitch-lab-run.1",
		"share/man/man5/softswitch-scenario.5", "share/man/man5/softswitch-switch.5", "share/man/man5/softswitch-host.5", "share/man/man5/softswitch-profile.5",
		"share/bash-completion/completions/softswitch", "share/zsh/site-functions/_softswitch",
		"share/fish/vendor_completions.d/softswitch.fish", "share/softswitch/itsy.lua",
	} {
		if f, err := os.Stat(filepath.Join(dest, "opt/ss", want)); err != nil || f.Size() == 0 {
			t.Errorf("%s: %v, want a file with something in it", want, err)
		}
	}
	run("uninstall")
	var left []string
	filepath.WalkDir(filepath.Join(dest, "opt"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			left = append(left, path)
		}
		return nil
	})
	if len(left) > 0 {
		t.Errorf("uninstall left %q", left)
	}
}
