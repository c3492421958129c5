package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/scenario"
)

// routedRack is core7, edge3 and edge4 with four ports each, all up, and no word of who is whose neighbour.
func routedRack() rack {
	r := rack{}
	for _, name := range []string{"core7", "edge3", "edge4"} {
		r.set(name+" DEVICE_METADATA localhost", "hostname", name)
		for i := range 4 {
			r.set(fmt.Sprintf("%s PORT Ethernet%d", name, 8*i), "speed", "100000", "mtu", "9100", "admin_status", "up")
		}
	}
	return r
}

// address gives a port, or a PortChannel, an address: "core7 Ethernet0 10.1.0.0/31".
func (r rack) address(rows ...string) rack {
	for _, row := range rows {
		w := strings.Fields(row)
		table := "INTERFACE"
		switch {
		case strings.HasPrefix(w[1], "PortChannel"):
			table = "PORTCHANNEL_INTERFACE"
		case strings.HasPrefix(w[1], "Vlan"):
			table = "VLAN_INTERFACE"
		case strings.HasPrefix(w[1], "Loopback"):
			table = "LOOPBACK_INTERFACE"
		}
		r.set(w[0] + " " + table + " " + w[1]).set(w[0] + " " + table + " " + w[1] + "|" + w[2])
	}
	return r
}

// channel makes ports members of a PortChannel.
func (r rack) channel(sw, name string, ports ...string) rack {
	r.set(sw+" PORTCHANNEL "+name, "admin_status", "up")
	for _, port := range ports {
		r.set(sw + " PORTCHANNEL_MEMBER " + name + "|" + port)
	}
	return r
}

