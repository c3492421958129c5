package fuzz

import (
	"fmt"
	"slices"

	"softswitch/internal/lists"
)

// severalNICs adds hosts with several NICs, and flows from and to them: with one address, at different
// switches, or with one at each NIC. Some of their links fail.
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
	}
}

// nicKeys are the keys of a flow that name its NICs.
func (f *Flow) nicKeys() (s string) {
	if f.NIC != nil {
		s += fmt.Sprintf(", nic: %d", *f.NIC)
	}
	if f.ToNIC != nil {
		s += fmt.Sprintf(", to_nic: %d", *f.ToNIC)
	}
	return s
}
