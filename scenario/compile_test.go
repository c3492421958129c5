package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"softswitch/host"
	"softswitch/link/impair"
	"softswitch/node/config"
	"softswitch/unit"
)

func read(t testing.TB, name string) *Plan {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, filepath.Base(name), string(data))
}

func compile(t testing.TB, name, text string) *Plan {
	t.Helper()
	s, err := Parse(name, []byte(text), known)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkPlan: every configuration passes its own checks and survives its file,
// and every flow with a via visits it.
func checkPlan(t *testing.T, p *Plan) {
	t.Helper()
	for _, s := range p.Switches {
		again, _, err := config.LoadSwitch(s.Name, s.Marshal())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("switch %s: %v\ngot  %+v\nwant %+v", s.Name, err, again, s)
		}
	}
	for _, h := range p.Hosts {
		again, err := config.LoadHost(h.Name, h.Marshal())
		if err != nil || !reflect.DeepEqual(again, h) {
			t.Errorf("host %s: %v\ngot  %+v\nwant %+v", h.Name, err, again, h)
		}
	}
	for i, f := range p.Flows {
		if via := p.Scenario.Flows[i].Via; len(via) > 0 && (f.Err != nil || !visits(f.Hops, via)) {
			t.Errorf("flow %d goes %s (%v)", i, p.Fabric.String(f.Hops), f.Err)
		}
	}
}

func TestScenarios(t *testing.T) {
	files, _ := filepath.Glob("../scenarios/*.yaml")
	if len(files) == 0 {
		t.Fatal("no scenarios")
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			p := read(t, f)
			checkPlan(t, p)
			if want := strings.TrimSuffix(filepath.Base(f), ".yaml"); p.Scenario.Name != want {
				t.Errorf("name %q, want %q as the file", p.Scenario.Name, want)
			}
			if again := read(t, f); !reflect.DeepEqual(p, again) {
				t.Error("compiled twice, it differs")
			}
		})
	}
}

func TestOnLoopPaths(t *testing.T) {
	p := read(t, "../scenarios/fattree-on-loop.yaml")
	for i, want := range []string{
		"edge0-0 agg0-0 core0 agg2-0 core1 agg1-0 edge1-0",
		"edge2-0 agg2-0 core1 agg0-0 core0 agg3-0 edge3-0",
		"edge0-1 agg0-0 core0 agg3-0 edge3-1",
	} {
		if got := p.Fabric.String(p.Flows[i].Hops); got != want {
			t.Errorf("%s goes %s, want %s", p.Scenario.Flows[i].Name, got, want)
		}
	}
	core0 := p.Switches[0]
	for _, r := range core0.Routes {
		if strings.HasPrefix(r.Prefix.String(), "10.1.") && fmt.Sprint(r.Ports, r.Backup) != "[1] [2]" {
			t.Errorf("core0 to %s: ports %v, backup %v; want [1] [2]", r.Prefix, r.Ports, r.Backup)
		}
	}
}

// TestNoBackup: an empty list takes a computed backup away, and no list leaves it.
func TestNoBackup(t *testing.T) {
	for list, want := range map[string]string{"": "[1] [0 2 3]", ", backup: [agg2-0]": "[1] [2]", ", backup: []": "[1] []"} {
		s, err := Parse("x.yaml", []byte("name: x\nduration: 1s\ntopology: {fattree: {k: 4}, rate: 1Gbit/s}\nroutes: [{at: core0, to: 10.1.0.0/16, ports: [agg1-0]"+list+"}]\n"), known)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Switches[0].Routes {
			if got := fmt.Sprint(r.Ports, r.Backup); strings.HasPrefix(r.Prefix.String(), "10.1.") && got != want {
				t.Errorf("with %q: %s, want %s", list, got, want)
			}
		}
	}
}

