package lab

import (
	"os"
	"path/filepath"
	"slices"

	netnslab "softswitch/netns-lab"
	"softswitch/scenario"
	"softswitch/scenario/config"
	"softswitch/topo"
)

// Files of a node, in its run directory: its control socket, its event log and its
// configuration.
const (
	ControlName = "control.sock"
	EventsName  = "events.jsonl"
	configName  = "config.yaml"
)

// stackName is the interface for programs of a host with a NIC.
const stackName = "nic0"

// Options of a lab.
type Options struct {
	Name     string // of the lab; "" is netnslab.DefaultName
	Program  string // absolute path of the softswitch program that the nodes run
	PcapDir  string // absolute; "" for no captures
	Dir      string // of sockets and logs; "" for each node's run directory
	Instance string // distinguishes this lab from an earlier one of the same plan
}

// DescribeHere is Describe for the program that calls it, which the nodes run. It makes the
// directory for captures, which need not be absolute.
func DescribeHere(p *scenario.Plan, opt Options) (desc netnslab.Lab, err error) {
	if opt.Program, err = os.Executable(); err != nil {
		return desc, err
	}
	if opt.PcapDir != "" {
		if opt.PcapDir, err = filepath.Abs(opt.PcapDir); err != nil {
			return desc, err
		}
		if err := os.MkdirAll(opt.PcapDir, 0o755); err != nil {
			return desc, err
		}
	}
	return Describe(p, opt), nil
}

// Describe turns a plan into namespaces, links and processes.
func Describe(p *scenario.Plan, opt Options) netnslab.Lab {
	lab := netnslab.Lab{Name: opt.Name}
	for _, s := range p.Switches {
		s.Live = config.Live{Control: filepath.Join(opt.Dir, ControlName), Events: filepath.Join(opt.Dir, EventsName)}
		if opt.PcapDir != "" {
			s.Live.Pcap = filepath.Join(opt.PcapDir, s.Name+".pcapng")
		}
		lab.Nodes = append(lab.Nodes, node(s.Name, "switch", opt, []string{"run", "-c", configName}, s.Marshal()))
	}
	for i, h := range p.Hosts {
		h.Live = config.Live{Control: filepath.Join(opt.Dir, ControlName), Events: filepath.Join(opt.Dir, EventsName)}
		if isNIC(p, len(p.Switches)+i) {
			h.Stack = stackName
			lab.Nodes = append(lab.Nodes, node(h.Name, "host", opt, []string{"nic", "-c", configName}, h.Marshal()))
			continue
		}
		n := node(h.Name, "host", opt, []string{"host", "-c", configName}, h.Marshal())
		n.Addresses = []netnslab.Address{{Iface: h.Port.Name, CIDR: h.Address}}
		n.Routes = []netnslab.Route{{Dst: "default", Via: h.Gateway}}
		lab.Nodes = append(lab.Nodes, n)
	}
	for _, l := range p.Links {
		lab.Links = append(lab.Links, netnslab.Link{A: end(p, l.A), B: end(p, l.B), MTU: p.Scenario.MTU})
	}
	return lab
}

func node(name, kind string, opt Options, args []string, cfg []byte) netnslab.Node {
	n := netnslab.Node{
		Name: name, Kind: kind,
		Command: append([]string{opt.Program}, args...),
		// One processor per node: a fabric has more nodes than the machine has cores,
		// and with one the runtime never spins in search of work.
		Env:   []string{"GOMAXPROCS=1"},
		Files: []netnslab.File{{Path: configName, Data: cfg}},
		// A switch that waits for a processor for longer than its headroom lasts loses
		// lossless frames; a hardware switch never would.
		Realtime: true,
		Ready:    ControlName,
	}
	if opt.Instance != "" {
		n.Env = append(n.Env, "SOFTSWITCH_INSTANCE="+opt.Instance)
	}
	return n
}

// isNIC reports whether node is a host with a NIC for programs.
func isNIC(p *scenario.Plan, node int) bool { return slices.Contains(p.Scenario.NICs, node) }

// end is one end of a link. A switch's interface does not get its port's MAC address
// but a similar one: the kernel's stack in that namespace then ignores the frames that
// the switch forwards at once, which saves a route look-up per frame. A NIC's does the
// same: the port's address belongs to the interface for programs.
func end(p *scenario.Plan, e scenario.LinkEnd) netnslab.End {
	mac := e.MAC
	if p.Fabric.Nodes[e.Node].Kind == topo.Switch || isNIC(p, e.Node) {
		m, err := config.ParseMAC(mac)
		if err != nil {
			panic("lab: " + err.Error())
		}
		mac = config.FormatMAC(m ^ besidePort)
	}
	return netnslab.End{Node: e.Name, Iface: e.Iface, MAC: mac}
}

// besidePort is the bit in which the addresses of a port and its interface differ.
const besidePort = 0x04 << 40
