package config

import (
	"cmp"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"softswitch/unit"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// TestFaults loads each testdata/*.yaml and compares all faults and warnings
// with the golden file beside it.
func TestFaults(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.yaml")
	if len(files) == 0 {
		t.Fatal("no files in testdata")
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := load(filepath.Base(f), data)
			golden := strings.TrimSuffix(f, ".yaml") + ".golden"
			if *rewrite {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func load(name string, data []byte) string {
	var warnings []string
	var err error
	if strings.HasPrefix(name, "host") {
		_, err = LoadHost(name, data)
	} else {
		_, warnings, err = LoadSwitch(name, data)
	}
	var b strings.Builder
	if err != nil {
		b.WriteString(err.Error() + "\n")
	}
	for _, w := range warnings {
		b.WriteString("warning: " + w + "\n")
	}
	return b.String()
}

const smallSwitch = `
name: s1
id: 7
ports:
  - {name: a, peer: switch, rate: 100Mbit/s}
  - {name: b, peer: switch}
`

// What a port leads to is believed by what the file says; of a port for which it says nothing there
// is a warning, for a host there would be believed as a switch is.
func TestPeerIsNotSaid(t *testing.T) {
	of := func(s Switch, warnings []string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Ports {
			if want := map[string]string{"h": "host"}[p.Name]; p.Peer != cmp.Or(want, "switch") {
				t.Errorf("port %s leads to a %s", p.Name, p.Peer)
			}
		}
		return strings.Join(warnings, "\n")
	}
	const said = `taken to lead to a switch, whose labels and messages are believed; a file can say "peer: host" where a host is`
	got := of(LoadSwitch("s.yaml", []byte("name: s\nid: 1\nports:\n- {name: h, peer: host}\n- {name: a}\n- {name: b, peer: switch}\n- {name: c}\n")))
	if want := "s.yaml:5: ports[1].peer: not said of a, c: " + said; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = of(LoadSwitch("s.yaml", []byte(smallSwitch)))
	if got != "" {
		t.Errorf("where all is said: %q", got)
	}
	got = of(Bridge("a", "b"))
	if want := "arguments: ports[0].peer: not said of a, b: " + said; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDefaults(t *testing.T) {
	s, warnings, err := LoadSwitch("s1.yaml", []byte(smallSwitch))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("err %v, warnings %v", err, warnings)
	}
	th, zero, off, xoff, lossy := 36864, 0, 4096, 30720, 262144
	refresh, storm := 1118464*unit.Nanosecond, 500*unit.Millisecond
	want := Switch{
		Name: "s1", ID: 7, MTU: 1500, Trust: "dscp", HashSeed: 7, Detector: "none", Response: "none", Live: Live{LogLimit: 512, LogRefreshes: "all"},
		Ports: []Port{{Name: "a", Peer: "switch", Rate: 100e6}, {Name: "b", Peer: "switch"}},
		// An unlimited port counts quanta at 10 Gbit/s: 65535 last 3.355392 ms.
		PFC:    PFC{Lossless: []int{3, 4}, Quanta: 65535, Refresh: &refresh, StormBudget: &storm, Response: "0", Pause: "ignore"},
		Buffer: Buffer{Pool: 2 << 20, Size: 4096, StaticTh: &th, XON: &zero, XONOffset: &off, XOFF: &xoff, LossyQueue: &lossy},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

// What a port says of 802.3x PAUSE goes before what the node says.
func TestPauseOfPorts(t *testing.T) {
	s, _, err := LoadSwitch("s.yaml", []byte("name: s\nid: 1\nports:\n- {name: a, peer: switch}\n- {name: b, peer: switch, pause: ignore}\npfc: {pause: heed}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Build(nil, 1, 0).Ports; !p[0].HeedPause || p[1].HeedPause {
		t.Errorf("ports heed PAUSE: %v, %v; want true, false", p[0].HeedPause, p[1].HeedPause)
	}
}

// A router ID is no martian, nor an address that a host may have.
func TestRouterID(t *testing.T) {
	const subnets = "subnets:\n- {prefix: 10.0.1.0/24, gateway: 10.0.1.1, ports: [0]}\n"
	const martian = " is of a net from which nothing is routed; use an address outside 0.0.0.0/8, 127.0.0.0/8 and 224.0.0.0/3"
	const station = ` is not the IPv4 address of a station: write four numbers such as "10.0.1.2"`
	const host = " is in the subnet 10.0.1.0/24, where a host may have it; use its gateway 10.0.1.1, or an address of no subnet"
	for id, want := range map[string]string{
		"198.18.0.7": "", "10.0.1.1": "", "10.0.2.2": "", "223.255.255.255": "",
		"10.0.1.2": host, "10.0.1.0": host, "10.0.1.255": host,
		"0.1.2.3": martian, "127.0.0.1": martian, "240.0.0.1": martian,
		"0.0.0.0": station, "224.0.0.1": station, "255.255.255.255": station, "fe80::1": station, "s1": station,
	} {
		if want != "" {
			what := id
			if want == station {
				what = strconv.Quote(id)
			}
			want = fmt.Sprintf("s.yaml:9: router_id: %s%s", what, want)
		}
		_, _, err := LoadSwitch("s.yaml", []byte(smallSwitch+subnets+"router_id: \""+id+"\"\n"))
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != want {
			t.Errorf("%s: got %s, want %q", id, got, want)
		}
	}
	_, _, err := LoadSwitch("s.yaml", []byte(smallSwitch+"router_id: 198.18.0.7\n"))
	if want := `s.yaml:7: router_id: 198.18.0.7, and the switch has neither subnets nor routes: it bridges, and says nothing; take it away`; err == nil || err.Error() != want {
		t.Errorf("of a bridge: %v, want %s", err, want)
	}
}

func addr(s string) unit.Addr { return unit.AddrOf(netip.MustParseAddr(s)) }

func prefix(s string) unit.Prefix { return unit.Prefix{Prefix: netip.MustParsePrefix(s)} }

func TestRoundTrip(t *testing.T) {
	priority, th, offset := 5, 8192, 1024
	for _, lossless := range [][]int{nil, {}, {5}} {
		s := Switch{
			Name: "s1", ID: 1, Ports: []Port{{Name: "a", StaticTh: &th, XONOffset: &offset}, {Name: "b", Rate: 2.5e9}, {Name: "c"}},
			DSCPMap: map[int]int{46: 5, 26: 3},
			PFC:     PFC{Lossless: lossless},
			Sched:   map[int]Sched{3: {Type: "dwrr", Weight: 7}},
			Subnets: []Subnet{{Prefix: prefix("10.0.1.0/24"), Gateway: addr("10.0.1.1"), Ports: []int{0}}},
			Routes:  []Route{{Prefix: prefix("10.0.2.0/24"), Ports: []int{1}, Backup: []int{2}}},
			ARP:     []ARP{{IP: addr("10.0.1.2"), MAC: 0x02_00_00_09_00_00}},
			MAC:     []MAC{{MAC: 0x02_00_00_09_00_00, Port: 0}}, RouterID: addr("198.18.0.1"),
			Rewrite: []Rewrite{{Priority: 5, In: []int{1, 2}, Out: []int{1, 2}, To: 0}},
			NoFlood: true,
			ECN:     &ECN{Priorities: []int{0}, RED: &RED{Pmax: 1}, Phantom: &Phantom{}},
			Limits:  []Limit{{Port: 1, Priority: &priority, Rate: 2e9}, {Port: 0, Flow: &LimitFlow{From: addr("10.0.1.2"), To: addr("10.0.2.2"), SrcPort: 49152}, Rate: 1.5e6}},
			Live:    Live{Control: "/run/x.sock"},
		}
		if !slices.Contains(lossless, priority) {
			s.Rewrite, s.Limits = nil, nil
		}
		got, _, err := LoadSwitch("s1.yaml", s.Marshal())
		if err != nil {
			t.Fatal(err)
		}
		s.Fill()
		if !reflect.DeepEqual(got, s) {
			t.Errorf("got  %+v\nwant %+v", got, s)
		}
	}
	h := Host{
		Name: "h1", ID: 9, Port: Port{Name: "eth0", Rate: 100e6},
		Address: unit.Interface{IP: addr("10.0.1.2"), Bits: 24}, Gateway: addr("10.0.1.1"), GatewayMAC: 0x02_00_00_01_00_00,
		Flows: []Flow{{Number: 0, Name: "A", To: addr("10.0.2.2"), SrcPort: 49152, Priority: 3}},
		Acts:  []Act{{At: unit.Second, Do: "storm", Priority: 3}, {At: 2 * unit.Second, Do: "normal"}},
	}
	got, err := LoadHost("h1.yaml", h.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	h.Fill()
	if !reflect.DeepEqual(got, h) {
		t.Errorf("got  %+v\nwant %+v", got, h)
	}
}

// FuzzLoad: what is loaded can be written and loaded again, and is the same.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(smallSwitch))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, _, err := LoadSwitch("fuzz", data); err == nil {
			again, _, err := LoadSwitch("again", s.Marshal())
			if err != nil || !reflect.DeepEqual(s, again) {
				t.Errorf("%v\n%+v\n%+v", err, s, again)
			}
			s.Build(nil, 1, 0)
		}
		if h, err := LoadHost("fuzz", data); err == nil {
			again, err := LoadHost("again", h.Marshal())
			if err != nil || !reflect.DeepEqual(h, again) {
				t.Errorf("%v\n%+v\n%+v", err, h, again)
			}
			h.Build(1, 0)
			h.BuildNIC(1, 0)
		}
	})
}

// An act that comes from no file is judged as one of a file: it has to say what it does.
func TestCheckOfActs(t *testing.T) {
	h2, second := Host{PFC: PFC{Lossless: []int{3, 4}}}, 1
	for want, a := range map[string]Act{
		"": {Do: "storm", Priority: 3},
		`h2: acts[0].do: ""; use slow, storm, normal`:                                      {},
		`h2: acts[0].do: "halt"; use slow, storm, normal`:                                  {Do: "halt"},
		"h2: acts[0].priority: priority 5 is not lossless; use one of [3 4]":               {Do: "storm", Priority: 5},
		`h2: acts[0].rate: 0 is not a drain rate: write one above zero such as "10Mbit/s"`: {Do: "slow"},
		"h2: acts[0].rate: 1Mbit/s: only slow has a rate":                                  {Do: "normal", Rate: 1e6},
		"h2: acts[0].nic: 1: use 0 to 0":                                                   {Do: "normal", NIC: &second},
	} {
		got := ""
		if err := a.Check("h2", &h2); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
