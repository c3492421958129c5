package netnslab

import (
	"fmt"

	"github.com/prometheus/procfs"
)

// Softnet returns how many frames the kernel has dropped since boot because a CPU's
// backlog was full: the sum over all CPUs of /proc/net/softnet_stat, column 2. Frames
// lost by a veth are counted only there, for the whole host: a run during which the
// number grew proves nothing.
func Softnet() (drops uint64, err error) {
	var cpus []procfs.SoftnetStat
	proc, err := procfs.NewDefaultFS()
	if err == nil {
		cpus, err = proc.NetSoftnetStat()
	}
	if err != nil {
		return 0, fmt.Errorf("netnslab: %w", err)
	}
	for _, cpu := range cpus {
		drops += uint64(cpu.Dropped)
	}
	return drops, nil
}
