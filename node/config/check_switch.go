package config

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/unit"
)

// checkSwitch adds the faults of s, which is filled in, to d.
func checkSwitch(d *strictyaml.Doc, s *Switch) (warnings []string) {
	checkNode(d, s.Name, s.ID)
	checkPorts(d, s.Ports)
	checkAuth(d, s.Ports)
	checkMap(d, "dscp_map", s.DSCPMap)
	checkClasses(d, s)
	checkPFC(d, s.PFC, s.Ports)
	CheckLLDP(d, s.LLDP)
	CheckWatchdog(d, s.Watchdog)
	warnings = checkBuffer(d, &s.Buffer, CheckMTU(d, "mtu", s.MTU))
	checkPrevention(d, s)
	warnings = append(warnings, checkECN(d, s)...)
	s.Sched.Check(d, "scheduler")
	checkSubnets(d, s)
	checkRoutes(d, s)
	checkLAGs(d, s)
	checkRouterID(d, s)
	for i, a := range s.ARP {
		needed(d, fmt.Sprintf("arp[%d].ip", i), a.IP)
		needed(d, fmt.Sprintf("arp[%d].mac", i), a.MAC)
	}
	for i, m := range s.MAC {
		needed(d, fmt.Sprintf("mac[%d].mac", i), m.MAC)
		d.Within(fmt.Sprintf("mac[%d].port", i), m.Port, 0, len(s.Ports)-1)
	}
	checkMetrics(d, s.Live)
	if d.Err() == nil {
		warnings = append(warnHeadroom(d, s), warnings...)
	}
	return warnings
}

// checkAuth checks which ports authenticate their far end.
func checkAuth(d *strictyaml.Doc, ports []Port) {
	for i, p := range ports {
		path := fmt.Sprintf("ports[%d]", i)
		switch {
		case p.Auth == auth.Off && p.Link != "":
			d.Faultf(path+".link", "%q names keys, and auth is off; take it away, or write auth: strict", p.Link)
		case p.Auth == auth.Off:
		case p.Peer == "host":
			d.Faultf(path+".auth", "%q, and its peer is a host, which says nothing but pauses; use off", p.Auth)
		case p.Link == "" || strings.ContainsAny(p.Link, " \t\r\n#"):
			d.Faultf(path+".link", "%q is no name of a link; write one that both ends have, such as \"s1--s2\", without blanks and #", p.Link)
		}
	}
}

func checkMetrics(d *strictyaml.Doc, l Live) {
	if l.Metrics != "" {
		_, _, err := ParseListen(l.Metrics)
		d.Fault("live.metrics", err)
	}
}

func checkNode(d *strictyaml.Doc, name string, id uint16) {
	if name == "" {
		d.Faultf("name", "missing: a node has a name")
	}
	if id == 0 {
		d.Faultf("id", "0 or missing: give the node a number of 1 to 65535 that no other node of the fabric has")
	}
}

func checkPorts(d *strictyaml.Doc, ports []Port) {
	if n := len(ports); n == 0 || n > unit.MaxPorts {
		d.Faultf("ports", "%d ports: a switch has 1 to %d", n, unit.MaxPorts)
	}
	seen := map[string]int{}
	for i, p := range ports {
		path := fmt.Sprintf("ports[%d]", i)
		checkPort(d, path, p)
		if first, ok := seen[p.Name]; ok {
			d.Faultf(path+".name", "%q is port %d already: a port has an interface of its own", p.Name, first)
			continue
		}
		seen[p.Name] = i
	}
}

// maxInterfaceName is IFNAMSIZ - 1 of Linux.
const maxInterfaceName = 15

func checkPort(d *strictyaml.Doc, path string, p Port) {
	checkInterface(d, path+".name", p.Name)
	checkWire(d, path+".wire", p.Wire)
	p.Sched.Check(d, path+".scheduler")
}

func checkInterface(d *strictyaml.Doc, path, name string) {
	if name == "" || len(name) > maxInterfaceName || strings.ContainsAny(name, "/: \t\n\x00") || name == "." || name == ".." {
		d.Faultf(path, "%q is not an interface's name: 1 to %d characters without space, slash and colon", name, maxInterfaceName)
	}
}

func checkPFC(d *strictyaml.Doc, p PFC, ports []Port) {
	checkPriorities(d, "pfc.lossless", p.Lossless)
	checkResponse(d, p, ports)
	if d.Faulty("pfc.quanta") || d.Faulty("pfc.refresh") {
		return
	}
	if pause := shortestPause(p.Quanta, ports); *p.Refresh == 0 || *p.Refresh >= pause {
		d.Faultf("pfc.refresh", "%s: a pause of %d quanta lasts %s at the fastest port, so refresh it after more than 0s and less than that",
			p.Refresh, p.Quanta, pause)
	}
}

