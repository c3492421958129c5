package lab

import (
	"slices"
	"strings"
	"testing"

	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
)

// A host of nics runs softswitch nic. Its address is that of the interface for programs,
// which the NIC makes; the wire has another, and none of IP.
func TestDescribeNIC(t *testing.T) {
	p := plan(t, "nics: [h2]\n")
	lab := Describe(p, Options{Program: "/opt/softswitch"})
	for i, h := range p.Hosts {
		n := lab.Nodes[len(p.Switches)+i]
		got, err := config.LoadHost(configName, n.Files[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		command, stack, addresses := "host", "", 1
		if h.Name == "h2" {
			command, stack, addresses = "nic", stackName, 0
		}
		if n.Kind != "host" || !slices.Equal(n.Command, []string{"/opt/softswitch", command, "-c", configName}) {
			t.Errorf("%s is a %s and runs %v", n.Name, n.Kind, n.Command)
		}
		if got.Stack != stack || got.Address != h.Address || got.Port.MAC != h.Port.MAC {
			t.Errorf("%s reads %+v", n.Name, got)
		}
		if len(n.Addresses) != addresses || len(n.Routes) != addresses {
			t.Errorf("%s has addresses %v, routes %v", n.Name, n.Addresses, n.Routes)
		}
	}
	for i, l := range lab.Links {
		if own := l.B.MAC == p.Links[i].B.MAC.String(); l.B.Node == "h2" && own {
			t.Errorf("%v has the address of the interface for programs: the kernel would take frames past the NIC", l.B)
		}
		if own := l.A.MAC == p.Links[i].A.MAC.String(); l.A.Node == "h1" && !own {
			t.Errorf("%v has the address %s, want its port's", l.A, l.A.MAC)
		}
	}
}

// TestPickSenders: hosts with flows are all but those with NICs.
func TestPickSenders(t *testing.T) {
	st := &netnslab.State{Name: "x", Nodes: []netnslab.NodeState{
		{Name: "s1", Kind: "switch"}, {Name: "h1", Kind: "host"}, {Name: "h2", Kind: "host"}, {Name: "n1", Kind: "host", Command: []string{"softswitch", "nic"}},
	}}
	for _, c := range []struct{ names, want string }{
		{"", "h1 h2"},
		{"h2", "h2"},
		{"h1 n1", "lab x: programs send on n1, which start and stop by themselves; hosts with flows: h1, h2"},
		{"s1", "lab x: s1 is a switch; want a host: h1, h2, n1"},
	} {
		nodes, err := PickSenders(st, strings.Fields(c.names))
		var got []string
		for _, n := range nodes {
			got = append(got, n.Name)
		}
		if text := strings.Join(got, " "); err == nil && text != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%q: %q, %v; want %s", c.names, text, err, c.want)
		}
	}
	st.Nodes = st.Nodes[:1]
	if _, err := PickSenders(st, nil); err == nil || err.Error() != "lab x has no host with flows" {
		t.Errorf("without hosts: %v", err)
	}
}
