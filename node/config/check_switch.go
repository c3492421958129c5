package config

import (
	"cmp"
	"fmt"
	"maps"
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
	choice(d, "trust", s.Trust, "dscp", "pcp")
	for _, dscp := range slices.Sorted(maps.Keys(s.DSCPMap)) {
		path := fmt.Sprintf("dscp_map.%d", dscp)
		within(d, path, dscp, 0, 63)
		within(d, path, s.DSCPMap[dscp], 0, unit.Priorities-1)
	}
	if s.Delay != "" {
		value(d, "delay", s.Delay, ParseTime)
	}
	checkPFC(d, s.PFC, s.Ports)
	warnings = checkBuffer(d, &s.Buffer, CheckMTU(d, "mtu", s.MTU))
	checkPrevention(d, s)
	warnings = append(warnings, checkECN(d, s)...)
	for _, c := range slices.Sorted(maps.Keys(s.Sched)) {
		checkSched(d, fmt.Sprintf("scheduler.%d", c), c, s.Sched[c])
	}
	checkSubnets(d, s)
	checkRoutes(d, s)
	checkRouterID(d, s)
	for i, a := range s.ARP {
		value(d, fmt.Sprintf("arp[%d].ip", i), a.IP, ParseAddr)
		value(d, fmt.Sprintf("arp[%d].mac", i), a.MAC, ParseMAC)
	}
	for i, m := range s.MAC {
		value(d, fmt.Sprintf("mac[%d].mac", i), m.MAC, ParseMAC)
		within(d, fmt.Sprintf("mac[%d].port", i), m.Port, 0, len(s.Ports)-1)
	}
	checkLive(d, s.Live)
	if d.Err() == nil {
		warnings = append(warnHeadroom(d, s), warnings...)
	}
	return warnings
}

// checkAuth checks which ports authenticate their far end.
func checkAuth(d *strictyaml.Doc, ports []Port) {
	for i, p := range ports {
		path := fmt.Sprintf("ports[%d]", i)
		mode, err := auth.ParseMode(cmp.Or(p.Auth, "off"))
		fault(d, path+".auth", err)
		switch {
		case err != nil:
		case mode == auth.Off && p.Link != "":
			d.Faultf(path+".link", "%q names keys, and auth is off; take it away, or write auth: strict", p.Link)
		case mode == auth.Off:
		case p.Peer == "host":
			d.Faultf(path+".auth", "%q, and its peer is a host, which says nothing but pauses; use off", p.Auth)
		case p.Link == "" || strings.ContainsAny(p.Link, " \t\r\n#"):
			d.Faultf(path+".link", "%q is no name of a link; write one that both ends have, such as \"s1--s2\", without blanks and #", p.Link)
		}
	}
}

func checkLive(d *strictyaml.Doc, l Live) {
	if l.LogRefreshes != "" {
		choice(d, "live.log_refreshes", l.LogRefreshes, "all", LogCounted)
	}
	if d.Has("live.log_limit_mib") {
		CheckLogLimit(d, "live.log_limit_mib", l.LogLimit)
	}
	if l.Metrics != "" {
		_, _, err := ParseListen(l.Metrics)
		fault(d, "live.metrics", err)
	}
}

// CheckLogLimit adds a fault if an event log cannot have this number of MiB.
func CheckLogLimit(d *strictyaml.Doc, path string, mib int) {
	within(d, path, mib, 1, LogLimitMax)
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
	if p.MAC != "" {
		value(d, path+".mac", p.MAC, ParseMAC)
	}
	if p.PeerMAC != "" {
		value(d, path+".peer_mac", p.PeerMAC, ParseMAC)
	}
	choice(d, path+".peer", p.Peer, "switch", "host")
	value(d, path+".rate", p.Rate, ParseRate)
	if p.XOFF != nil {
		within(d, path+".xoff", *p.XOFF, 0, 1<<30)
	}
	if p.Pause != "" {
		choice(d, path+".pause", p.Pause, "ignore", "heed")
	}
	checkWire(d, path+".wire", p.Wire)
}

func checkInterface(d *strictyaml.Doc, path, name string) {
	if name == "" || len(name) > maxInterfaceName || strings.ContainsAny(name, "/: \t\n\x00") || name == "." || name == ".." {
		d.Faultf(path, "%q is not an interface's name: 1 to %d characters without space, slash and colon", name, maxInterfaceName)
	}
}

func checkPFC(d *strictyaml.Doc, p PFC, ports []Port) {
	checkClasses(d, "pfc.lossless", p.Lossless)
	quanta := within(d, "pfc.quanta", p.Quanta, 1, 65535)
	refresh, ok := value(d, "pfc.refresh", p.Refresh, ParseTime)
	value(d, "pfc.storm_budget", p.StormBudget, ParseTime)
	choice(d, "pfc.pause", p.Pause, "ignore", "heed")
	checkResponse(d, p, ports)
	if !quanta || !ok {
		return
	}
	if pause := shortestPause(p.Quanta, ports); refresh == 0 || refresh >= pause {
		d.Faultf("pfc.refresh", "%q: a pause of %d quanta lasts %s at the fastest port, so refresh it after more than 0s and less than that",
			p.Refresh, p.Quanta, FormatTime(pause))
	}
}

