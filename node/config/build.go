package config

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/host"
	"softswitch/host/congestion"
	"softswitch/host/nic"
	"softswitch/internal/ether"
	"softswitch/internal/lists"
	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/unit"
)

// Build turns a checked configuration into the machine's; batch and granularity are the
// driver's, and so are the keys of links that are authenticated. It panics on a value that
// Check rejects.
func (s Switch) Build(detector detect.Factory, batch int, granularity unit.Time) dataplane.Config {
	c := dataplane.Defaults()
	c.ID, c.Name, c.HashSeed = unit.NodeID(s.ID), s.Name, s.HashSeed
	c.TrustPCP = s.Trust == "pcp"
	c.Batch, c.Granularity, c.Detector = batch, granularity, detector
	c.MaxFrame, c.SlotBytes = MaxFrame(s.MTU), slotBytes(s.MTU)
	for dscp := range 64 {
		if priority, ok := s.DSCPMap[dscp]; ok {
			c.DSCP[dscp] = unit.Priority(priority)
		}
	}
	for i := range s.Ports {
		p := &s.Ports[i]
		port := dataplane.PortConfig{
			Name: p.Name, MAC: p.MAC, PeerMAC: p.PeerMAC, FacesHost: p.Peer == "host", Rate: p.Rate,
			HeedPause: s.PFC.heeds(*p), PFCTxOff: p.PFC == PFCRx, PFCRxOff: p.PFC == PFCTx, PFCRxAll: p.PFC == PFCAsymmetric, Classes: p.classes(c.Classes),
			Scheduler: p.Sched.Over(s.Sched).build(), HeedBytes: s.heedBytes(i),
			GFC: s.gfc(i),
		}
		if p.Auth != auth.Off {
			port.Auth = &auth.Config{Mode: p.Auth, Link: p.Link}
		}
		c.Ports = append(c.Ports, port)
	}
	c.Quanta, c.Refresh = uint16(s.PFC.Quanta), *s.PFC.Refresh
	c.StormBudget, c.Delay = *s.PFC.StormBudget, s.Delay
	c.Buffer = s.BuildBuffer()
	s.buildPrevention(&c)
	s.buildECN(&c)
	c.LLDP = s.buildLLDP()
	for _, n := range s.Subnets {
		c.Subnets = append(c.Subnets, dataplane.Subnet{Prefix: n.Prefix.Prefix, Gateway: n.Gateway.Netip(), Ports: portSet(n.Ports), Flood: portSet(n.Flood), Backup: portSet(n.Backup), GatewayMAC: n.GatewayMAC})
	}
	for _, r := range s.Routes {
		c.Routes = append(c.Routes, dataplane.Route{Prefix: r.Prefix.Prefix, Ports: portSet(r.Ports), Backup: portSet(r.Backup)})
	}
	c.LAGs = lists.Map(s.LAGs, LAG.build)
	if s.RouterID != 0 {
		c.RouterID = s.RouterID.Netip()
	}
	c.ARP = lists.Map(s.ARP, func(a ARP) dataplane.Neighbour { return dataplane.Neighbour{IP: a.IP.Netip(), MAC: a.MAC} })
	c.MAC = lists.Map(s.MAC, func(m MAC) dataplane.Station { return dataplane.Station{MAC: m.MAC, Port: unit.Port(m.Port)} })
	return c
}

// heedBytes is how many bytes the far end of a port may deliver after a pause if it obeys; 0 where nobody
// can say that it does not: a switch sends paused frames on purpose if it breaks a deadlock.
func (s *Switch) heedBytes(port int) int {
	p := s.Ports[port]
	acts := cmp.Or(s.Detector, "none") != "none" || cmp.Or(s.Response, "none") != "none"
	if p.Peer != "host" && acts {
		return 0
	}
	n := max(s.XOFFOf(port), s.PFC.NeedsHeadroom(p.Rate, max(s.DelayOf(p), s.Delay), s.MTU, s.Buffer.Cell))
	if s.Buffer.Slack != nil {
		n += *s.Buffer.Slack
	}
	return n
}

// heeds reports whether port p honours 802.3x PAUSE.
func (f PFC) heeds(p Port) bool { return cmp.Or(p.Pause, f.Pause) == "heed" }

// BuildBuffer is the part of Build that is about the buffer.
func (s Switch) BuildBuffer() buffer.Config {
	c := buffer.Config{Ports: len(s.Ports), Shared: s.Buffer.Pool, LossyQueue: *s.Buffer.LossyQueue, Thresholds: s.thresholds(), Headroom: s.headrooms(), HeadroomPool: s.BuildHeadroomPool(), Cell: s.Buffer.Cell}
	s.buildLossless(&c)
	p := &c.Profile
	p.Size, p.XON, p.XONOffset, p.XOFF = s.Buffer.Size, *s.Buffer.XON, *s.Buffer.XONOffset, *s.Buffer.XOFF
	if s.Buffer.Slack != nil {
		p.Slack = *s.Buffer.Slack
	}
	if s.Buffer.DynamicTh != nil {
		p.Dynamic, p.DynamicTh = true, *s.Buffer.DynamicTh
	} else {
		p.StaticTh = *s.Buffer.StaticTh
	}
	return c
}

