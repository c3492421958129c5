package show

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

func speed(bps int64) string {
	if bps == 0 {
		return "unlimited"
	}
	return unit.Rate(bps).String()
}

// interfaceCount are the counters of an interface.
type interfaceCount struct {
	Port    string            `json:"port"`
	Up      bool              `json:"up"`
	RxOK    uint64            `json:"rx_ok"`
	RxBytes uint64            `json:"rx_bytes"`
	RxDrop  uint64            `json:"rx_drop"`
	RxOver  uint64            `json:"rx_overrun"` // the kernel's receive ring was full
	TxOK    uint64            `json:"tx_ok"`
	TxBytes uint64            `json:"tx_bytes"`
	TxDrop  uint64            `json:"tx_drop"`
	Reasons map[string]uint64 `json:"rx_drop_reasons"`
	Odd     map[string]uint64 `json:"rx_odd"` // of frames that were forwarded
}

func countInterface(_ *observe.Switch, p *observe.Port) interfaceCount {
	total := func(ns [unit.Priorities]uint64) uint64 { return lists.Sum(ns[:], func(n uint64) uint64 { return n }) }
	out := interfaceCount{
		Port: p.Name, Up: p.Up, RxOK: total(p.RxFrames), RxBytes: total(p.RxBytes), RxOver: p.Link.Drops,
		TxOK: total(p.TxFrames), TxBytes: total(p.TxBytes), TxDrop: total(p.TxDropped) + p.Link.Lost, Reasons: map[string]uint64{}, Odd: map[string]uint64{},
	}
	for reason, n := range p.Drops {
		out.RxDrop += n
		out.Reasons[reason] = n
	}
	maps.Copy(out.Odd, p.Odd)
	if p.Link.Offloaded > 0 {
		out.Odd["offloaded"] = p.Link.Offloaded
	}
	return out
}

func (c *interfaceCount) less(old *interfaceCount) {
	for _, f := range []struct {
		n   *uint64
		old uint64
	}{
		{&c.RxOK, old.RxOK},
		{&c.RxBytes, old.RxBytes},
		{&c.RxDrop, old.RxDrop},
		{&c.RxOver, old.RxOver},
		{&c.TxOK, old.TxOK},
		{&c.TxBytes, old.TxBytes},
		{&c.TxDrop, old.TxDrop},
	} {
		*f.n -= f.old
	}
	lessReasons(c.Reasons, old.Reasons)
	lessReasons(c.Odd, old.Odd)
}

func lessReasons(now, old map[string]uint64) {
	for reason, n := range old {
		if now[reason] -= n; now[reason] == 0 {
			delete(now, reason)
		}
	}
}

// reasons formats how often each reason was counted, in the order of their names.
func reasons(counts map[string]uint64) string {
	texts := lists.Map(slices.Sorted(maps.Keys(counts)), func(reason string) string { return reason + " " + Thousands(counts[reason]) })
	return strings.Join(texts, ", ")
}

// fetchTable returns a Fetch of one of the forwarding tables.
func fetchTable[T any](of func(observe.Tables) T) func(control.Endpoint) (T, error) {
	return func(e control.Endpoint) (T, error) {
		t, err := client.Tables(e)
		return of(t), err
	}
}

// addRoute adds a line for each port of a route.
func addRoute(t *table, r observe.Route) {
	kind, how := "S", "via "
	if r.Connected {
		kind, how = "C", "is directly connected, "
	}
	for i, p := range append(slices.Clone(r.Ports), r.Backup...) {
		code, prefix := " ", ""
		if i == 0 {
			code, prefix = kind, r.Prefix
		}
		if i >= len(r.Ports) {
			code += "b"
		}
		if slices.Contains(r.Active, p) {
			code += "*"
		}
		t.add(code, prefix, how+p)
	}
}

// InterfaceStatus shows speed, state and far end of each interface.
func InterfaceStatus() View[observe.Setup] {
	return View[observe.Setup]{
		Fetch: client.Setup,
		Tables: one(table{header: []string{"Interface", "Speed", "MTU", "Oper", "MAC", "Far end"}}, func(t *table, v observe.Setup) {
			for _, p := range v.Ports {
				t.add(p.Name, speed(p.Rate), strconv.Itoa(p.MTU), map[bool]string{true: "up", false: "down"}[p.Up], p.MAC, p.Peer)
			}
		}),
	}
}