func checkPriorities(d *strictyaml.Doc, path string, priorities []int) {
	var seen unit.PrioritySet
	for i, c := range priorities {
		path := fmt.Sprintf("%s[%d]", path, i)
		if c < 0 || c >= unit.Priorities {
			continue
		}
		if seen.Has(unit.Priority(c)) {
			d.Faultf(path, "priority %d is in the list already", c)
		}
		seen.Add(unit.Priority(c))
	}
}

func checkSubnets(d *strictyaml.Doc, s *Switch) {
	owner, seen := map[int]unit.Prefix{}, map[unit.Prefix]bool{}
	for i, n := range s.Subnets {
		path := fmt.Sprintf("subnets[%d]", i)
		if needed(d, path+".prefix", n.Prefix) && seen[n.Prefix] {
			d.Faultf(path+".prefix", "%s is given twice", n.Prefix)
		}
		seen[n.Prefix] = true
		if needed(d, path+".gateway", n.Gateway) && n.Prefix.IsValid() && !n.Prefix.Contains(n.Gateway.Netip()) {
			d.Faultf(path+".gateway", "%s is not in %s", n.Gateway, n.Prefix)
		}
		checkPortList(d, path+".ports", n.Ports, len(s.Ports), "a subnet has at least one")
		checkPortList(d, path+".flood", n.Flood, len(s.Ports), "")
		checkPortList(d, path+".backup", n.Backup, len(s.Ports), "")
		for j, p := range n.Backup {
			if slices.Contains(n.Ports, p) {
				d.Faultf(fmt.Sprintf("%s.backup[%d]", path, j), "port %d is in ports too: a backup leads to another switch", p)
			}
		}
		for j, p := range n.Ports {
			if first, ok := owner[p]; ok {
				d.Faultf(fmt.Sprintf("%s.ports[%d]", path, j), "port %d belongs to %s already: a port is in one subnet", p, first)
				continue
			}
			owner[p] = n.Prefix
		}
	}
}

func checkRoutes(d *strictyaml.Doc, s *Switch) {
	seen := map[unit.Prefix]bool{}
	for _, n := range s.Subnets {
		seen[n.Prefix] = true
	}
	for i, r := range s.Routes {
		path := fmt.Sprintf("routes[%d]", i)
		if needed(d, path+".prefix", r.Prefix) && seen[r.Prefix] {
			d.Faultf(path+".prefix", "%s is a subnet or a route already", r.Prefix)
		}
		seen[r.Prefix] = true
		checkPortList(d, path+".ports", r.Ports, len(s.Ports), "a route has at least one")
		checkPortList(d, path+".backup", r.Backup, len(s.Ports), "")
		for j, p := range r.Backup {
			if slices.Contains(r.Ports, p) {
				d.Faultf(fmt.Sprintf("%s.backup[%d]", path, j), "port %d is in ports too: a backup is another port", p)
			}
		}
	}
}

// checkRouterID wants an address from which a datagram may come and that no host of a subnet can
// have.
func checkRouterID(d *strictyaml.Doc, s *Switch) {
	if s.RouterID == 0 {
		return
	}
	switch net := s.RouterID >> 24; {
	case net == 0 || net == 127 || net >= 240:
		d.Faultf("router_id", "%s is of a net from which nothing is routed; use an address outside 0.0.0.0/8, 127.0.0.0/8 and 224.0.0.0/3", s.RouterID)
	case len(s.Subnets)+len(s.Routes) == 0:
		d.Faultf("router_id", "%s, and the switch has neither subnets nor routes: it bridges, and says nothing; take it away", s.RouterID)
	}
	for _, n := range s.Subnets {
		if n.Prefix.Contains(s.RouterID.Netip()) && s.RouterID != n.Gateway {
			d.Faultf("router_id", "%s is in the subnet %s, where a host may have it; use its gateway %s, or an address of no subnet", s.RouterID, n.Prefix, n.Gateway)
		}
	}
}

// checkPortList adds the faults of a list of some of n ports; needs says that it may not be empty, "" if it
// may be.
func checkPortList(d *strictyaml.Doc, path string, ports []int, n int, needs string) {
	if len(ports) == 0 && needs != "" {
		d.Faultf(path, "no port: %s of 0 to %d", needs, n-1)
	}
	for i, p := range ports {
		at := fmt.Sprintf("%s[%d]", path, i)
		if d.Within(at, p, 0, n-1) && slices.Contains(ports[:i], p) {
			d.Faultf(at, "port %d is in the list already", p)
		}
	}
}

// needed adds a fault if the value v of the key path is missing, and reports whether it is there.
func needed[T comparable](d *strictyaml.Doc, path string, v T) bool {
	var none T
	if v == none {
		d.Faultf(path, "missing")
	}
	return v != none
}
