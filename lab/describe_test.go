package lab

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/scenario"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// TestDescribe compares the lab of a small plan with testdata/small.golden.
func TestDescribe(t *testing.T) {
	p := plan(t, "flows:\n  - {name: A, from: h1, to: h2, rate: line}\n")
	got := text(Describe(p, Options{Name: "t", Program: "/opt/softswitch", PcapDir: "/tmp/pcap", Instance: "7"}))
	const golden = "testdata/small.golden"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("lab:\n%s\nwant:\n%s", got, want)
	}
}

// The links of a fabric of jumbo frames have its MTU.
func TestDescribeMTU(t *testing.T) {
	p := plan(t, "flows:\n  - {name: A, from: h1, to: h2, rate: line}\n")
	p.Scenario.MTU = 9216
	for _, l := range Describe(p, Options{}).Links {
		if l.MTU != 9216 {
			t.Errorf("link %v has an MTU of %d, want 9216", l, l.MTU)
		}
	}
}

// text is a lab without the content of its files and without MAC addresses.
func text(lab netnslab.Lab) string {
	var s strings.Builder
	fmt.Fprintf(&s, "lab %s\n", lab.Name)
	for _, n := range lab.Nodes {
		fmt.Fprintf(&s, "%s %s: %s %s, ready %s, realtime %t\n", n.Kind, n.Name, strings.Join(n.Env, " "), strings.Join(n.Command, " "), n.Ready, n.Realtime)
		for _, f := range n.Files {
			fmt.Fprintf(&s, "  file %s\n", f.Path)
		}
		for _, a := range n.Addresses {
			fmt.Fprintf(&s, "  address %s %s\n", a.Iface, a.CIDR)
		}
		for _, r := range n.Routes {
			fmt.Fprintf(&s, "  route %s via %s\n", r.Dst, r.Via)
		}
	}
	for _, l := range lab.Links {
		fmt.Fprintf(&s, "link %v, MTU %d\n", l, l.MTU)
	}
	return s.String()
}

