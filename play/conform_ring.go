package play

import (
	"fmt"

	"softswitch/conform"
	"softswitch/node/config"
	"softswitch/sim"
	"softswitch/unit"
)

// Ports of a DUT in a ring.
const (
	ringTester = iota
	ringNext
	ringLast
)

// newRingWorld is the profile's DUT several times, in a ring of the tester's ports. What does not leave by
// the tester's port goes on to the next. It stands for a ring of loops too: softswitch has no VLANs, and
// those of one DUT look from outside as so many DUTs do.
func newRingWorld(task *conform.Task, opt ConformOptions, ring []int, watch func(unit.Time) error) (*conformWorld, error) {
	w := conformTable(task, opt, watch)
	for i := range ring {
		if _, err := w.add(opt, ringSwitch(opt.Profile, ring, i)); err != nil {
			return nil, err
		}
	}
	for i, p := range ring {
		dut, next := 1+i, 1+(i+1)%len(ring)
		w.wire(sim.BenchPort{Machine: conformTester, Port: unit.Port(p)}, sim.BenchPort{Machine: dut, Port: ringTester}, opt.Profile.Ports[p].Speed, opt)
		w.wire(sim.BenchPort{Machine: dut, Port: ringNext}, sim.BenchPort{Machine: next, Port: ringLast}, ringSpeed(opt.Profile, ring, i), opt)
	}
	var err error
	w.bench, err = sim.NewBench(w.config)
	return w, err
}

// ringSpeed is that of the wire from DUT i to the next: the profile's, or that of the port beside it.
func ringSpeed(p *conform.Profile, ring []int, i int) unit.Rate {
	if p.Speed > 0 {
		return p.Speed
	}
	return p.Ports[ring[i]].Speed
}

// ringSwitch is the configuration of DUT i of a ring.
func ringSwitch(p *conform.Profile, ring []int, i int) config.Switch {
	port := func(dut, n int) config.Port {
		return config.Port{Name: []string{"tester", "next", "last"}[n], MAC: unit.MAC(0x02_00_00_01_00_00 + dut<<8 + n), Peer: "switch"}
	}
	one := *p
	one.Ports, one.Forwarding = p.Ports[ring[i]:ring[i]+1], "bridge"
	s := ConformSwitch(&one)
	s.Name, s.ID = fmt.Sprintf("%s-%d", p.Name, i+1), uint16(i+1)
	before := (i + len(ring) - 1) % len(ring)
	next, last := port(i, ringNext), port(i, ringLast)
	next.Rate, last.Rate = ringSpeed(p, ring, i), ringSpeed(p, ring, before)
	next.PeerMAC, last.PeerMAC = port((i+1)%len(ring), ringLast).MAC, port(before, ringNext).MAC
	s.Ports = append(s.Ports, next, last)
	for k, q := range ring {
		out := ringNext
		if k == i {
			out = ringTester
		}
		s.MAC = append(s.MAC, config.MAC{MAC: conform.StationMAC(q), Port: out})
		switch station := p.Ports[q]; {
		case p.Forwarding != "routed":
		case k == i:
			s.Subnets = append(s.Subnets, config.Subnet{Prefix: subnetOf(station), Gateway: station.Gateway, Ports: []int{ringTester}, GatewayMAC: station.GatewayMAC})
			s.ARP = append(s.ARP, config.ARP{IP: station.Address, MAC: conform.StationMAC(q)})
		default:
			s.Routes = append(s.Routes, config.Route{Prefix: subnetOf(station), Ports: []int{ringNext}})
		}
	}
	s.PFC.Refresh = nil // by the fastest of all ports
	s.Fill()
	return s
}