const ring = `
name: ring
topology: {ring: {switches: 3, hosts_per_switch: 1}, rate: 1Gbit/s, delay: 2us, overrides: [{link: s2--s1, rate: 10Mbit/s}, {link: s3--s1, delay: 5us}]}
flows:
  - {name: A, from: h1-0, to: h2-0, priority: 4, rate: 5Mbit/s, frame: 64, size: 100000, ttl: 9, start: 1ms, stop: 2s}
  - {name: B, from: h1-0, to: h3-0}
events:
  - {at: 5ms, do: normal, host: h2-0}
  - {at: 1ms, do: storm, host: h2-0, priority: 4, for: 2ms}
  - {at: 2s, do: slow, host: h2-0, rate: 1Mbit/s}
  - {at: 10ms, do: flap, link: s1--s2, for: 5ms}
  - {at: 12ms, do: kill, switch: s3}
  - {at: 1ms, do: lose, link: s1--s2, from: s2, nth: 3}
  - {at: 2ms, do: forge, link: s1--s2, from: s1, frame: "0180c2000001 020000010000 8808 0001 ffff"}
duration: 3s
expect: {deadlock: false, detected: either, max_latency: 1ms}
`

func TestCompile(t *testing.T) {
	p := compile(t, "ring.yaml", ring)
	checkPlan(t, p)
	if l := p.Links[3]; l.Name != "s1--s2" || l.Rate != 10e6 || l.Delay != 2*unit.Microsecond {
		t.Errorf("link 3 is %+v", l)
	}
	want := Link{
		Name: "s3--s1", LinkSpeed: LinkSpeed{Rate: 1e9, Faults: impair.Faults{Delay: 5 * unit.Microsecond}},
		A: LinkEnd{Node: 2, Name: "s3", Iface: "to-s1", MAC: 0x02_00_00_03_00_02},
		B: LinkEnd{Node: 0, Name: "s1", Iface: "to-s3", MAC: 0x02_00_00_01_00_02},
	}
	if p.Links[5] != want {
		t.Errorf("link 5 is %+v, want %+v", p.Links[5], want)
	}
	for i, s := range p.Switches {
		if want := fmt.Sprintf("198.18.0.%d", i+1); s.RouterID.String() != want {
			t.Errorf("%s has the router ID %s, want %s", s.Name, s.RouterID, want)
		}
	}
	h1, h2 := p.Hosts[0], p.Hosts[1]
	if f := h1.Flows[0]; f != (config.Flow{Number: 0, Name: "A", To: 10<<24 | 100<<16 | 1<<8 | 2, SrcPort: 49152, Priority: 4, Stream: host.Stream{Rate: 5e6, Frame: 64, Size: 100000, TTL: 9, Transport: "udp", Start: unit.Millisecond, Stop: 2 * unit.Second}}) {
		t.Errorf("flow A is %+v", f)
	}
	if f := h1.Flows[1]; f != (config.Flow{Number: 1, Name: "B", To: 10<<24 | 100<<16 | 2<<8 | 2, SrcPort: 49153, Priority: 3, Stream: host.Stream{Frame: 1000, TTL: 64, Transport: "udp"}}) {
		t.Errorf("flow B is %+v", f)
	}
	if fmt.Sprint(h1.GatewayMAC, h1.Address, h1.Gateway) != "02:00:00:01:00:00 10.100.0.2/24 10.100.0.1" {
		t.Errorf("h1-0 is %+v", h1)
	}
	if got := fmt.Sprint(h2.Acts); got != "[{1ms storm <nil> 0 4} {3ms normal <nil> 0 0} {5ms normal <nil> 0 0} {2s slow <nil> 1Mbit/s 0}]" {
		t.Errorf("acts of h2-0: %s", got)
	}
	var line []string
	for _, e := range p.Events {
		line = append(line, fmt.Sprintf("%s %s", e.At, e.Do))
	}
	if got := strings.Join(line, ", "); got != "1ms lose, 2ms forge, 10ms fail, 12ms kill, 15ms heal" {
		t.Errorf("time line: %s", got)
	}
	s1 := p.Switches[0]
	if got := fmt.Sprint(s1.Subnets, s1.ARP, s1.MAC); got != "[{10.100.0.0/24 10.100.0.1 [0] [] [] 00:00:00:00:00:00}] [{10.100.0.2 02:00:00:04:00:00}] [{02:00:00:04:00:00 0}]" {
		t.Errorf("s1: %s", got)
	}
	if got, want := s1.Ports[1], (config.Port{Name: "to-s2", MAC: 0x02_00_00_01_00_01, PeerMAC: 0x02_00_00_02_00_01, Peer: "switch", Rate: 10e6}); !reflect.DeepEqual(got, want) {
		t.Errorf("s1 port 1: %+v, want %+v", got, want)
	}
	e := p.Scenario.Expect
	if e.Deadlock == nil || *e.Deadlock || e.Detected != nil || e.MaxLatency != unit.Millisecond {
		t.Errorf("expect is %+v", e)
	}
}

