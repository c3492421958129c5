package scenario

import (
	"slices"

	"softswitch/host"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// nics returns the hosts for programs of their own. The flows and events of s, already read, must not involve
// them: they would need a host that makes frames by itself. The far end of a reliable connection may be a
// program there, if the flow says how both agree.
func (p *parser) nics(s *Scenario, names []string) (hosts []int) {
	hosts = p.hosts("nics", names)
	s.NICs = hosts
	if p.fabric == nil {
		return hosts
	}
	for i, f := range s.Flows {
		switch from, to := s.HasPrograms(f.From), s.HasPrograms(f.To); {
		case f.RC != nil && f.RC.Handshake != "":
			p.handshake(s, i, from != to)
		case (from || to) && f.RC != nil && f.RC.Recovery == host.Selective:
			p.Faultf(s.key(i)+".rc.recovery", "%s: flow %q begins or ends at a host of nics, which has programs, and their NICs know go-back-N alone; use %s, or leave it out", f.RC.Recovery, f.Name, host.GoBackN)
		case from && to || (from || to) && (f.RC == nil || f.RC.Fixed == (host.Fixed{})):
			p.Faultf(s.key(i), "flow %q begins or ends at a host of nics, which has programs instead of flows; use other hosts, or give it an rc.handshake or the numbers of the program's connection", f.Name)
		}
	}
	for node := s.Fabric.Switches(); node < len(s.Fabric.Nodes); node++ {
		if s.HasNIC(node) && !p.Faulty("host.rx_buffer") {
			config.CheckStackBuffer(p.Doc, "host.rx_buffer", s.rxBuffer(node), len(s.LosslessAt(topo.End{Node: node})))
		}
	}
	for _, e := range s.Events {
		if (e.Do == Storm || e.Do == Slow || e.Do == Normal) && s.HasNIC(e.Node) {
			p.Faultf("nics", "%q has an event %q: a host of nics, or of a flow with a handshake, has none; slow it by `softswitch nic slow`", s.Fabric.Nodes[e.Node].Name, e.Do)
		}
	}
	return hosts
}

// handshake checks flow i, which agrees with its far end by a handshake. one says that one of its ends is at a
// host of nics.
func (p *parser) handshake(s *Scenario, i int, one bool) {
	f := &s.Flows[i]
	path := s.key(i)
	if !one {
		p.Faultf(path+".rc.handshake", "%s: the program runs at one end of the flow, which has to be a host of nics, and not at both; the ends are %s and %s",
			f.RC.Handshake, s.Fabric.Nodes[f.From].Name, s.Fabric.Nodes[f.To].Name)
		return
	}
	ours, serves := f.From, !f.RC.Begins()
	if s.HasPrograms(f.From) {
		ours, serves = f.To, f.RC.Begins()
	}
	settled := []string{"ttl", "rc.window", "rc.path_mtu", "rc.qpn", "rc.to_qpn", "rc.psn", "rc.r_key", "rc.address"}
	if serves {
		settled = append(settled, "start", "stop", "size", "rc.message", "rc.timeout", "rc.retries")
	}
	for _, key := range settled {
		if p.Given(path + "." + key) {
			p.Faultf(path+"."+key, "the handshake settles it, or the program; leave it out")
		}
	}
	if f.RC.Operation == "send" && !serves && f.Size == 0 {
		p.Faultf(path+".size", "missing: an ib_send_bw waits for a number of messages, so say how many bytes they are")
	}
	if f.RC.Message > 0 && f.Size%f.RC.Message != 0 {
		p.Faultf(path+".size", "%d: with a handshake all messages are as long as rc.message, %d; use a multiple", f.Size, f.RC.Message)
	}
	s.Agreeing = append(s.Agreeing, ours)
	for j := range s.Flows {
		if o := &s.Flows[j]; j != i && (o.From == ours || o.To == ours) {
			p.Faultf(path+".rc.handshake", "%s is an end of flow %q too; a host that agrees with a program has that flow alone", s.Fabric.Nodes[ours].Name, o.Name)
			return
		}
	}
	if slices.Contains(s.Dead, ours) {
		p.Faultf(path+".rc.handshake", "%s is dead", s.Fabric.Nodes[ours].Name)
	}
	if len(s.Fabric.Nodes[ours].Ports) > 1 || f.NIC != unit.NoPort && f.NIC != 0 {
		p.Faultf(path+".rc.handshake", "%s has several links; use a host with one", s.Fabric.Nodes[ours].Name)
	}
}

// HasPrograms reports whether a node is a host of nics.
func (s *Scenario) HasPrograms(node int) bool { return slices.Contains(s.NICs, node) }

// HasNIC reports whether a node is a host whose frames come from a stack: one of nics, or the end of a flow with
// a handshake.
func (s *Scenario) HasNIC(node int) bool {
	return s.HasPrograms(node) || slices.Contains(s.Agreeing, node)
}

// ProgramEnd is the end of a flow that is a program's, "from" or "to"; "" of a flow without one.
func (s *Scenario) ProgramEnd(f *Flow) string {
	switch {
	case s.HasPrograms(f.From):
		return "from"
	case s.HasPrograms(f.To):
		return "to"
	}
	return ""
}
