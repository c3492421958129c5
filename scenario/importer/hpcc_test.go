package importer_test

import (
	"fmt"
	"strings"
	"testing"

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

// hpccImported is the scenario of two files; the pairs of edits replace a text of one.
func hpccImported(edits ...string) (string, error) {
	t, f := topology, flows
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(t+f, edits[i]) {
			panic(edits[i])
		}
		t, f = strings.Replace(t, edits[i], edits[i+1], 1), strings.Replace(f, edits[i], edits[i+1], 1)
	}
	text, err := importer.HPCC("x", importer.HPCCFile{Name: "t.txt", Data: []byte(t)}, &importer.HPCCFile{Name: "f.txt", Data: []byte(f)})
	return string(text), err
}

func TestHPCC(t *testing.T) {
	text, err := hpccImported()
	if err != nil {
		t.Fatal(err)
	}
	p, err := load.Plan("x.yaml", []byte(text), load.Instead{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var got []string
	for _, l := range p.Links {
		got = append(got, fmt.Sprintf("%s %d %d", l.Name, l.Rate/1e9, l.Delay))
	}
	if want := "s0--h1 100 1000, s0--h2 25 1000, s4--h3 100 1000, s0--s4 100 1000, s4--s0#2 400 2000"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	f := p.Scenario.Flows[1]
	if f.Size != 1000 || f.Start != unit.Microsecond || f.Priority != 5 || f.RC == nil || fmt.Sprint(p.Scenario.PFC.Lossless) != "[3 4 5]" {
		t.Errorf("the second flow is %+v, lossless %v", f, p.Scenario.PFC.Lossless)
	}
	for _, want := range []string{"# Links have error rates", "# Flows begin 2s earlier"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestHPCCSeveralNICs: a host with two links has one address at both.
func TestHPCCSeveralNICs(t *testing.T) {
	text, err := hpccImported("0 4 100Gbps", "1 4 100Gbps")
	if err != nil {
		t.Fatal(err)
	}
	p, err := load.Plan("x.yaml", []byte(text), load.Instead{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	h, _ := p.Fabric.Node("h1")
	if n := p.Fabric.Nodes[h]; len(n.Ports) != 2 || !n.Shared || p.Scenario.Flows[0].NIC != unit.NoPort {
		t.Errorf("h1 is %+v, its flow leaves by NIC %d", n, p.Scenario.Flows[0].NIC)
	}
}

func TestHPCCFaults(t *testing.T) {
	for want, edit := range map[string][]string{
		`t.txt:1: "x" is not the number of nodes: write 2 to 30000`:                                                           {"5 2 5", "x 2 5"},
		`t.txt:2: "5" is not the number of a switch: write 0 to 4`:                                                            {"0 4\n", "0 5\n"},
		"t.txt:2: switch 0 is in the list already":                                                                            {"0 4\n", "0 0\n"},
		`t.txt:4: "25" is not a rate: write one such as 100Gbps`:                                                              {"25Gbps", "25"},
		`t.txt:4: "1" is not a delay: write one such as 1us`:                                                                  {"1us", "1"},
		`t.txt:4: "x" is not an error rate: write 0 to 1`:                                                                     {"0.5", "x"},
		"t.txt:4: a delay of 2000000000 ns: at most 1s":                                                                       {"1us", "2s"},
		"t.txt:4: a rate of 0: write one above":                                                                               {"25Gbps", "0Gbps"},
		"t.txt:4: host 1 gets a second link to one switch: each leads to another one":                                         {"0 2 25", "0 1 25"},
		"t.txt:5: a link from h2 to h3: one is between two switches, or a switch and a host":                                  {"0 2 25", "0 4 25", "4 3", "2 3"},
		"t.txt: h3 has no link":                                                                                               {"4 3 100", "4 0 100"},
		`t.txt:9: "First" is not a node of a link: write 0 to 4`:                                                              {"5 2 5", "5 2 6"},
		"f.txt:2: a flow from host 3 to itself":                                                                               {"1 3 3", "3 3 3"},
		"f.txt:3: a flow of switch 0: flows are between hosts":                                                                {"2 3 5", "0 3 5"},
		`f.txt:3: "8" is not a priority group: write 0 to 7`:                                                                  {"2 3 5", "2 3 8"},
		`f.txt:2: "-2" is not a start in seconds: write 0 to 86400`:                                                           {"200000 2", "200000 -2"},
		`t.txt:7: "4" is behind the last of 4 links, as the head of the file counts them: correct that, or take out the rest`: {"5 2 5", "5 2 4"},
		`f.txt:3: "2" is behind the last of 1 flows, as the head of the file counts them: correct that, or take out the rest`: {"2\n1 3", "1\n1 3"},
		"f.txt:2: the file ends where the number of flows should be":                                                          {flows, "\n"},
	} {
		if _, err := hpccImported(edit...); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// FuzzHPCC: what comes of two files is a scenario, or it is told what is wrong with
// them; a fabric in pieces is found when the scenario is read.
func FuzzHPCC(f *testing.F) {
	f.Add(topology, flows)
	f.Add("2 1 1\n0\n0 1 1bps 0ns 0\n", "0")
	f.Add("4 2 2 0 2 0 1 10Gbps 1us 0 2 3 10Gbps 1us 0", "1 1 3 7 0 999 1e5")
	f.Fuzz(func(t *testing.T, topology, flows string) {
		text, err := importer.HPCC("x", importer.HPCCFile{Name: "t", Data: []byte(topology)}, &importer.HPCCFile{Name: "f", Data: []byte(flows)})
		if err != nil || len(text) > 100_000 {
			return
		}
		if _, err := load.Scenario("x", text); err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.Contains(line, "is not connected to") && !strings.Contains(line, "links: a switch has") {
					t.Fatalf("%v\n%s", err, text)
				}
			}
		}
	})
}
