// Containerlab makes a scenario of a topology of containerlab (containerlab.dev,
// "Topology definition"), which is a lab of containers and links between them:
//
//	.clab.yml --read--> lab -->  scenario file
//
// Read of a node are kind, group, image and the label graph-icon, which it can also have from
// groups, kinds and defaults; of a link its type, its mtu and its endpoints, short ("leaf1:eth1") or as node and
// interface. clabLedger has all other keys, and why they are not read.
//
// Read in this order: containerlab_read.go (the lab), containerlab_yaml.go (mappings, anchors),
// containerlab_roles.go and roles.go (hosts), this file (what comes of it).
//
// Invariants:
//   - place: a fault names the file and the line;
//   - what is supposed and what is left out are comments at the head of the scenario;
//   - bounded: aliases and merge keys make at most maxKeys of a file.
//
// What it does not do: it fills in no Go templates and no environment variables, and reads not what a container
// configures, such as a bridge or the rate of an interface.

package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/node/config"
)

// MaxContainerlabFile is the length of the longest file in bytes.
const MaxContainerlabFile = strictyaml.MaxBytes

// Limits of a lab.
const (
	containerlabMaxNodes = 10_000
	maxLinks             = 100_000
	maxKeys              = 1_000_000 // of mappings, with those that come of aliases
	maxMapping           = 20_000    // keys of one mapping
)

// clabLedger is what becomes of the keys of a lab.
var clabLedger = ledger{
	"lab": {
		used: "name topology",
		idle: reasons{
			{"prefix settings debug", "it is about containers"},
			{"mgmt", "the management network is no part of the fabric"},
		},
	},
	"topology": {used: "defaults kinds groups nodes links"},
	"node": {
		used: "kind group image labels",
		told: reasons{{
			"startup-config config exec binds sysctls env env-files extras",
			"what a container configures, such as addresses, routes, QoS or rates, is not read",
		}},
		idle: reasons{
			{"startup-delay enforce-startup-config suppress-startup-config auto-remove restart-policy image-pull-policy license entrypoint cmd " +
				"volumes devices cap-add privileged cgroupns-mode cgroup-parent pid-mode tmpfs security-opts shm-size user username password credentials " +
				"runtime cpu cpu-set memory stages dns certificate healthcheck aliases link-apply-mode hostname", "it is about how a container runs"},
			{"ports mgmt-ipv4 mgmt-ipv6 mgmt_ipv4 mgmt_ipv6 network-mode", "the management network is no part of the fabric"},
			{"type components", "a switch has as many ports as links"},
			{"position", "it is of a drawing"},
		},
	},
	"labels": {used: "graph-icon", idle: reasons{{"*", "labels are for people and other programs"}}},
	"link": {
		used: "type endpoints endpoint mtu",
		idle: reasons{
			{"ipv4 ipv6 vars labels", "a scenario has addresses of its own"},
			{"host-interface mode remote vni dst-port src-port udp-port parent-interface", "links that leave the lab are left out"},
		},
	},
	"endpoint": {used: "node interface", idle: reasons{{"mac ipv4 ipv6 vars", "a scenario has addresses of its own"}}},
}

// Containerlab is a scenario file of the topology in data, the content of file. It is called as the lab is, or name if that has no name. The error is the first fault; where neither
// the lab nor want says which nodes are hosts, it asks for that.
func Containerlab(name, file string, data []byte, want Options) (Imported, error) {
	t := &tally{ledger: clabLedger}
	t.tell("The lab has no rates: %s is supposed", want.Rate)
	l, err := readContainerlab(file, data, t)
	if err != nil {
		return Imported{}, err
	}
	r, err := l.roles(file, want.Roles, t)
	if err != nil {
		return Imported{}, err
	}
	h, err := r.put(want.Roles, t, r.tiers)
	if err != nil {
		return Imported{}, err
	}
	s := newSketch(lists.Map(r.nodes, func(n role) sketchNode { return sketchNode{n.name, n.host != "", n.out} }))
	for i, n := range r.nodes {
		if n.name != s.names[i] && !n.out {
			t.tell("%s is %q", s.names[i], n.name)
		}
	}
	r.tellHosts(t)
	if bridges := r.where(func(n *role) bool { return n.joint }); len(bridges) > 0 {
		t.tell("%s: a switch, as it is a bridge of the machine", span(r.names(bridges)))
	}
	for _, k := range l.links {
		if !r.nodes[k.ends[0]].out && !r.nodes[k.ends[1]].out {
			s.links = append(s.links, s.names[k.ends[0]]+"--"+s.names[k.ends[1]])
		}
	}
	if len(s.links) == 0 || len(s.switches) == 0 {
		return Imported{}, fmt.Errorf("%s: no link of a switch: a fabric has some", file)
	}
	s.hostAt(h.at)
	s.mtu = l.mtu(file, t)
	var b strings.Builder
	routing := want.Routing.or(RoutingIGP, "the lab does not say what its switches run")
	s.write(&b, cmp.Or(l.name, name), want.Rate, routing)
	b.WriteString("\nduration: 1s\n")
	return t.imported(fmt.Sprintf("Made of a topology of containerlab. %s. %s.", h.why, routing), []byte(b.String())), nil
}

// mtu is that of the fabric: the one of all links, if they say one, within what a scenario may have.
func (l *lab) mtu(file string, t *tally) int {
	all := lists.Once(l.links, func(k clabLink) []int { return []int{k.mtu} })
	slices.Sort(all)
	most := all[len(all)-1]
	if most == 0 {
		return 0
	}
	mtu := min(max(most, config.DefaultMTU), config.MaxMTU)
	if len(all) > 1 || mtu != most {
		t.tell("Links have an mtu of their own, up to %d, and a scenario has one for all: %d", most, mtu)
	}
	return mtu
}

// tiers are the switches that get hosts by the tiers of a Clos.
func (r *roles) tiers() (hosting, error) {
	at := r.lowest()
	if len(at) == 0 {
		return hosting{}, r.ask()
	}
	return hosting{at, fmt.Sprintf("No node is a host: %s have one each, as they are the lowest tier by their links; --hosts and --group say otherwise", span(r.names(at)))}, nil
}
