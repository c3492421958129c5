package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// ClabFile is a topology file of containerlab, read as containerlab reads it and held by CheckClab to its
// rules: what its manual says of topology files, of kind linux and of links, and what its sources refuse
// (containerlab.dev, manual/topo-def-file, manual/links, nodes/linux). It is written from those rules and
// shares nothing with the package that writes the files. Keys that are not here are faults: containerlab
// knows more, but a lab has no use for them.
type ClabFile struct {
	Path     string `yaml:"-"`
	Name     string `yaml:"name"`
	Topology struct {
		Defaults ClabNode            `yaml:"defaults"`
		Nodes    map[string]ClabNode `yaml:"nodes"`
		Links    []ClabLink          `yaml:"links"`
	} `yaml:"topology"`
}

// ClabNode is a container.
type ClabNode struct {
	Kind            string            `yaml:"kind"`
	Image           string            `yaml:"image"`
	ImagePullPolicy string            `yaml:"image-pull-policy"`
	NetworkMode     string            `yaml:"network-mode"`
	RestartPolicy   string            `yaml:"restart-policy"`
	CapAdd          []string          `yaml:"cap-add"`
	Env             map[string]string `yaml:"env"`
	Cmd             string            `yaml:"cmd"`
	Binds           []string          `yaml:"binds"`
	Exec            []string          `yaml:"exec"`
}

// ClabLink is a link in the long form.
type ClabLink struct {
	Type      string         `yaml:"type"`
	MTU       int            `yaml:"mtu"`
	Endpoints []ClabEndpoint `yaml:"endpoints"`
	Endpoint  ClabEndpoint   `yaml:"endpoint"`
	Remote    string         `yaml:"remote"`
	VNI       int            `yaml:"vni"`
	DstPort   int            `yaml:"dst-port"`
	SrcPort   int            `yaml:"src-port"`
}

// ClabEndpoint is an interface of a container.
type ClabEndpoint struct {
	Node      string `yaml:"node"`
	Interface string `yaml:"interface"`
	MAC       string `yaml:"mac"`
}

// ReadClab reads the topology files below a folder, in the order of their paths.
func ReadClab(dir string) ([]*ClabFile, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.clab.yml"))
	more, err2 := filepath.Glob(filepath.Join(dir, "*", "*.clab.yml"))
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	var files []*ClabFile
	for _, path := range append(paths, more...) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := &ClabFile{Path: path}
		if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no *.clab.yml", dir)
	}
	return files, nil
}

