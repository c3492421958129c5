package live

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// testerPriority is one above the real-time priority that nodes of labs have (docs/decisions/realtime.md):
// equals take turns of 100 ms.
const testerPriority = 2

// Realtime gives all threads of this process, and those that they will start, a real-time priority above
// that of a node which may run beside it, and keeps what it has in memory there. The error says why that is
// not permitted; the process goes on as it was.
func Realtime() error {
	rr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: testerPriority}
	done := map[int]bool{}
	for more := true; more; { // a thread may start another one meanwhile
		more = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil || done[tid] {
				continue
			}
			if err := unix.SchedSetAttr(tid, &rr, 0); err != nil && err != unix.ESRCH {
				return fmt.Errorf("real-time priority: sched_setattr: %w", err)
			}
			done[tid], more = true, true
		}
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		return fmt.Errorf("memory cannot be locked: mlockall: %w", err)
	}
	return nil
}
