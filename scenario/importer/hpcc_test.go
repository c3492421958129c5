package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/scenario"
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/unit"
)

const topology = `5 2 5
0 4
0 1 100Gbps 0.001ms 0
0 2 25Gbps 1us 0.5
4 3 100Gbps 1000ns 0
0 4 100Gbps 0.001ms 0
4 0 400Gbps 2us 0

First line: total node #, switch node #, link #
`

const flows = `2
1 3 3 100 200000 2
2 3 5 100 1000 2.000001

First line: # of flows
`

// hpccImported is what comes of two files; the pairs of edits replace a text of one.
func hpccImported(edits ...string) (importer.Imported, error) {
	t, f := topology, flows
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(t+f, edits[i]) {
			panic(edits[i])
		}
		t, f = strings.Replace(t, edits[i], edits[i+1], 1), strings.Replace(f, edits[i], edits[i+1], 1)
	}
	return simulatorFiles(t, f, "")
}

// simulatorFiles is what comes of a topology, flows and a configuration; "" is no file.
func simulatorFiles(topology, flows, config string) (importer.Imported, error) {
	files := importer.HPCCFiles{Topology: importer.HPCCFile{Name: "dir/t.txt", Data: []byte(topology)}}
	if flows != "" {
		files.Flows = &importer.HPCCFile{Name: "dir/f.txt", Data: []byte(flows)}
	}
	if config != "" {
		files.Config = &importer.HPCCFile{Name: "dir/c.txt", Data: []byte(config)}
	}
	return importer.HPCC("x", files, "")
}

// planOf is the plan of an imported scenario.
func planOf(t *testing.T, made importer.Imported, err error) *scenario.Plan {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p, err := load.Plan("x.yaml", made.Text, load.Instead{})
	if err != nil {
		t.Fatalf("%v\n%s", err, made.Text)
	}
	return p
}

// wantTold wants that the head of a scenario tells something.
func wantTold(t *testing.T, made importer.Imported, want ...string) {
	t.Helper()
	told := strings.Join(made.Told, "\n")
	for _, w := range want {
		if !strings.Contains(told, w) {
			t.Errorf("%q is not told:\n%s", w, told)
		}
	}
}

// wantLinks wants links with rate in Gbit/s and delay in ns.
func wantLinks(t *testing.T, p *scenario.Plan, want string) {
	t.Helper()
	var got []string
	for _, l := range p.Links {
		got = append(got, fmt.Sprintf("%s %g %d", l.Name, float64(l.Rate)/1e9, l.Delay))
	}
	if strings.Join(got, ", ") != want {
		t.Errorf("links\n%s\nwant\n%s", strings.Join(got, ", "), want)
	}
}

func TestHPCC(t *testing.T) {
	made, err := hpccImported()
	p := planOf(t, made, err)
	wantLinks(t, p, "s0--h1 100 1000, s0--h2 25 1000, s4--h3 100 1000, s0--s4 100 1000, s4--s0#2 400 2000")
	f := p.Scenario.Flows[1]
	if f.Size != 1000 || f.Start != unit.Microsecond || f.Priority != 5 || f.RC == nil || fmt.Sprint(p.Scenario.PFC.Lossless) != "[3 4 5]" {
		t.Errorf("the second flow is %+v, lossless %v", f, p.Scenario.PFC.Lossless)
	}
	wantTold(t, made, "Flows begin 2s earlier", "Routing is igp", "no config.txt", "flow.dst_port")
}

// TestHPCCSeveralNICs: a host with two links has one address at both.
func TestHPCCSeveralNICs(t *testing.T) {
	made, err := hpccImported("0 4 100Gbps", "1 4 100Gbps")
	p := planOf(t, made, err)
	h, _ := p.Fabric.Node("h1")
	if n := p.Fabric.Nodes[h]; len(n.Ports) != 2 || !n.Shared || p.Scenario.Flows[0].NIC != unit.NoPort {
		t.Errorf("h1 is %+v, its flow leaves by NIC %d", n, p.Scenario.Flows[0].NIC)
	}
}

