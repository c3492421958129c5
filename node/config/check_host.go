package config

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/host"
	"softswitch/host/congestion"
	"softswitch/host/nic"
	"softswitch/internal/ether"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// minFrame is the shortest frame that a host sends, in bytes without FCS.
const minFrame = 64

// MaxSize is how many bytes a flow with a bound may send: 1 TiB.
const MaxSize = 1 << 40

// checkHost adds the faults of h, which is filled in, to d.
func checkHost(d *strictyaml.Doc, h *Host) {
	checkNode(d, h.Name, h.ID)
	checkLive(d, h.Live)
	checkPort(d, "port", h.Port)
	if h.Port.Auth != "" || h.Port.Link != "" {
		d.Faultf("port", "auth and link are of a switch's port to another switch")
	}
	if h.Live.Keys != "" {
		d.Faultf("live.keys", "a host has no keys: it says nothing but pauses")
	}
	if h.Port.StaticTh != nil || h.Port.XONOffset != nil || h.Port.XOFF != nil {
		d.Faultf("port", "static_th, xon_offset and xoff are of a switch's port; a host has rx_buffer")
	}
	checkPFC(d, h.PFC, []Port{h.Port})
	mtu := CheckMTU(d, "mtu", h.MTU)
	CheckRxBuffer(d, "rx_buffer", h.RxBuffer, mtu)
	within(d, "rx_slack", h.RxSlack, 0, 1<<30-min(h.RxBuffer, 1<<30))
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
	checkFlows(d, h.Flows, own, mtu)
	checkPeers(d, h.Peers, own)
	checkCongestion(d, h)
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
	if len(h.Peers) > 0 {
		d.Faultf("peers", "a host with a stack has none: its programs receive")
	}
	if len(h.Acts) > 0 {
		d.Faultf("acts", "a host with a stack has none; see `softswitch nic slow`")
	}
}

// CheckRxBuffer adds to d the fault of a host's receive buffer, at d's key path: it leaves room
// for a pause threshold that is more than a frame away from empty and from full.
func CheckRxBuffer(d *strictyaml.Doc, path string, n, mtu int) {
	const most = 1 << 30
	switch least := nic.RxBufferMin(MaxFrame(mtu)); {
	case mtu == DefaultMTU:
		within(d, path, n, least, most)
	case n < least || n > most:
		d.Faultf(path, "%d: use %d to %d, as the mtu is %d", n, least, most, mtu)
	}
}

func checkFlows(d *strictyaml.Doc, flows []Flow, own uint32, mtu int) {
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
		CheckFrame(d, path+".frame", f.Frame, mtu)
		within(d, path+".size", f.Size, 0, MaxSize)
		if choice(d, path+".transport", cmp.Or(f.Transport, "udp"), "udp", "rc") {
			CheckRC(d, path, f.Transport == "rc", f.RC, mtu)
		}
		if f.Transport == "rc" {
			within(d, path+".number", int(f.Number), 0, maxConnection)
		}
		within(d, path+".ttl", f.TTL, 1, 255)
		start, ok1 := value(d, path+".start", f.Start, ParseTime)
		stop, ok2 := value(d, path+".stop", f.Stop, ParseTime)
		if ok1 && ok2 && stop != 0 && stop <= start {
			d.Faultf(path+".stop", "%q is not after start %q; use a later time, or 0s for never", f.Stop, f.Start)
		}
	}
}

// maxConnection is the greatest number of a flow that is a connection: queue pairs have 24
// bits, and a flow two of them.
const maxConnection = 1<<23 - 3

// CheckRC adds the faults of key rc of the flow at path, which is filled in if the flow is of
// that transport.
func CheckRC(d *strictyaml.Doc, path string, is bool, r *RC, mtu int) {
	if !is {
		if r != nil {
			d.Faultf(path+".rc", "it is of flows of transport: rc")
		}
		return
	}
	within(d, path+".rc.message", r.Message, 1, host.MessageMax)
	if mtus := []int{256, 512, 1024, 2048, 4096}; !slices.Contains(mtus, r.PathMTU) {
		d.Faultf(path+".rc.path_mtu", "%d: use 256, 512, 1024, 2048 or 4096", r.PathMTU)
	} else if n := host.FrameOf(r.PathMTU); n > MaxFrame(mtu) {
		d.Faultf(path+".rc.path_mtu", "%d: its frames of %d bytes need an mtu of %d, and it is %d", r.PathMTU, n, n-ether.HeaderLen, mtu)
	}
	within(d, path+".rc.window", r.Window, 1, host.WindowMax)
	if t, ok := value(d, path+".rc.timeout", r.Timeout, ParseTime); ok && t == 0 {
		d.Faultf(path+".rc.timeout", "%q: use more than 0s", r.Timeout)
	}
	within(d, path+".rc.retries", *r.Retries, 0, 1_000_000)
}

func checkCongestion(d *strictyaml.Doc, h *Host) {
	k := h.Congestion
	if k == nil {
		return
	}
	choice(d, "congestion.control", k.Control, "dcqcn", "timely")
	choice(d, "congestion.profile", k.Profile, congestion.Profiles()...)
	within(d, "congestion.cnp_class", *k.CNPClass, 0, unit.Priorities-1)
	within(d, "congestion.times_slower", k.TimesSlower, 1, MaxTimesSlower)
	if slices.Contains(h.PFC.Lossless, *k.CNPClass) {
		d.Faultf("congestion.cnp_class", "class %d is lossless, and a CNP must not be paused by what it is to end; use a class that is not in pfc.lossless, %v", *k.CNPClass, h.PFC.Lossless)
	}
	if r, err := ParseRate(h.Port.Rate); err == nil && r == 0 {
		d.Faultf("congestion", "a sender begins at the rate of its port, which is unlimited; give it one")
	}
}

// MaxTimesSlower bounds how much slower a fabric may be than the one that it stands for.
const MaxTimesSlower = 1_000_000

func checkPeers(d *strictyaml.Doc, peers []Peer, own uint32) {
	numbers := map[uint32]bool{}
	for i, p := range peers {
		path := fmt.Sprintf("peers[%d]", i)
		if within(d, path+".number", int(p.Number), 0, maxConnection); numbers[p.Number] {
			d.Faultf(path+".number", "%d is another peer's already", p.Number)
		}
		numbers[p.Number] = true
		if from, ok := value(d, path+".from", p.From, ParseAddr); ok && from == own {
			d.Faultf(path+".from", "%q is the host's own address", p.From)
		}
		within(d, path+".src_port", int(p.SrcPort), 1, 65535)
		within(d, path+".class", p.Class, 0, unit.Priorities-1)
		within(d, path+".ttl", p.TTL, 1, 255)
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
