package config

import (
	"cmp"

	"softswitch/host/congestion"
	"softswitch/unit"
)

// Defaults.
const (
	DefaultQuanta     = 65535
	DefaultRefresh    = 10 * unit.Millisecond // at most
	DefaultPool       = 2 << 20
	DefaultSize       = 4096
	DefaultStaticTh   = 36864
	DefaultXONOffset  = 4096
	DefaultXOFF       = 30720
	DefaultLossyQueue = 262144
	DefaultRxBuffer   = 131072
	DefaultCNPClass   = 6
	DefaultMessage    = 65536
	DefaultPathMTU    = 1024
	DefaultWindow     = 4
	DefaultTimeout    = "67ms"
	DefaultRetries    = 7
	DefaultFrame      = 1000
	DefaultMTU        = 1500
	DefaultTTL        = 64

	DefaultStormBudget = "500ms"
)

// Fill sets every unset field to its default. It is idempotent.
func (s *Switch) Fill() {
	s.Trust = cmp.Or(s.Trust, "dscp")
	s.HashSeed = cmp.Or(s.HashSeed, uint32(s.ID))
	s.Detector = cmp.Or(s.Detector, "none")
	s.Response = cmp.Or(s.Response, "none")
	s.MTU = cmp.Or(s.MTU, DefaultMTU)
	for i := range s.Ports {
		s.Ports[i].fill()
	}
	s.PFC.Fill(s.Ports)
	s.Buffer.Fill()
	if s.ECN != nil {
		s.ECN.fill(s.PFC.Lossless)
	}
}

// Fill sets every unset field to its default. It is idempotent.
func (h *Host) Fill() {
	h.Port.fill()
	h.PFC.Fill([]Port{h.Port})
	h.MTU = cmp.Or(h.MTU, DefaultMTU)
	h.RxBuffer = cmp.Or(h.RxBuffer, DefaultRxBuffer)
	for i := range h.Flows {
		h.Flows[i].fill()
	}
	if k := h.Congestion; k != nil {
		k.Profile = congestion.Renamed(cmp.Or(k.Profile, "paper"))
		k.TimesSlower = cmp.Or(k.TimesSlower, 1)
		fillInt(&k.CNPClass, DefaultCNPClass)
	}
	for i := range h.Peers {
		h.Peers[i].TTL = cmp.Or(h.Peers[i].TTL, DefaultTTL)
	}
	for i := range h.Acts {
		h.Acts[i].At = cmp.Or(h.Acts[i].At, "0s")
	}
}

func (p *Port) fill() {
	p.Peer = cmp.Or(p.Peer, "switch")
	p.Rate = cmp.Or(p.Rate, "0")
}

// Fill sets every unset field to its default, for nodes with these ports.
func (p *PFC) Fill(ports []Port) {
	if p.Lossless == nil {
		p.Lossless = []int{3, 4}
	}
	p.Quanta = cmp.Or(p.Quanta, DefaultQuanta)
	p.StormBudget = cmp.Or(p.StormBudget, DefaultStormBudget)
	p.Pause = cmp.Or(p.Pause, "ignore")
	if p.Refresh == "" {
		p.Refresh = FormatTime(min(DefaultRefresh, shortestPause(p.Quanta, ports)/3))
	}
}

// shortestPause is how long q quanta last at the fastest of the ports: 335.5 ms for
// 65535 at 100 Mbit/s, 3.36 ms at an unlimited port. Ports with an invalid rate do not
// count.
func shortestPause(q int, ports []Port) unit.Time {
	shortest := unit.Never
	for _, p := range ports {
		if r, err := ParseRate(p.Rate); err == nil {
			shortest = min(shortest, r.QuantaTime(uint16(q)))
		}
	}
	return shortest
}

// Fill sets every unset field to its default.
func (b *Buffer) Fill() {
	b.Pool = cmp.Or(b.Pool, DefaultPool)
	b.Size = cmp.Or(b.Size, DefaultSize)
	if b.StaticTh == nil && b.DynamicTh == nil {
		b.StaticTh = new(int)
		*b.StaticTh = DefaultStaticTh
	}
	fillInt(&b.XON, 0)
	fillInt(&b.XONOffset, DefaultXONOffset)
	fillInt(&b.XOFF, DefaultXOFF)
	fillInt(&b.LossyQueue, DefaultLossyQueue)
	if b.HeadroomPool != nil {
		fillInt(&b.HeadroomPool.Port, DefaultPortHeadroom)
	}
}

func fillInt(p **int, n int) {
	if *p == nil {
		*p = &n
	}
}

func (f *Flow) fill() {
	f.Frame = cmp.Or(f.Frame, DefaultFrame)
	f.TTL = cmp.Or(f.TTL, DefaultTTL)
	f.Rate = cmp.Or(f.Rate, "line")
	f.Start = cmp.Or(f.Start, "0s")
	f.Stop = cmp.Or(f.Stop, "0s")
	if f.Transport == "rc" {
		if f.RC == nil {
			f.RC = &RC{}
		}
		f.RC.Fill()
	}
}

// Fill fills in what is missing.
func (r *RC) Fill() {
	r.Message = cmp.Or(r.Message, DefaultMessage)
	r.PathMTU = cmp.Or(r.PathMTU, DefaultPathMTU)
	r.Window = cmp.Or(r.Window, DefaultWindow)
	r.Timeout = cmp.Or(r.Timeout, DefaultTimeout)
	fillInt(&r.Retries, DefaultRetries)
}
