package testkit

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// packages are the Debian packages of programs that are not called as theirs.
var packages = map[string]string{
	"coreutils":        "basename cat cut dirname env head install ls mkfifo mktemp nohup rm sleep sort tail timeout touch true",
	"util-linux":       "setsid unshare",
	"busybox-static":   "busybox",
	"dash":             "sh",
	"diffutils":        "diff",
	"docker.io":        "docker",
	"golang-go":        "go",
	"lldpd":            "lldpcli",
	"iproute2":         "ip",
	"iputils-ping":     "ping",
	"mawk":             "awk",
	"munge":            "munged",
	"procps":           "sysctl",
	"prometheus":       "promtool",
	"qemu-system-x86":  "qemu-system-x86_64",
	"slurm-wlm":        "sbatch slurmctld slurmd",
	"wireshark-common": "editcap",
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
	for name, programs := range packages {
		if slices.Contains(strings.Fields(programs), program) {
			return name
		}
	}
	return program
}
