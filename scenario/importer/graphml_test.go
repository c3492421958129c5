package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/scenario"
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

// zooWith is zoo with a text in the place of another.
func zooWith(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(zoo) }

// graph is what comes of a graph, whose links have 100 Gbit/s if it does not say it.
func graph(text string, roles importer.Roles) (importer.Imported, error) {
	return importer.GraphML("zoo", "zoo.graphml", []byte(text), importer.Options{Rate: 100e9, Roles: roles})
}

// wantRates wants links with their rates in Gbit/s.
func wantRates(t *testing.T, p *scenario.Plan, want string) {
	t.Helper()
	var got []string
	for _, l := range p.Links {
		got = append(got, fmt.Sprintf("%s %g", l.Name, float64(l.Rate)/1e9))
	}
	if strings.Join(got, "; ") != want {
		t.Errorf("links\n%s\nwant\n%s", strings.Join(got, "; "), want)
	}
}

func TestGraphML(t *testing.T) {
	hosts := strings.NewReplacer(`id="2" />`, `id="c"><data key="d33">Server</data></node>`, `"0"`, `"a"`, `"1"`, `"b"`, `"2"`, `"c"`)
	one := strings.Replace(zoo, `    <edge source="2" target="1"><data key="d35">1e10</data></edge>`+"\n", "", 1)
	for text, want := range map[string]string{
		zoo: `s0--s1 2.5; s1--s2 100; s2--s1#2 10; s0--host0 100; s1--host1 100; s2--host2 100`,
		// An edge and its reverse are one link of a directed graph, with the rate that either has.
		zooWith("undirected", "directed"): `s0--s1 2.5; s1--s2 10; s0--host0 100; s1--host1 100; s2--host2 100`,
		// The default is not what an edge has of its reverse.
		zooWith("undirected", "directed", `id="d35" />`, `id="d35"><default>1e9</default></key>`): `s0--s1 2.5; s1--s2 10; s0--host0 100; s1--host1 100; s2--host2 100`,
		// A node and an edge without a value have the default of its key.
		strings.NewReplacer(`id="d33" />`, `id="d33"><default>host</default></key>`, `id="d35" />`, `id="d35"><default>1e9</default></key>`,
			`Bern</data>`, `Bern</data><data key="d33">switch</data>`, "1e10", "1e9").Replace(one): `h0--s1 2.5; s1--h2 1`,
		hosts.Replace(one): `a--b 2.5; b--c 100`,
		// A host has as many NICs as links.
		zooWith(`<node id="2" />`, `<node id="2"><data key="d33">client</data></node>`): `s0--s1 2.5; s1--h2 100; h2--s1#2 10`,
	} {
		made, err := graph(text, importer.Roles{})
		wantRates(t, planOf(t, made, err), want)
	}
	made, err := graph(zoo, importer.Roles{})
	planOf(t, made, err)
	wantTold(t, made, "No node of the graph is a host: each has one", "Routing is igp", `s0 is "Global \"Crossing\"", s1 is "Bern", s2 is "2".`, "1 link of 3 without a rate: 100Gbit/s is supposed.")
	if !strings.Contains(made.Told[0], "No node of the graph is a host") {
		t.Errorf("the first paragraph does not tell where hosts come from: %s", made.Told[0])
	}
}

// TestGraphMLRates: where a graph has no LinkSpeedRaw, it may have a speed with units, or a label that names one
// rate. What names none is told.
func TestGraphMLRates(t *testing.T) {
	for data, want := range map[string]string{
		`<data key="n">40</data><data key="u">M</data>`: "0.04",
		`<data key="n">x</data><data key="u">M</data>`:  `line 5: LinkSpeed "x" with LinkSpeedUnits "M" is no rate`,
		`<data key="n">4</data>`:                        `line 5: LinkSpeed "4" with LinkSpeedUnits "" is no rate`,
		`<data key="l">1.5 Gbps</data>`:                 "1.5",
		`<data key="l">3x10Gb/s</data>`:                 "30",
		`<data key="l">Peering, 20 Mbit/s</data>`:       "0.02",
		`<data key="l">45 Mbps DS-3</data>`:             "0.045",
		`<data key="l">1-20Gbps</data>`:                 `line 5: a label that names no one rate, such as "1-20Gbps"`,
		`<data key="l">less than 7 Mbps</data>`:         `line 5: a label that names no one rate, such as "less than 7 Mbps"`,
		`<data key="l">2 GB/s</data>`:                   `line 5: a label that names no one rate, such as "2 GB/s"`,
		`<data key="l">Dark Fibre</data>`:               "100",
	} {
		made, err := graph(`<graphml><key id="n" for="edge" attr.name="LinkSpeed"/><key id="u" for="edge" attr.name="LinkSpeedUnits"/>
<key id="l" for="edge" attr.name="LinkLabel"/>
<graph><node id="a"/><node id="b"/>

<edge source="a" target="b">`+data+`</edge></graph></graphml>`, importer.Roles{})
		p := planOf(t, made, err)
		if strings.HasPrefix(want, "line") {
			wantTold(t, made, want)
			want = "100"
		}
		if got := fmt.Sprintf("%g", float64(p.Links[0].Rate)/1e9); got != want {
			t.Errorf("%s: %s Gbit/s, want %s", data, got, want)
		}
	}
}