// InterfaceCounters shows frames and bytes of each interface, and why frames were
// dropped.
func InterfaceCounters() View[since[interfaceCount]] {
	return View[since[interfaceCount]]{
		Fetch: fetchSince(client.ClearInterfaces, countInterface, (*interfaceCount).less),
		Tables: one(table{header: []string{"IFACE", "STATE", "RX_OK", "RX_BYTES", "RX_DRP", "RX_OVR", "TX_OK", "TX_BYTES", "TX_DRP", "RX_DRP reasons", "RX_ODD"}},
			func(t *table, c since[interfaceCount]) {
				t.title = lastCached(c.Cleared)
				for _, p := range c.Ports {
					t.add(p.Port, map[bool]string{true: "U", false: "D"}[p.Up], Thousands(p.RxOK), Thousands(p.RxBytes), Thousands(p.RxDrop), Thousands(p.RxOver),
						Thousands(p.TxOK), Thousands(p.TxBytes), Thousands(p.TxDrop), reasons(p.Reasons), reasons(p.Odd))
				}
			}),
	}
}

// Routes shows the routes, which of their ports are in use, and their backups.
func Routes() View[[]observe.Route] {
	return View[[]observe.Route]{
		Fetch: fetchTable(func(t observe.Tables) []observe.Route { return t.Routes }),
		Tables: one(table{
			title:  "Codes: C - connected, S - static, * - in use, b - backup",
			header: []string{"Code", "Prefix", "Via"}, left: 3,
		}, func(t *table, routes []observe.Route) {
			for _, r := range routes {
				addRoute(t, r)
			}
		}),
	}
}

// Stations shows the known MAC addresses and their ports.
func Stations() View[[]observe.MACEntry] {
	return View[[]observe.MACEntry]{
		Fetch: fetchTable(func(t observe.Tables) []observe.MACEntry { return t.MAC }),
		Tables: one(table{header: []string{"No.", "MacAddress", "Port", "Type"}}, func(t *table, entries []observe.MACEntry) {
			for i, e := range entries {
				t.add(strconv.Itoa(i+1), strings.ToUpper(e.MAC), e.Port, e.Type)
			}
		}),
	}
}

// authentication is a port that authenticates its far end.
type authentication struct {
	Port string `json:"port"`
	observe.Auth
	Refused map[string]uint64 `json:"refused"`
}

// Authentication shows the ports that authenticate their far ends.
func Authentication() View[[]authentication] {
	return View[[]authentication]{
		Merge: true, Empty: "no link is authenticated",
		Fetch: func(e control.Endpoint) ([]authentication, error) {
			s, err := client.Stats[observe.Switch](e)
			all := []authentication{}
			for _, p := range s.Ports {
				if p.Auth != nil {
					all = append(all, authentication{p.Name, *p.Auth, p.RefusedBy()})
				}
			}
			return all, err
		},
		Tables: one(table{header: []string{"Port", "Link", "Mode", "Far end", "Refused", "Reasons"}},
			func(t *table, all []authentication) {
				for _, a := range all {
					far := "no answer"
					if a.Agreed {
						far = "agreed"
					}
					n := uint64(0)
					for _, k := range a.Refused {
						n += k
					}
					t.add(a.Port, a.Link, a.Mode, far, Thousands(n), reasons(a.Refused))
				}
			}),
	}
}

// Neighbours shows the IP neighbours and their MAC addresses.
func Neighbours() View[[]observe.ARPEntry] {
	return View[[]observe.ARPEntry]{
		Fetch: fetchTable(func(t observe.Tables) []observe.ARPEntry { return t.ARP }),
		Tables: one(table{header: []string{"Address", "MacAddress", "Iface", "Type"}, left: 4},
			func(t *table, entries []observe.ARPEntry) {
				for _, e := range entries {
					t.add(e.IP, e.MAC, cmp.Or(e.Port, "-"), e.Type)
				}
			}),
	}
}
