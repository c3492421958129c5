// Package export writes a lab as files of containerlab (containerlab.dev), for one machine or
// for several.
//
//	netnslab.Lab --Place--> which node is on which machine
//	             --Write--> DIR/MACHINE/LAB.clab.yml    nodes as containers, and their links
//	                        DIR/MACHINE/nodes/NODE.yaml the configuration of each
//	                        DIR/nodes.yaml              how each is reached, for "lab attach"
//	                        DIR/scenario.yaml           what the lab was made of
//	                        DIR/README.md               what to do with them
//
// A link between two nodes of a machine is a veth. One between machines is a VXLAN device at
// each end: it carries PFC, which a bridge takes away (IEEE 802.1Q, table 8-1). Its outer UDP
// source port is pinned, because detectors assume links that keep the order.
//
// Read in this order: Options and Write (this file), Place (place.go), the files' format
// (format.go).
//
// Invariants:
//   - a host is on the machine of its switch;
//   - the same lab gives the same files;
//   - the folder is there with all of its files, or not at all.
//
// What it does not do: it starts nothing, and does not look at the machines.
package export

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml"

	"softswitch/internal/safefile"
	netnslab "softswitch/netns-lab"
	"softswitch/scenario/load"
)

// Options are what the files depend on in addition to the lab.
type Options struct {
	Image string // of softswitch, such as softswitch:latest
	// Machines are those that the lab is divided among; with less than two it is on one.
	Machines []Machine
	// UnderlayMTU is that of the network between machines, in bytes.
	UnderlayMTU int
	// Scenario is the content of the file that the lab was made of, Instead what it was made
	// with instead of what that says.
	Scenario []byte
	Instead  load.Instead
}

// Machine is a machine of the lab.
type Machine struct {
	Name    string
	Address netip.Addr // at which the others reach it
}

// Machines reads "a=192.0.2.1,b=192.0.2.2".
func Machines(text string) (machines []Machine, err error) {
	if text == "" {
		return nil, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		name, address, _ := strings.Cut(one, "=")
		m := Machine{Name: name}
		if m.Address, err = netip.ParseAddr(address); err != nil || !plain.MatchString(name) {
			return nil, fmt.Errorf("--machines: %q; valid: NAME=ADDRESS,..., such as a=192.0.2.1,b=192.0.2.2", one)
		}
		for _, other := range machines {
			if other.Name == name || other.Address == m.Address {
				return nil, fmt.Errorf("--machines: %q: %s=%s is there already", one, other.Name, other.Address)
			}
			if other.Address.Is4() != m.Address.Is4() {
				return nil, fmt.Errorf("--machines: %q: %s is of another version of IP", one, other.Address)
			}
		}
		machines = append(machines, m)
	}
	if len(machines) < 2 {
		return nil, fmt.Errorf("--machines: %q: one machine needs no name; valid: two or more", text)
	}
	return machines, nil
}

// plain is what containerlab and Docker take as a part of a name.
var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// Dir is where Write expects the nodes' sockets and logs to be, for lab.Options.
const Dir = "/run"

// Keys is where a container has its file of keys, for lab.Options.
const Keys = "/etc/softswitch.keys"

// secret is the end of the names of files of keys.
const secret = ".keys"

// Ports and the first network identifier of VXLAN links. containerlab's usual port, for 4789
// may belong to another overlay.
const (
	vxlanPort  = 14789
	vxlanFirst = 1001
)

// overhead is by how much VXLAN makes a packet longer: outer IP and UDP headers, its own,
// and the Ethernet header of the frame within.
func overhead(a netip.Addr) int {
	if a.Is4() {
		return 20 + 8 + 8 + 14
	}
	return 40 + 8 + 8 + 14
}

// Write makes the folder dir, which must not be there, of a lab.
func Write(dir string, l netnslab.Lab, opt Options) error {
	var all map[string][]byte
	err := check(l, opt)
	if err == nil {
		all, err = files(l, opt)
	}
	if err == nil {
		err = safefile.CreateDir(dir, func(making string) error { return put(making, all) })
	}
	if err != nil {
		return fmt.Errorf("lab export: %w", err)
	}
	return nil
}