// TestHPCCLosses: an error rate is the loss of its link, in hundredths of a percent, and the scenario expects
// that lossless frames are lost; ERROR_RATE_PER_LINK is that of links without one.
func TestHPCCLosses(t *testing.T) {
	for _, c := range []struct{ topology, config, line, told string }{
		{"3 1 2\n2\n0 2 10Gbps 5us 0.04\n1 2 10Gbps 5us 0.04\n", "", "  loss: 4%\n", "lossless ones too"},
		{"3 1 2\n2\n0 2 10Gbps 5us 0\n1 2 10Gbps 5us 0.5\n", "", `- {link: "h1--s2", loss: 50%}`, "lossless ones too"},
		{"3 1 2\n2\n0 2 10Gbps 5us 0\n1 2 10Gbps 5us 0.5\n", "ERROR_RATE_PER_LINK 0.25\n", "  loss: 25%\n", "lossless ones too"},
		{"3 1 2\n2\n0 2 10Gbps 5us 0.00012\n1 2 10Gbps 5us 0.00012\n", "", "  loss: 0.01%\n", "0.00012 is written as 0.01%"},
	} {
		made, err := simulatorFiles(c.topology, "", c.config)
		planOf(t, made, err)
		wantTold(t, made, c.told)
		for _, want := range []string{c.line, "lossless_lost: any"} {
			if !strings.Contains(string(made.Text), want) {
				t.Errorf("no %q in\n%s", want, made.Text)
			}
		}
	}
	made, err := simulatorFiles("3 1 2\n2\n0 2 10Gbps 5us 0.00001\n1 2 10Gbps 5us 0\n", "", "")
	planOf(t, made, err)
	wantTold(t, made, "1e-05 is written as 0%")
	if strings.Contains(string(made.Text), "lossless_lost") {
		t.Errorf("losses are expected, and there are none:\n%s", made.Text)
	}
}

// TestHPCCForms: the first line of a topology tells whose file it is; what of it has no effect is told.
func TestHPCCForms(t *testing.T) {
	for name, c := range map[string]struct{ topology, links, told string }{
		"PowerTCP": {
			"5 2 1 4\n3 4 \n0 3 10000000000.0 2us 0\n1 3 10000000000.0 2us 0\n2 4 10000000000.0 2us 0\n3 4 40000000000.0 3us 0\n",
			"h0--s3 10 2000, h1--s3 10 2000, h2--s4 10 2000, s3--s4 40 3000", "topology.tors",
		},
		"Reverie": {
			"3 1 1 2 25000000000 25000000000\n2 \n0 2 25000000000 2us 0\n1 2 25000000000 2us 0\n",
			"h0--s2 25 2000, h1--s2 25 2000", "topology.leaf_server_capacity",
		},
		// NVLink has no PFC: NVSwitches are left out, and what is in two of their fabrics is whole.
		"SimAI": {
			"7 2 2 1 8 A100\n4 5 6 \n0 4 2400Gbps 0.000025ms 0\n1 4 2400Gbps 0.000025ms 0\n2 5 2400Gbps 0.000025ms 0\n3 5 2400Gbps 0.000025ms 0\n" +
				"0 6 200Gbps 0.0005ms 0\n1 6 200Gbps 0.0005ms 0\n2 6 200Gbps 0.0005ms 0\n3 6 200Gbps 0.0005ms 0\n",
			"h0--s6 200 500, h1--s6 200 500, h2--s6 200 500, h3--s6 200 500", "2 NVSwitches and 4 links to them are left out",
		},
		"HPCC": {
			"3 1 2\n\n2\n// two hosts\n0 2 40Gbps 0.0003ms\n1 2 40Gbps 0.0003ms\n# that is all\nFirst line: nodes\n",
			"h0--s2 40 300, h1--s2 40 300", "t.txt:5 and 1 more: a link without an error rate: it is 0",
		},
	} {
		made, err := simulatorFiles(c.topology, "", "")
		wantLinks(t, planOf(t, made, err), c.links)
		wantTold(t, made, "the simulator of "+name+":", c.told)
	}
}

// TestHPCCPlanes: of planes that only hosts join, the largest is the scenario; other parts are refused.
func TestHPCCPlanes(t *testing.T) {
	const links = "0 2 9Gbps 1us 0\n0 3 9Gbps 1us 0\n1 2 9Gbps 1us 0\n1 3 9Gbps 1us 0\n3 4 9Gbps 1us 0\n"
	made, err := simulatorFiles("5 3 5\n2 3 4\n"+links, "", "")
	wantLinks(t, planOf(t, made, err), "h0--s3 9 1000, h1--s3 9 1000, s3--s4 9 1000")
	wantTold(t, made, "2 planes that only hosts join: the one of s3 is the scenario, and s2 are left out")
	_, err = simulatorFiles("6 3 6\n2 3 4\n"+links+"5 2 9Gbps 1us 0\n", "", "")
	if err == nil || err.Error() != "dir/t.txt: h5 is not connected to s3: all nodes of a fabric are" {
		t.Error(err)
	}
}

