package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/scenario/importer"
	"softswitch/scenario/load"
)

// zoo is a graph as the Topology Zoo writes it.
const zoo = `<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d35" />
  <key attr.name="label" attr.type="string" for="node" id="d32" />
  <key attr.name="type" attr.type="string" for="node" id="d33" />
  <graph edgedefault="undirected">
    <node id="0"><data key="d32">Global "Crossing"</data></node>
    <node id="1"><data key="d32">Bern</data></node>
    <node id="2" />
    <edge source="0" target="1"><data key="d35">2500000000.0</data></edge>
    <edge source="1" target="2" />
    <edge source="2" target="1"><data key="d35">1e10</data></edge>
  </graph>
</graphml>
`

func graphmlImported(t *testing.T, text string) string {
	t.Helper()
	out, err := importer.GraphML("zoo", "zoo.graphml", []byte(text), 100e9)
	if err != nil {
		t.Fatal(err)
	}
	p, err := load.Plan("zoo.yaml", out, load.Instead{})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var links []string
	for _, l := range p.Links {
		links = append(links, fmt.Sprintf("%s %g", l.Name, float64(l.Rate)/1e9))
	}
	var head []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "# Made") {
			head = append(head, strings.TrimSpace(line[2:]))
		}
	}
	return strings.Join(append(links, head...), "; ")
}

func TestGraphML(t *testing.T) {
	hosts := strings.NewReplacer(`id="2" />`, `id="c"><data key="d33">Server</data></node>`, `"0"`, `"a"`, `"1"`, `"b"`, `"2"`, `"c"`)
	one := strings.Replace(zoo, `    <edge source="2" target="1"><data key="d35">1e10</data></edge>`+"\n", "", 1)
	for text, want := range map[string]string{
		zoo: `s0--s1 2.5; s1--s2 100; s2--s1#2 10; s0--host0 100; s1--host1 100; s2--host2 100; ` +
			`s0 is "Global \"Crossing\"".; s1 is "Bern".; s2 is "2".; 1 of 3 links have no rate in it: 100Gbit/s is supposed.; It has no hosts: each switch has one.`,
		// An edge and its reverse are one link of a directed graph, with the rate that either has.
		strings.Replace(zoo, "undirected", "directed", 1): `s0--s1 2.5; s1--s2 10; s0--host0 100; s1--host1 100; s2--host2 100; ` +
			`s0 is "Global \"Crossing\"".; s1 is "Bern".; s2 is "2".; It has no hosts: each switch has one.`,
		// The default is not what an edge has of its reverse.
		strings.NewReplacer("undirected", "directed", `id="d35" />`, `id="d35"><default>1e9</default></key>`).Replace(zoo): `s0--s1 2.5; s1--s2 10; s0--host0 100; s1--host1 100; s2--host2 100; ` +
			`s0 is "Global \"Crossing\"".; s1 is "Bern".; s2 is "2".; It has no hosts: each switch has one.`,
		// A node and an edge without a value have the default of its key.
		strings.NewReplacer(`id="d33" />`, `id="d33"><default>host</default></key>`, `id="d35" />`, `id="d35"><default>1e9</default></key>`,
			`Bern</data>`, `Bern</data><data key="d33">switch</data>`, "1e10", "1e9").Replace(one): `h0--s1 2.5; s1--h2 1; h0 is "Global \"Crossing\"".; s1 is "Bern".; h2 is "2".`,
		hosts.Replace(one): `a--b 2.5; b--c 100; a is "Global \"Crossing\"".; b is "Bern".; 1 of 2 links have no rate in it: 100Gbit/s is supposed.`,
	} {
		if got := graphmlImported(t, text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestGraphMLFaults(t *testing.T) {
	for want, edit := range map[string][2]string{
		"zoo.graphml:1: <html> where <graphml> should be":                                                            {zoo, "<html/>"},
		"zoo.graphml:1: not XML: XML syntax error on line 1: unexpected EOF":                                         {zoo, "<graphml>"},
		"zoo.graphml: no edges: a fabric has some":                                                                   {zoo, "<graphml/>"},
		`zoo.graphml:8: node "0": an id of its own is missing`:                                                       {`<node id="1">`, `<node id="0">`},
		`zoo.graphml:10: target "9": no node before the edge has this id`:                                            {`source="0" target="1"`, `source="0" target="9"`},
		`zoo.graphml:11: node "2" is joined to itself`:                                                               {`source="1" target="2"`, `source="2" target="2"`},
		`zoo.graphml:10: LinkSpeedRaw: "fast" is not a rate in bit/s`:                                                {"2500000000.0", "fast"},
		"zoo.graphml:12: LinkSpeedRaw is 10000000000, and of the reverse in line 11 5000000000: a link has one rate": {zoo, strings.NewReplacer("undirected", "directed", `target="2" />`, `target="2"><data key="d35">5e9</data></edge>`).Replace(zoo)},
		"zoo.graphml:9: a second graph: a scenario has one, and none within a node":                                  {`<node id="2" />`, `<node id="2"><graph/></node>`},
		"zoo.graphml:9: <hyperedge>: a link of a scenario joins two nodes":                                           {`<node id="2" />`, `<node id="2" /><hyperedge/>`},
		"zoo.graphml:12: a host gets a second link: it has one":                                                      {`<node id="2" />`, `<node id="2"><data key="d33">host</data></node>`},
		`zoo.graphml:1: not XML: xml: opening charset "latin1": encoding "latin1": write it as UTF-8`:                {"utf-8", "latin1"},
	} {
		_, err := importer.GraphML("zoo", "zoo.graphml", []byte(strings.Replace(zoo, edit[0], edit[1], 1)), 100e9)
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// FuzzGraphML: what comes of a graph is a scenario, or it is told what is wrong with it; a
// graph in pieces is found when the scenario is read.
func FuzzGraphML(f *testing.F) {
	f.Add(zoo)
	f.Add(`<graphml><graph edgedefault="directed"><node id="a"/><node id="host0"/><edge source="a" target="host0"/><edge source="host0" target="a"/></graph></graphml>`)
	f.Fuzz(func(t *testing.T, text string) {
		out, err := importer.GraphML("x", "x", []byte(text), 100e9)
		if err != nil || len(out) > 100_000 {
			return
		}
		if _, err := load.Scenario("x", out); err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.Contains(line, "is not connected to") && !strings.Contains(line, "links: a switch has") && !strings.Contains(line, "links: a host has") && !strings.Contains(line, "a line of more than") {
					t.Fatalf("%v\n%s", err, out)
				}
			}
		}
	})
}
