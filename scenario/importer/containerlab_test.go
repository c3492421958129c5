package importer_test

import (
	"strings"
	"testing"

	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/topo"
)

// containerlabClos is a lab with what the format offers to write it shorter.
const containerlabClos = `name: clos
prefix: ""
x-leaf: &leaf {kind: nokia_srlinux, image: srl, labels: {rack: 7}}
mgmt: {network: custom}
topology:
  defaults: {kind: linux}
  kinds:
    linux: {image: "alpine:latest"}
  groups:
    Servers: {kind: arista_ceos}
  nodes:
    spine:
      <<: [*leaf]
      labels: {graph-icon: router}
    leaf1: *leaf
    leaf2: {<<: *leaf, type: ixrd3}
    c1:
    c2: {group: Servers}
    tap:
      labels: {graph-icon: switch}
    prometheus: {ports: ["9090:9090"]}
  links:
    - endpoints: ["leaf1:e1-1", "spine:e1-1"]
    - endpoints: ["leaf2:e1-1", "spine:e1-2"]
      mtu: 9100
    - type: veth
      endpoints:
        - {node: leaf1, interface: e1-2, mac: "02:00:00:00:00:01"}
        - node: c1
          interface: eth1
    - endpoints: [leaf2:e1-2, c2:eth1]
    - endpoints: [tap:eth1, leaf2:e1-3]
    - endpoints: [c1:eth2, "mgmt-net:c1"]
    - endpoints: ["macvlan:enp0s3", leaf1:e1-9]
    - {type: host, endpoint: {node: leaf2, interface: e1-9}, host-interface: l2}
`

// containerlabImported is the plan that comes of a lab, and what its head says of it.
func containerlabImported(t *testing.T, text string) string {
	t.Helper()
	out, err := importer.Containerlab("file", "clos.clab.yml", []byte(text), 100e9)
	if err != nil {
		t.Fatal(err)
	}
	p, err := load.Plan("clos.yaml", out, load.Instead{})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "name") {
			lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "# ")))
		}
	}
	for _, l := range p.Links {
		if l.Rate != 100e9 {
			t.Errorf("%s: %d bit/s", l.Name, l.Rate)
		}
		lines = append(lines, l.Name)
	}
	return strings.Join(lines[1:], "\n")
}

