package figures

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/procfs"
)

// clearPeak resets peakMemory, where the kernel can.
func clearPeak() {
	runtime.GC()
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // proc(5): resets the peak
}

// peakMemory is the most memory that this process ever had resident, in bytes.
func peakMemory() (int64, error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, err
	}
	status, err := self.NewStatus()
	return int64(status.VmHWM), err
}
