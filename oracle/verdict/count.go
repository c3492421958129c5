package verdict

import (
	"math"
	"math/bits"
	"slices"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/host"
	"softswitch/host/roce"
	"softswitch/internal/lists"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// count fills in what the nodes' counters say: flows, lost frames, messages, sizes. It
// comes after judge because it needs the actions that systems took. Frames are counted by what became of them
// (dataplane.Fate): lost, dropped on purpose, or wanted by nobody, which is no loss.
func (v *Verdict) count(p *scenario.Plan, switches []observe.Switch, hosts []observe.Host) {
	wire := v.countFlows(p, switches, hosts)
	v.ResponseDropped, v.ResponseDroppedBytes, v.Policed, v.IncompleteARP = 0, 0, 0, 0
	for i := range switches {
		w := &switches[i]
		v.DetectorBytesPerSwitch = max(v.DetectorBytesPerSwitch, w.DetectorBytes)
		v.CounterBytesPerSwitch = max(v.CounterBytesPerSwitch, w.CounterBytes)
		for _, p := range w.Ports {
			v.ResponseDropped += int(p.Drops[dataplane.DropResponse.String()])
			v.Policed += int(p.Drops[dataplane.DropPoliced.String()] + p.Drops[dataplane.DropLossyPort.String()] + p.Drops[dataplane.DropLossyTurn.String()])
			v.IncompleteARP += int(p.Drops[dataplane.DropIncompleteARP.String()])
			v.ResponseDroppedBytes += int(p.ResponseBytes)
			v.ControlMessages += int(p.Messages[1])
		}
	}
	ignored := v.unheard(p.Scenario)
	for i := range hosts {
		if ignored[hosts[i].Name] {
			v.Policed += int(hosts[i].Counters.Overflow)
		}
	}
	v.countLosses(p, switches, hosts, ignored, wire)
	v.countDropped()
	v.countLAGs(p, switches)
}

// unheard returns the hosts whose pauses a system ignored at some time. Such a host is sent more than it
// has room for, on purpose; so what it drops for that counts as Policed, in the whole run, and as no loss.
func (v *Verdict) unheard(s *scenario.Scenario) map[string]bool {
	ignored := map[string]bool{}
	for _, m := range v.Actions {
		if m.Action != detect.ActionLossy.String() && m.Action != detect.ActionIgnore.String() && m.Action != detect.ActionContain.String() {
			continue
		}
		at := slices.IndexFunc(s.Fabric.Nodes, func(n topo.Node) bool { return n.Name == m.Switch })
		ports := s.Fabric.Nodes[at].Ports
		out := slices.IndexFunc(ports, func(p topo.Port) bool { return p.Name == m.Out })
		ignored[s.Fabric.Nodes[ports[out].Peer.Node].Name] = true
	}
	return ignored
}

// turned are the priorities in which a system made a turn lossy at some time.
func (v *Verdict) turned() (priorities unit.PrioritySet) {
	for _, m := range v.Actions {
		if m.Action == detect.ActionLossyTurn.String() {
			priorities.Add(unit.Priority(m.Priority))
		}
	}
	return priorities
}

// countFlows fills in the rows of the flows. It returns how many lossless frames receivers miss
// that no node says it dropped. Flows that a system polices, or that go to a host whose pauses it
// ignores, or are of a priority in which it made a turn lossy, are left out of that: a live switch
// goes on dropping while the hosts are asked.
func (v *Verdict) countFlows(p *scenario.Plan, switches []observe.Switch, hosts []observe.Host) (wire int) {
	s := p.Scenario
	policed := func(flow int) bool {
		return slices.ContainsFunc(v.Actions, func(m Action) bool {
			return m.Action == detect.ActionPolice.String() && m.Flow == p.Hash(flow)
		})
	}
	ignored, turned := v.unheard(s), v.turned()
	dropped, untold := dropsByFlow(switches)
	sent, received := map[uint32]host.Sent{}, map[uint32]host.Received{}
	for i := range hosts {
		for _, f := range hosts[i].Sent {
			sent[f.Number] = f
		}
		for _, f := range hosts[i].Received {
			received[f.Number] = f
		}
	}
	reported := func(node int) bool {
		return slices.ContainsFunc(hosts, func(h observe.Host) bool { return h.Name == s.Fabric.Nodes[node].Name })
	}
	for i, f := range s.Flows {
		out, in := sent[uint32(i)], received[uint32(i)]
		var messages *MessageResult
		if out.Messages != nil {
			messages = messagesOf(out.Messages, p.Alone(i))
			messages.Unmeasured = s.Congestion != nil && s.Congestion.Control == "timely" && out.Frames > 0 && messages.Samples == 0
			messages.Size, messages.Start, messages.Marked = int64(f.Size), f.Start, int64(in.Marked)
		}
		d := dropped[p.Hash(i)]
		delete(dropped, p.Hash(i)) // two flows with one hash: the first has the drops
		unheard := ignored[s.Fabric.Nodes[f.To].Name]
		if unheard {
			d.Policed += in.Overflow
		} else {
			d.Lost += in.Overflow
		}
		end := s.ProgramEnd(&f)
		known := end == "" && reported(f.From) && reported(f.To)
		row := lostOf(&out, &in, d, known)
		v.Flows = append(v.Flows, FlowResult{
			Name: f.Name, From: s.Fabric.Nodes[f.From].Name, To: s.Fabric.Nodes[f.To].Name, Priority: int(f.Priority),
			Sent: int64(out.Frames), Received: int64(in.Frames), Lost: row.Lost, InFlight: row.InFlight, Reordered: int64(in.Reordered), LeftOut: out.LeftOut,
			Response: row.Response, OverRate: row.OverRate, IncompleteARP: row.IncompleteARP,
			Policed: policed(i), Innocent: !policed(i) && !s.Suffers(&f), Final: final(in.Bins[:], s.Bin()), OverTime: overTime(in.Bins[:], s.Bin()),
			Throughput: perSecond(in.Bytes, s.Lasts(&f)), Messages: messages,
			ProgramEnd: end, Packets: refused(in.Packets),
		})
		if end == "" && p.Lossless(i) && !policed(i) && !unheard && !turned.Has(f.Priority) {
			wire += max(0, int(in.Lost)-int(total(d)))
		}
	}
	return max(0, wire-untold)
}

// refused is p if it has packets that a receiver did not take, else nil.
func refused(p *roce.Received) *roce.Received {
	if p == nil || *p == (roce.Received{Packets: p.Packets, Bytes: p.Bytes, Kept: p.Kept}) {
		return nil
	}
	return p
}

// messagesOf is what became of the messages of a flow that takes so long alone.
func messagesOf(m *host.Messages, alone unit.Time) *MessageResult {
	r := &MessageResult{
		Done: int64(m.Done), Bytes: int64(m.Bytes), Max: m.TimeMax, Completion: m.Completion, Failed: m.Failed,
		Again: int64(m.Again), AgainBytes: int64(m.AgainBytes), Naks: int64(m.Naks), Timeouts: int64(m.Timeouts), CNPs: int64(m.CNPs), Samples: int64(m.Samples),
	}
	if m.Done > 0 {
		r.Mean = m.TimeSum / unit.Time(m.Done)
	}
	if m.Completion > 0 && alone > 0 {
		r.Slowdown = float64(m.Completion) / float64(alone)
	}
	return r
}

// perSecond is a number of bytes in a time as bits per second, rounded down. A gigabyte times a
// second in nanoseconds does not fit 64 bits, so the product has 128; a time of 0 counts as one ns.
func perSecond(bytes uint64, in unit.Time) int64 {
	hi, lo := bits.Mul64(bytes, 8*uint64(unit.Second))
	span := uint64(max(1, in))
	if hi >= span {
		return math.MaxInt64
	}
	rate, _ := bits.Div64(hi, lo, span)
	return int64(rate)
}

// overTime is the throughput in each bin, in bits per second.
func overTime(bins []uint64, bin unit.Time) []int64 {
	return lists.Map(bins, func(n uint64) int64 { return perSecond(n, bin) })
}

// final is the throughput in the last quarter of the bins: their mean, as all are of equal length.
func final(bins []uint64, bin unit.Time) int64 {
	last := overTime(bins[len(bins)-len(bins)/4:], bin)
	return lists.Sum(last, func(r int64) int64 { return r }) / int64(len(last))
}