func TestContainerlab(t *testing.T) {
	for text, want := range map[string]string{
		containerlabClos: `It has no rates: 100Gbit/s is supposed.
The link of line 33 is left out: mgmt-net is outside of the lab.
The link of line 34 is left out: macvlan is outside of the lab.
The link of line 35 is left out: host is outside of the lab.
c1 is a host: it is of kind linux and has one link.
c2 is a host: its group is "Servers".
Node "prometheus" is left out: it has no link.
All other nodes are switches.
name: "clos"
leaf1--spine
leaf2--spine
leaf1--c1
leaf2--c2
tap--leaf2`,
		`topology: {nodes: {1a: {kind: srl}, b: {kind: linux, labels: {graph-icon: switch}}}, links: [{endpoints: ["1a:1", "b:1"]}, {endpoints: ["1a:2", "b:2"]}]}`: `It has no rates: 100Gbit/s is supposed.
s0 is "1a".
s1 is "b".
It has no hosts: each switch has one.
name: "file"
s0--s1
s0--s1#2
s0--host0
s1--host1`,
		// What a node says of itself comes first, then its group, its kind, the defaults.
		`topology:
  defaults: {group: host}
  kinds: {k: {group: g}, server: {labels: {graph-icon: Host}}}
  groups: {g: {labels: {graph-icon: switch}}}
  nodes: {a: {kind: k}, b: {kind: server}, c: {kind: k, labels: {graph-icon: client}}, d: {kind: q}}
  links: [{endpoints: ["a:1", "b:1"]}, {endpoints: ["a:2", "c:1"]}, {endpoints: ["a:3", "d:1"]}]
`: `It has no rates: 100Gbit/s is supposed.
b is a host: its label graph-icon is "Host".
c is a host: its label graph-icon is "client".
d is a host: its group is "host".
All other nodes are switches.
name: "file"
a--b
a--c
a--d`,
	} {
		if got := containerlabImported(t, text); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestContainerlabFaults(t *testing.T) {
	for want, edit := range map[string][2]string{
		"clos.clab.yml: empty: want a topology of containerlab, with nodes and links":                                           {containerlabClos, "# nothing"},
		`clos.clab.yml:1: "hello" where keys and values should be`:                                                              {containerlabClos, "hello"},
		"clos.clab.yml:1: no links between nodes: a fabric has some":                                                            {containerlabClos, "name: a"},
		`clos.clab.yml:1: "[" where keys and values should be`:                                                                  {containerlabClos, "topology: {nodes: [a, b]}"},
		`clos.clab.yml:1: "a" where a list should be`:                                                                           {containerlabClos, "topology: {links: a}"},
		`clos.clab.yml:11: "[" where a word should be`:                                                                          {"{kind: arista_ceos}\n  nodes:", "{}\n  nodes: {a: {kind: [b]}}\n  other:"},
		`clos.clab.yml:16: "leaf1": a key is a plain word, and is there once`:                                                   {"leaf2: {", "leaf1: {"},
		"clos.clab.yml:15: *loaf: no anchor has this name":                                                                      {"leaf1: *leaf", "leaf1: *loaf"},
		"clos.clab.yml:15: &leaf: another anchor has this name":                                                                 {"leaf1: *leaf", "leaf1: &leaf {}"},
		"clos.clab.yml:15: more than 16 merge keys, each in what the one before it merges":                                      {"leaf1: *leaf", "leaf1: &me {<<: *me}"},
		"clos.clab.yml:15: an alias that leads to itself, or by more than 16 others":                                            {"leaf1: *leaf", "leaf1: &me !own *me"},
		`clos.clab.yml:23: spyne:e1-1: no node is called "spyne"`:                                                               {"spine:e1-1", "spyne:e1-1"},
		"clos.clab.yml:24: spine:e1-1 is an endpoint of the link of line 23, too":                                               {"spine:e1-2", "spine:e1-1"},
		`clos.clab.yml:23: node "leaf1" is linked to itself`:                                                                    {"spine:e1-1", "leaf1:e1-7"},
		"clos.clab.yml:31: 1 endpoints: a link has 2":                                                                           {"[leaf2:e1-2, c2:eth1]", "[leaf2:e1-2]"},
		`clos.clab.yml:35: type: "hots" is no type of a link; valid: veth, host, mgmt-net, macvlan, vxlan, vxlan-stitch, dummy`: {"type: host", "type: hots"},
		`clos.clab.yml:31: an endpoint has a node and an interface: write it as "leaf1:eth1" or {node: leaf1, interface: eth1}`: {"c2:eth1", "c2"},
		`clos.clab.yml:26: "c2" and "c1" are hosts: a host is linked to a switch, which the label graph-icon: switch makes of a node`: {
			"leaf1, interface: e1-2, mac: \"02:00:00:00:00:01\"}\n        - node: c1\n          interface: eth1\n    - endpoints: [leaf2:e1-2, c2:eth1]",
			"c2, interface: e1-2}\n        - node: c1\n          interface: eth1",
		},
	} {
		if !strings.Contains(containerlabClos, edit[0]) {
			t.Fatalf("the lab has no %q", edit[0])
		}
		_, err := importer.Containerlab("clos", "clos.clab.yml", []byte(strings.Replace(containerlabClos, edit[0], edit[1], 1)), 100e9)
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestContainerlabSeveralLinks: a host that a label says to be one has as many NICs as links.
func TestContainerlabSeveralLinks(t *testing.T) {
	text, err := importer.Containerlab("clos", "clos.clab.yml", []byte(strings.Replace(containerlabClos, "tap:eth1", "c2:eth2", 1)), 100e9)
	if err != nil {
		t.Fatal(err)
	}
	p, err := load.Plan("x.yaml", text, load.Instead{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if i, ok := p.Fabric.Node("c2"); !ok || p.Fabric.Nodes[i].Kind != topo.Host || len(p.Fabric.Nodes[i].Ports) != 2 {
		t.Errorf("c2 is no host with two NICs:\n%s", text)
	}
}

// TestGrowth: a file whose aliases make billions of keys is refused.
func TestGrowth(t *testing.T) {
	text := "a0: &a0 {k: v}\n"
	for i := range 9 {
		a, z := string(rune('0'+i)), string(rune('1'+i))
		text += "a" + z + ": &a" + z + " {<<: [" + strings.Repeat("*a"+a+", ", 9) + "*a" + a + "]}\n"
	}
	_, err := importer.Containerlab("x", "x", []byte(text+"topology: *a9\n"), 100e9)
	if err == nil || !strings.HasSuffix(err.Error(), "more than 1000000 keys, with those of aliases") {
		t.Error(err)
	}
}

// FuzzContainerlab: what comes of a lab is a scenario, or it is told what is wrong with it; a lab
// in pieces is found when the scenario is read.
func FuzzContainerlab(f *testing.F) {
	f.Add(containerlabClos)
	f.Add(`topology: {nodes: {a: , host0: {kind: k}}, links: [{endpoints: ["a:1", "host0:1"]}, {type: dummy}]}`)
	f.Add("a: &a {<<: *a}\ntopology: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		out, err := importer.Containerlab("x", "x", []byte(text), 100e9)
		if err != nil || len(out) > 100_000 {
			return
		}
		if _, err := load.Scenario("x", out); err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.Contains(line, "is not connected to") && !strings.Contains(line, "a line of more than") && !strings.Contains(line, "brackets open") {
					t.Fatalf("%v\n%s", err, out)
				}
			}
		}
	})
}
