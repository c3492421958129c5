package lab

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	netnslab "softswitch/netns-lab"
	"softswitch/unit"
)

// TestProcessTicks compares with what the kernel says of this process by another
// way.
func TestProcessTicks(t *testing.T) {
	ticks := func() uint64 {
		var use syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
			t.Fatal(err)
		}
		return uint64(use.Utime.Nano()+use.Stime.Nano()) / 1e7
	}
	for start := ticks(); ticks() < start+10; { // use a tenth of a second
	}
	before := ticks()
	got := processTicks(os.Getpid())
	after := ticks()
	if got+2 < before || got > after+2 {
		t.Errorf("%d ticks, want %d to %d", got, before, after)
	}
	if got := processTicks(1 << 30); got != 0 {
		t.Errorf("%d ticks of a process that is not there", got)
	}
}

func TestMeters(t *testing.T) {
	st := &netnslab.State{Nodes: []netnslab.NodeState{{PID: os.Getpid()}, {PID: 1 << 30}, {}}}
	before, err := takeMeters(st)
	if err != nil {
		t.Fatal(err)
	}
	after, err := takeMeters(st)
	if err != nil {
		t.Fatal(err)
	}
	if before.at <= 0 || after.at < before.at || after.ticks < before.ticks || after.softnet < before.softnet {
		t.Errorf("meters went back from %+v to %+v", before, after)
	}
}

func TestCores(t *testing.T) {
	before := meters{at: unit.Second, ticks: 100}
	for _, c := range []struct {
		after meters
		want  string
	}{
		{meters{at: 3 * unit.Second, ticks: 100}, "0.00"},
		{meters{at: 3 * unit.Second, ticks: 250}, "0.75"},
		{meters{at: 2 * unit.Second, ticks: 250}, "1.50"},
	} {
		if got := fmt.Sprintf("%.2f", c.after.cores(before)); got != c.want {
			t.Errorf("from %+v to %+v: %s processors, want %s", before, c.after, got, c.want)
		}
	}
}
