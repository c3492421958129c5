package config

import (
	"fmt"
	"slices"

	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// Frame sizes that a host sends, in bytes without FCS.
const (
	minFrame = 64
	maxFrame = 1514
)

// minRxBuffer leaves room for a pause threshold that is more than a frame away from
// empty and from full.
const minRxBuffer = 8192

// checkHost adds the faults of h, which is filled in, to d.
func checkHost(d *strictyaml.Doc, h *Host) {
	checkNode(d, h.Name, h.ID)
	checkLive(d, h.Live)
	checkPort(d, "port", h.Port)
	if h.Port.StaticTh != nil || h.Port.XONOffset != nil {
		d.Faultf("port", "static_th and xon_offset are of a switch's port; a host has rx_buffer")
	}
	checkPFC(d, h.PFC, []Port{h.Port})
	within(d, "rx_buffer", h.RxBuffer, minRxBuffer, 1<<30)
	own, bits, err := ParseInterface(h.Address)
	fault(d, "address", err)
	if h.Gateway != "" || h.Stack == "" {
		gateway, ok := value(d, "gateway", h.Gateway, ParseAddr)
		if ok && err == nil && (!inPrefix(gateway, own, bits) || gateway == own) {
			d.Faultf("gateway", "%q is not another address of the subnet of %s", h.Gateway, h.Address)
		}
	}
	if h.GatewayMAC != "" || h.Stack == "" {
		value(d, "gateway_mac", h.GatewayMAC, ParseMAC)
	}
	checkStack(d, h)
	if h.Bin != "" {
		value(d, "bin", h.Bin, ParseTime)
	}
	checkFlows(d, h.Flows, own)
	checkActs(d, h.Acts, h.PFC.Lossless)
}

// checkStack adds the faults of a host whose programs use the kernel's stack.
func checkStack(d *strictyaml.Doc, h *Host) {
	if h.Stack == "" {
		return
	}
	checkInterface(d, "stack", h.Stack)
	if h.Stack == h.Port.Name {
		d.Faultf("stack", "%q is the port itself: name an interface that does not exist yet", h.Stack)
	}
	if len(h.Flows) > 0 {
		d.Faultf("flows", "a host with a stack has none: its programs send")
	}
	if len(h.Acts) > 0 {
		d.Faultf("acts", "a host with a stack has none; see `softswitch nic slow`")
	}
}

func checkFlows(d *strictyaml.Doc, flows []Flow, own uint32) {
	numbers := map[uint32]bool{}
	for i, f := range flows {
		path := fmt.Sprintf("flows[%d]", i)
		if numbers[f.Number] {
			d.Faultf(path+".number", "%d is another flow's already", f.Number)
		}
		numbers[f.Number] = true
		if to, ok := value(d, path+".to", f.To, ParseAddr); ok && to == own {
			d.Faultf(path+".to", "%q is the host's own address", f.To)
		}
		within(d, path+".src_port", int(f.SrcPort), 1, 65535)
		within(d, path+".class", f.Class, 0, unit.Priorities-1)
		checkFlowRate(d, path+".rate", f.Rate)
		within(d, path+".frame", f.Frame, minFrame, maxFrame)
		within(d, path+".ttl", f.TTL, 1, 255)
		start, ok1 := value(d, path+".start", f.Start, ParseTime)
		stop, ok2 := value(d, path+".stop", f.Stop, ParseTime)
		if ok1 && ok2 && stop != 0 && stop <= start {
			d.Faultf(path+".stop", "%q is not after start %q; use a later time, or 0s for never", f.Stop, f.Start)
		}
	}
}

func checkFlowRate(d *strictyaml.Doc, path, rate string) {
	if rate == "line" {
		return
	}
	if r, err := ParseRate(rate); err != nil || r == 0 {
		d.Faultf(path, `%q is not a flow's rate: write one above zero such as "10Mbit/s", or "line" for the port's`, rate)
	}
}

func checkActs(d *strictyaml.Doc, acts []Act, lossless []int) {
	var before unit.Time
	for i, a := range acts {
		path := fmt.Sprintf("acts[%d]", i)
		if at, ok := value(d, path+".at", a.At, ParseTime); ok {
			if at < before {
				d.Faultf(path+".at", "%q is before the act above it: write them in order of time", a.At)
			}
			before = at
		}
		if !choice(d, path+".do", a.Do, "slow", "storm", "normal") {
			continue
		}
		r, err := ParseRate(a.Rate)
		switch {
		case a.Do == "slow" && (err != nil || r == 0):
			d.Faultf(path+".rate", `%q is not a drain rate: write one above zero such as "10Mbit/s"`, a.Rate)
		case a.Do != "slow" && a.Rate != "":
			d.Faultf(path+".rate", "%q: only slow has a rate", a.Rate)
		}
		if a.Do == "storm" && !slices.Contains(lossless, a.Class) {
			d.Faultf(path+".class", "class %d is not lossless; use one of %v", a.Class, lossless)
		}
	}
}
