package fuzz

import (
	"fmt"
	"slices"

	"softswitch/internal/lists"
	"softswitch/node/config"
)

// severalNICs adds hosts with several NICs, and flows from and to them: with one address, at different
// switches, or with one at each NIC. Some of their links fail, some NICs are slow or storm, and some have PFC of
// their own.
func (m *maker) severalNICs() {
	// A route that is a backup alone has to leave another way to each subnet of its end.
	backed := func(s string) bool {
		return slices.ContainsFunc(m.Routes, func(r Route) bool { return r.Backup && (r.To == s || m.home[r.To] == s) })
	}
	homes := lists.Where(m.Switches, func(s string) bool {
		return !backed(s) && (len(m.at[s]) > 0 || slices.ContainsFunc(m.Links, func(l Link) bool { return l.A == s && slices.Contains(m.Hosts, l.B) }))
	})
	if len(homes) < 2 {
		return
	}
	like := m.Links[0]
	others := slices.Clone(m.Hosts)
	for i := range m.between(1, 3) {
		h := fmt.Sprintf("n%d", i)
		m.rng.Shuffle(len(homes), func(i, j int) { homes[i], homes[j] = homes[j], homes[i] })
		nics := m.between(2, min(3, len(homes)))
		if i > 0 && m.one(2) { // at the switches of the host before it
			before := fmt.Sprintf("n%d", i-1)
			var at []string
			for _, l := range m.Links {
				if l.B == before {
					at = append(at, l.A)
				}
			}
			rest := lists.Where(homes, func(s string) bool { return !slices.Contains(at, s) })
			homes, nics = append(at, rest...), len(at)
		}
		for _, s := range homes[:nics] {
			l := like
			l.A, l.B = s, h
			m.Links = append(m.Links, l)
		}
		m.Hosts = append(m.Hosts, h)
		shared := !m.one(3)
		if shared {
			m.Shared = append(m.Shared, h)
		}
		for range m.between(1, 4) {
			far := pick(m, others...)
			if slices.Contains(m.Dead, far) {
				continue
			}
			f := m.flow(h, far)
			if m.one(2) {
				f = m.flow(far, h)
			}
			if m.one(3) {
				nic := m.rng.IntN(nics)
				if f.From == h {
					f.NIC = &nic
				} else if !shared {
					f.ToNIC = &nic
				}
			}
			m.Flows = append(m.Flows, f)
		}
		others = append(others, h)
		for _, s := range homes[:nics] {
			if m.one(4) {
				m.Events = append(m.Events, Event{At: m.ticks(20, 200), Do: "fail", Link: s + "--" + h})
			}
		}
		m.ownPFC(h, homes[:nics])
		if m.one(2) {
			m.badNIC(h, nics)
		}
	}
}

// ownPFC gives some NICs of a host, which lead to these switches, PFC of their own.
func (m *maker) ownPFC(h string, homes []string) {
	for _, s := range homes {
		p := Port{At: h, To: s}
		if m.one(4) {
			p.Lossless = slices.Clone(m.Lossless[1:])
		}
		if m.one(6) {
			p.PFC = pick(m, config.PFCTx, config.PFCRx)
		}
		if p.Lossless != nil || p.PFC != "" {
			m.Ports = append(m.Ports, p)
		}
	}
}

// badNIC makes a NIC of a host, or all of them, slow or storm. A NIC that storms has the PFC of others: it
// pauses every lossless priority.
func (m *maker) badNIC(h string, nics int) {
	bad, first := m.rng.IntN(nics), len(m.Events)
	m.badHost(h)
	all := m.one(3)
	for i := first; i < len(m.Events) && !all; i++ {
		m.Events[i].NIC = &bad
	}
	at := 0
	for _, l := range m.Links {
		if l.B != h {
			continue
		}
		if at == bad {
			m.Ports = slices.DeleteFunc(m.Ports, func(p Port) bool { return p.At == h && p.To == l.A })
		}
		at++
	}
}

// nicKeys are the keys of a flow that name its NICs.
func (f *Flow) nicKeys() string { return nicKey("nic", f.NIC) + nicKey("to_nic", f.ToNIC) }

// nicKey is a further key with a NIC, "" if that is nil.
func nicKey(key string, nic *int) string {
	if nic == nil {
		return ""
	}
	return fmt.Sprintf(", %s: %d", key, *nic)
}
