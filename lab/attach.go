package lab

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"softswitch/internal/strictyaml"
	netnslab "softswitch/netns-lab"
	"softswitch/scenario"
	"softswitch/scenario/load"
)

// Nodes is a list of the nodes of a lab that somebody else built, as a file has it.
type Nodes struct {
	Name     string `yaml:"name"`     // of the lab; default: the scenario's
	Scenario string `yaml:"scenario"` // its file, relative to that of the list
	// Detector, Response and Slow are what the nodes were made with instead of what the
	// scenario says, as the flags of those names have it.
	Detector string `yaml:"detector"`
	Response string `yaml:"response"`
	Slow     int    `yaml:"slow"`
	// Program is softswitch as it is called beside each node, and Dir where the node's
	// control.sock and events.jsonl are; {node} in it stands for the node's name.
	Program string `yaml:"program"`
	Dir     string `yaml:"dir"`
	// Nodes are the words of the command that runs another one beside the node, by node:
	// "docker exec -i NAME".
	Nodes map[string]string `yaml:"nodes"`
}

// ReadNodes reads a list of nodes from data, the content of a file, and makes the plan of its
// scenario. The list has to have all nodes of the scenario and no other.
func ReadNodes(file string, data []byte) (*Nodes, *scenario.Plan, error) {
	n := &Nodes{Program: "softswitch", Dir: "/run", Slow: 1}
	d := strictyaml.Read(file, data, n)
	if n.Scenario == "" {
		d.Faultf("scenario", "missing: the file of the scenario that the nodes were made of")
	}
	if n.Slow < 1 {
		d.Faultf("slow", "%d; valid: 1 or more", n.Slow)
	}
	if !filepath.IsAbs(n.Dir) {
		d.Faultf("dir", "%q; valid: an absolute path, where control.sock of each node is", n.Dir)
	}
	if err := d.Err(); err != nil {
		return nil, nil, err
	}
	path := n.Scenario
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: scenario: %w", file, err)
	}
	p, err := load.Plan(path, text, load.Instead{Detector: n.Detector, Response: n.Response, Slow: n.Slow})
	if err != nil {
		return nil, nil, err
	}
	var all []string
	for _, node := range p.Fabric.Nodes {
		all = append(all, node.Name)
		if len(strings.Fields(n.Nodes[node.Name])) == 0 {
			d.Faultf("nodes."+node.Name, "missing: how it is reached, such as %q", "docker exec -i clab-"+p.Scenario.Name+"-"+node.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Nodes)) {
		if !slices.Contains(all, name) {
			d.Faultf("nodes."+name, "no node of %s is called so%s", n.Scenario, strictyaml.DidYouMean(name, all))
		}
	}
	if n.Name == "" {
		n.Name = p.Scenario.Name
	}
	if err := netnslab.CheckName(n.Name); err != nil {
		d.Faultf("name", "%v", err)
	}
	return n, p, d.Err()
}

// Attach makes a lab of the nodes of a list, for the program that calls it. It stays when
// this program ends, unless passing.
func (n *Nodes) Attach(ctx context.Context, p *scenario.Plan, passing, replace bool, progress io.Writer) (*netnslab.State, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	opt := Options{Name: n.Name, Program: self}
	if passing { // no lab that is up is this one
		opt.Instance = time.Now().Format(time.RFC3339Nano)
	}
	desc := Describe(p, opt)
	desc.Passing, desc.Replace = passing, replace
	for i := range desc.Nodes {
		node := &desc.Nodes[i]
		dir := strings.ReplaceAll(n.Dir, "{node}", node.Name)
		node.Via = strings.Fields(n.Nodes[node.Name])
		node.Agent = []string{n.Program, "lab", "agent", filepath.Join(dir, ControlName), filepath.Join(dir, EventsName)}
	}
	return netnslab.Attach(ctx, desc, []string{self, "lab", "relay"}, progress)
}