// FlowID is how switches tell the flow f of a checked h from others.
func (h Host) FlowID(f Flow) detect.FlowID {
	return LimitFlow{h.Of(f.NIC), f.To, f.SrcPort}.ID()
}

// Build turns a checked configuration into the machine's, as Switch.Build does.
func (h Host) Build(batch int, granularity unit.Time) host.Config {
	c := host.Config{
		ID: unit.NodeID(h.ID), Name: h.Name, Quanta: uint16(h.PFC.Quanta), Refresh: *h.PFC.Refresh,
		RxBuffer: h.RxBuffer, RxSlack: h.RxSlack, Granularity: granularity, Batch: batch,
		MaxFrame: MaxFrame(h.MTU), SlotBytes: slotBytes(h.MTU), Bin: h.Bin, LLDP: h.buildLLDP(),
	}
	nics := lists.Map(h.All(), h.buildNIC)
	c.NIC, c.More = nics[0], nics[1:]
	for _, f := range h.Flows {
		c.Flows = append(c.Flows, host.Flow{
			Number: f.Number, Name: f.Name, To: f.To.Netip(), SrcPort: f.SrcPort, Priority: unit.Priority(f.Priority), NIC: h.nicOf(f.NIC), Stream: f.Stream,
		})
	}
	if h.Congestion != nil {
		c.Congestion = h.Congestion.build(c.Rate)
	}
	for _, p := range h.Peers {
		peer := host.Peer{Number: p.Number, From: p.From.Netip(), SrcPort: p.SrcPort, Priority: unit.Priority(p.Priority), TTL: uint8(p.TTL), NIC: h.nicOf(p.NIC)}
		if p.RC != nil {
			peer.RC = *p.RC
		}
		c.Peers = append(c.Peers, peer)
	}
	c.Acts = lists.Map(h.Acts, Act.Build)
	slices.SortStableFunc(c.Acts, func(a, b host.Act) int { return int(a.At - b.At) })
	return c
}

// build is what senders at a link of this rate do.
func (k *Congestion) build(line unit.Rate) *host.Congestion {
	c, n := &host.Congestion{CNPPriority: unit.Priority(*k.CNPPriority)}, k.TimesSlower
	if k.Control == "timely" {
		p := must(congestion.DefaultTimely(line * unit.Rate(n))).Slow(n)
		c.Timely = &p
		return c
	}
	p := must(congestion.Profile(string(k.Profile), line*unit.Rate(n))).Slow(n)
	c.DCQCN = &p
	return c
}

// BuildNIC turns the checked configuration of a host with a Stack into that of its NIC,
// as Switch.Build does.
func (h Host) BuildNIC(batch int, granularity unit.Time) nic.Config {
	return nic.Config{
		ID: unit.NodeID(h.ID), Name: h.Name, NIC: h.buildNIC(h.All()[0]), Quanta: uint16(h.PFC.Quanta), Refresh: *h.PFC.Refresh,
		RxBuffer: h.RxBuffer, RxSlack: h.RxSlack, MaxFrame: MaxFrame(h.MTU), Granularity: granularity, Batch: batch,
		LLDP: h.buildLLDP(),
	}
}

// slotBytes is the size of a slot for the frames of an MTU.
func slotBytes(mtu int) int { return buffer.SlotBytes(MaxFrame(mtu) + ether.VLANLen) }

// Check checks an Act of h that comes from no file; name stands for the file in the error.
func (a *Act) Check(name string, h *Host) error {
	d := strictyaml.NewDoc(name)
	schema.CheckAt(d, "acts[0]", a)
	checkActs(d, h, []Act{*a})
	return d.Err()
}

// Build turns a checked Act into the machine's.
func (a Act) Build() host.Act {
	act := host.Act{At: a.At, NIC: unit.NoPort, Priority: unit.Priority(a.Priority)}
	if a.NIC != nil {
		act.NIC = unit.Port(*a.NIC)
	}
	switch a.Do {
	case "slow":
		act.Do, act.Rate = host.Slow, a.Rate
	case "storm":
		act.Do = host.Storm
	}
	return act
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("config: built from a configuration that was not checked: %v", err))
	}
	return v
}

func prioritySet(priorities []int) (s unit.PrioritySet) {
	for _, c := range priorities {
		s.Add(unit.Priority(c))
	}
	return s
}

func portSet(ports []int) (s unit.PortSet) {
	for _, p := range ports {
		s.Add(unit.Port(p))
	}
	return s
}
