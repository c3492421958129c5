package scale

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// clearPeak makes peakMemory count anew, where the kernel can.
func clearPeak() {
	runtime.GC()
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // proc(5): resets the peak
}

// peakMemory is the most memory that this process ever had resident.
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("/proc/self/status: no VmHWM")
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err
}
