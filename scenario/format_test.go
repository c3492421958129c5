package scenario_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"softswitch/internal/schema"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/scenarios"
)

// known is what the files of package scenarios name, and more.
var known = scenario.Known{
	Detectors: []string{"itsypaper", "itsy", "itsy-unchecked", "watchdog", "watchdog-forward", "watchdog-alert", "watchdog-broadcom", "watchdog-mellanox", "watchdog-mellanox-2023", "watchdog-juniper", "sai-dldr", "loopbreaker", "deadlockbreaker"},
	Responses: []string{"drop", "drop+trigger"},
}

// format is a format as an editor knows it, and as softswitch does.
type format struct {
	*testing.T
	schema *jsonschema.Schema
	read   func(data []byte) error
}

func newFormat(t *testing.T, f schema.Format, read func([]byte) error) *format {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema.Read(f, nil).JSON(f.Title))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("file.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("file.json")
	if err != nil {
		t.Fatalf("the schema is none: %v", err)
	}
	return &format{t, s, read}
}

func scenarioFormat(t *testing.T) *format {
	t.Helper()
	return newFormat(t, scenario.Format(known), func(data []byte) error {
		_, err := scenario.Parse("file.yaml", data, known)
		return err
	})
}

// refuses is what the schema has against a tree of YAML, nil for nothing.
func (f *format) refuses(tree any) error {
	f.Helper()
	text, err := json.Marshal(tree)
	if err != nil {
		f.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		f.Fatal(err)
	}
	return f.schema.Validate(v)
}

func (f *format) tree(data []byte) map[string]any {
	f.Helper()
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		f.Fatal(err)
	}
	return tree
}

// wantSound: the schema takes data, and what it refuses of data with one value changed,
// or left out, the reader refuses too. It returns the number of changes that the schema
// refuses. Of a place that seen has, nothing is changed.
func (f *format) wantSound(name string, data []byte, seen map[string]bool) (refused int) {
	f.Helper()
	tree := f.tree(data)
	if err := f.refuses(tree); err != nil {
		f.Errorf("%s: the schema refuses it: %v", name, err)
		return 0
	}
	m := mutator{seen: seen, try: func(what string) {
		schemaErr := f.refuses(tree)
		if schemaErr == nil {
			return
		}
		refused++
		text, err := yaml.Marshal(tree)
		if err != nil {
			f.Fatal(err)
		}
		if err := f.read(text); err == nil {
			f.Errorf("%s with %s: the schema refuses what can be read: %v", name, what, schemaErr)
		}
	}}
	m.mutate(tree, "")
	return refused
}

// wrong are values that are wrong in most places.
var wrong = []any{-1, 1 << 40, 2.5, "nonsense", true, []any{"x"}, map[string]any{"x": 1}}

// mutator calls try for every tree that differs in one value.
type mutator struct {
	seen map[string]bool
	try  func(what string)
}

func (m *mutator) mutate(node any, path string) {
	switch node := node.(type) {
	case map[string]any:
		for key, old := range node {
			at := path + "." + key
			if !m.seen[at] {
				m.values(at, func(v any) { node[key] = v })
				delete(node, key)
				m.try("no " + at)
				node[key] = old
			}
			m.mutate(old, at)
		}
		if at := path + ".surely-unknown"; !m.seen[at] {
			m.values(at, func(v any) { node["surely-unknown"] = v })
			delete(node, "surely-unknown")
		}
	case []any:
		at := path + "[]"
		for i, old := range node {
			if !m.seen[at] {
				m.values(at, func(v any) { node[i] = v })
				node[i] = old
			}
			m.mutate(old, at)
		}
	}
}

// values tries all wrong values at a place.
func (m *mutator) values(at string, put func(any)) {
	m.seen[at] = true
	for _, w := range wrong {
		put(w)
		m.try(fmt.Sprintf("%s: %v", at, w))
	}
}

// builders are topologies that no scenario of package scenarios has.
var builders = []string{
	"leafspine: {leaves: 3, spines: 2, hosts_per_leaf: 2}, rewire: [{remove: leaf0--spine1}, {add: leaf0--leaf1}, {swap: [leaf1--spine0, leaf2--spine1]}]",
	"jellyfish: {switches: 8, degree: 3, hosts_per_switch: 1, seed: 1}",
	"dragonfly: {groups: 5, routers_per_group: 2, hosts_per_router: 1, global_links: 2}",
}

// workloads are one of each pattern.
var workloads = []string{
	"{name: a, pattern: random, hosts: all, sizes: hadoop, load: 0.5, on: 10us, off: 20us, start: 1us, stop: 90us, seed: 3, priority: 4, frame: 500, ttl: 9}",
	"{name: a, pattern: permutation, size: 1000, load: 1, transport: rc, rc: {message: 500}}",
	"{name: a, pattern: incast, cdf: \"10 100\", fan_in: 3, period: 50us, hosts: [h0-0-0, h0-0-1, h1-0-0, h1-0-1]}",
	"[{name: a, pattern: alltoall, size: 1000}, {name: b, pattern: ring-allreduce, size: 1000, chunks: 2}, {name: c, pattern: tree-allreduce, size: 9, period: 1us}]",
}

const severalFlows = `
name: x
topology: {fattree: {k: 4}, rate: 1Gbit/s}
flows:
  - {name: A, from: [h0-0-0, h0-0-1], to: h1-0-0, count: 2, path: [edge0-0, agg0-0, core0, agg1-0, edge1-0]}
duration: 1s
`