// hasLinks checks the links of a plan.
func hasLinks(t *testing.T, plan *scenario.Plan, want ...string) {
	t.Helper()
	var got []string
	for _, l := range plan.Links {
		got = append(got, l.Name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
}

// TestSONiCSubnets: without DEVICE_NEIGHBOR, who has an address of one subnet is linked, and who is alone with his
// leads to a host. VLANs, loopbacks and addresses of the link make no links.
func TestSONiCSubnets(t *testing.T) {
	r := routedRack().address(
		"core7 Ethernet0 10.1.0.0/31", "edge3 Ethernet8 10.1.0.1/31",
		"core7 Ethernet0 fc00:7::1/126", "edge3 Ethernet8 fc00:7::2/126", // the same link
		"core7 Ethernet8 10.1.0.6/30", "edge4 Ethernet0 10.1.0.5/30",
		"edge3 Ethernet16 fc00:8::4/127", "edge4 Ethernet16 fc00:8::5/127",
		"edge3 Ethernet0 172.20.3.1/24", "edge4 Ethernet8 172.20.4.1/24",
		"core7 Loopback0 10.9.9.7/32", "edge3 Loopback0 10.9.9.7/32", "core7 Ethernet16 fe80::1/64", "edge3 Ethernet24 fe80::1/64",
		"core7 Vlan30 10.1.8.1/30", "edge3 Vlan30 10.1.8.2/30")
	_, plan := r.imports(t, "# No file has DEVICE_NEIGHBOR: links are from subnets of INTERFACE and PORTCHANNEL_INTERFACE,",
		"# edge3 Ethernet0 and 1 more: DEVICE_NEIGHBOR does not say where it leads: to a host.",
		"# core7 Ethernet16 and 3 more: it is up, and DEVICE_NEIGHBOR has nothing of it: it has no link.")
	hasLinks(t, plan, "core7--edge3", "core7--edge4", "edge3--edge3-Ethernet0", "edge3--edge4", "edge4--edge4-Ethernet8")

	newRack().address("core7 Ethernet0 10.1.0.0/31", "edge3 Ethernet8 10.1.0.1/31").imports(t, "# Without effect on frames: INTERFACE: a scenario has addresses of its own.")

	r.set("edge4 PORT Ethernet0", "speed", "40000").refused(t, `core7.json: PORT|Ethernet8: speed is "100000", and that of edge4 Ethernet0, to which it leads, "40000"`)
	r.set("edge4 PORT Ethernet0", "speed", "100000", "admin_status", "down")
	_, plan = r.imports(t, "# edge4 Ethernet0: its admin_status is down: its link is left out.")
	hasLinks(t, plan, "core7--edge3", "edge3--edge3-Ethernet0", "edge3--edge4", "edge4--edge4-Ethernet8")
}

// TestSONiCWideSubnets: two ports alone in a wide subnet are linked. More than two are joined by what is in no file.
func TestSONiCWideSubnets(t *testing.T) {
	r := routedRack().address("core7 Ethernet0 10.2.0.1/24", "edge3 Ethernet0 10.2.0.2/24", "core7 Ethernet8 10.3.0.1/24", "edge4 Ethernet0 10.3.0.2/24")
	r.address("core7 Ethernet24 10.5.0.1/16", "edge3 Ethernet24 10.5.0.3/16", "edge4 Ethernet24 10.5.0.4/16")
	_, plan := r.imports(t, "# core7 Ethernet0 and edge3 Ethernet0 and 1 more: their subnet has room for more than two addresses,",
		`# 10.5.0.0/16 is the subnet of "core7 Ethernet24", "edge3 Ethernet24", "edge4 Ethernet24": what joins them is in no file, and each leads to a host.`)
	hasLinks(t, plan, "core7--core7-Ethernet24", "core7--edge3", "core7--edge4", "edge3--edge3-Ethernet24", "edge4--edge4-Ethernet24")
}

// TestSONiCBadSubnets: what two ends of a link cannot have is refused by name.
func TestSONiCBadSubnets(t *testing.T) {
	two := func() rack { return routedRack().address("core7 Ethernet0 10.1.0.0/31", "edge3 Ethernet8 10.1.0.1/31") }
	two().address("edge4 Ethernet0 10.1.0.1/31").refused(t,
		`core7.json: INTERFACE|Ethernet0|10.1.0.0/31: 10.1.0.0/31 is a link, which has two ends at different switches, and it is the subnet of "core7 Ethernet0", "edge3 Ethernet8", "edge4 Ethernet0"`)
	two().address("edge4 Ethernet0 10.1.0.4/31", "edge4 Ethernet8 10.1.0.5/31").refused(t, `10.1.0.4/31 is a link, which has two ends at different switches, and it is the subnet of "edge4 Ethernet0", "edge4 Ethernet8"`)
	two().address("core7 Ethernet0 fc00:7::1/126", "edge4 Ethernet0 fc00:7::2/126").refused(t, "by it core7 Ethernet0 leads to edge4 Ethernet0, and by another address to edge3 Ethernet8")
	two().address("edge4 Ethernet0 10.1.0/31").refused(t, `edge4.json: INTERFACE|Ethernet0|10.1.0/31: "10.1.0/31" is no address with its length`)
	two().address("edge4 Ethernet99 10.1.0.9/31").imports(t, "# edge4 Ethernet99: INTERFACE has it, and PORT has not: it is not used.")
	routedRack().address("core7 Ethernet0 10.1.0.0/31").refused(t, "no two switches have addresses of one subnet in INTERFACE or PORTCHANNEL_INTERFACE: nothing says which switch is linked to which")
}

// TestSONiCChannelSubnets: two PortChannels in one subnet are linked member by member, and are one LAG.
func TestSONiCChannelSubnets(t *testing.T) {
	r := routedRack().channel("core7", "PortChannel12", "Ethernet16", "Ethernet8").channel("edge3", "PortChannel5", "Ethernet0", "Ethernet24").
		address("core7 PortChannel12 10.4.0.1/30", "edge3 PortChannel5 10.4.0.2/30")
	_, plan := r.imports(t, "# core7 PortChannel12 and edge3 PortChannel5: they have one subnet: the first member of one is linked to the first of the other, and so on.",
		`- {link: "core7--edge3"}`)
	hasLinks(t, plan, "core7--edge3", "core7--edge3#2")
	r.channel("edge3", "PortChannel5", "Ethernet16").refused(t, `core7.json: PORTCHANNEL_INTERFACE|PortChannel12|10.4.0.1/30: core7 PortChannel12 has 2 ports, and edge3 PortChannel5, which is in its subnet, 3: they are to be as many`)
}
