package export_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/lab"
	"softswitch/lab/export"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/scenarios"
)

// described is the lab of a shipped scenario.
func described(t *testing.T, name string) netnslab.Lab {
	t.Helper()
	data, err := scenarios.FS.ReadFile(name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return describedText(t, name, data)
}

func describedText(t *testing.T, name string, data []byte) netnslab.Lab {
	t.Helper()
	s, err := load.Scenario(name, data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return lab.Describe(p, lab.Options{Name: name, Program: "/bin/softswitch", Dir: export.Dir})
}

var two = []export.Machine{{Name: "a", Address: netip.MustParseAddr("192.0.2.1")}, {Name: "b", Address: netip.MustParseAddr("192.0.2.2")}}

// written are the files of a lab on some machines.
func written(t *testing.T, l netnslab.Lab, machines []export.Machine) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "clab")
	if err := export.Write(dir, l, export.Options{Image: "softswitch:latest", Machines: machines, UnderlayMTU: 1600}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRules: containerlab's rules hold for every shipped lab, on one machine and on two and
// three; each node has a configuration that it takes and the interfaces that this names.
func TestRules(t *testing.T) {
	three := append(slices.Clone(two), export.Machine{Name: "c", Address: netip.MustParseAddr("192.0.2.3")})
	for _, name := range []string{"fattree-on-loop", "pause", "itsy-fig3", "hu-fig4", "shpiner-fig6"} {
		for _, machines := range [][]export.Machine{nil, two, three} {
			l := described(t, name)
			if len(machines) > 2 && name == "pause" { // of two switches
				continue
			}
			dir := written(t, l, machines)
			files, err := testkit.ReadClab(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := testkit.CheckClab(files); err != nil || len(files) != max(1, len(machines)) {
				t.Errorf("%s, %d machines: %d files: %v", name, len(machines), len(files), err)
			}
			nodes, ends := 0, map[string][]string{}
			for _, f := range files {
				nodes += len(f.Topology.Nodes)
				for _, k := range f.Topology.Links {
					for _, e := range append(k.Endpoints, k.Endpoint) {
						ends[e.Node] = append(ends[e.Node], e.Interface)
					}
				}
				for n, c := range f.Topology.Nodes {
					wantInterfaces(t, filepath.Join(filepath.Dir(f.Path), strings.Split(c.Binds[0], ":")[0]), ends[n])
				}
			}
			if nodes != len(l.Nodes) {
				t.Errorf("%s: %d nodes, want %d", name, nodes, len(l.Nodes))
			}
			if readme, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || bytes.Count(readme, []byte("\n")) != 7 {
				t.Errorf("%v\n%s", err, readme)
			}
		}
	}
}

// TestKeys: nobody but its owner may read a file of keys, or its node would not start; and the README
// says for whom they are.
func TestKeys(t *testing.T) {
	data, err := scenarios.FS.ReadFile("pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := written(t, describedText(t, "pause", append([]byte("auth: strict\n"), data...)), nil)
	for _, name := range []string{"s1", "s2"} {
		info, err := os.Stat(filepath.Join(dir, "nodes", name+".keys"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want the mode 0600", name, info, err)
		}
	}
	if readme, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || !bytes.Contains(readme, []byte("`sudo chown root nodes/*.keys`")) {
		t.Errorf("%v\n%s", err, readme)
	}
}

// wantInterfaces wants a node's configuration to name these.
func wantInterfaces(t *testing.T, file string, want []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if s, _, err := config.LoadSwitch(file, data); err == nil {
		for _, p := range s.Ports {
			names = append(names, p.Name)
		}
	} else if h, err := config.LoadHost(file, data); err == nil {
		names = append(names, h.Port.Name)
	} else {
		t.Fatalf("%s: %v", file, err)
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%s names the interfaces %q, links have %q", file, names, want)
	}
}

// TestComesBack: what reads labs of containerlab finds the same fabric.
func TestComesBack(t *testing.T) {
	l := described(t, "fattree-on-loop")
	file := filepath.Join(written(t, l, nil), "fattree-on-loop.clab.yml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made, err := importer.Containerlab("back", file, data, importer.Options{Rate: 100_000_000})
	if err != nil {
		t.Fatal(err)
	}
	s, err := load.Scenario("back.yaml", made.Text)
	if err != nil || len(s.Fabric.Nodes) != len(l.Nodes) || len(s.Fabric.Links) != len(l.Links) {
		t.Errorf("%v: %d nodes, %d links; want %d, %d", err, len(s.Fabric.Nodes), len(s.Fabric.Links), len(l.Nodes), len(l.Links))
	}
}

// TestAlarm: each kind of mistake is found by the rules.
func TestAlarm(t *testing.T) {
	for what, change := range map[string][2]string{
		"a key that is misspelled":         {"vni: 1", "vnni: 1"},
		"an unknown key":                   {"kind: linux", "kind: linux\n    knd: linux"},
		"a bridge":                         {"kind: linux", "kind: bridge"},
		"a management network":             {"network-mode: none", "network-mode: bridge"},
		"a restart":                        {`restart-policy: "no"`, "restart-policy: always"},
		"an image that is pulled":          {"image-pull-policy: Never", "image-pull-policy: IfNotPresent"},
		"a missing capability":             {"NET_RAW", "NET_RA"},
		"a node that does not wait":        {" --wait 10m", ""},
		"a node of another machine":        {"node: s1\n      interface: to-h1", "node: s9\n      interface: to-h1"},
		"a configuration that is not here": {"nodes/s1.yaml:", "nodes/s7.yaml:"},
		"an interface twice":               {"interface: to-h1", "interface: to-s2"},
		"a name that is too long":          {"interface: to-h1", "interface: to-a-host-with-a-name"},
		"a link of another type":           {"type: veth", "type: mgmt-net"},
		"a VNI of no other end":            {"vni: 1", "vni: 2"},
		"a source port that is not pinned": {"src-port: 14789", "src-port: 0"},
		"another MTU":                      {"type: vxlan\n    mtu: 1500", "type: vxlan\n    mtu: 1400"},
		"no MTU":                           {"type: veth\n    mtu: 1500", "type: veth\n    mtu: 0"},
		"no address":                       {"remote: 192.0.2.2", "remote: nowhere"},
		"the same remote":                  {"remote: 192.0.2.2", "remote: 192.0.2.1"},
	} {
		dir := written(t, described(t, "pause"), two)
		file := filepath.Join(dir, "a", "pause.clab.yml")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(data), change[0], change[1], 1)
		if changed == string(data) {
			t.Fatalf("%s: nothing to change in\n%s", what, data)
		}
		if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		files, err := testkit.ReadClab(dir)
		if err == nil {
			err = testkit.CheckClab(files)
		}
		if err == nil {
			t.Errorf("%s: no fault in\n%s", what, changed)
		}
	}
}

// TestRefuses: the error names the place, and there is no folder.
func TestRefuses(t *testing.T) {
	six := []export.Machine{{Name: "a", Address: netip.MustParseAddr("2001:db8::1")}, {Name: "b", Address: netip.MustParseAddr("2001:db8::2")}}
	three := append(slices.Clone(two), export.Machine{Name: "c", Address: netip.MustParseAddr("192.0.2.3")})
	named := func(change func(l *netnslab.Lab)) netnslab.Lab {
		l := described(t, "pause")
		change(&l)
		return l
	}
	same := func(*netnslab.Lab) {}
	for _, c := range []struct {
		change   func(l *netnslab.Lab)
		machines []export.Machine
		mtu      int
		want     string
	}{
		{same, two, 1549, "needs an MTU of 1550"},
		{same, six, 1569, "needs an MTU of 1570"},
		{same, three, 1600, "there is no switch for"},
		{func(l *netnslab.Lab) { l.Name = "my lab" }, nil, 0, `name "my lab"`},
		{func(l *netnslab.Lab) { l.Nodes[0].Name = "_" }, nil, 0, `node "_"`},
		{func(l *netnslab.Lab) { l.Nodes[3].Command[1] = "nic" }, nil, 0, "node h2 has a NIC"},
	} {
		dir := filepath.Join(t.TempDir(), "clab")
		err := export.Write(dir, named(c.change), export.Options{Image: "i", Machines: c.machines, UnderlayMTU: c.mtu})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) > 0 {
			t.Errorf("%v: %v is left", err, left)
		}
	}
	dir := written(t, described(t, "pause"), nil)
	if err := export.Write(dir, described(t, "pause"), export.Options{Image: "i"}); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"a", "a=", "=192.0.2.1", "a=192.0.2.1", "a=192.0.2.1,a=192.0.2.2", "a=192.0.2.1,b=192.0.2.1", "a=192.0.2.1,b=2001:db8::1", "a=192.0.2.1,", "../a=192.0.2.1,b=192.0.2.2"} {
		if m, err := export.Machines(text); err == nil || !strings.Contains(err.Error(), "--machines: ") {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
	if m, err := export.Machines("a=192.0.2.1,b=192.0.2.2"); err != nil || !slices.Equal(m, two) {
		t.Errorf("%v, %v", err, m)
	}
}

// TestPlace: hosts are with their switch, machines get about as many nodes, and of small
// fabrics hardly any can be divided so that fewer links are cut.
func TestPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	worse := 0
	const labs = 300
	for range labs {
		var l netnslab.Lab
		switches := 2 + rng.IntN(8)
		machines := 2 + rng.IntN(min(2, switches-1))
		for i := range switches {
			l.Nodes = append(l.Nodes, netnslab.Node{Name: fmt.Sprint("s", i), Kind: "switch"})
			for range 1 + rng.IntN(max(1, i)) {
				if i > 0 {
					l.Links = append(l.Links, netnslab.Link{A: netnslab.End{Node: fmt.Sprint("s", i)}, B: netnslab.End{Node: fmt.Sprint("s", rng.IntN(i))}})
				}
			}
		}
		for i := range switches {
			h := netnslab.Node{Name: fmt.Sprint("h", i), Kind: "host"}
			l.Nodes = append(l.Nodes, h)
			l.Links = append(l.Links, netnslab.Link{A: netnslab.End{Node: h.Name}, B: netnslab.End{Node: fmt.Sprint("s", i)}})
		}
		at := export.Place(l, machines)
		for i := range switches {
			if at[i] != at[switches+i] {
				t.Fatalf("host %d is on machine %d, its switch on %d", i, at[switches+i], at[i])
			}
		}
		got, best := cut(l, at), len(l.Links)
		if !balanced(at, machines) {
			t.Errorf("%d switches on %d machines: %v", switches, machines, at)
		}
		for code := range pow(machines, switches) {
			other := make([]int, len(l.Nodes))
			for i := range switches {
				other[i], other[switches+i] = code%machines, code%machines
				code /= machines
			}
			if balanced(other, machines) {
				best = min(best, cut(l, other))
			}
		}
		if got > best {
			worse++
		}
	}
	if worse > labs/100 {
		t.Errorf("%d of %d labs are cut in more than the fewest links", worse, labs)
	}
}

// balanced: no machine has more than an equal share of the nodes and a switch with its host.
func balanced(at []int, machines int) bool {
	load := make([]int, machines)
	for _, m := range at {
		load[m]++
	}
	return slices.Max(load) <= (len(at)+machines-1)/machines+2 && slices.Min(load) > 0
}

func cut(l netnslab.Lab, at []int) (n int) {
	place := map[string]int{}
	for i, node := range l.Nodes {
		place[node.Name] = at[i]
	}
	for _, k := range l.Links {
		if place[k.A.Node] != place[k.B.Node] {
			n++
		}
	}
	return n
}

func pow(b, e int) int {
	n := 1
	for range e {
		n *= b
	}
	return n
}