// TestHPCCBehind: what the head of a file does not count is left out, as the simulators leave it out, and told;
// so are nodes without a link.
func TestHPCCBehind(t *testing.T) {
	made, err := hpccImported("5 2 5", "5 2 4", "2\n1 3", "1\n1 3")
	if p := planOf(t, made, err); len(p.Links) != 4 || len(p.Scenario.Flows) != 1 {
		t.Errorf("%d links, %d flows", len(p.Links), len(p.Scenario.Flows))
	}
	wantTold(t, made, "t.txt:7: 1 line behind the 4 links", "f.txt:3: 1 line behind the 1 flow")
	made, err = simulatorFiles("5 2 2\n3 4\n0 3 9Gbps 1us 0\n1 3 9Gbps 1us 0\n", "", "")
	planOf(t, made, err)
	wantTold(t, made, "h2, s4: left out, for want of a link")
}

// TestHPCCPorts: a switch of that simulator may have 256 ports.
func TestHPCCPorts(t *testing.T) {
	star := func(hosts int) string {
		text := fmt.Sprintf("%d 1 %d\n%d\n", hosts+1, hosts, hosts)
		for i := range hosts {
			text += fmt.Sprintf("%d %d 10Gbps 1us 0\n", i, hosts)
		}
		return text
	}
	made, err := simulatorFiles(star(unit.MaxPorts), "", "")
	planOf(t, made, err)
	_, err = simulatorFiles(star(unit.MaxPorts+1), "", "")
	if err == nil || !strings.HasSuffix(err.Error(), ":259: s257 gets another link: a switch has at most 256") {
		t.Error(err)
	}
}

// TestHPCCFlows: the three forms of flows.
func TestHPCCFlows(t *testing.T) {
	const star = "3 1 2\n2\n0 2 40Gbps 1us 0\n1 2 40Gbps 1us 0\n"
	for _, c := range []struct {
		flows, config string
		size          int
		stop          unit.Time
		told          string
	}{
		{"1\n0 1 3 700 4000 2\n", "", 4000, 0, "flow.dst_port"},
		{"1\n0 1 3 4000 2\n", "", 4000, 0, "Flows begin 2s earlier"},
		{"1\n0 1 3 700 4000 2 6 7\n", "", 4000, 0, "Unknown, and not used: flow.word_7 (f.txt:2), flow.word_8 (f.txt:2)"},
		// Packets of 1000 bytes, or of those of a config.txt; a stop behind the end does not matter.
		{"1\n0 1 3 900 1 1.00001\n", "", 900_000, 10 * unit.Microsecond, "can be a start and a stop"},
		{"1\n0 1 3 900 1.5 7\n", "PACKET_PAYLOAD_SIZE 512\n", 460_800, 0, "the fifth word of f.txt:2, 1.5, is no size"},
		{"2\n0 1 3 900 80000 2\n1 0 3 70000 1 9\n", "", 900_000, 0, "the fourth word of f.txt:3, 70000, is no port"},
	} {
		made, err := simulatorFiles(star, c.flows, c.config)
		if c.size == 900_000 && strings.HasPrefix(c.flows, "2") {
			if err == nil || err.Error() != "dir/f.txt:2: a flow that stops at 2 s and starts at 80000 s" {
				t.Error(err)
			}
			continue
		}
		f := planOf(t, made, err).Scenario.Flows[0]
		if f.Size != c.size || f.Stop != c.stop {
			t.Errorf("%q: %d bytes, stop %s; want %d, %s", c.flows, f.Size, f.Stop, c.size, c.stop)
		}
		wantTold(t, made, c.told)
	}
}

// TestHPCCTooLong: flows that make too long a scenario are refused with what to do.
func TestHPCCTooLong(t *testing.T) {
	_, err := simulatorFiles("3 1 2\n2\n0 2 40Gbps 1us 0\n1 2 40Gbps 1us 0\n", "70000\n"+strings.Repeat("0 1 3 700 4000 2\n", 70_000), "")
	if err == nil || !strings.HasPrefix(err.Error(), "2 links and 70000 flows make a scenario of ") || !strings.Contains(err.Error(), "at most 4194304; a lower number") {
		t.Error(err)
	}
	_, err = simulatorFiles("3 1 2\n2\n0 2 40Gbps 1us 0\n1 2 40Gbps 1us 0\n", "100001\n", "")
	if err == nil || err.Error() != "dir/f.txt:1: 100001 flows: a scenario has at most 100000; a lower number there takes the first" {
		t.Error(err)
	}
}

