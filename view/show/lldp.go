package show

import (
	"cmp"
	"fmt"
	"strings"

	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/link/lldp"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// lldpPort is a port that speaks LLDP.
type lldpPort struct {
	Port string `json:"port"`
	observe.LLDP
}

// fetchLLDP asks a switch for its ports that speak LLDP.
func fetchLLDP(e control.Endpoint) ([]lldpPort, error) {
	s, err := client.Stats[observe.Switch](e)
	all := []lldpPort{}
	for _, p := range s.Ports {
		if p.LLDP != nil {
			all = append(all, lldpPort{p.Name, *p.LLDP})
		}
	}
	return all, err
}

// noLLDP is what is shown if no port speaks it.
const noLLDP = "no port has heard of a neighbor by LLDP"

// LLDPNeighbours shows who is at the far ends of links, as LLDP tells.
func LLDPNeighbours() View[[]lldpPort] {
	return View[[]lldpPort]{
		Merge: true, Empty: noLLDP, Fetch: fetchLLDP,
		Tables: one(table{header: []string{"LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"}, left: 5},
			func(t *table, all []lldpPort) {
				for _, p := range all {
					for _, n := range p.Neighbours {
						t.add(p.Port, cmp.Or(n.System, n.ChassisID), n.PortID, cmp.Or(n.Capabilities, "-"), cmp.Or(n.Description, "-"))
					}
				}
			}),
		Note: func(answers [][]lldpPort) string {
			n := 0
			for _, all := range answers {
				for _, p := range all {
					n += len(p.Neighbours)
				}
			}
			if n == 0 {
				return ""
			}
			return fmt.Sprintf("Capability codes: (B) Bridge, (R) Router, (S) Station, (O) Other\nTotal entries displayed: %d", n)
		},
	}
}

// LLDPDCBX shows what the two ends of links say of their priorities.
func LLDPDCBX() View[[]lldpPort] {
	return View[[]lldpPort]{
		Merge: true, Empty: noLLDP, Fetch: fetchLLDP,
		Tables: one(table{header: []string{"LocalPort", "RemoteDevice", "Lossless", "Remote", "Willing", "ETS", "Remote", "State"}, left: 8},
			func(t *table, all []lldpPort) {
				for _, p := range all {
					for _, n := range p.Neighbours {
						remote, willing := "-", "-"
						if r := n.DCBX.PFC; r != nil {
							remote, willing = listed(r.Lossless), map[bool]string{true: "yes", false: "no"}[r.Willing]
						}
						own := "-"
						if p.Own.PFC != nil {
							own = listed(p.Own.PFC.Lossless)
						}
						t.add(p.Port, cmp.Or(n.System, n.ChassisID), own, remote, willing, shares(p.Own.ETS), shares(n.DCBX.ETS), p.state(&n))
					}
				}
			}),
	}
}

// state says whether a neighbour says what the port says.
func (p *lldpPort) state(n *observe.Neighbour) string {
	lasting := lists.Where(p.Mismatches, func(m observe.Mismatch) bool { return m.Lasts })
	switch {
	case len(p.Neighbours) > 1:
		return "several neighbors"
	case len(lasting) > 0:
		return "MISMATCH: " + strings.Join(lists.Map(lasting, func(m observe.Mismatch) string { return strings.ToUpper(m.Feature) }), ", ")
	case n.Discarded > 0:
		return unit.Count(n.Discarded, "wrong TLV") + " discarded"
	case n.DCBX.PFC == nil && n.DCBX.ETS == nil:
		return "no DCBX"
	}
	return "ok"
}

// listed is priorities for people, "none" for none.
func listed(all []int) string {
	return cmp.Or(strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ","), "[]"), "none")
}

// shares are the priorities that have a share of the link, with their traffic classes' bandwidth: "0:50%
// 1:50%".
func shares(e *observe.ETS) string {
	if e == nil {
		return "-"
	}
	var all []string
	for p, c := range e.Class {
		if e.TSA[c] == lldp.Enhanced {
			all = append(all, fmt.Sprintf("%d:%d%%", p, e.Share[c]))
		}
	}
	return cmp.Or(strings.Join(all, " "), "strict")
}
