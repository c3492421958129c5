package fuzz

import (
	"fmt"
	"slices"

	"softswitch/host"
)

// rdma makes most flows reliable connections, some with an end, and adds short ones: what a
// workload does to a fabric, with acknowledgements on the ways back.
func (m *maker) rdma() {
	for i := range m.Flows {
		if !m.one(5) {
			m.connect(&m.Flows[i])
		}
	}
	if m.one(2) {
		return
	}
	for range m.between(4, 40) {
		from, to := pick(m, m.Hosts...), pick(m, m.Hosts...)
		if from == to || slices.Contains(m.Dead, from) {
			continue
		}
		f := m.flow(from, to)
		f.Start = m.ticks(0, 200)
		m.connect(&f)
		f.Size = m.between(1, 40*full)
		m.Flows = append(m.Flows, f)
	}
}

// connect makes a flow a reliable connection.
func (m *maker) connect(f *Flow) {
	f.RC = m.connection()
	if m.one(3) {
		f.Size = m.between(1, 400*full)
	}
}

// connection draws how a connection is used.
func (m *maker) connection() *host.RC {
	return &host.RC{
		Message: pick(m, 1, 1000, 4096, 65536, 1<<20), PathMTU: pick(m, 256, 512, 1024, 1024), Window: pick(m, 1, 2, 4, 16),
		Timeout: new(m.ticks(50, 1000)), Retries: new(pick(m, host.Retries(0), 7, 1000)),
	}
}

// connectionKeys formats the keys of a flow of transport rc in place of frame.
func connectionKeys(r *host.RC) string {
	return fmt.Sprintf("transport: rc, rc: {message: %d, path_mtu: %d, window: %d, timeout: %s, retries: %d}", r.Message, r.PathMTU, r.Window, span(*r.Timeout), *r.Retries)
}

// Congestion is the scenario's key congestion; without Control there is none.
type Congestion struct {
	Control, Profile string
	Kmin, Kmax, Pmax int
	Drain, Mark      int // of phantom queues; Drain 0: none
}

// control draws what switches and connections do about congestion. Thresholds lie below XOFF
// and above it.
func (m *maker) control() {
	if m.one(4) {
		return
	}
	k := Congestion{
		Control: pick(m, "dcqcn", "dcqcn", "dcqcn", "timely"), Profile: pick(m, "paper", "hpcc-sender", "nvidia"),
		Kmin: m.between(0, m.Threshold), Pmax: pick(m, 1, 10, 20, 100),
	}
	k.Kmax = k.Kmin + m.between(1, m.Threshold)
	if m.one(3) {
		k.Drain, k.Mark = m.between(80, 99), m.between(1, 10*full)
	}
	m.Congestion = k
}

// text is the key of a scenario file.
func (k Congestion) text() string {
	if k.Control == "" {
		return ""
	}
	phantom := ""
	if k.Drain > 0 {
		phantom = fmt.Sprintf(", phantom: {drain: %d, mark: %d}", k.Drain, k.Mark)
	}
	return fmt.Sprintf("congestion: {control: %s, profile: %s, cnp_priority: 1, ecn: {kmin: %d, kmax: %d, pmax: %d}%s}\n", k.Control, k.Profile, k.Kmin, k.Kmax, k.Pmax, phantom)
}
