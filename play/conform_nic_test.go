package play

import (
	"strings"
	"testing"

	"softswitch/conform"
)

// A NIC whose counter of pauses grows, while the tester sees none, takes them for itself.
func TestEatenPauses(t *testing.T) {
	for _, name := range []string{"rx_prio3_pause", "rx_pause_ctrl_phy", "port.rx_priority_3_xoff", "rx_pb_3_pxoff"} {
		if !countsPauses(name) {
			t.Errorf("%s is not taken for a counter of pauses", name)
		}
	}
	if countsPauses("tx_prio3_pause") || countsPauses("rx_packets") {
		t.Error("what counts no received pauses is taken for it")
	}
	task := &conform.Task{Profile: ConformSelf()}
	was := [][]statistic{nil, {{"rx_prio3_pause", 5}}, nil}
	if why := eaten(task, was, was); why != "" {
		t.Error(why)
	}
	why := eaten(task, was, [][]statistic{nil, {{"rx_prio3_pause", 12}}, nil})
	if !strings.Contains(why, "the NIC of port b takes pauses for itself: its rx_prio3_pause grew by 7") || !strings.Contains(why, "`dcb pfc show dev to-b`") {
		t.Error(why)
	}
}
