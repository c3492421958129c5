package lab

import (
	"github.com/prometheus/procfs"

	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/unit"
)

// meters are the machine's totals of time spent and frames lost at one instant.
type meters struct {
	at      unit.Time
	softnet uint64
	ticks   uint64 // processor time of the nodes, in USER_HZ ticks of 10 ms
}

func takeMeters(st *netnslab.State) (m meters, err error) {
	m.at = timer.Now()
	if m.softnet, err = netnslab.Softnet(); err != nil {
		return m, err
	}
	seen := map[int]bool{} // nodes may share a process
	for _, n := range st.Nodes {
		if !seen[n.PID] {
			m.ticks += processTicks(n.PID)
		}
		seen[n.PID] = true
	}
	return m, nil
}

// cores is how many processors the nodes used since before, on average.
func (m meters) cores(before meters) float64 {
	return float64(m.ticks-before.ticks) / 100 / seconds(m.at-before.at)
}

// processTicks is the user and system time of a process; 0 if it is gone.
func processTicks(pid int) uint64 {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return uint64(stat.UTime + stat.STime)
}