// TestGraphMLParts: loops of one node are left out, and of several parts all but the largest; both is told.
func TestGraphMLParts(t *testing.T) {
	text := zooWith(`<edge source="1" target="2" />`, `<edge source="1" target="1"><data key="d35">7</data></edge><edge source="2" target="2"/>`,
		`<node id="2" />`, `<node id="2"/><node id="9"/><node id="8"/>`, `target="1"><data key="d35">1e10`, `target="0"><data key="d35">1e10`)
	text = strings.Replace(text, `</graph>`, `<edge source="8" target="9"/></graph>`, 1)
	made, err := graph(text, importer.Roles{})
	wantRates(t, planOf(t, made, err), "s0--s1 2.5; s2--s0 10; s0--host0 100; s1--host1 100; s2--host2 100")
	wantTold(t, made, "2 edges from a node to itself: left out", "9, 8: left out, as not connected to the largest part of the fabric, of 3 switches")
}

// TestGraphMLDrawing: what programs draw names a node that has no label; what only draws has no effect.
func TestGraphMLDrawing(t *testing.T) {
	made, err := graph(`<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key id="g" for="node" yfiles.type="nodegraphics"/>
<graph><node id="n::0"><data key="g"><y:ShapeNode><y:Fill/><y:NodeLabel>Ulm<y:Model/></y:NodeLabel></y:ShapeNode></data></node><node id="n::1"/>
<edge source="n::0" target="n::1"/></graph><y:Resources><y:deep/></y:Resources></graphml>`, importer.Roles{})
	planOf(t, made, err)
	wantTold(t, made, `s0 is "Ulm", s1 is "n::1"`, "graphml.Resources: it is for programs that draw")
}

// TestGraphMLRoles: a joint of links has no host; groups and names of the edge have one each, and so have those
// that are asked for.
func TestGraphMLRoles(t *testing.T) {
	const tree = `<graphml><key id="r" for="node" attr.name="role"/><key id="h" for="node" attr.name="hyperedge"/><graph>
<node id="a1"><data key="r">Leafs</data></node><node id="a2"><data key="r">leaf</data></node><node id="b"><data key="h">1</data></node>
<edge source="a1" target="b"/><edge source="a2" target="b"/></graph></graphml>`
	for text, want := range map[string]string{
		tree: "a1--b 100; a2--b 100; a1--host0 100; a2--host1 100",
		strings.NewReplacer("Leafs", "x", "leaf", "y").Replace(tree):                  "a1--b 100; a2--b 100; a1--host0 100; a2--host1 100", // not b
		strings.NewReplacer("Leafs", "", "leaf", "", `"a1"`, `"tor-1"`).Replace(tree): "tor-1--b 100; a2--b 100; tor-1--host0 100",
	} {
		made, err := graph(text, importer.Roles{})
		wantRates(t, planOf(t, made, err), want)
	}
	for want, roles := range map[string]importer.Roles{
		"a1--b 100; a2--b 100":                                                           {Hosts: []string{"a*"}},
		"a1--b 100; a2--b 100; a1--host0 100":                                            {Groups: []string{"leafs"}},
		"a1--b 100; a2--b 100; b--host0 100":                                             {Groups: []string{"b"}},
		"a1--b 100; a2--b 100; a1--host0 100; a2--host1 100":                             {Hosts: []string{"all"}},
		"a1--b 100; a2--b 100; a2--host0 100":                                            {Hosts: []string{"a1"}, Groups: []string{"a2"}},
		`--hosts: "c" matches nothing in zoo.graphml; there are a1, a2, b`:               {Hosts: []string{"c"}},
		`--group: "c" matches nothing in zoo.graphml; there are a1, Leafs, a2, leaf, b`:  {Groups: []string{"c"}},
		`--hosts: "[" is no pattern: write a name, or one with * and ?, such as "leaf*"`: {Hosts: []string{"["}},
		`zoo.graphml:2: "a1" and "b" are linked, and hosts, one named by --hosts and one named by --hosts: a host is linked to switches; --hosts NAME,... says which nodes are hosts`: {Hosts: []string{"*"}},
	} {
		made, err := graph(tree, roles)
		if err != nil {
			if err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			continue
		}
		wantRates(t, planOf(t, made, err), want)
	}
}

