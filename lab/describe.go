package lab

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"softswitch/internal/safefile"
	"softswitch/link/auth"
	"softswitch/link/impair"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// Files of a node, in its run directory: its control socket, its event log and its
// configuration.
const (
	ControlName = "control.sock"
	EventsName  = "events.jsonl"
	configName  = "config.yaml"
	keysName    = "keys.txt"
)

// stackName is the interface for programs of a host with a NIC.
const stackName = "nic0"

// nicCommand is the command of a host with a NIC.
const nicCommand = "nic"

// Options are the settings of a lab.
type Options struct {
	Name     string // of the lab; "" is netnslab.DefaultName
	Program  string // absolute path of the softswitch program that the nodes run
	PcapDir  string // absolute; "" for no captures
	Dir      string // of sockets and logs; "" for each node's run directory
	KeysPath string // of a switch's file of keys; "" for one in its run directory
	Instance string // distinguishes this lab from an earlier one of the same plan
	OneClock bool   // says that all nodes run on this machine
	Seed     uint32 // of the wires' random numbers; 0 is 1, as of a simulation that names none
	Sharing
}

// DescribeHere is Describe for the program that calls it, which the nodes run on this machine. It makes the
// directory for captures, which need not be absolute.
func DescribeHere(p *scenario.Plan, opt Options) (desc netnslab.Lab, err error) {
	if opt.Program, err = os.Executable(); err != nil {
		return desc, err
	}
	opt.OneClock = true
	if opt.PcapDir != "" {
		if opt.PcapDir, err = filepath.Abs(opt.PcapDir); err != nil {
			return desc, err
		}
		if err := safefile.MkdirAll(opt.PcapDir, 0o755); err != nil {
			return desc, err
		}
	}
	return Describe(p, opt), nil
}

// Describe turns a plan into namespaces, links and processes.
func Describe(p *scenario.Plan, opt Options) netnslab.Lab {
	lab := netnslab.Lab{Name: opt.Name}
	keys := newKeys(p)
	for i, s := range p.Switches {
		s.Ports, s.Delay = wires(p, i, s.Ports, opt.Seed), delay(p)
		s.Live = liveOf(p, opt)
		if opt.PcapDir != "" {
			s.Live.Pcap = filepath.Join(opt.PcapDir, s.Name+".pcapng")
		}
		own := keysOf(s, keys)
		if own != nil {
			s.Live.Keys = cmp.Or(opt.KeysPath, keysName)
		}
		n := node(s.Name, "switch", opt, []string{"run", "-c", configName}, s.Marshal())
		if own != nil {
			n.Files = append(n.Files, netnslab.File{Path: keysName, Data: own, Secret: true})
		}
		lab.Nodes = append(lab.Nodes, n)
	}
	for i, h := range p.Hosts {
		played := wires(p, len(p.Switches)+i, h.Ports(), opt.Seed)
		if h.NICs = slices.Clone(h.NICs); len(h.NICs) == 0 {
			h.Port = played[0]
		}
		for j := range h.NICs {
			h.NICs[j].Port = played[j]
		}
		h.Live = liveOf(p, opt)
		if isNIC(p, len(p.Switches)+i) {
			h.Stack = stackName
			lab.Nodes = append(lab.Nodes, node(h.Name, "host", opt, []string{nicCommand, "-c", configName}, h.Marshal()))
			continue
		}
		n := node(h.Name, "host", opt, []string{"host", "-c", configName}, h.Marshal())
		for _, nic := range h.All() {
			n.Addresses = append(n.Addresses, netnslab.Address{Iface: nic.Name, CIDR: nic.Address.String()})
		}
		n.Routes = []netnslab.Route{{Dst: "default", Via: h.All()[0].Gateway.String()}}
		lab.Nodes = append(lab.Nodes, n)
	}
	share(&lab, opt)
	for _, l := range p.Links {
		lab.Links = append(lab.Links, netnslab.Link{A: end(p, l.A), B: end(p, l.B), MTU: p.Scenario.MTU})
	}
	return lab
}

// liveOf is what all nodes of a lab have in common.
func liveOf(p *scenario.Plan, opt Options) config.Live {
	l := config.Live{Control: filepath.Join(opt.Dir, ControlName), Events: filepath.Join(opt.Dir, EventsName), LogLimit: p.Scenario.LogLimit}
	if opt.OneClock {
		l.LogRefreshes = config.LogCounted
	}
	return l
}

