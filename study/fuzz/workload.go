package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/host"
	"softswitch/scenario/workload"
	"softswitch/unit"
)

// Workload is one of the scenario's key workload. A key that is 0 is not written.
type Workload struct {
	Pattern     workload.Pattern
	Hosts       []string
	Size        int    // bytes of each message, or else CDF
	CDF         string // points of a distribution
	Load        int    // per cent
	On, Off     unit.Time
	FanIn       int
	Period      unit.Time
	Chunks      int
	Priority    int
	RC          *host.RC // nil for UDP
	Start, Stop unit.Time
	Seed        uint32
}

// workload draws one or two workloads, each over some of the hosts or over all that can send.
func (m *maker) workload() {
	if !m.one(3) {
		return
	}
	for range m.between(1, 2) {
		if hosts := m.workers(); len(hosts) > 1 {
			m.Workloads = append(m.Workloads, m.work(hosts))
		}
	}
}

// workers draws hosts in an order, of those that send.
func (m *maker) workers() []string {
	hosts := slices.DeleteFunc(slices.Clone(m.Hosts), func(h string) bool { return slices.Contains(m.Dead, h) })
	m.rng.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	if len(hosts) > 2 && !m.one(2) {
		hosts = hosts[:m.between(2, len(hosts))]
	}
	return hosts
}

// work draws a workload over hosts.
func (m *maker) work(hosts []string) Workload {
	w := Workload{
		Pattern: pick(m, workload.Random, workload.Permutation, workload.Incast, workload.AllToAll, workload.Ring, workload.Tree),
		Hosts:   hosts, Priority: m.priority(), Start: m.ticks(0, 100), Seed: m.rng.Uint32(),
	}
	w.Stop = min(w.Start+m.ticks(50, 400), m.end)
	if !m.one(5) {
		w.RC = m.connection()
	}
	switch w.Pattern {
	case workload.Random, workload.Permutation:
		w.Load = m.between(5, 100)
		if m.one(3) {
			w.On, w.Off = m.ticks(10, 80), m.ticks(10, 80)
		}
	case workload.Incast:
		w.FanIn, w.Period = m.between(1, len(hosts)-1), m.ticks(10, 200)
	case workload.AllToAll:
		w.Period = m.ticks(50, 200)
	case workload.Ring, workload.Tree:
		w.Size, w.Chunks, w.Period = m.between(1, 100*full), m.between(1, 8), m.ticks(50, 400)
		return w
	}
	if least := m.between(1000, 4*full); m.one(2) {
		w.Size = least
	} else {
		w.CDF = fmt.Sprintf("%d %d\n%d 100", least, m.between(0, 99), least+m.between(1, 100*full))
	}
	return w
}

// text is the workload as an element of the scenario's key workload, called name.
func (w Workload) text(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - {name: %s, pattern: %s, hosts: %s, priority: %d, start: %s, stop: %s, seed: %d", name, w.Pattern, list(w.Hosts), w.Priority, span(w.Start), span(w.Stop), w.Seed)
	if w.CDF != "" {
		fmt.Fprintf(&b, ", cdf: %q", w.CDF)
	}
	b.WriteString(number("size", w.Size) + number("fan_in", w.FanIn) + number("chunks", w.Chunks))
	if w.Load > 0 {
		fmt.Fprintf(&b, ", load: %g", float64(w.Load)/100)
	}
	b.WriteString(lasting("on", w.On) + lasting("off", w.Off) + lasting("period", w.Period))
	if w.RC != nil {
		b.WriteString(", " + connectionKeys(w.RC))
	}
	b.WriteString("}\n")
	return b.String()
}

// dropWorkers takes hosts out of the workloads, and with them the workloads that they leave
// too few hosts.
func (c *Case) dropWorkers(is func(host string) bool) {
	var left []Workload
	for _, w := range c.Workloads {
		w.Hosts = slices.DeleteFunc(slices.Clone(w.Hosts), is)
		w.FanIn = min(w.FanIn, len(w.Hosts)-1)
		if len(w.Hosts) > 1 {
			left = append(left, w)
		}
	}
	c.Workloads = left
}
