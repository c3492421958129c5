package config

import (
	"fmt"
	"slices"

	"softswitch/host"
	"softswitch/host/nic"
	"softswitch/host/roce"
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
	checkMetrics(d, h.Live)
	checkNICs(d, h)
	if h.Live.Keys != "" {
		d.Faultf("live.keys", "a host has no keys: it says nothing but pauses")
	}
	checkPFC(d, h.PFC, h.Ports())
	CheckLLDP(d, h.LLDP)
	mtu := CheckMTU(d, "mtu", h.MTU)
	CheckRxBuffer(d, "rx_buffer", h.RxBuffer, mtu)
	d.Within("rx_slack", h.RxSlack, 0, 1<<30-min(h.RxBuffer, 1<<30))
	checkStack(d, h)
	checkFlows(d, h, mtu)
	checkPeers(d, h)
	checkQPNs(d, h)
	checkCongestion(d, h)
	checkActs(d, h, h.Acts)
}

// checkStack adds the faults of a host whose programs use the kernel's stack.
func checkStack(d *strictyaml.Doc, h *Host) {
	checkPrograms(d, h)
	if h.Stack == "" {
		return
	}
	checkInterface(d, "stack", h.Stack)
	CheckStackBuffer(d, "rx_buffer", h.RxBuffer, len(h.PFC.LosslessAt(h.All()[0].Port)))
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

// checkPrograms adds the faults of flows that have a program at the other end.
func checkPrograms(d *strictyaml.Doc, h *Host) {
	if len(h.Programs) > 1 {
		d.Faultf("programs", "%d; perftest knows one test at a time: use one", len(h.Programs))
	}
	if len(h.Programs) > 0 && h.Stack == "" {
		d.Faultf("programs", "the host has no stack: give it one, such as nic0")
	}
	for i, f := range h.Programs {
		path := fmt.Sprintf("programs[%d]", i)
		if f.Transport != "rc" || f.RC == nil || f.RC.Handshake == "" {
			d.Faultf(path+".rc.handshake", "missing: use perftest or rdma_cm, and transport: rc")
			continue
		}
		CheckRC(d, path, true, f.RC, h.MTU)
	}
}

// CheckRxBuffer adds to d the fault of a host's receive buffer, at d's key path: it leaves room
// for a pause threshold that is more than a frame away from empty and from full.
func CheckRxBuffer(d *strictyaml.Doc, path string, n, mtu int) {
	const most = 1 << 30
	switch least := nic.RxBufferMin(MaxFrame(mtu)); {
	case mtu == DefaultMTU:
		d.Within(path, n, least, most)
	case n < least || n > most:
		d.Faultf(path, "%d: use %d to %d, as the mtu is %d", n, least, most, mtu)
	}
}

// CheckStackBuffer adds to d the fault of the receive buffer, at d's key path, of a host with a stack: its lossless
// priorities do not fit together into the largest buffer of a switch.
func CheckStackBuffer(d *strictyaml.Doc, path string, n, lossless int) {
	if most := nic.RxBufferMax(lossless); n > most {
		d.Faultf(path, "%d: use at most %d, as a host with a stack has 1 GiB for its %s", n, most, unit.Count(lossless, "lossless priority"))
	}
}

func checkFlows(d *strictyaml.Doc, h *Host, mtu int) {
	numbers := map[uint32]bool{}
	for i, f := range h.Flows {
		path := fmt.Sprintf("flows[%d]", i)
		if numbers[f.Number] {
			d.Faultf(path+".number", "%d is another flow's already", f.Number)
		}
		numbers[f.Number] = true
		if needed(d, path+".to", f.To) && h.owns(f.To) {
			d.Faultf(path+".to", "%s is the host's own address", f.To)
		}
		CheckFrame(d, path+".frame", f.Frame, mtu)
		CheckRC(d, path, f.Transport == "rc", f.RC, mtu)
		if f.RC != nil && f.RC.Handshake != "" {
			d.Faultf(path+".rc.handshake", "%s: flows with a handshake are under programs", f.RC.Handshake)
		}
		if f.Transport == "rc" {
			d.Within(path+".number", int(f.Number), 0, maxConnection)
		}
		if f.Stop != 0 && f.Stop <= f.Start {
			d.Faultf(path+".stop", "%s is not after start %s; use a later time, or 0s for never", f.Stop, f.Start)
		}
	}
}

// maxConnection is the greatest number of a flow that is a connection: queue pairs have 24
// bits, and a flow two of them.
const maxConnection = 1<<23 - 3

// CheckRC adds the faults of key rc of the flow at path, which is filled in if the flow is of
// that transport.
func CheckRC(d *strictyaml.Doc, path string, is bool, r *host.RC, mtu int) {
	if !is {
		if r != nil {
			d.Faultf(path+".rc", "it is of flows of transport: rc")
		}
		return
	}
	if n := host.FrameOf(r.PathMTU); !d.Faulty(path+".rc.path_mtu") && n > MaxFrame(mtu) {
		d.Faultf(path+".rc.path_mtu", "%d: its frames of %d bytes need an mtu of %d, and it is %d", r.PathMTU, n, n-ether.HeaderLen, mtu)
	}
	if r.Operation != "" && r.Handshake == "" {
		d.Faultf(path+".rc.operation", "%s: a flow without a handshake writes; give it a handshake, or leave operation out", r.Operation)
	}
	if *r.Timeout == 0 {
		d.Faultf(path+".rc.timeout", "%s: use more than 0s", r.Timeout)
	}
	checkRecovery(d, path, r)
}

// checkRecovery adds the faults of what a flow sends again.
func checkRecovery(d *strictyaml.Doc, path string, r *host.RC) {
	selective := r.Recovery == host.Selective
	switch low := r.TimeoutLow; {
	case low == nil:
	case !selective:
		d.Faultf(path+".rc.timeout_low", "%s: it is of flows with recovery: %s", low, host.Selective)
	case *low == 0 || *low > *r.Timeout:
		d.Faultf(path+".rc.timeout_low", "%s: use more than 0s, and at most rc.timeout, %s", low, r.Timeout)
	}
	switch {
	case r.InFlight != 0 && !selective:
		d.Faultf(path+".rc.in_flight", "%d: it is of flows with recovery: %s", r.InFlight, host.Selective)
	case selective && r.Handshake != "":
		d.Faultf(path+".rc.recovery", "%s: the far end is a program, whose NIC knows go-back-N alone; use %s, or leave it out", r.Recovery, host.GoBackN)
	}
}

func checkCongestion(d *strictyaml.Doc, h *Host) {
	k := h.Congestion
	if k == nil {
		return
	}
	if slices.Contains(h.losslessAt(nil), *k.CNPPriority) {
		d.Faultf("congestion.cnp_priority", "priority %d is lossless, and a CNP must not be paused by what it is to end; use a priority that is not in pfc.lossless, %v", *k.CNPPriority, h.PFC.Lossless)
	}
	if h.All()[0].Rate == 0 {
		d.Faultf("congestion", "a sender begins at the rate of its port, which is unlimited; give it one")
	}
}

// MaxTimesSlower bounds how much slower a fabric may be than the one that it stands for.
const MaxTimesSlower = 1_000_000

func checkPeers(d *strictyaml.Doc, h *Host) {
	numbers := map[uint32]bool{}
	for i, p := range h.Peers {
		path := fmt.Sprintf("peers[%d]", i)
		if d.Within(path+".number", int(p.Number), 0, maxConnection); numbers[p.Number] {
			d.Faultf(path+".number", "%d is another peer's already", p.Number)
		}
		numbers[p.Number] = true
		if needed(d, path+".from", p.From) && h.owns(p.From) {
			d.Faultf(path+".from", "%s is the host's own address", p.From)
		}
	}
}

// QPN is a queue pair of a connection at a host.
type QPN struct {
	Number uint32
	Path   string // key path of its flow or peer
	Key    string // below it
	Given  bool   // there is such a key; else it is that of the flow's number
	Flow   string // what to call its flow
}

// CheckQPNs adds to d the faults of queue pairs at one host that two connections have: at those that
// are given.
func CheckQPNs(d *strictyaml.Doc, host string, qpns []QPN) {
	of := map[uint32]string{}
	for _, given := range []bool{false, true} {
		for _, q := range qpns {
			if q.Given != given {
				continue
			}
			if other, taken := of[q.Number]; !taken {
				of[q.Number] = q.Flow
			} else if key := q.Path + q.Key; given && !d.Faulty(key) {
				d.Faultf(key, "%d is the queue pair of %s at %s already; use another of 2 to %d", q.Number, other, host, roce.QPMask)
			}
		}
	}
}

// checkQPNs adds the faults of the queue pairs of h.
func checkQPNs(d *strictyaml.Doc, h *Host) {
	var qpns []QPN
	for i, f := range h.Flows {
		if f.Transport == "rc" {
			n, _ := f.RC.QPNs(f.Number)
			qpns = append(qpns, QPN{n, fmt.Sprintf("flows[%d]", i), ".rc.qpn", f.RC.QPN != nil, fmt.Sprintf("flow %d", f.Number)})
		}
	}
	for i, p := range h.Peers {
		rc := host.PeerRC{}
		if p.RC != nil {
			rc = *p.RC
		}
		_, n := rc.QPNs(p.Number)
		qpns = append(qpns, QPN{n, fmt.Sprintf("peers[%d]", i), ".rc.to_qpn", rc.ToQPN != nil, fmt.Sprintf("flow %d", p.Number)})
	}
	CheckQPNs(d, h.Name, qpns)
}

func checkActs(d *strictyaml.Doc, h *Host, acts []Act) {
	var before unit.Time
	for i, a := range acts {
		path := fmt.Sprintf("acts[%d]", i)
		if a.At < before {
			d.Faultf(path+".at", "%s is before the act above it: write them in order of time", a.At)
		}
		before = a.At
		switch {
		case a.Do == "slow" && a.Rate == 0:
			d.Faultf(path+".rate", `%s is not a drain rate: write one above zero such as "10Mbit/s"`, a.Rate)
		case a.Do != "slow" && (a.Rate != 0 || d.Has(path+".rate")):
			d.Faultf(path+".rate", "%s: only slow has a rate", a.Rate)
		}
		if a.NIC != nil && !d.Within(path+".nic", *a.NIC, 0, len(h.All())-1) || a.Do != "storm" {
			continue
		}
		switch lossless := h.losslessAt(a.NIC); {
		case !slices.Contains(lossless, a.Priority):
			d.Faultf(path+".priority", "priority %d is not lossless; use one of %v", a.Priority, lossless)
		case !h.pauses(a.NIC, a.Priority):
			d.Faultf(path+".do", "storm, and pfc of the port is rx: it sends no pauses of priority %d; use both or tx there", a.Priority)
		}
	}
}

// MaxMTU is the longest IP packet of jumbo frames, in bytes.
const MaxMTU = 9216

// MaxFrame is the longest frame for an MTU, in bytes without FCS and 802.1Q tag: 1514
// for 1500, 9230 for 9216.
func MaxFrame(mtu int) int { return mtu + ether.HeaderLen }

// CheckMTU adds to d the fault of an MTU, at d's key path. It returns the MTU by which to
// judge the other keys: the default in the place of a wrong one.
func CheckMTU(d *strictyaml.Doc, path string, mtu int) int {
	if !d.Within(path, mtu, DefaultMTU, MaxMTU) {
		return DefaultMTU
	}
	return mtu
}

// CheckFrame adds to d the fault of a flow's length of frames in bytes, at d's key path.
func CheckFrame(d *strictyaml.Doc, path string, frame, mtu int) {
	if longest := MaxFrame(mtu); frame < minFrame || frame > longest {
		d.Faultf(path, "%d: use %d to %d, as the mtu is %d", frame, minFrame, longest, mtu)
	}
}