// newKeys are new keys of the links that are authenticated: those of each lab are its own.
func newKeys(p *scenario.Plan) auth.Keys {
	keys := auth.Keys{}
	for _, s := range p.Switches {
		for _, port := range s.Ports {
			if port.Link != "" && keys[port.Link] == nil {
				keys[port.Link] = []auth.Key{newKey()}
			}
		}
	}
	return keys
}

func newKey() (k auth.Key) {
	rand.Read(k[:])
	return k
}

// keysOf is the file of keys of a switch, nil if it needs none.
func keysOf(s config.Switch, all auth.Keys) (file []byte) {
	for _, port := range s.Ports {
		if port.Link != "" {
			file = append(file, auth.Keys{port.Link: all[port.Link]}.File()...)
		}
	}
	return file
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
	n.Env = append(n.Env, instance(opt)...)
	return n
}

// share makes nodes share processes. A NIC has its own: it serves programs in its namespace.
func share(lab *netnslab.Lab, opt Options) {
	if opt.PerProcess < 2 {
		return
	}
	var nodes []*netnslab.Node
	for i := range lab.Nodes {
		if n := &lab.Nodes[i]; n.Command[1] != nicCommand {
			nodes = append(nodes, n)
		}
	}
	for some := range slices.Chunk(nodes, opt.PerProcess) {
		command := append([]string{opt.Program}, netnslab.HostingWords...)
		if opt.Poll {
			command = append(command, "--poll")
		}
		lab.Hosting = append(lab.Hosting, netnslab.Hosting{Command: command, Env: instance(opt), Realtime: !opt.Poll})
		for _, n := range some {
			n.Hosting = len(lab.Hosting)
		}
	}
	// With one processor a port that is always busy would keep the Go runtime from looking at
	// the others.
	for i := range lab.Hosting {
		cores := max(2, runtime.GOMAXPROCS(0)/len(lab.Hosting))
		lab.Hosting[i].Env = append(lab.Hosting[i].Env, fmt.Sprintf("GOMAXPROCS=%d", cores))
	}
}

// wires is a node's ports, with the faults of their links that a live wire plays.
func wires(p *scenario.Plan, node int, ports []config.Port, seed uint32) []config.Port {
	ports = slices.Clone(ports)
	for j, port := range p.Fabric.Nodes[node].Ports {
		if f := p.Scenario.Links[port.Link].Live(); f.Any() {
			w := config.WireOf(f)
			w.Seed, w.Stream = cmp.Or(seed, 1), uint32(impair.Stream(port.Peer.Node, unit.Port(port.Peer.Port)))
			ports[j].Wire = &w
		}
	}
	return ports
}

// delay is the longest of any link between switches that is played.
func delay(p *scenario.Plan) (longest unit.Time) {
	for _, l := range p.Links {
		if nodes := p.Fabric.Nodes; nodes[l.A.Node].Kind == topo.Switch && nodes[l.B.Node].Kind == topo.Switch {
			f := l.Live()
			longest = max(longest, f.Delay+f.Jitter)
		}
	}
	return longest
}

// instance is the environment that distinguishes labs of the same plan.
func instance(opt Options) []string {
	if opt.Instance == "" {
		return nil
	}
	return []string{"SOFTSWITCH_INSTANCE=" + opt.Instance}
}

// isNIC reports whether node is a host with a NIC for programs.
func isNIC(p *scenario.Plan, node int) bool { return p.Scenario.HasNIC(node) }

// end is one end of a link. A switch's interface does not get its port's MAC address
// but a similar one: the kernel's stack in that namespace then ignores the frames that
// the switch forwards at once, which saves a route look-up per frame. A NIC's does the
// same: the port's address belongs to the interface for programs.
func end(p *scenario.Plan, e scenario.LinkEnd) netnslab.End {
	mac := e.MAC
	if p.Fabric.Nodes[e.Node].Kind == topo.Switch || isNIC(p, e.Node) {
		mac = InterfaceMAC(mac)
	}
	return netnslab.End{Node: e.Name, Iface: e.Iface, MAC: mac.String()}
}

// PortMAC is the address of a switch's port, whose interface has the other one.
func PortMAC(iface unit.MAC) unit.MAC { return iface ^ besidePort }

// InterfaceMAC is the address of the interface of a switch's port with this one.
func InterfaceMAC(port unit.MAC) unit.MAC { return port ^ besidePort }

// besidePort is the bit in which the addresses of a port and its interface differ.
const besidePort = 0x04 << 40
