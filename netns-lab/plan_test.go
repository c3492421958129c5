package netnslab

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; commit only what you understand")

// fatTree returns a k=4 fat-tree: 4 cores, 8 aggregation and 8 edge switches, 16
// hosts, 48 links.
func fatTree(name string, command []string) Lab {
	lab := Lab{Name: name}
	node := func(name, kind string) {
		lab.Nodes = append(lab.Nodes, Node{Name: name, Kind: kind, Command: command, Env: []string{"GOMAXPROCS=1"}})
	}
	link := func(a, b string) {
		i := len(lab.Links)
		mac := func(end int) string { return fmt.Sprintf("02:00:00:00:%02x:%02x", i, end) }
		lab.Links = append(lab.Links, Link{End{a, "to-" + b, mac(1)}, End{b, "to-" + a, mac(2)}, 1500})
	}
	for c := range 4 {
		node(fmt.Sprintf("core%d", c), "switch")
	}
	for pod := range 4 {
		for i := range 2 {
			node(fmt.Sprintf("agg%d-%d", pod, i), "switch")
		}
		for i := range 2 {
			node(fmt.Sprintf("edge%d-%d", pod, i), "switch")
		}
	}
	for pod := range 4 {
		for e := range 2 {
			for h := range 2 {
				node(fmt.Sprintf("h%d-%d-%d", pod, e, h), "host")
			}
		}
	}
	for pod := range 4 {
		for a := range 2 {
			for c := range 2 {
				link(fmt.Sprintf("core%d", 2*a+c), fmt.Sprintf("agg%d-%d", pod, a))
			}
			for e := range 2 {
				link(fmt.Sprintf("agg%d-%d", pod, a), fmt.Sprintf("edge%d-%d", pod, e))
			}
		}
		for e := range 2 {
			for h := range 2 {
				link(fmt.Sprintf("edge%d-%d", pod, e), fmt.Sprintf("h%d-%d-%d", pod, e, h))
			}
		}
	}
	for i := range lab.Nodes {
		n := &lab.Nodes[i]
		var pod, e, h int
		if k, _ := fmt.Sscanf(n.Name, "h%d-%d-%d", &pod, &e, &h); k != 3 {
			n.Files = []File{{Path: "switch.yaml", Data: []byte("name: " + n.Name + "\n")}}
			continue
		}
		n.Files = []File{{Path: "host.yaml", Data: []byte("name: " + n.Name + "\n")}}
		n.Addresses = []Address{{fmt.Sprintf("to-edge%d-%d", pod, e), fmt.Sprintf("10.%d.%d.%d/24", pod, e, 2+h)}}
		n.Routes = []Route{{"default", fmt.Sprintf("10.%d.%d.1", pod, e)}}
	}
	return lab
}

func TestPlanOfFatTree(t *testing.T) {
	lab := fatTree("", []string{"softswitch", "run", "-c", "switch.yaml"})
	for i := range lab.Nodes {
		lab.Nodes[i].Ready = "control.sock"
	}
	if len(lab.Nodes) != 36 || len(lab.Links) != 48 {
		t.Fatalf("%d nodes and %d links, want 36 and 48", len(lab.Nodes), len(lab.Links))
	}
	got := planText(t, lab, "/run/softswitch/ss")
	const golden = "testdata/fattree-k4.plan"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			t.Fatalf("%s:%d\n got %s\nwant %s", golden, i+1, gotLines[i], wantLines[i])
		}
	}
	if len(gotLines) != len(wantLines) {
		t.Fatalf("%d lines, want %d as in %s", len(gotLines), len(wantLines), golden)
	}
}

func planText(t *testing.T, lab Lab, dir string) string {
	t.Helper()
	steps, err := Plan(lab, dir)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, s := range steps {
		line := s.String()
		if strings.Contains(line, "\n") {
			t.Errorf("step %q is more than one line", line)
		}
		text.WriteString(line + "\n")
	}
	return text.String()
}

