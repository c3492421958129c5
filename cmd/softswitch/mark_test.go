package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestByteOrderMark: every file that people write is read as it would be without the byte order mark
// that an editor has put at its head.
func TestByteOrderMark(t *testing.T) {
	const scenario = "name: x\ntopology:\n  switches: [s1]\n  hosts: [h1, h2]\n  links: [h1--s1, h2--s1]\n  rate: 100Mbit/s\nflows:\n  - {name: A, from: h1, to: h2}\nduration: 1ms\n"
	softswitch := func(args ...string) string {
		out, err := exec.Command("softswitch", args...).CombinedOutput()
		if err != nil {
			return string(out) + err.Error()
		}
		return string(out)
	}
	made := t.TempDir()
	written := func(name, text string) string {
		path := filepath.Join(made, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := written("x.yaml", scenario)
	output := func(args ...string) string {
		out, err := exec.Command("softswitch", args...).Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return string(out)
	}
	for _, c := range []struct{ name, text, command string }{
		{"scenario.yaml", scenario, "validate FILE"},
		{"scenario.yaml", scenario, "sim run FILE"},
		{"scenario.yaml", scenario, "check FILE"},
		{"scenario.yaml", scenario, "compare --scenarios FILE --systems none --json"},
		{"switch.yaml", "name: s1\nid: 1\nports:\n  - {name: p0}\n", "validate FILE"},
		{"host.yaml", "name: h1\nid: 2\nport: {name: p0}\naddress: 10.0.0.2/24\ngateway: 10.0.0.1\ngateway_mac: \"02:00:00:00:00:01\"\n", "validate FILE"},
		{"nodes.yaml", "scenario: " + plain + "\nname: n\n", "lab run --attach FILE"},
		{"topology.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n", "import hpcc FILE"},
		{"x.graphml", "<graphml><graph edgedefault=\"undirected\"><node id=\"0\"/><node id=\"1\"/><edge source=\"0\" target=\"1\"/></graph></graphml>", "import graphml FILE"},
		{"x.clab.yml", "name: x\ntopology:\n  nodes:\n    a: {kind: srl}\n    b: {kind: srl}\n  links:\n    - endpoints: [\"a:e1\", \"b:e1\"]\n", "import containerlab --rate 1Gbit/s FILE"},
		{"s1.json", `{"PORT": {"Ethernet0": {"speed": "100000"}}, "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "h1", "port": "eth0"}}}`, "import sonic DIR"},
		{"verdict.json", output("sim", "run", plain, "--json"), "plot --out OUT FILE"},
		{"shard.json", output("sim", "fuzz", "--n", "1", "--shard", "1/1"), "merge FILE"},
		{"keys.txt", "s1--s2 0011\n", "decode --keys FILE /dev/null"},
	} {
		var said []string
		for _, mark := range []string{"", "\ufeff"} {
			dir := filepath.Join(t.TempDir(), "files")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, c.name)
			if err := os.WriteFile(file, []byte(mark+c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := strings.Fields(c.command)
			for i, a := range args {
				args[i] = map[string]string{"FILE": file, "DIR": dir, "OUT": filepath.Join(made, "out.svg")}[a]
				if args[i] == "" {
					args[i] = a
				}
			}
			said = append(said, strings.ReplaceAll(softswitch(args...), dir, "DIR"))
		}
		if said[0] != said[1] {
			t.Errorf("%s, %s:\nwithout a mark %q\nwith one %q", c.command, c.name, said[0], said[1])
		}
	}
}
