package importer

import (
	"strings"
	"testing"

	"softswitch/scenarios"
)

// TestOtherProgram: a file of a program that there is an import for is named with the command, and no
// scenario is taken for one.
func TestOtherProgram(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"leaf.json", `{"PORT": {"Ethernet0": {"speed": "100000"}}}`, "SONiC's config_db.json, not a scenario; `softswitch import sonic leaf.json > fabric.yaml`"},
		{"meta.json", "\ufeff\n{\"DEVICE_METADATA\": {}}", "softswitch import sonic meta.json"},
		{"clos.clab.yml", "name: clos\ntopology:\n  # two\n\n  kinds: {linux: {}}\n  nodes:\n    s1: {kind: linux}\n", "softswitch import containerlab clos.clab.yml --rate 100Gbit/s"},
		{"windows.clab.yml", "name: clos\r\ntopology:\r\n  nodes:\r\n    s1: {kind: linux}\r\n", "softswitch import containerlab"},
		{"zoo.graphml", "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">", "softswitch import graphml zoo.graphml"},
		{"topology.txt", "5 2 4\n0 1\n2 0 100Gbps 1us 0\n", "softswitch import hpcc topology.txt"},
		{"-", "5 2 4\n0 1\n", "<stdin>: this is a topology of HPCC's simulator"},
		{"other.json", `{"name": "x"}`, ""},
		{"page.html", "<html>graphml</html>", ""},
		{"switch.yaml", "name: s1\nports: [{name: p1}]\n", ""},
		{"nodes.yaml", "name: x\ntopology: {ring: {switches: 3}}\nnodes:\n", ""},
		{"numbers", "1 2\n3\n", ""},
		{"empty", "", ""},
	} {
		err := OtherProgram(c.name, []byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, name := range scenarios.Offered() {
		data, err := scenarios.Read(name)
		if err == nil {
			err = OtherProgram(name, data)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
