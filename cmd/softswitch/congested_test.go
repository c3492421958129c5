package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/oracle/verdict"
)

var congestion = flag.Duration("congestion", 10*time.Second, "how long TestLongCongestion congests a lab")

// congestedXOFF is how many priority groups have to go XOFF in a second at least.
const congestedXOFF = 200_000. / 900

// TestLongCongestion: a lab in which every link on the way of six flows pauses all the time loses no
// lossless frame, and its logs are whole at the end.
func TestLongCongestion(t *testing.T) {
	b := newBigBed(t)
	var v verdict.Verdict
	b.untilValid(func() string {
		b.must("destroy")
		cmd := exec.Command("softswitch", "lab", "run", "testdata/congested.yaml", "--name", b.name, "--set", "duration="+congestion.String(), "--json", "--keep")
		cmd.Env = append(os.Environ(), netnslab.RunDirVariable+"="+b.runDir)
		r := b.run(cmd)
		v = verdict.Verdict{}
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
			t.Fatalf("the verdict is no JSON: %v", err)
		}
		longest := int64(0)
		logs, _ := filepath.Glob(filepath.Join(b.runDir, b.name, "*", lab.EventsName))
		for _, path := range logs {
			if info, err := os.Stat(path); err == nil {
				longest = max(longest, info.Size())
			}
		}
		t.Logf("%v: %d XOFF, %d refreshes, %d lossless frames lost; the longest of %d logs has %d MB; lab run took %d MB of memory; %q",
			congestion, v.PFC.XOFF, v.PFC.Refresh, v.LosslessLost, len(logs), longest/1e6, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss/1000, v.Invalid)
		return v.Invalid
	})
	if v.LosslessLost != 0 {
		t.Errorf("%d lossless frames lost: %v", v.LosslessLost, v.LosslessLostBy)
	}
	if want := int(congestedXOFF * congestion.Seconds()); v.PFC.XOFF < want {
		t.Errorf("%d XOFF, want %d or more", v.PFC.XOFF, want)
	}
}