// TestGraphMLLedger: what nobody knows is named, wherever it stands.
func TestGraphMLLedger(t *testing.T) {
	for want, edit := range map[string][2]string{
		"node.smell (line 7)":                  {`attr.name="type"`, `attr.name="smell"`},
		"edge.smell (line 10 and 1 more)":      {"LinkSpeedRaw", "smell"},
		"node.@smell (line 7)":                 {`<node id="0"`, `<node id="0" smell="x"`},
		"edge.@smell (line 11)":                {`<edge source="1"`, `<edge smell="x" source="1"`},
		"node.smell (line 9)":                  {`<node id="2" />`, `<node id="2"><smell/></node>`},
		`node."data of key d99" (line 9)`:      {`<node id="2" />`, `<node id="2"><data key="d99">x</data></node>`},
		"node.Internal (line 7): all nodes":    {`attr.name="type"`, `attr.name="Internal"`},
		"node.Latitude: it is about where":     {`attr.name="type"`, `attr.name="Latitude"`},
		"graph.Creator: it tells of the graph": {`<node id="0">`, `<data key="c">x</data><node id="0">`},
	} {
		text := strings.NewReplacer(`Global "Crossing"</data>`, `G</data><data key="d33">x</data>`, `<graph `, `<key id="c" for="graph" attr.name="Creator"/><graph `).Replace(zoo)
		made, err := graph(strings.Replace(text, edit[0], edit[1], 1), importer.Roles{})
		planOf(t, made, err)
		wantTold(t, made, want)
	}
}

func TestGraphMLFaults(t *testing.T) {
	for want, edit := range map[string][2]string{
		"zoo.graphml:1: <html> where <graphml> should be":                                                  {zoo, "<html/>"},
		"zoo.graphml:1: not XML: XML syntax error on line 1: unexpected EOF":                               {zoo, "<graphml>"},
		"zoo.graphml: no edge between two nodes: a fabric has some":                                        {zoo, "<graphml/>"},
		`zoo.graphml:8: node "0": an id of its own is missing`:                                             {`<node id="1">`, `<node id="0">`},
		`zoo.graphml:10: target "9": no node before the edge has this id`:                                  {`source="0" target="1"`, `source="0" target="9"`},
		`zoo.graphml:10: LinkSpeedRaw: "fast" is not a rate in bit/s`:                                      {"2500000000.0", "fast"},
		"zoo.graphml:12: the rate is 10Gbit/s, and of the reverse in line 11 5Gbit/s: a link has one rate": {zoo, strings.NewReplacer("undirected", "directed", `target="2" />`, `target="2"><data key="d35">5e9</data></edge>`).Replace(zoo)},
		"zoo.graphml:9: a second graph: a scenario has one, and none within a node":                        {`<node id="2" />`, `<node id="2"><graph/></node>`},
		"zoo.graphml:9: <hyperedge>: a link of a scenario joins two nodes":                                 {`<node id="2" />`, `<node id="2" /><hyperedge/>`},
		`zoo.graphml:1: not XML: xml: opening charset "latin1": encoding "latin1": write it as UTF-8`:      {"utf-8", "latin1"},
	} {
		_, err := graph(strings.Replace(zoo, edit[0], edit[1], 1), importer.Roles{})
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// FuzzGraphML: what comes of a graph is a scenario, or it is told what is wrong with it.
func FuzzGraphML(f *testing.F) {
	f.Add(zoo, "", "")
	f.Add(`<graphml><graph edgedefault="directed"><node id="a"/><node id="host0"/><edge source="a" target="host0"/><edge source="host0" target="a"/></graph></graphml>`, "all", "")
	f.Add(`<graphml><graph><node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"/><edge source="a" target="a"/></graph></graphml>`, "a", "b")
	f.Fuzz(func(t *testing.T, text, host, group string) {
		var roles importer.Roles
		if host != "" {
			roles.Hosts = []string{host}
		}
		if group != "" {
			roles.Groups = []string{group}
		}
		made, err := importer.GraphML("x", "x", []byte(text), importer.Options{Rate: 100e9, Roles: roles})
		if err != nil || len(made.Text) > 100_000 {
			return
		}
		if _, err := load.Scenario("x", made.Text); err != nil {
			t.Fatalf("%v\n%s", err, made.Text)
		}
	})
}
