package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

const portsFile = `
name: ports
topology:
  switches: [s1, s2, s3]
  hosts: [h1, h2, h3]
  links: [s1--s2, s2--s3, s1--h1, s2--h2, s3--h3]
  rate: 10Gbit/s
  ports:
    - {link: [s1--s2, s2--s3], lossless: [2, 3, 4]}
    - {link: s2--s3, at: s3, lossless: [], xoff: 500, static_th: 9000, xon_offset: 100}
    - {link: s1--h1, at: s1, pfc: rx, dscp_map: {26: 2}}
    - {link: s2--h2, at: h2, pfc: tx}
    - {link: s3--h3, at: s3, trust: pcp}
flows:
  - {name: f, from: h1, to: h2, priority: 3}
  - {name: g, from: h1, to: h3, priority: 4}
  - {name: h, from: h2, to: h1, priority: 3}
duration: 5ms
expect: {deadlock: false}
`

// TestPorts: ports get what the file says of them, at both ends or at one, the last that says it.
func TestPorts(t *testing.T) {
	s, err := Parse("ports.yaml", []byte(portsFile), known)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	lossless := func(node, port string) string {
		i, _ := s.Fabric.Node(node)
		j := slices.IndexFunc(s.Fabric.Nodes[i].Ports, func(p topo.Port) bool { return p.Name == port })
		return fmt.Sprint(s.LosslessAt(topo.End{Node: i, Port: unit.Port(j)}))
	}
	for at, want := range map[[2]string]string{{"s1", "to-s2"}: "[2 3 4]", {"s2", "to-s3"}: "[2 3 4]", {"s3", "to-s2"}: "[]", {"s1", "to-h1"}: "[3 4]", {"h1", "eth0"}: "[3 4]"} {
		if got := lossless(at[0], at[1]); got != want {
			t.Errorf("%s %s: lossless %s, want %s", at[0], at[1], got, want)
		}
	}
	if got := fmt.Sprint(s.Lossless()); got != "[3 4 2]" {
		t.Errorf("lossless somewhere: %s", got)
	}
	for i, want := range []bool{false, false, true} {
		if got := p.Lossless(i); got != want {
			t.Errorf("flow %s is lossless on its whole way: %v, want %v", s.Flows[i].Name, got, want)
		}
	}
	b := p.Switches[2].BuildBuffer()
	i := slices.IndexFunc(p.Switches[2].Ports, func(p config.Port) bool { return p.Name == "to-s2" })
	if b.LosslessAt(unit.Port(i)) != 0 || b.XOFF(unit.Port(i)) != 500 || b.Rule(unit.Port(i)).StaticTh != 9000 || b.Rule(unit.Port(i)).XONOffset != 100 {
		t.Errorf("s3 to-s2: lossless %v, headroom %d, rule %+v", b.LosslessAt(unit.Port(i)), b.XOFF(unit.Port(i)), b.Rule(unit.Port(i)))
	}
	got := strings.Join(p.Warnings, "\n")
	want := strings.Join([]string{
		"ports.yaml:8: topology.ports: priorities [2 3 4] are lossless at s2's end of s2--s3, and s3 ignores its pauses of them: lossless frames can be lost",
		"ports.yaml:8: topology.ports: priorities [3 4] are lossless at s1's end of s1--h1, and it sends no pauses (pfc is rx); 1 more port like it: lossless frames can be lost",
		"ports.yaml:8: topology.ports: flow f: priority 2 is lossy at s1 to-h1, where frames can be dropped, and lossless on another part of the way",
		"ports.yaml:8: topology.ports: flow g: priority 4 is lossy at s3 to-s2, where frames can be dropped, and lossless on another part of the way",
	}, "\n")
	if got != want {
		t.Errorf("warnings:\n%s\nwant:\n%s", got, want)
	}
}

