package nicdemo

import (
	"strings"
	"testing"

	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
	"softswitch/play"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/unit"
)

func TestParseIperf(t *testing.T) {
	got, err := parseIperf([]byte(`{"end": {"sum_sent": {"packets": 100}, "sum_received": {"lost_packets": 40, "bits_per_second": 1.5e6}}}`))
	if want := (iperf{Sent: 100, Lost: 40, Rate: 1.5e6}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := parseIperf([]byte("iperf3: error")); err == nil {
		t.Error("a report that is no JSON is read")
	}
}

func TestParsePing(t *testing.T) {
	got, err := parsePing("PING 10.100.1.2 (10.100.1.2) 56(84) bytes of data.\n\n--- 10.100.1.2 ping statistics ---\n" +
		"25 packets transmitted, 24 received, 4% packet loss, time 4858ms\nrtt min/avg/max/mdev = 0.202/2.874/22.956/4.871 ms\n")
	if want := (pingCount{Sent: 25, Received: 24, Average: "2.874"}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := parsePing("ping: connect: Network is unreachable\n"); err == nil {
		t.Error("an error is read as a count")
	}
}

// TestNICVerdict: each thing that may go wrong is said, and a run on a machine that was
// too busy proves nothing.
func TestNICVerdict(t *testing.T) {
	plan, err := load.Plan("two-switches.yaml", scenarios.NIC, load.Instead{})
	if err != nil {
		t.Fatal(err)
	}
	good := Result{
		Iperf: iperf{Sent: 100, Lost: 40}, Ping: pingCount{Sent: 5, Received: 5}, OnWire: 60, Arrived: 60, Pauses: 3,
		Sender: observe.HostLoss{SendQueue: 40},
	}
	for _, c := range []struct {
		want   string
		change func(*Result)
	}{
		{"", func(*Result) {}},
		{"lost in the fabric: 1 frame", func(r *Result) { r.Fabric = 1 }},
		{"60 frames went onto the wire, and 59 arrived", func(r *Result) { r.Arrived = 59 }},
		{"no pause reached the NIC of h1", func(r *Result) { r.Pauses = 0 }},
		{"the send queue of h1 was never full", func(r *Result) { r.Sender.SendQueue, r.Iperf.Lost = 0, 0 }},
		{"iperf3 misses 41 datagrams, and 40 are accounted for", func(r *Result) { r.Iperf.Lost = 41 }},
		{"ping: 4 of 5 came back", func(r *Result) { r.Ping.Received = 4 }},
	} {
		d := Demo{Result: good, NICLab: &play.NICLab{
			Plan: plan, Hosts: []netnslab.NodeState{{Name: "h1"}, {Name: "h2"}}, NICs: []observe.NIC{{Host: observe.Host{Name: "h1"}}, {Host: observe.Host{Name: "h2"}}}, Stats: []observe.Switch{{Name: "s1"}, {Name: "s2"}},
		}}
		c.change(&d.Result)
		d.conclude()
		if got := strings.Join(d.Result.Reasons, "; "); got != c.want || d.Result.OK != (c.want == "") || d.Result.Invalid != "" {
			t.Errorf("ok %t, reasons %q, invalid %q; want %q", d.Result.OK, got, d.Result.Invalid, c.want)
		}
		d.NICs[1].Lateness = 11 * unit.Millisecond // the headroom lasts 12.3 ms
		if d.conclude(); d.Result.Invalid != "" {
			t.Errorf("%s: on a machine that was not too busy invalid is %q", c.want, d.Result.Invalid)
		}
		d.Stats[1].Lateness = unit.Millisecond
		d.conclude()
		if invalid := d.Result.Invalid != ""; invalid != (d.Result.Fabric > 0) {
			t.Errorf("%s: on a busy machine invalid is %q", c.want, d.Result.Invalid)
		}
	}
}