// TestFailedForGood: a link that heals does not count as failed for a flow's way.
func TestFailedForGood(t *testing.T) {
	const text = `
name: x
topology: {ring: {switches: 3, hosts_per_switch: 1}, rate: 1Gbit/s}
flows: [{name: A, from: h1-0, to: h2-0}]
events: [%s]
duration: 1s
`
	for events, want := range map[string]string{
		"":                                  "s1 s2",
		"{at: 1ms, do: fail, link: s1--s2}": "s1 s3 s2",
		"{at: 1ms, do: fail, link: s1--s2}, {at: 2ms, do: heal, link: s1--s2}":    "s1 s2",
		"{at: 1ms, do: flap, link: s1--s2, for: 1ms}":                             "s1 s2",
		"{at: 2ms, do: fail, link: s1--s2}, {at: 1ms, do: heal, link: s1--s2}":    "s1 s3 s2",
		"{at: 0s, do: fail, link: s1--s3}, {at: 1ms, do: fail, link: \"s1--s2\"}": "s1",
	} {
		p := compile(t, "x.yaml", fmt.Sprintf(text, events))
		if got := p.Fabric.String(p.Flows[0].Hops); got != want {
			t.Errorf("with %q the flow goes %s, want %s", events, got, want)
		}
	}
}

// A dead host has an ARP entry and no MAC entry; what is for it is flooded among
// the hosts, or among all ports.
func TestDeadHosts(t *testing.T) {
	const text = "name: x\ntopology: {ring: {switches: 3, hosts_per_switch: 2}, rate: 1Gbit/s}\ndead: [h2-1]\nduration: 1ms\n"
	for _, tc := range []struct {
		flood string
		want  []int
	}{{"hosts", nil}, {"all", []int{2, 3}}} { // ports 0 and 1 of a ring's switch lead to its hosts
		p := compile(t, "x.yaml", text+"flood: "+tc.flood+"\n")
		checkPlan(t, p)
		for i, s := range p.Switches {
			if got := s.Subnets[0].Flood; !reflect.DeepEqual(got, tc.want) {
				t.Errorf("flood: %s: %s floods to %v as well, want %v", tc.flood, s.Name, got, tc.want)
			}
			wantMACs := 2
			if i == 1 {
				wantMACs = 1
			}
			if len(s.ARP) != 2 || len(s.MAC) != wantMACs {
				t.Errorf("%s has %d ARP and %d MAC entries, want 2 and %d", s.Name, len(s.ARP), len(s.MAC), wantMACs)
			}
		}
	}
}

// TestMTU: every node gets the fabric's MTU, 1500 unless the file says otherwise, and with
// it the lengths of frames and slots.
func TestMTU(t *testing.T) {
	for _, c := range []struct {
		key          string
		mtu, longest int
		slot         int
	}{{"", 1500, 1514, 2048}, {"  mtu: 9216\n", 9216, 9230, 9280}} {
		p := compile(t, "mtu.yaml", `
name: mtu
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [s1--h1, s1--s2, s2--h2]
  rate: 1Gbit/s
`+c.key+fmt.Sprintf(`
flows:
  - {name: A, from: h1, to: h2, frame: %d}
duration: 1s
`, c.longest))
		checkPlan(t, p)
		if len(p.Scenario.Warnings) > 0 || p.Scenario.MTU != c.mtu {
			t.Errorf("MTU %d, warnings %q, want %d and none", p.Scenario.MTU, p.Scenario.Warnings, c.mtu)
		}
		sw, h := p.Switches[0].Build(nil, 1, 0), p.Hosts[0].Build(1, 0)
		if sw.MaxFrame != c.longest || sw.SlotBytes != c.slot || h.MaxFrame != c.longest || h.SlotBytes != c.slot {
			t.Errorf("mtu %d: switch %d in slots of %d, host %d in %d; want %d in %d", c.mtu, sw.MaxFrame, sw.SlotBytes, h.MaxFrame, h.SlotBytes, c.longest, c.slot)
		}
		if n := p.Hosts[0].BuildNIC(1, 0); n.MaxFrame != c.longest {
			t.Errorf("mtu %d: NIC %d, want %d", c.mtu, n.MaxFrame, c.longest)
		}
	}
}