// hpccSettings is a config.txt with all that is used of one.
const hpccSettings = `ENABLE_QCN 1 {0: disable}
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 4000
TOPOLOGY_FILE mix/t.txt
SIMULATOR_STOP_TIME 2.003
CC_MODE 1
RATE_AI 20Mb/s
LINK_DOWN 1500 0 4
KMAX_MAP 2 25000000000 300 100000000000 900
KMIN_MAP 2 25000000000 90 100000000000 350
PMAX_MAP 25000000000 0.1 100000000000 0.15
BUFFER_SIZE 8
#COMMENT 1
`

func TestHPCCConfig(t *testing.T) {
	made, err := simulatorFiles(topology, flows, hpccSettings)
	p := planOf(t, made, err)
	s := p.Scenario
	// 8 MiB less 5 ports of 4 KiB and a headroom of 3 x rate x delay at s0, of 4 and 300,000 + 3 x 37,500 + 9,375.
	want := 8<<20 - 4*4096 - (300_000 + 37_500 + 9_375 + 37_500)
	if s.Buffer.Pool != want || *s.Buffer.DynamicTh != -3 || *s.Buffer.XONOffset != 3072 {
		t.Errorf("pool %d, dynamic_th %d, xon_offset %d; want %d, -3, 3072", s.Buffer.Pool, *s.Buffer.DynamicTh, *s.Buffer.XONOffset, want)
	}
	if c := s.Congestion; c == nil || c.Control != "dcqcn" || *c.ECN.Kmin != 350_000 || c.ECN.Kmax != 900_000 || c.ECN.Pmax != 15 {
		t.Errorf("congestion %+v", s.Congestion)
	}
	if f := s.Flows[0]; f.RC.PathMTU != 4096 || s.Duration != 3*unit.Millisecond {
		t.Errorf("path MTU %d, %s; want 4096, 3ms", f.RC.PathMTU, s.Duration)
	}
	if len(s.Events) != 1 || s.Events[0].At != 1500*unit.Microsecond {
		t.Errorf("events %+v", s.Events)
	}
	wantTold(t, made, "Packets carry 4000 bytes there, and 4096 here", "those of 100Gbit/s, the rate of most links",
		"Not used: config.RATE_AI (c.txt:7): senders with DCQCN", "config.TOPOLOGY_FILE: the files that are given count")
}

// TestHPCCConfigTells: what a setting says that a scenario cannot is told.
func TestHPCCConfigTells(t *testing.T) {
	for edit, told := range map[[2]string]string{
		{"CC_MODE 1", "CC_MODE 3"}:                                 "CC_MODE is 3, HPCC: senders keep to the rate",
		{"ENABLE_QCN 1", "ENABLE_QCN 0"}:                           "ENABLE_QCN is 0",
		{"THRESHOLD 1", "THRESHOLD 0"}:                             "USE_DYNAMIC_PFC_THRESHOLD is 0",
		{"BUFFER_SIZE 8", "BUFFER_SIZE 0.1"}:                       "is taken up by the headroom of s0",
		{"LINK_DOWN 1500", "LINK_DOWN 900000"}:                     "c.txt:8: LINK_DOWN is at 2.9s",
		{"SIMULATOR_STOP_TIME 2.003", "SIMULATOR_STOP_TIME 4e13"}:  "SIMULATOR_STOP_TIME is 4e+13 s",
		{"STOP_TIME 2.003", "STOP_TIME 2.0000005"}:                 "1 flow of 2 left out: they begin after SIMULATOR_STOP_TIME",
		{"100000000000 900", "400000000000 900"}:                   "no ECN thresholds for 100Gbit/s",
		{"KMIN_MAP 2 25000000000 90", "KMIN_MAP 1 25000000000 90"}: "c.txt:10: KMIN_MAP has more pairs than the 1",
		{"#COMMENT", "COLOUR_OF_CABLES"}:                           "Unknown, and not used: config.COLOUR_OF_CABLES (c.txt:13)",
	} {
		if !strings.Contains(hpccSettings, edit[0]) {
			t.Fatalf("no %q", edit[0])
		}
		made, err := simulatorFiles(topology, flows, strings.Replace(hpccSettings, edit[0], edit[1], 1))
		planOf(t, made, err)
		wantTold(t, made, told)
	}
}

