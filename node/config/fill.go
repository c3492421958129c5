package config

import (
	"cmp"
	"slices"

	"softswitch/host"
	"softswitch/internal/schema"
	"softswitch/unit"
)

// Defaults that are asked for by name; the others are in the schema tags of their fields alone.
const (
	DefaultQuanta   = 65535
	DefaultRefresh  = 10 * unit.Millisecond // at most
	DefaultPool     = 2 << 20
	DefaultStaticTh = 36864
	DefaultXOFF     = 30720
	DefaultRxBuffer = 131072
	DefaultFrame    = 1000
	DefaultMTU      = 1500
)

// Fill sets every unset field to its default. It is idempotent.
func (s *Switch) Fill() {
	schema.Fill(s)
	s.HashSeed = cmp.Or(s.HashSeed, uint32(s.ID))
	s.PFC.Fill(s.Ports)
	if s.Watchdog != nil {
		s.Watchdog.Fill()
	}
	if s.TTLBand > 0 {
		s.Sched = s.Sched.bands(s.PFC.Lossless)
	}
	if s.ECN != nil && s.ECN.Priorities == nil {
		s.ECN.Priorities = slices.Clone(s.PFC.Lossless)
	}
}

// Fill sets every unset field to its default. It is idempotent.
func (h *Host) Fill() {
	schema.Fill(h)
	if len(h.NICs) > 0 {
		h.Port = Port{} // whose defaults would be written to the file
	}
	h.PFC.Fill(h.Ports())
}

// Fill sets every unset field to its default, for nodes with these ports.
func (p *PFC) Fill(ports []Port) {
	schema.Fill(p)
	if p.Refresh == nil {
		refresh := min(DefaultRefresh, shortestPause(p.Quanta, ports)/3)
		p.Refresh = &refresh
	}
}

// shortestPause is how long q quanta last at the fastest of the ports: 335.5 ms for
// 65535 at 100 Mbit/s, 3.36 ms at an unlimited port.
func shortestPause(q int, ports []Port) unit.Time {
	shortest := unit.Never
	for _, p := range ports {
		shortest = min(shortest, p.Rate.QuantaTime(uint16(q)))
	}
	return shortest
}

// Fill sets every unset field to its default.
func (b *Buffer) Fill() {
	static := b.StaticTh
	schema.Fill(b)
	if b.DynamicTh != nil {
		b.StaticTh = static
	}
}

// Fill sets every unset field to its default.
func (f *Flow) Fill() {
	if f.Transport == "rc" && f.RC == nil {
		f.RC = &host.RC{}
	}
	schema.Fill(f)
}