func TestPlanRefuses(t *testing.T) {
	end := func(node, iface string) End { return End{node, iface, "02:00:00:00:00:01"} }
	node := func(change func(*Node)) Lab {
		n := Node{Name: "a", Kind: "host", Command: []string{"sleep", "1"}}
		change(&n)
		return Lab{Nodes: []Node{n}}
	}
	link := func(l Link) Lab {
		return Lab{Nodes: []Node{{Name: "a", Kind: "host"}, {Name: "b", Kind: "host"}}, Links: []Link{l}}
	}
	for _, c := range []struct {
		lab  Lab
		want string
	}{
		{Lab{Name: "a/b"}, `lab name "a/b": want`},
		{Lab{Name: ".."}, `lab name "..": want`},
		{Lab{Backlog: -1}, "backlog -1: want"},
		{Lab{Nodes: []Node{{Name: "a", Kind: "host"}, {Name: "a", Kind: "host"}}}, `"a": the name is used twice`},
		{node(func(n *Node) { n.Name = "" }), `node name "": want`},
		{node(func(n *Node) { n.Kind = "router" }), `kind "router": want switch or host`},
		{node(func(n *Node) { n.Command = []string{"bin/x"} }), `command "bin/x": want an absolute path`},
		{node(func(n *Node) { n.Ready = "../x" }), `ready "../x": want`},
		{node(func(n *Node) { n.Ready, n.Command = "x", nil }), `ready "x": want`},
		{node(func(n *Node) { n.Env = []string{"X"} }), `environment "X": want NAME=value`},
		{node(func(n *Node) { n.Files = []File{{Path: "/etc/passwd"}} }), `file "/etc/passwd": want`},
		{node(func(n *Node) { n.Files = []File{{Path: "log"}} }), `file "log": want`},
		{node(func(n *Node) { n.Addresses = []Address{{"eth0", "10.0.0.1/8"}} }), `no interface "eth0"`},
		{node(func(n *Node) { n.Addresses = []Address{{"eth0", "10.0.0.1"}} }), `address "10.0.0.1" of eth0: want an IPv4`},
		{node(func(n *Node) { n.Routes = []Route{{"0/0", "10.0.0.1"}} }), `route to "0/0": want`},
		{node(func(n *Node) { n.Routes = []Route{{"default", "gw"}} }), `route via "gw": want an IPv4`},
		{link(Link{end("a", "x"), end("c", "y"), 1500}), `no node "c"`},
		{link(Link{end("a", "x"), end("a", "x"), 1500}), "interface a:x is used twice"},
		{link(Link{end("a", "x"), end("b", "y"), 67}), "MTU 67: want 68 to 65535"},
		{link(Link{end("a", "sixteen-letters-"), end("b", "y"), 1500}), `interface "sixteen-letters-": want 1 to 15`},
		{link(Link{end("a", "lo"), end("b", "y"), 1500}), `interface "lo": want`},
		{link(Link{End{"a", "x", "01:00:00:00:00:01"}, end("b", "y"), 1500}), `MAC "01:00:00:00:00:01" of a:x: want`},
		{link(Link{End{"a", "x", ""}, end("b", "y"), 1500}), `MAC "" of a:x: want`},
	} {
		steps, err := Plan(c.lab, "/d")
		if err == nil || !strings.Contains(err.Error(), c.want) || steps != nil {
			t.Errorf("%+v:\n got %v\nwant %s", c.lab, err, c.want)
		}
	}
}

func TestPlanTellsAllFaultsAtOnce(t *testing.T) {
	lab := Lab{Name: "/", Nodes: []Node{{Name: "a", Kind: "x"}}, Links: []Link{{End{"b", "", ""}, End{"c", "", ""}, 0}}}
	_, err := Plan(lab, "/d")
	if err == nil {
		t.Fatal("no error")
	}
	if got := strings.Count(err.Error(), "\n") + 1; got != 9 { // name, kind, MTU, and per end: node, interface, MAC
		t.Errorf("%d faults, want 9:\n%v", got, err)
	}
}

// FuzzQuote checks quote against the shell itself.
func FuzzQuote(f *testing.F) {
	testkit.Need(f, "sh")
	for _, word := range []string{"", "plain", "two words", "it's", "$HOME `x` \\ \"", "a\nb", "-n", "~", "*"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") {
			t.Skip("no word of a command line holds a zero byte")
		}
		got, err := exec.Command("sh", "-c", "printf %s "+quote(word)).Output()
		if word == "-n" || strings.HasPrefix(word, "-") {
			got, err = exec.Command("sh", "-c", "printf %s -- "+quote(word)).Output()
			got = []byte(strings.TrimPrefix(string(got), "--"))
		}
		if err != nil || string(got) != word {
			t.Errorf("sh reads %s as %q (%v), want %q", quote(word), got, err, word)
		}
	})
}

// Nodes that share a process are in its list, and it is started in their stead.
func TestPlanOfSharedProcess(t *testing.T) {
	lab := Lab{Name: "t", Hosting: []Hosting{{Command: []string{"many"}, Env: []string{"A=1"}, Realtime: true}}}
	for _, name := range []string{"s1", "s2"} {
		lab.Nodes = append(lab.Nodes, Node{Name: name, Kind: "switch", Command: []string{"one", name}, Hosting: 1})
	}
	lab.Nodes = append(lab.Nodes, Node{Name: "s3", Kind: "switch", Command: []string{"one", "s3"}})
	dir := t.TempDir()
	steps, err := Plan(lab, dir)
	if err != nil {
		t.Fatal(err)
	}
	var starts []string
	for _, s := range steps {
		switch s.phase {
		case "processes", "ready":
			starts = append(starts, strings.ReplaceAll(s.String(), dir, "/run/t"))
		case "files":
			if err := s.do(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := os.ReadFile(dir + "/.process1/nodes.json")
	if err != nil {
		t.Fatal(err)
	}
	list := strings.ReplaceAll(string(text), dir, "/run/t")
	for _, want := range []string{`"s1"`, `"/run/netns/t-s2"`, `"/run/t/s2"`} {
		if !strings.Contains(list, want) || strings.Contains(list, "s3") {
			t.Errorf("list %s, want %s and no s3", list, want)
		}
	}
	want := []string{
		"chrt --rr 1 setsid env -C /run/t/.process1 A=1 many nodes.json </dev/null >/run/t/.process1/log 2>&1 &",
		"ip netns exec t-s3 setsid env -C /run/t/s3 one s3 </dev/null >/run/t/s3/log 2>&1 &",
		`timeout 11 sh -c 'until test -e "$0"; do sleep 0.01; done' /run/t/.process1/control.sock`,
	}
	if !slices.Equal(starts, want) {
		t.Errorf("processes:\n%s\nwant:\n%s", strings.Join(starts, "\n"), strings.Join(want, "\n"))
	}

	lab.Nodes[0].Hosting, lab.Nodes[1].Command, lab.Hosting[0].Env = 2, nil, []string{"A"}
	_, err = Plan(lab, "/run/t")
	for _, want := range []string{"node s1: process 2 of the lab", "node s2: process 1 of the lab", `environment "A"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
