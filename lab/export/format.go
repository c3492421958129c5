package export

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	netnslab "softswitch/netns-lab"
)

// document is a topology file of containerlab (containerlab.dev/manual/topo-def-file), with
// what a lab needs of it.
type document struct {
	Name     string `yaml:"name"`
	Topology struct {
		Defaults defaults      `yaml:"defaults"`
		Nodes    yaml.MapSlice `yaml:"nodes"` // of node, in the order of the lab
		Links    []link        `yaml:"links"`
	} `yaml:"topology"`
}

type defaults struct {
	Kind            string            `yaml:"kind"`
	Image           string            `yaml:"image"`
	ImagePullPolicy string            `yaml:"image-pull-policy"`
	NetworkMode     string            `yaml:"network-mode"`
	RestartPolicy   string            `yaml:"restart-policy"`
	CapAdd          []string          `yaml:"cap-add"`
	Env             map[string]string `yaml:"env"`
}

type node struct {
	Cmd   string   `yaml:"cmd"`
	Binds []string `yaml:"binds"`
	Exec  []string `yaml:"exec,omitempty"`
}

type link struct {
	Type string `yaml:"type"` // "veth" with Endpoints, or "vxlan" with the keys behind them
	MTU  int    `yaml:"mtu"`

	Endpoints []endpoint `yaml:"endpoints,omitempty"`

	Endpoint *endpoint `yaml:"endpoint,omitempty"`
	Remote   string    `yaml:"remote,omitempty"`
	VNI      int       `yaml:"vni,omitempty"`
	DstPort  int       `yaml:"dst-port,omitempty"`
	SrcPort  int       `yaml:"src-port,omitempty"`
}

type endpoint struct {
	Node      string `yaml:"node"`
	Interface string `yaml:"interface"`
	MAC       string `yaml:"mac"`
}

// configured is where a container has its configuration.
const configured = "/etc/softswitch.yaml"

// wait is how long a container waits for its links, which come after it: those of another
// machine when somebody deploys them there.
const wait = "10m"

// topology is the file of one machine. at is the machine of each node.
func topology(l netnslab.Lab, opt Options, at []int, machine int) document {
	d := document{Name: l.Name}
	d.Topology.Defaults = defaults{
		Kind: "linux", Image: opt.Image,
		// The image is made here and is in no registry.
		ImagePullPolicy: "Never",
		// Ports that carry PFC are links of the lab alone.
		NetworkMode: "none",
		// A container that is started again has lost its links.
		RestartPolicy: "no",
		CapAdd:        []string{"NET_ADMIN", "NET_RAW", "SYS_NICE"},
		Env:           map[string]string{"GOMAXPROCS": "1"},
	}
	place := map[string]int{}
	for i, n := range l.Nodes {
		place[n.Name] = at[i]
		if at[i] != machine {
			continue
		}
		// A node's command is PROGRAM run|host -c FILE; the image's entry point is PROGRAM.
		c := node{
			Cmd:   strings.Join([]string{n.Command[1], "-c", configured, "--wait", wait}, " "),
			Binds: []string{fmt.Sprintf("nodes/%s.yaml:%s:ro", n.Name, configured)},
		}
		if len(n.Files) > 1 {
			c.Binds = append(c.Binds, fmt.Sprintf("nodes/%s%s:%s:ro", n.Name, secret, Keys))
		}
		for _, a := range n.Addresses {
			c.Exec = append(c.Exec, fmt.Sprintf("ip address add %s dev %s", a.CIDR, a.Iface))
		}
		for _, r := range n.Routes {
			c.Exec = append(c.Exec, fmt.Sprintf("ip route add %s via %s", r.Dst, r.Via))
		}
		d.Topology.Nodes = append(d.Topology.Nodes, yaml.MapItem{Key: n.Name, Value: c})
	}
	for i, k := range l.Links {
		a, b := end(k.A), end(k.B)
		switch {
		case place[a.Node] == machine && place[b.Node] == machine:
			d.Topology.Links = append(d.Topology.Links, link{Type: "veth", MTU: k.MTU, Endpoints: []endpoint{a, b}})
			continue
		case place[b.Node] == machine:
			a, b = b, a
		case place[a.Node] != machine:
			continue
		}
		d.Topology.Links = append(d.Topology.Links, link{
			Type: "vxlan", MTU: k.MTU, Endpoint: &a, Remote: opt.Machines[place[b.Node]].Address.String(),
			VNI: vxlanFirst + i, DstPort: vxlanPort, SrcPort: vxlanPort,
		})
	}
	return d
}

func end(e netnslab.End) endpoint { return endpoint{e.Node, e.Iface, e.MAC} }