func checkClasses(d *strictyaml.Doc, path string, classes []int) {
	var seen unit.ClassSet
	for i, c := range classes {
		path := fmt.Sprintf("%s[%d]", path, i)
		if !within(d, path, c, 0, unit.Priorities-1) {
			continue
		}
		if seen.Has(unit.Priority(c)) {
			d.Faultf(path, "class %d is in the list already", c)
		}
		seen.Add(unit.Priority(c))
	}
}

func checkSched(d *strictyaml.Doc, path string, class int, s Sched) {
	within(d, path, class, 0, unit.Priorities-1)
	if !choice(d, path+".type", s.Type, "strict", "dwrr") {
		return
	}
	if s.Type == "dwrr" {
		within(d, path+".weight", s.Weight, 1, 100)
	} else if s.Weight != 0 {
		d.Faultf(path+".weight", "%d: a strict class has no weight; remove it or choose type dwrr", s.Weight)
	}
}

func checkSubnets(d *strictyaml.Doc, s *Switch) {
	owner, seen := map[int]string{}, map[string]bool{}
	for i, n := range s.Subnets {
		path := fmt.Sprintf("subnets[%d]", i)
		net, bits, err := ParsePrefix(n.Prefix)
		fault(d, path+".prefix", err)
		if err == nil && seen[n.Prefix] {
			d.Faultf(path+".prefix", "%q is given twice", n.Prefix)
		}
		seen[n.Prefix] = true
		gateway, ok := value(d, path+".gateway", n.Gateway, ParseAddr)
		if ok && err == nil && !inPrefix(gateway, net, bits) {
			d.Faultf(path+".gateway", "%q is not in %s", n.Gateway, n.Prefix)
		}
		checkPortList(d, path+".ports", n.Ports, len(s.Ports))
		if len(n.Ports) == 0 {
			d.Faultf(path+".ports", "no port: a subnet has at least one of 0 to %d", len(s.Ports)-1)
		}
		checkPortList(d, path+".flood", n.Flood, len(s.Ports))
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
	seen := map[string]bool{}
	for _, n := range s.Subnets {
		seen[n.Prefix] = true
	}
	for i, r := range s.Routes {
		path := fmt.Sprintf("routes[%d]", i)
		_, _, err := ParsePrefix(r.Prefix)
		fault(d, path+".prefix", err)
		if err == nil && seen[r.Prefix] {
			d.Faultf(path+".prefix", "%q is a subnet or a route already", r.Prefix)
		}
		seen[r.Prefix] = true
		if len(r.Ports) == 0 {
			d.Faultf(path+".ports", "no port: a route has at least one of 0 to %d", len(s.Ports)-1)
		}
		checkPortList(d, path+".ports", r.Ports, len(s.Ports))
		checkPortList(d, path+".backup", r.Backup, len(s.Ports))
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
	if s.RouterID == "" {
		return
	}
	id, ok := value(d, "router_id", s.RouterID, ParseAddr)
	switch net := id >> 24; {
	case !ok:
		return
	case net == 0 || net == 127 || net >= 240:
		d.Faultf("router_id", "%q is of a net from which nothing is routed; use an address outside 0.0.0.0/8, 127.0.0.0/8 and 224.0.0.0/3", s.RouterID)
	case len(s.Subnets)+len(s.Routes) == 0:
		d.Faultf("router_id", "%q, and the switch has neither subnets nor routes: it bridges, and says nothing; take it away", s.RouterID)
	}
	for _, n := range s.Subnets {
		if net, bits, err := ParsePrefix(n.Prefix); err == nil && inPrefix(id, net, bits) && s.RouterID != n.Gateway {
			d.Faultf("router_id", "%q is in the subnet %s, where a host may have it; use its gateway %s, or an address of no subnet", s.RouterID, n.Prefix, n.Gateway)
		}
	}
}

func checkPortList(d *strictyaml.Doc, path string, ports []int, n int) {
	for i, p := range ports {
		at := fmt.Sprintf("%s[%d]", path, i)
		if within(d, at, p, 0, n-1) && slices.Contains(ports[:i], p) {
			d.Faultf(at, "port %d is in the list already", p)
		}
	}
}

func inPrefix(a, net uint32, bits int) bool { return (a^net)>>(32-bits) == 0 }

// fault adds err, unless nil, at the key path.
func fault(d *strictyaml.Doc, path string, err error) {
	if err != nil {
		d.Faultf(path, "%v", err)
	}
}

// value parses the value s of the key path.
func value[T any](d *strictyaml.Doc, path, s string, parse func(string) (T, error)) (T, bool) {
	v, err := parse(s)
	fault(d, path, err)
	return v, err == nil
}

func within(d *strictyaml.Doc, path string, n, lo, hi int) bool {
	if n < lo || n > hi {
		d.Faultf(path, "%d: use %d to %d", n, lo, hi)
		return false
	}
	return true
}

func choice(d *strictyaml.Doc, path, s string, valid ...string) bool {
	if !slices.Contains(valid, s) {
		d.Faultf(path, "%q%s; use %s", s, strictyaml.DidYouMean(s, valid), strings.Join(valid, ", "))
		return false
	}
	return true
}