func check(l netnslab.Lab, opt Options) error {
	if !plain.MatchString(l.Name) {
		return fmt.Errorf("name %q; valid: letters, digits, _, . and -, the first no sign", l.Name)
	}
	if opt.Image == "" {
		return errors.New(`--image: ""; valid: an image of softswitch, such as softswitch:latest`)
	}
	for _, n := range l.Nodes {
		if !plain.MatchString(n.Name) {
			return fmt.Errorf("node %q; valid for a container: letters, digits, _, . and -, the first no sign", n.Name)
		}
		if len(n.Command) > 1 && n.Command[1] == "nic" {
			return fmt.Errorf("node %s has a NIC for programs, which run beside it: containers of softswitch have none", n.Name)
		}
	}
	if len(opt.Machines) < 2 {
		return nil
	}
	for _, k := range l.Links {
		if want := k.MTU + overhead(opt.Machines[0].Address); opt.UnderlayMTU < want {
			return fmt.Errorf("--underlay-mtu %d: VXLAN carries packets of %d bytes in packets of %d: the network between the machines needs an MTU of %[3]d", opt.UnderlayMTU, k.MTU, want)
		}
	}
	return nil
}

//go:embed README.md
var readmeText string

var readme = template.Must(template.New("README.md").Parse(readmeText))

// files are those of the folder, by their paths.
func files(l netnslab.Lab, opt Options) (map[string][]byte, error) {
	machines := opt.Machines
	if len(machines) == 0 {
		machines = []Machine{{}}
	}
	at := Place(l, len(machines))
	for i, m := range machines {
		if !slices.Contains(at, i) {
			return nil, fmt.Errorf("--machines: there is no switch for %s: use fewer machines", m.Name)
		}
	}
	all := map[string][]byte{}
	type machine struct {
		Machine
		File string
	}
	var said []machine
	for i, m := range machines {
		text, err := yaml.Marshal(topology(l, opt, at, i))
		if err != nil {
			return nil, err
		}
		file := filepath.Join(m.Name, l.Name+".clab.yml")
		all[file] = append([]byte("# Written by softswitch lab export.\n"), text...)
		for k, n := range l.Nodes {
			if at[k] == i {
				all[filepath.Join(m.Name, "nodes", n.Name+".yaml")] = n.Files[0].Data
				if len(n.Files) > 1 {
					all[filepath.Join(m.Name, "nodes", n.Name+secret)] = n.Files[1].Data
				}
			}
		}
		said = append(said, machine{m, file})
	}
	var b bytes.Buffer
	keys := ""
	if slices.ContainsFunc(l.Nodes, func(n netnslab.Node) bool { return len(n.Files) > 1 }) {
		keys = secret
	}
	err := readme.Execute(&b, map[string]any{"Keys": keys, "Name": l.Name, "Image": opt.Image, "Machines": said, "MTU": opt.UnderlayMTU})
	all["README.md"], all["scenario.yaml"], all["nodes.yaml"] = b.Bytes(), opt.Scenario, nodes(l, opt, at)
	return all, err
}

// nodes is the list of all nodes for "lab attach" on the first machine.
func nodes(l netnslab.Lab, opt Options, at []int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by softswitch lab export: for lab attach, and lab run --attach.\nname: %s\nscenario: scenario.yaml\n", l.Name)
	if opt.Instead.Detector != "" {
		fmt.Fprintf(&b, "detector: %s\n", opt.Instead.Detector)
	}
	if opt.Instead.Response != "" {
		fmt.Fprintf(&b, "response: %s\n", opt.Instead.Response)
	}
	if opt.Instead.Slow > 1 {
		fmt.Fprintf(&b, "slow: %d\n", opt.Instead.Slow)
	}
	fmt.Fprintf(&b, "dir: %s\nnodes:\n", Dir)
	for i, n := range l.Nodes {
		via := fmt.Sprintf("docker exec -i clab-%s-%s", l.Name, n.Name)
		if at[i] > 0 {
			via = fmt.Sprintf("ssh %s %s", opt.Machines[at[i]].Address, via)
		}
		fmt.Fprintf(&b, "  %s: %s\n", n.Name, via)
	}
	return b.Bytes()
}

// put writes files, by their paths, to a folder. Nobody else may read the keys.
func put(dir string, files map[string][]byte) error {
	for name, data := range files {
		path, mode := filepath.Join(dir, name), os.FileMode(0o644)
		if strings.HasSuffix(name, secret) {
			mode = 0o600
		}
		if err := errors.Join(safefile.MkdirAll(filepath.Dir(path), 0o755), safefile.WriteFile(path, data, mode)); err != nil {
			return err
		}
	}
	return nil
}