// TestSchemaSound: every scenario that comes with softswitch is valid, and the schema
// is never stricter than Parse.
func TestSchemaSound(t *testing.T) {
	f := scenarioFormat(t)
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d scenario files: %v", len(files), err)
	}
	texts, nodes := map[string][]byte{}, map[string]int{}
	for _, name := range files {
		data, err := fs.ReadFile(scenarios.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Parse(name, data, known)
		if err != nil {
			t.Fatal(err)
		}
		texts[name], nodes[name] = data, len(s.Fabric.Nodes)
	}
	// The smallest fabric first: the first file that has a place is read once for each change of it.
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(nodes[a], nodes[b]) })
	refused, seen := 0, map[string]bool{}
	for _, name := range files {
		refused += f.wantSound(name, texts[name], seen)
	}
	for _, topology := range builders {
		refused += f.wantSound(topology, []byte("name: x\ntopology: {"+topology+", rate: 1Gbit/s}\nduration: 1s\n"), seen)
	}
	refused += f.wantSound("flows", []byte(severalFlows), seen)
	for _, workload := range workloads {
		refused += f.wantSound(workload, []byte("name: x\ntopology: {fattree: {k: 4}, rate: 1Gbit/s}\nworkload: "+workload+"\nduration: 100us\n"), seen)
	}
	if refused < 3*len(seen) {
		t.Errorf("the schema refuses %d changes at %d places; want 3 at each", refused, len(seen))
	}
	t.Logf("the schema refuses %d changes at %d places", refused, len(seen))
}

// TestNodeSchemasSound: so are the schemas of the configurations that scenarios lead to.
func TestNodeSchemasSound(t *testing.T) {
	sw := newFormat(t, config.SwitchFormat(), func(data []byte) error {
		_, _, err := config.LoadSwitch("file.yaml", data)
		return err
	})
	host := newFormat(t, config.HostFormat(), func(data []byte) error {
		_, err := config.LoadHost("file.yaml", data)
		return err
	})
	seenSwitch, seenHost := map[string]bool{}, map[string]bool{}
	refusedSwitch, refusedHost := 0, 0
	for _, name := range []string{"pause.yaml", "fattree-on-loop-tagger.yaml", "guo-fig4-no-flood.yaml", "hu-case1-ttl-bands.yaml", "hu-fig4-limit.yaml"} {
		data, err := fs.ReadFile(scenarios.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Parse(name, data, known)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := scenario.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		refusedSwitch += sw.wantSound(name, plan.Switches[0].Marshal(), seenSwitch)
		refusedHost += host.wantSound(name, plan.Hosts[0].Marshal(), seenHost)
	}
	if refusedSwitch < 3*len(seenSwitch) || refusedHost < 3*len(seenHost) {
		t.Errorf("the schemas refuse %d changes at %d places of switches, %d at %d of hosts; want 3 at each", refusedSwitch, len(seenSwitch), refusedHost, len(seenHost))
	}
}

// TestSchemaFaults: what an editor has to mark.
func TestSchemaFaults(t *testing.T) {
	const good = `
name: x
topology: {switches: [s1, s2], hosts: [h1, h2], links: [s1--s2, h1--s1, h2--s2], rate: 100Mbit/s}
flows:
  - {name: f, from: h1, to: h2, rate: line}
events:
  - {at: 10ms, do: slow, host: h2, rate: 10Mbit/s}
duration: 1s
expect: {detected: either}
`
	f := scenarioFormat(t)
	if err := f.refuses(f.tree([]byte(good))); err != nil {
		t.Fatalf("the schema refuses a good file: %v", err)
	}
	for _, c := range []struct{ old, new string }{
		{"name: x", "title: x"},
		{"rate: 100Mbit/s", "rate: 100Mbps"},
		{"rate: 100Mbit/s", "rate: 100Mbit/s, ring: {switches: 4, hosts_per_switch: 1}"},
		{"switches: [s1, s2], hosts: [h1, h2], links: [s1--s2, h1--s1, h2--s2], ", ""},
		{"links: [s1--s2", "links: [s1-s2"},
		{"rate: line", "rate: fast"},
		{"rate: line", "ttl: 256"},
		{"rate: line", "priority: 8"},
		{"rate: line", "frame: 63"},
		{"from: h1, ", ""},
		{"do: slow", "do: sleep"},
		{", rate: 10Mbit/s", ""},
		{", rate: 10Mbit/s", ", rate: 10Mbit/s, link: s1--s2"},
		{"at: 10ms", "at: 10"},
		{"duration: 1s", "duration: soon"},
		{"detected: either", "detected: maybe"},
		{"expect:", "detector: itzy\nexpect:"},
		{"expect:", "expect_for: {itzy: {detected: true}}\nexpect:"},
		{"expect:", "buffer: {dynamic_th: 9}\nexpect:"},
		{"expect:", "pfc: {lossless: [8]}\nexpect:"},
		{"expect:", "prevention: {limits: [{at: s1, port: h1, rate: 1Mbit/s}]}\nexpect:"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if err := f.refuses(f.tree([]byte(text))); err == nil || text == good {
			t.Errorf("%q instead of %q: the schema does not mind", c.new, c.old)
		}
		if _, err := scenario.Parse("x.yaml", []byte(text), known); err == nil {
			t.Errorf("%q instead of %q: Parse does not mind", c.new, c.old)
		}
	}
}