var (
	labName  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)
	nodeName = labName
	mac      = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}$`)
)

// CheckClab is what is wrong with the files of one lab.
func CheckClab(files []*ClabFile) error {
	c := checker{nodes: map[string]*ClabFile{}, used: map[string]bool{}, tunnels: map[int][]tunnel{}}
	for _, f := range files {
		c.file = f
		c.fileRules()
		for name, n := range f.Topology.Nodes {
			c.node(name, n)
		}
		for i, l := range f.Topology.Links {
			c.link(i, l)
		}
	}
	for vni, ends := range c.tunnels {
		switch {
		case len(ends) != 2:
			c.faultf("vni %d: %d ends, want 2", vni, len(ends))
		case ends[0].file == ends[1].file || ends[0].remote == ends[1].remote || ends[0].MTU != ends[1].MTU || ends[0].DstPort != ends[1].DstPort:
			c.faultf("vni %d: the ends %+v and %+v do not fit together", vni, ends[0].ClabLink, ends[1].ClabLink)
		}
	}
	return errors.Join(c.faults...)
}

type checker struct {
	file    *ClabFile
	faults  []error
	nodes   map[string]*ClabFile
	used    map[string]bool // node:interface
	tunnels map[int][]tunnel
}

type tunnel struct {
	ClabLink
	file   *ClabFile
	remote netip.Addr
}

func (c *checker) faultf(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(c.file.Path+": "+format, args...))
}

func (c *checker) fileRules() {
	d := c.file.Topology.Defaults
	if !labName.MatchString(c.file.Name) {
		c.faultf("name %q", c.file.Name)
	}
	for key, pair := range map[string][2]string{
		"kind": {d.Kind, "linux"},
		// Without this it is pulled, and there is none to pull.
		"image-pull-policy": {d.ImagePullPolicy, "Never"},
		// A management network is a bridge, which takes PFC away.
		"network-mode": {d.NetworkMode, "none"},
		// A container that is started again has no links.
		"restart-policy": {d.RestartPolicy, "no"},
	} {
		if pair[0] != pair[1] {
			c.faultf("defaults: %s %q, want %q", key, pair[0], pair[1])
		}
	}
	if d.Image == "" || !slices.Contains(d.CapAdd, "NET_ADMIN") || !slices.Contains(d.CapAdd, "NET_RAW") {
		c.faultf("defaults: image %q, cap-add %q", d.Image, d.CapAdd)
	}
	if len(c.file.Topology.Nodes) == 0 {
		c.faultf("no nodes")
	}
}

func (c *checker) node(name string, n ClabNode) {
	if other := c.nodes[name]; other != nil {
		c.faultf("node %s is in %s too", name, other.Path)
	}
	c.nodes[name] = c.file
	if !nodeName.MatchString(name) || len("clab-"+c.file.Name+"-"+name) > 63 { // a container's host name
		c.faultf("node %q", name)
	}
	if n.Kind == "bridge" || n.Kind == "ovs-bridge" || n.NetworkMode != "" {
		c.faultf("node %s: kind %q, network-mode %q", name, n.Kind, n.NetworkMode)
	}
	if !strings.Contains(n.Cmd, "--wait ") { // the container is there before its links
		c.faultf("node %s: cmd %q does not wait", name, n.Cmd)
	}
	for _, b := range n.Binds {
		parts := strings.Split(b, ":")
		if len(parts) < 2 || !filepath.IsAbs(parts[1]) {
			c.faultf("node %s: bind %q", name, b)
			continue
		}
		// A relative source is relative to the topology file.
		if _, err := os.Stat(filepath.Join(filepath.Dir(c.file.Path), parts[0])); err != nil {
			c.faultf("node %s: %v", name, err)
		}
	}
}

func (c *checker) link(i int, l ClabLink) {
	if l.MTU < 68 || l.MTU > 65535 { // the usual one is 9500
		c.faultf("link %d: mtu %d", i, l.MTU)
	}
	switch l.Type {
	case "veth":
		if len(l.Endpoints) != 2 || l.Endpoint != (ClabEndpoint{}) || l.Remote != "" || l.VNI != 0 || l.DstPort != 0 || l.SrcPort != 0 {
			c.faultf("link %d: veth %+v", i, l)
		}
		for _, e := range l.Endpoints {
			c.endpoint(i, e)
		}
	case "vxlan":
		remote, err := netip.ParseAddr(l.Remote)
		if err != nil || l.VNI < 1 || l.VNI >= 1<<24 || l.DstPort < 1 || l.DstPort > 65535 || len(l.Endpoints) > 0 {
			c.faultf("link %d: vxlan %+v: %v", i, l, err)
		}
		// Unless the source port is pinned it is a hash of the frame, and order is lost.
		if l.SrcPort < 1 || l.SrcPort > 65535 {
			c.faultf("link %d: src-port %d", i, l.SrcPort)
		}
		c.endpoint(i, l.Endpoint)
		c.tunnels[l.VNI] = append(c.tunnels[l.VNI], tunnel{l, c.file, remote})
	default:
		c.faultf("link %d: type %q", i, l.Type)
	}
}

func (c *checker) endpoint(i int, e ClabEndpoint) {
	if _, ok := c.file.Topology.Nodes[e.Node]; !ok {
		c.faultf("link %d: node %q is not in this file", i, e.Node)
	}
	at := e.Node + ":" + e.Interface
	if c.used[at] || len(e.Interface) < 1 || len(e.Interface) > 15 || strings.ContainsAny(e.Interface, "/: \t") || !mac.MatchString(e.MAC) {
		c.faultf("link %d: %s, mac %q, is there twice or no interface", i, at, e.MAC)
	}
	c.used[at] = true
}
