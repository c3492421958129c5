package show

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/node/client"
	"softswitch/node/observe"
)

// portChannel is a LAG and what its members carried.
type portChannel struct {
	Name     string   `json:"name"`
	Protocol string   `json:"protocol"`
	Up       bool     `json:"up"`
	Members  []member `json:"members"`
}

// member is a port of a LAG. One that is not selected carries nothing: its link is down.
type member struct {
	Port     string `json:"port"`
	Selected bool   `json:"selected"`
	RxOK     uint64 `json:"rx_ok"`
	RxBytes  uint64 `json:"rx_bytes"`
	TxOK     uint64 `json:"tx_ok"`
	TxBytes  uint64 `json:"tx_bytes"`
	// Paused are the priorities in which the far end of this link pauses the port now.
	Paused []int `json:"paused"`
}

// portChannels are the LAGs of a switch, with what was counted since its interfaces were cleared.
func portChannels(c observe.Counters) []portChannel {
	all := []portChannel{}
	for i := range c.Switch.Ports {
		p := &c.Switch.Ports[i]
		if p.PortChannel == "" {
			continue
		}
		n := countInterface(&c.Switch, p)
		if c.Cleared != nil {
			old := countInterface(&c.Cleared.Switch, &c.Cleared.Switch.Ports[i])
			n.less(&old)
		}
		m := member{Port: p.Name, Selected: p.Up, RxOK: n.RxOK, RxBytes: n.RxBytes, TxOK: n.TxOK, TxBytes: n.TxBytes, Paused: []int{}}
		for priority, paused := range p.Paused {
			if paused {
				m.Paused = append(m.Paused, priority)
			}
		}
		at := slices.IndexFunc(all, func(l portChannel) bool { return l.Name == p.PortChannel })
		if at < 0 {
			at = len(all)
			all = append(all, portChannel{Name: p.PortChannel, Protocol: "static"})
		}
		all[at].Up = all[at].Up || p.Up
		all[at].Members = append(all[at].Members, m)
	}
	return all
}

// share is a part of all in per cent, "-" of none.
func share(part, all uint64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(all))
}

// PortChannels shows the LAGs of switches, which of their members are up, and what each carried.
func PortChannels() View[[]portChannel] {
	return View[[]portChannel]{
		Merge: true, Empty: "no PortChannel",
		Fetch: func(e control.Endpoint) ([]portChannel, error) {
			c, err := client.Counters(e, client.ClearInterfaces)
			return portChannels(c), err
		},
		Tables: one(table{header: []string{"Team Dev", "Protocol", "Port", "RX_OK", "RX_BYTES", "RX share", "TX_OK", "TX_BYTES", "TX share", "Paused"}, left: 3},
			func(t *table, all []portChannel) {
				for _, l := range all {
					rx := lists.Sum(l.Members, func(m member) uint64 { return m.RxBytes })
					tx := lists.Sum(l.Members, func(m member) uint64 { return m.TxBytes })
					for _, m := range l.Members {
						paused := strings.Trim(fmt.Sprint(m.Paused), "[]")
						if paused == "" {
							paused = "-"
						}
						t.add(l.Name, l.Protocol+map[bool]string{true: "(Up)", false: "(Dw)"}[l.Up], m.Port+map[bool]string{true: "(S)", false: "(D)"}[m.Selected],
							Thousands(m.RxOK), Thousands(m.RxBytes), share(m.RxBytes, rx), Thousands(m.TxOK), Thousands(m.TxBytes), share(m.TxBytes, tx), paused)
					}
				}
			}),
	}
}
