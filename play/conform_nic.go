package play

import (
	"fmt"
	"strings"

	"softswitch/conform"
	"softswitch/link/offload"
)

// statistic is what the driver of an interface counts.
type statistic struct {
	name  string
	value uint64
}

// pauseCounters are the statistics of the interfaces of a profile that count pauses received, by port.
func pauseCounters(p *conform.Profile) (all [][]statistic) {
	for _, q := range p.Ports {
		var mine []statistic
		names, values, err := offload.Statistics(q.Interface)
		for i, name := range names {
			if err == nil && countsPauses(name) {
				mine = append(mine, statistic{name, values[i]})
			}
		}
		all = append(all, mine)
	}
	return all
}

// countsPauses reports whether a statistic of a driver, by its name, counts pauses that were received: as
// rx_prio3_pause, rx_pause_ctrl_phy, port.rx_priority_3_xoff.
func countsPauses(name string) bool {
	return strings.Contains(name, "rx") && (strings.Contains(name, "pause") || strings.Contains(name, "xoff"))
}

// eaten is why what was seen of the DUT's pauses proves nothing: a NIC counted pauses that nobody saw. "" if
// it does.
func eaten(t *conform.Task, was, is [][]statistic) string {
	for i, q := range t.Profile.Ports {
		for k, s := range is[i] {
			seen := uint64(0)
			if c := t.Sums().Controls; c != nil {
				seen = c[i]
			}
			if k < len(was[i]) && s.value > was[i][k].value && seen == 0 {
				return fmt.Sprintf("the NIC of port %s takes pauses for itself: its %s grew by %d, and the tester saw none; see `ethtool -a %[4]s` and `dcb pfc show dev %[4]s`, and switch that off",
					q.Name, s.name, s.value-was[i][k].value, q.Interface)
			}
		}
	}
	return ""
}
