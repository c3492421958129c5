package importer_test

import (
	"fmt"
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

// lab is what comes of a lab with links of 100 Gbit/s.
func lab(text string, roles importer.Roles) (importer.Imported, error) {
	return importer.Containerlab("file", "clos.clab.yml", []byte(text), importer.Options{Rate: 100e9, Roles: roles})
}

// wantLab wants the links of a lab, and what its head tells but for the first sentences.
func wantLab(t *testing.T, text string, roles importer.Roles, want string) {
	t.Helper()
	made, err := lab(text, roles)
	p := planOf(t, made, err)
	var lines []string
	for _, l := range p.Links {
		if l.Rate != 100e9 {
			t.Errorf("%s: %d bit/s", l.Name, l.Rate)
		}
		lines = append(lines, l.Name)
	}
	got := strings.Join(append([]string{strings.Join(lines, " ")}, made.Told[2:]...), "\n")
	if got != want || made.Told[1] != "The lab has no rates: 100Gbit/s is supposed." {
		t.Errorf("told %q, then\n%s\nwant\n%s", made.Told[1], got, want)
	}
}

func TestContainerlab(t *testing.T) {
	wantLab(t, containerlabClos, importer.Roles{}, `leaf1--spine leaf2--spine leaf1--c1 leaf2--c2 tap--leaf2
line 33: a link of type mgmt-net: left out, as it leads out of the lab.
line 34: a link of type macvlan: left out, as it leads out of the lab.
line 35: a link of type host: left out, as it leads out of the lab.
prometheus: left out, for want of a link.
Hosts of kind linux with one link: c1.
Hosts of the group "Servers": c2.
Links have an mtu of their own, up to 9100, and a scenario has one for all: 9100.
Without effect on frames: endpoint.mac: a scenario has addresses of its own.
Without effect on frames: lab.mgmt, node.ports: the management network is no part of the fabric.
Without effect on frames: lab.prefix: it is about containers.
Without effect on frames: labels.rack: labels are for people and other programs.
Without effect on frames: link.host-interface: links that leave the lab are left out.
Without effect on frames: node.type: a switch has as many ports as links.`)
	// Of two switches, each begins and ends traffic.
	wantLab(t, `topology: {nodes: {1a: {kind: srl}, b: {kind: linux, labels: {graph-icon: switch}}}, links: [{endpoints: ["1a:1", "b:1"]}, {endpoints: ["1a:2", "b:2"]}]}`, importer.Roles{},
		"s0--s1 s0--s1#2 s0--host0 s1--host1\ns0 is \"1a\".\ns1 is \"b\".")
	// What a node says of itself comes first, then its group, its kind, the defaults.
	wantLab(t, `topology:
  defaults: {group: host}
  kinds: {k: {group: g}, server: {labels: {graph-icon: Host}}}
  groups: {g: {labels: {graph-icon: switch}}}
  nodes: {a: {kind: k}, b: {kind: server}, c: {kind: k, labels: {graph-icon: client}}, d: {kind: q}}
  links: [{endpoints: ["a:1", "b:1"]}, {endpoints: ["a:2", "c:1"]}, {endpoints: ["a:3", "d:1"]}]
`, importer.Roles{}, `a--b a--c a--d
Hosts with the label graph-icon: "Host": b.
Hosts with the label graph-icon: "client": c.
Hosts of the group "host": d.`)
}

// TestContainerlabLinks: links of every type are in the fabric, or left out with a reason.
func TestContainerlabLinks(t *testing.T) {
	const text = `topology:
  nodes: {s: {kind: srl}, h: {kind: linux}, g: {kind: linux}, br: {kind: ovs-bridge}}
  links:
    - endpoints: ["s:e1", "h:eth1"]
    - {type: veth-stitch, endpoints: [{node: s, interface: e2}, {node: g, interface: eth1}]}
    - {type: brief, endpoints: ["s:e3", "br:e1"]}
    - {type: VXLAN, endpoint: {node: s, interface: e4}, remote: 10.0.0.1, vni: 9, dst-port: 4789}
    - {type: vxlan-stitch, endpoint: {node: s, interface: e5}, remote: 10.0.0.1, vni: 9}
    - {type: dummy, endpoint: {node: s, interface: e6}}
    - {type: mgmt-net, endpoint: {node: s, interface: e7}, host-interface: x}
    - {type: macvlan, endpoint: {node: s, interface: e8}, host-interface: x, mode: vepa}
    - endpoints: ["s:e9", "host:x"]
    - endpoints: ["s:e10", "s:e11"]
`
	wantLab(t, text, importer.Roles{}, `s--h s--g s--br
line 7: a link of type vxlan: left out, as it leads out of the lab.
line 8: a link of type vxlan-stitch: left out, as it leads out of the lab.
line 9: a link of type dummy: left out, as it leads nowhere.
line 10: a link of type mgmt-net: left out, as it leads out of the lab.
line 11: a link of type macvlan: left out, as it leads out of the lab.
line 12: a link of type host: left out, as it leads out of the lab.
line 13: a link of a node to itself: left out.
Hosts of kind linux with one link: h, g.
br: a switch, as it is a bridge of the machine.
Without effect on frames: link.dst-port, link.host-interface, link.mode, link.remote, link.vni: links that leave the lab are left out.`)
}

// clabOf is a lab of nodes, "name kind image group" each, and links, "a-b" each.
func clabOf(nodes, links string) string {
	var b strings.Builder
	b.WriteString("topology:\n  nodes:\n")
	for n := range strings.SplitSeq(nodes, ", ") {
		w := append(strings.Fields(n), "", "", "")
		fmt.Fprintf(&b, "    %s: {kind: %q, image: %q, group: %q}\n", w[0], w[1], w[2], w[3])
	}
	b.WriteString("  links:\n")
	for i, l := range strings.Fields(links) {
		a, z, _ := strings.Cut(l, "-")
		fmt.Fprintf(&b, "    - endpoints: [\"%s:a%d\", \"%s:z%d\"]\n", a, i, z, i)
	}
	return b.String()
}

// TestContainerlabRoles: which nodes are hosts, and which switches get one, comes of the lab; where it does not
// tell, it is asked for.
func TestContainerlabRoles(t *testing.T) {
	const (
		dual  = "s1-h s2-h s1-g s2-g s1-s2"
		tree  = "a-c a-d b-c b-d"
		wide  = "a-d a-e b-d b-e c-d c-e"
		chain = "p-x x-y y-q"
	)
	for name, c := range map[string]struct {
		nodes, links string
		roles        importer.Roles
		hosts, told  string
	}{
		"servers with two NICs":          {"s1 srl, s2 srl, h linux alpine, g linux alpine", dual, importer.Roles{}, "h g", "h, g: each has a NIC for each of its links"},
		"routers of kind linux by image": {"s1 srl, s2 srl, h linux quay.io/frrouting/frr:9, g linux alpine", dual, importer.Roles{}, "g", "Switches of kind linux, as the word frrouting of the image is that of a router: h"},
		"routers of kind linux by links": {"p linux pc, q linux pc, x linux box, y linux box", chain, importer.Roles{}, "p q", "Switches of kind linux, as one with this image is linked to a host: x, y"},
		"routers of kind linux by group": {"s1 srl, s2 srl, h linux i spine, g linux j", dual, importer.Roles{}, "g", `the group "spine" of one with this image is of switches: h`},
		"a Clos by groups":               {"a srl i leaf, b srl i Leafs, c srl i spine, d srl i spine", tree, importer.Roles{}, "a-host0 b-host1", "a, b have one each, as their groups say"},
		"a Clos by names":                {"leaf1 srl, dc1.tor2 srl, c srl, d srl", "leaf1-c leaf1-d dc1.tor2-c dc1.tor2-d", importer.Roles{}, "leaf1-host0 dc1.tor2-host1", "leaf1, dc1.tor2 have one each, as their names say"},
		"a Clos by links":                {"a srl, b srl, c srl, d srl, e srl", wide, importer.Roles{}, "a-host0 b-host1 c-host2", "a, b, c have one each, as they are the lowest tier by their links"},
		"hosts that are named":           {"a srl, b srl, c srl, d srl", tree + " c-d", importer.Roles{Hosts: []string{"a", "b*"}}, "a b", "Hosts named by --hosts: a, b"},
		"switches of a group":            {"a srl i x, b srl i x, c srl i y, d srl i y", tree, importer.Roles{Groups: []string{"y"}}, "c-host0 d-host1", "c, d: each has a host of its own, as --group says"},
		"all switches":                   {"a srl, b srl, c bridge, d srl", tree, importer.Roles{Hosts: []string{"all"}}, "a-host0 b-host1 d-host2", "Each switch has a host of its own"},
	} {
		made, err := lab(clabOf(c.nodes, c.links), c.roles)
		p := planOf(t, made, err)
		var hosts []string
		for _, n := range p.Fabric.Nodes {
			if n.Kind != topo.Host {
				continue
			}
			if own := n.Ports[0]; strings.HasPrefix(n.Name, "host") {
				hosts = append(hosts, p.Fabric.Nodes[own.Peer.Node].Name+"-"+n.Name)
			} else {
				hosts = append(hosts, n.Name)
			}
		}
		if strings.Join(hosts, " ") != c.hosts {
			t.Errorf("%s: hosts %q, want %s", name, hosts, c.hosts)
		}
		wantTold(t, made, c.told)
	}
	for want, c := range map[string]struct {
		nodes, links string
		roles        importer.Roles
	}{
		"clos.clab.yml: no node is a host, and groups, names and links do not say which switches have some: --hosts NAME,... says which nodes are hosts, --group NAME gives the switches of a group a host each, --hosts all each switch; there are a, b, c, d, and the groups up": {"a srl i up, b srl, c srl, d srl", tree, importer.Roles{}},
		`clos.clab.yml:3: "x" and "y" are of kind linux, have several links, and are linked: at most one is a host; --hosts NAME,... says which nodes are hosts`:                                                                                                                   {"s1 srl, s2 srl, x linux i, y linux j", "s1-x s2-y x-y s1-s2", importer.Roles{}},
		`clos.clab.yml:3: "p" and "q" are linked, and hosts, one of kind linux with one link and one of kind linux with one link: a host is linked to switches; --hosts NAME,... says which nodes are hosts`:                                                                       {"p linux, q linux", "p-q", importer.Roles{}},
		`--hosts: "z*" matches nothing in clos.clab.yml; there are a, b, c, d`: {"a srl, b srl, c srl, d srl", tree, importer.Roles{Hosts: []string{"z*"}}},
	} {
		if _, err := lab(clabOf(c.nodes, c.links), c.roles); err == nil || strings.Replace(err.Error(), ":5:", ":3:", 1) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestContainerlabMTU: links of one mtu give the fabric's; others are told.
func TestContainerlabMTU(t *testing.T) {
	const text = `topology: {nodes: {a: {kind: x}, b: {kind: x}, c: {kind: linux}}, links: [{endpoints: ["a:1", "b:1"], mtu: 4000}, {endpoints: ["a:2", "c:1"], mtu: 4000}]}`
	for edit, want := range map[[2]string]string{
		{"4000", "4000"}:  "mtu 4000",
		{"mtu: 4000", ""}: "mtu 4000: Links have an mtu of their own, up to 4000",
		{"4000", "9500"}:  "mtu 9216: Links have an mtu of their own, up to 9500",
		{"4000", "70000"}: `clos.clab.yml:1: mtu: "70000" is none: write 0 to 65535`,
		{"4000", "jumbo"}: `clos.clab.yml:1: mtu: "jumbo" is none: write 0 to 65535`,
	} {
		made, err := lab(strings.Replace(text, edit[0], edit[1], 1), importer.Roles{})
		if err != nil {
			if err.Error() != want {
				t.Error(err)
			}
			continue
		}
		mtu, told, _ := strings.Cut(want, ": ")
		if got := fmt.Sprint("mtu ", planOf(t, made, err).Scenario.MTU); got != mtu {
			t.Errorf("%q: %s, want %s", edit, got, mtu)
		}
		wantTold(t, made, told)
	}
}

// TestContainerlabParts: of several parts the largest is the scenario.
func TestContainerlabParts(t *testing.T) {
	made, err := lab(clabOf("a srl, b srl, h linux, c srl, g linux", "a-b a-h c-g"), importer.Roles{})
	p := planOf(t, made, err)
	if len(p.Fabric.Nodes) != 3 {
		t.Errorf("%d nodes, want 3", len(p.Fabric.Nodes))
	}
	wantTold(t, made, "c, g: left out, as not connected to the largest part of the fabric, of 2 switches")
}

// TestContainerlabLedger: what nobody knows is named, wherever it stands; keys for anchors are no news.
func TestContainerlabLedger(t *testing.T) {
	for want, edit := range map[string][2]string{
		"lab.smell (line 1)":                               {"name: clos", "smell: x"},
		"topology.smell (line 6)":                          {"  defaults:", "  smell: x\n  defaults:"},
		"node.smell (line 3)":                              {"image: srl", "smell: srl"},
		"node.smell (line 21)":                             {"ports:", "smell:"},
		"link.smell (line 25)":                             {"mtu: 9100", "smell: 9100"},
		"endpoint.smell (line 28)":                         {"mac:", "smell:"},
		"node.exec (line 21): what a container configures": {"ports:", "exec:"},
	} {
		made, err := lab(strings.Replace(containerlabClos, edit[0], edit[1], 1), importer.Roles{})
		planOf(t, made, err)
		wantTold(t, made, want)
	}
	made, err := lab(containerlabClos, importer.Roles{})
	planOf(t, made, err)
	if strings.Contains(strings.Join(made.Told, "\n"), "x-leaf") {
		t.Errorf("a key for an anchor is told:\n%s", strings.Join(made.Told, "\n"))
	}
}

func TestContainerlabFaults(t *testing.T) {
	for want, edit := range map[string][2]string{
		"clos.clab.yml: empty: want a topology of containerlab, with nodes and links":                                                               {containerlabClos, "# nothing"},
		`clos.clab.yml:1: "hello" where keys and values should be`:                                                                                  {containerlabClos, "hello"},
		"clos.clab.yml:1: no links between nodes: a fabric has some":                                                                                {containerlabClos, "name: a"},
		`clos.clab.yml:1: "[" where keys and values should be`:                                                                                      {containerlabClos, "topology: {nodes: [a, b]}"},
		`clos.clab.yml:1: "a" where a list should be`:                                                                                               {containerlabClos, "topology: {links: a}"},
		`clos.clab.yml:11: "[" where a word should be`:                                                                                              {"{kind: arista_ceos}\n  nodes:", "{}\n  nodes: {a: {kind: [b]}}\n  other:"},
		`clos.clab.yml:16: "leaf1": a key is a plain word, and is there once`:                                                                       {"leaf2: {", "leaf1: {"},
		"clos.clab.yml:15: *loaf: no anchor has this name":                                                                                          {"leaf1: *leaf", "leaf1: *loaf"},
		"clos.clab.yml:15: &leaf: another anchor has this name":                                                                                     {"leaf1: *leaf", "leaf1: &leaf {}"},
		"clos.clab.yml:15: more than 16 merge keys, each in what the one before it merges":                                                          {"leaf1: *leaf", "leaf1: &me {<<: *me}"},
		"clos.clab.yml:15: an alias that leads to itself, or by more than 16 others":                                                                {"leaf1: *leaf", "leaf1: &me !own *me"},
		`clos.clab.yml:23: spyne:e1-1: no node is called "spyne"`:                                                                                   {"spine:e1-1", "spyne:e1-1"},
		"clos.clab.yml:24: spine:e1-1 is an endpoint of the link of line 23, too":                                                                   {"spine:e1-2", "spine:e1-1"},
		"clos.clab.yml:31: 1 endpoints: a link has 2":                                                                                               {"[leaf2:e1-2, c2:eth1]", "[leaf2:e1-2]"},
		`clos.clab.yml:35: type: "hots" is no type of a link; valid: brief, veth, veth-stitch, host, mgmt-net, macvlan, vxlan, vxlan-stitch, dummy`: {"type: host", "type: hots"},
		`clos.clab.yml:31: an endpoint has a node and an interface: write it as "leaf1:eth1" or {node: leaf1, interface: eth1}`:                     {"c2:eth1", "c2"},
		`clos.clab.yml:18: "c2" and "c1" are linked, and hosts, one of the group "Servers" and one of kind linux with one link: a host is linked to switches; --hosts NAME,... says which nodes are hosts`: {
			"leaf1, interface: e1-2, mac: \"02:00:00:00:00:01\"}\n        - node: c1\n          interface: eth1\n    - endpoints: [leaf2:e1-2, c2:eth1]",
			"c2, interface: e1-2}\n        - node: c1\n          interface: eth1",
		},
		`clos.clab.yml:16: "{{" begins a Go template: import what comes of it, or write its values`: {"leaf2: {", "{{ .leaf }}: {"},
		`clos.clab.yml:19: "$NAME" has an environment variable: write its value`:                    {"    tap:", "    $NAME:"},
		`clos.clab.yml:3: "${KIND:=srl}" has an environment variable: write its value`:              {"kind: nokia_srlinux", "kind: \"${KIND:=srl}\""},
	} {
		if !strings.Contains(containerlabClos, edit[0]) {
			t.Fatalf("the lab has no %q", edit[0])
		}
		_, err := lab(strings.Replace(containerlabClos, edit[0], edit[1], 1), importer.Roles{})
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestGrowth: a file whose aliases make billions of keys is refused.
func TestGrowth(t *testing.T) {
	text := "a0: &a0 {k: v}\n"
	for i := range 9 {
		a, z := string(rune('0'+i)), string(rune('1'+i))
		text += "a" + z + ": &a" + z + " {<<: [" + strings.Repeat("*a"+a+", ", 9) + "*a" + a + "]}\n"
	}
	_, err := lab(text+"topology: *a9\n", importer.Roles{})
	if err == nil || !strings.HasSuffix(err.Error(), "more than 1000000 keys, with those of aliases") {
		t.Error(err)
	}
}

// TestCrowded: a mapping with more keys than the library reads in seconds is refused, in block style and in flow
// style; many small ones are no crowd.
func TestCrowded(t *testing.T) {
	var block, flow, small strings.Builder
	for i := range 20_001 {
		fmt.Fprintf(&block, "    n%d:\n", i)
		fmt.Fprintf(&flow, "    n%d: , m%d: ,\n", i, i)
		fmt.Fprintf(&small, "    - type: veth\n      mtu: %d\n", i)
	}
	for text, want := range map[string]string{
		"topology:\n  nodes:\n" + block.String():                                 "clos.clab.yml:20003: more than 20000 keys in one mapping",
		"topology:\n  nodes: {\n" + flow.String() + "  }\n":                      "clos.clab.yml:5003: more than 20000 keys in one mapping",
		"topology:\n  nodes: {}\n  links:\n" + small.String() + "    - {x: y}\n": "clos.clab.yml:4: 0 endpoints: a link has 2",
	} {
		if _, err := lab(text, importer.Roles{}); err == nil || err.Error() != want {
			t.Errorf("got  %.200v\nwant %s", err, want)
		}
	}
}

// FuzzContainerlab: what comes of a lab is a scenario, or it is told what is wrong with it.
func FuzzContainerlab(f *testing.F) {
	f.Add(containerlabClos, "", "")
	f.Add(`topology: {nodes: {a: , host0: {kind: k}}, links: [{endpoints: ["a:1", "host0:1"]}, {type: dummy}]}`, "all", "")
	f.Add("a: &a {<<: *a}\ntopology: *a\n", "a", "")
	f.Add(clabOf("a linux i, b linux i, c linux j, d srl", "a-b b-c c-d a-d"), "", "d")
	f.Fuzz(func(t *testing.T, text, host, group string) {
		var roles importer.Roles
		if host != "" {
			roles.Hosts = []string{host}
		}
		if group != "" {
			roles.Groups = []string{group}
		}
		made, err := lab(text, roles)
		if err != nil || len(made.Text) > 100_000 {
			return
		}
		if _, err := load.Scenario("x", made.Text); err != nil {
			t.Fatalf("%v\n%s", err, made.Text)
		}
	})
}
