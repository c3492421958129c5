// Package testneed skips tests for which the machine lacks a program, and says which.
//
// What it does not do: it installs nothing, and knows nothing of rights: those are of
// internal/testnetns.
package testneed

import (
	"os/exec"
	"strings"
	"testing"
)

// packages are the Debian packages of programs that are not called as theirs.
var packages = map[string]string{
	"busybox":   "busybox-static",
	"editcap":   "wireshark-common",
	"go":        "golang-go",
	"ip":        "iproute2",
	"munged":    "munge",
	"nohup":     "coreutils",
	"ping":      "iputils-ping",
	"promtool":  "prometheus",
	"sbatch":    "slurm-wlm",
	"sh":        "dash",
	"sleep":     "coreutils",
	"slurmctld": "slurm-wlm",
	"slurmd":    "slurm-wlm",
	"true":      "coreutils",
	"unshare":   "util-linux",
}

// Need skips the test, with the reason, unless all of these programs are installed.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	var missing []string
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name+" (Debian package "+packageOf(name)+")")
		}
	}
	if missing != nil {
		t.Skip("not installed: " + strings.Join(missing, ", "))
	}
}

func packageOf(program string) string {
	if name, ok := packages[program]; ok {
		return name
	}
	return program
}
