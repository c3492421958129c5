package netnslab

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRealtimePutsTheThreadBack: to the niceness and the policy that it had.
func TestRealtimePutsTheThreadBack(t *testing.T) {
	needRoot(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with its niceness
		batch := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: 5}
		if err := unix.SchedSetAttr(0, &batch, 0); err != nil {
			t.Error(err)
			return
		}
		var within *unix.SchedAttr
		err := realtime(func() (err error) {
			within, err = unix.SchedGetAttr(0, 0)
			return err
		})
		after, errAfter := unix.SchedGetAttr(0, 0)
		if err != nil || errAfter != nil {
			t.Error(err, errAfter)
			return
		}
		if within.Policy != unix.SCHED_RR || within.Priority != 1 {
			t.Errorf("within: policy %d, priority %d, want SCHED_RR 1: the test proves nothing", within.Policy, within.Priority)
		}
		if after.Policy != batch.Policy || after.Nice != batch.Nice {
			t.Errorf("after: policy %d, nice %d, want %d and %d as before", after.Policy, after.Nice, batch.Policy, batch.Nice)
		}
	}()
	<-done
}