// TestDescribedFiles: a node reads from its file the configuration of the plan,
// and where its control socket, its log and its capture are. The plan is as before.
func TestDescribedFiles(t *testing.T) {
	p := plan(t, "flows:\n  - {name: A, from: h1, to: h2, rate: line}\n")
	lab := Describe(p, Options{PcapDir: "/tmp/pcap"})
	for i, want := range p.Switches {
		got, _, err := config.LoadSwitch(configName, lab.Nodes[i].Files[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		if want := (config.Live{Control: ControlName, Events: EventsName, LogLimit: config.DefaultLogLimit, LogRefreshes: "all", Pcap: "/tmp/pcap/" + want.Name + ".pcapng"}); got.Live != want {
			t.Errorf("%s: live %+v, want %+v", got.Name, got.Live, want)
		}
		if got.Live = want.Live; !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads %+v, want %+v", got.Name, got, want)
		}
	}
	for i, want := range p.Hosts {
		got, err := config.LoadHost(configName, lab.Nodes[len(p.Switches)+i].Files[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		if want := (config.Live{Control: ControlName, Events: EventsName, LogLimit: config.DefaultLogLimit, LogRefreshes: "all"}); got.Live != want {
			t.Errorf("%s: live %+v, want %+v", got.Name, got.Live, want)
		}
		if got.Live = want.Live; !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads %+v, want %+v", got.Name, got, want)
		}
	}
	here, err := DescribeHere(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// On this machine all nodes have one clock.
	got, _, err := config.LoadSwitch(configName, here.Nodes[0].Files[0].Data)
	if want := (config.Live{Control: ControlName, Events: EventsName, LogLimit: config.DefaultLogLimit, LogRefreshes: config.LogCounted}); err != nil || got.Live != want {
		t.Errorf("here: live %+v, want %+v; %v", got.Live, want, err)
	}
	if !reflect.DeepEqual(p.Switches, plan(t, "flows:\n  - {name: A, from: h1, to: h2, rate: line}\n").Switches) {
		t.Error("Describe changed the plan")
	}
}

// TestDescribedAddresses: a host's interface has the address that the switches
// know it by; a switch's has another than its port, so that the kernel's stack
// behind it takes no frame for its own.
func TestDescribedAddresses(t *testing.T) {
	p := plan(t, "")
	seen := map[string]bool{}
	for i, l := range Describe(p, Options{}).Links {
		for _, c := range []struct {
			got  netnslab.End
			plan scenario.LinkEnd
		}{{l.A, p.Links[i].A}, {l.B, p.Links[i].B}} {
			if host := strings.HasPrefix(c.got.Node, "h"); host != (c.got.MAC == c.plan.MAC.String()) {
				t.Errorf("interface %v has the address %s, its port %s", c.got, c.got.MAC, c.plan.MAC)
			}
			if seen[c.got.MAC] {
				t.Errorf("%s is the address of two interfaces", c.got.MAC)
			}
			seen[c.got.MAC] = true
		}
	}
}

// TestDescribePlain: without captures and instance there is no trace of either.
func TestDescribePlain(t *testing.T) {
	lab := Describe(plan(t, ""), Options{Program: "/opt/softswitch"})
	for _, n := range lab.Nodes {
		if len(n.Env) != 1 || strings.Contains(string(n.Files[0].Data), "pcap") {
			t.Errorf("%s: environment %v, file:\n%s", n.Name, n.Env, n.Files[0].Data)
		}
	}
}

// Nodes share processes as they are told to, except for NICs.
func TestDescribeShared(t *testing.T) {
	p := plan(t, "flows:\n  - {name: A, from: h1, to: h2, rate: line}\n")
	p.Scenario.NICs = []int{len(p.Switches)} // the first host
	nodes := len(p.Fabric.Nodes)
	for per, want := range map[int]int{0: 0, 1: 0, 2: nodes / 2, nodes: 1} {
		lab := Describe(p, Options{Program: "/opt/softswitch", Sharing: Sharing{PerProcess: per}, Instance: "7"})
		if len(lab.Hosting) != want {
			t.Errorf("%d nodes, %d in a process: %d processes, want %d", nodes, per, len(lab.Hosting), want)
		}
		shared := map[int]int{}
		for _, n := range lab.Nodes {
			shared[n.Hosting]++
			if own := n.Hosting == 0; own != (per < 2 || n.Command[1] == nicCommand) {
				t.Errorf("%d in a process: node %s of %q has process %d", per, n.Name, n.Command, n.Hosting)
			}
		}
		for _, h := range lab.Hosting {
			if !slices.Contains(h.Env, "SOFTSWITCH_INSTANCE=7") || !h.Realtime {
				t.Errorf("process %+v", h)
			}
		}
		if per == nodes && shared[1] != nodes-1 {
			t.Errorf("%d nodes share the process, want %d", shared[1], nodes-1)
		}
	}
}

// All nodes of a fabric share a process, unless somebody says otherwise.
func TestSharing(t *testing.T) {
	p := plan(t, "flows:\n  - {name: A, from: h1, to: h2, rate: line}\n")
	nodes := len(p.Fabric.Nodes)
	for _, c := range []struct {
		say        Sharing
		processors int
		files      uint64 // 0 for plenty
		want       Sharing
		err        string
	}{
		{say: Sharing{}, processors: 1, want: Sharing{PerProcess: nodes}},
		{say: Sharing{}, processors: 1, files: 60, want: Sharing{PerProcess: (nodes + 1) / 2}},
		{say: Sharing{}, processors: 1, files: 3, want: Sharing{PerProcess: 1}},
		{say: Sharing{PerProcess: nodes}, processors: 1, files: 60, err: fmt.Sprintf("--nodes-per-process: %d; valid: up to %d, since a process may open at most 60 files here", nodes, (nodes+1)/2)},
		{say: Sharing{PerProcess: 1}, processors: 1, want: Sharing{PerProcess: 1}},
		{say: Sharing{PerProcess: 3}, processors: 1, want: Sharing{PerProcess: 3}},
		{say: Sharing{PerProcess: -1}, processors: 1, err: "--nodes-per-process: -1; valid: 1 or more"},
		{say: Sharing{Poll: true}, processors: 2, want: Sharing{PerProcess: nodes, Poll: true}},
		{say: Sharing{Poll: true}, processors: 1, err: "--poll: a process that polls keeps a processor busy, and one has to be left; here are 1 for 1 of them"},
		{say: Sharing{Poll: true, PerProcess: 1}, processors: 64, err: "--poll: for nodes that share a process; give --nodes-per-process 2 or more, or leave it out"},
		{say: Sharing{Poll: true, PerProcess: 2}, processors: 2, err: fmt.Sprintf("here are 2 for %d of them", (nodes+1)/2)},
	} {
		if c.files == 0 {
			c.files = 1e6
		}
		switch got, err := c.say.on(c.processors, c.files, p); {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%+v with %d processors: error %v, want %s", c.say, c.processors, err, c.err)
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%+v with %d processors: %+v, %v, want %+v", c.say, c.processors, got, err, c.want)
		}
	}
	p.Scenario.NICs = []int{len(p.Switches)}
	if _, err := (Sharing{Poll: true, PerProcess: nodes - 1}).on(2, 1e6, p); err != nil {
		t.Errorf("a NIC counts as a node that polls: %v", err)
	}
	if got, err := (Sharing{}).on(2, 1e6, p); err != nil || got.PerProcess != nodes-1 {
		t.Errorf("a NIC counts as a node that shares: %+v, %v", got, err)
	}
}