// TestPortsAndPrevention: prevention that gives frames another priority fits ports with lossless priorities of
// their own if all that it gives are lossless at each, and names the port if not. What it adds it chooses
// from those that all these ports have.
func TestPortsAndPrevention(t *testing.T) {
	const leafSpine = `
name: x
topology:
  switches: [l0, l1, x, y]
  hosts: [h0, h1]
  links: [h0--l0, h1--l1, l0--x, l0--y, l1--x, l1--y]
  rate: 10Gbit/s
  ports: [{link: [l0--x, h1--l1], lossless: %s}]
duration: 5ms
pfc: {lossless: %s}
`
	for _, c := range []struct{ own, all, prevention, fault string }{
		{"[3, 4, 6]", "[3, 4]", "{tagger: {lossless: 2}}", ""},
		{"[3, 4, 6]", "[3, 4]", "{ttl_band: 20}", ""},
		{"[3]", "[3, 4]", "{tagger: {lossless: 1}}", ""},
		{"[3]", "[3, 4]", "{tagger: {lossless: 2}}", "h1 eth0 has lossless priorities [3], and prevention.tagger gives frames priorities [3 4], which may come by any port: add [4]; likewise at 3 more ports"},
		{"[4, 6]", "[3, 4]", "{ttl_band: 20}", "h1 eth0 has lossless priorities [4 6], and prevention.ttl_band gives frames priorities [3 4], which may come by any port: add [3]; likewise at 3 more ports"},
	} {
		_, err := Parse("x.yaml", fmt.Appendf(nil, leafSpine+"prevention: %s\n", c.own, c.all, c.prevention), known)
		if got := fmt.Sprint(err); c.fault == "" && err != nil || !strings.Contains(got, c.fault) {
			t.Errorf("%s of %s, %s: %s; want %q", c.own, c.all, c.prevention, got, c.fault)
		}
	}
	for _, c := range []struct{ own, all, prevention, want string }{
		{"[3, 4]", "[3, 4]", "tagger", "[3 4]"},
		{"[3, 6]", "[3]", "tagger", "[3 6]"},
		{"[3]", "[3]", "tagger", "it takes 2 lossless priorities, and with those of flows that are lossy there are only 1; h1 eth0 has lossless priorities [3]"},
	} {
		s := parsed(t, fmt.Sprintf(leafSpine, c.own, c.all))
		got := ""
		if err := s.Prevent(c.prevention); err != nil {
			got = err.Error()
		} else if p, err := Compile(s); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(s.PFC.Lossless)
			if cycle := p.ReportTagging().Cycle; cycle != "" {
				t.Errorf("%s of %s: cycle %s", c.own, c.all, cycle)
			}
		}
		if got != c.want {
			t.Errorf("%s of %s, %s: %s; want %s", c.own, c.all, c.prevention, got, c.want)
		}
	}
	s := parsed(t, fmt.Sprintf(leafSpine, "[3]", "[3, 4]"))
	if _, err := s.WithTagger("x.yaml", 2, true); err == nil || !strings.Contains(err.Error(), "h1 eth0 has lossless priorities [3]") {
		t.Errorf("two tags where a port has one: %v", err)
	}
}

// TestTaggerOfAPort: a priority that is lossless at some ports alone has a rule where it is, and the lossy
// priority of frames without a tag left is lossless nowhere.
func TestTaggerOfAPort(t *testing.T) {
	s := parsed(t, `
name: x
topology:
  switches: [l0, l1, x, y]
  hosts: [h0, h1]
  links: [h0--l0, h1--l1, l0--x, l0--y, l1--x, l1--y]
  rate: 10Gbit/s
  ports: [{link: l0--x, lossless: [0, 3, 4]}]
duration: 5ms
prevention: {tagger: {lossless: 2}}
`)
	p, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[3>4 4>1 0>1]", "[3>4 4>1]", "[]", "[]"} {
		got := fmt.Sprint(lists.Map(p.Switches[i].Rewrite, func(r config.Rewrite) string { return fmt.Sprintf("%d>%d", r.Priority, r.To) }))
		if got != want {
			t.Errorf("%s: %s, want %s", p.Switches[i].Name, got, want)
		}
	}
}