func TestHPCCConfigFaults(t *testing.T) {
	for want, edit := range map[string][2]string{
		`dir/c.txt:12: "much" is not a value of BUFFER_SIZE: write 0 to 1.073741824e+09`:                               {"SIZE 8", "SIZE much"},
		`dir/c.txt:9: KMAX_MAP: 2 pairs, and 3 are announced`:                                                          {"KMAX_MAP 2", "KMAX_MAP 3"},
		`dir/c.txt:8: LINK_DOWN: s0 and h3 have no link`:                                                               {"1500 0 4", "1500 0 3"},
		`dir/c.txt:8: the file ends where a node of LINK_DOWN should be`:                                               {"1500 0 4", "1500 0"},
		`dir/c.txt:1: "ENABLE_QCN" is not a setting: write a key in capitals and its value, such as "BUFFER_SIZE 32"`:  {"ENABLE_QCN 1", "ENABLE_QCN"},
		`dir/c.txt:4: "mix/t.txt 1" is not a setting: write a key in capitals and its value, such as "BUFFER_SIZE 32"`: {"TOPOLOGY_FILE mix/t.txt", "mix/t.txt 1"},
	} {
		_, err := simulatorFiles(topology, flows, strings.Replace(hpccSettings, edit[0], edit[1], 1))
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := simulatorFiles(topology, flows, "\n# nothing\n"); err == nil || !strings.HasPrefix(err.Error(), "dir/c.txt: no settings") {
		t.Error(err)
	}
}

func TestHPCCFaults(t *testing.T) {
	for want, edit := range map[string][]string{
		`dir/t.txt:1: "x 2 5": a topology begins with the numbers of its nodes, switches and links`: {"5 2 5", "x 2 5"},
		`dir/t.txt:2: "5" is not the number of a switch: write 0 to 4`:                              {"0 4\n", "0 5\n"},
		"dir/t.txt:2: switch 0 is in the list already":                                              {"0 4\n", "0 0\n"},
		`dir/t.txt:4: "x" is not an error rate: write 0 to 1`:                                       {"0.5", "x"},
		"dir/t.txt:4: a delay of 2s: at most 1s":                                                    {"1us", "2s"},
		"dir/t.txt:4: a rate of 0: write one above":                                                 {"25Gbps", "0Gbps"},
		"dir/t.txt:4: host 1 gets a second link to one switch: each leads to another one":           {"0 2 25", "0 1 25"},
		"dir/t.txt:5: a link from h2 to h3: one is between two switches, or a switch and a host":    {"0 2 25", "0 4 25", "4 3", "2 3"},
		`dir/t.txt:9: "First" is not a node of a link: write 0 to 4`:                                {"5 2 5", "5 2 6"},
		"dir/f.txt:2: a flow from host 3 to itself":                                                 {"1 3 3", "3 3 3"},
		"dir/f.txt:3: a flow of switch 0: flows are between hosts":                                  {"2 3 5", "0 3 5"},
		`dir/f.txt:3: "8" is not a priority group: write 0 to 7`:                                    {"2 3 5", "2 3 8"},
		`dir/f.txt:2: "-2" is not a number of a flow: write 0 to 1e+15`:                             {"200000 2", "200000 -2"},
		"dir/f.txt:1: the file ends where the number of flows should be":                            {flows, "\n"},
	} {
		if _, err := hpccImported(edit...); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// FuzzHPCC: what comes of three files is a scenario, or it is told what is wrong with them.
func FuzzHPCC(f *testing.F) {
	f.Add(topology, flows, hpccSettings)
	f.Add("2 1 1\n0\n0 1 1bps 0ns 0\n", "0", "")
	f.Add("4 2 2 0 2 0 1 10Gbps 1us 0 2 3 10Gbps 1us 0", "1 1 3 7 0 999 1e5", "A 1")
	f.Add("5 2 1 1 3 A100\n2 3\n0 2 9 1us\n0 3 9Gbps 1us 0.3\n1 3 9Gbps 1us\n", "2\n0 1 3 9 1 2\n1 0 3 9 1 2\n", "KMIN_MAP 1 9 1")
	f.Fuzz(func(t *testing.T, topology, flows, config string) {
		made, err := simulatorFiles(topology, flows, config)
		if err != nil || len(made.Text) > 100_000 {
			return
		}
		if _, err := load.Scenario("x", made.Text); err != nil {
			t.Fatalf("%v\n%s", err, made.Text)
		}
	})
}
