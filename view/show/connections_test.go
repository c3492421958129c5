package show

import (
	"encoding/json"
	"strings"
	"testing"

	"softswitch/host"
	"softswitch/host/roce"
	"softswitch/internal/control"
	"softswitch/node/observe"
	"softswitch/unit"
)

// TestConnections: the connections of two hosts, in each state; UDP flows are not among them.
func TestConnections(t *testing.T) {
	h1, h2 := observe.Host{Name: "h1"}, observe.Host{Name: "h2"}
	h1.NICs, h2.NICs = []observe.HostNIC{{Name: "eth0"}, {Name: "eth1"}}, []observe.HostNIC{{Name: "eth0"}}
	h1.Sent = []host.Sent{
		{Name: "open", Messages: &host.Messages{Done: 2, Bytes: 131072, TimeSum: 3 * unit.Millisecond, TimeMax: 2 * unit.Millisecond, CNPs: 7, Rate: 9_500_000_000, RequesterCounters: roce.RequesterCounters{Again: 1234, Naks: 3, Timeouts: 4}}},
		{Name: "udp"},
		{Name: "over", NIC: 1, Messages: &host.Messages{Done: 1, Bytes: 10, TimeSum: 1500, TimeMax: 1500, Completion: 1500}},
	}
	h2.Received = []host.Received{{}, {Packets: &roce.Received{AccessErrors: 2}}}
	h1.Counters.RC = host.BadPackets{Malformed: 1, ICRC: 2, UnknownQP: 3000}
	h2.Sent = []host.Sent{{Name: "lost", Messages: &host.Messages{Failed: true, RequesterCounters: roce.RequesterCounters{Timeouts: 8}}}}
	ends := []control.Endpoint{{Name: "h1"}, {Name: "h2"}}
	var out strings.Builder
	if err := HostConnections().Write(&out, ends, []Connections{connectionsOf(&h1), connectionsOf(&h2)}); err != nil {
		t.Fatal(err)
	}
	want := `Host  Flow  NIC   State    Messages    Bytes  Mean MS  Max MS  Mbit/s  Again  NAKs  Timeouts  CNPs
----  ----  ----  -------  --------  -------  -------  ------  ------  -----  ----  --------  ----
h1    open  eth0  open            2  131,072    1.500   2.000  9500.0  1,234     3         4     7
h1    over  eth1  done            1       10    0.002   0.002     N/A      0     0         0     0
h2    lost  eth0  gave up         0        0      N/A     N/A     N/A      0     0         8     0
No connection of h1 takes: 1 frames that are malformed, 2 with a wrong ICRC, 3,000 of an unknown queue pair.
Connections that come to h2 have 2 access errors: a key, an address or a length outside of the memory.
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	out.Reset()
	udp := observe.Host{Sent: []host.Sent{{Name: "udp"}}}
	if err := HostConnections().Write(&out, ends[:1], []Connections{connectionsOf(&udp)}); err != nil || out.String() != "No host has a flow of transport rc.\n" {
		t.Errorf("of UDP flows: %v, %q", err, out.String())
	}
	text, err := json.Marshal(connectionsOf(&h1))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"flow":"open","nic":"eth0","state":"open","done":2,`, `"again":1234,`, `"bad_packets":{"malformed":1,`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
