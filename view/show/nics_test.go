package show

import (
	"encoding/json"
	"strings"
	"testing"

	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/node/observe"
	"softswitch/unit"
)

// TestNICsOfHosts: each NIC has a row of what it carried and of its connections, and one for each of its
// lossless priorities.
func TestNICsOfHosts(t *testing.T) {
	const ms = unit.Millisecond
	h := observe.Host{Name: "h1", Live: observe.Live{At: 100 * ms}}
	one := observe.HostNIC{Name: "eth0", Lossless: []int{3, 4}, NICState: host.NICState{Up: true, Carried: host.Carried{TxFrames: 1234, TxBytes: 56789, RxFrames: 7, RxBytes: 700}}}
	one.Counters.RxPause[3], one.Counters.PausedTime[3], one.Counters.PausedSince[3] = 2, 5*ms, 90*ms
	two := observe.HostNIC{Name: "eth1", Lossless: []int{5}, NICState: host.NICState{Drain: 4_000_000, Storming: []int{5}, RxBuffer: [unit.Priorities]int{5: 12_000}}}
	two.LostOf[5], two.Counters.LinkDown = 3, 1
	two.Counters.TxPause[5], two.Counters.TxRefresh[5], two.Counters.RC.ICRC = 4, 6, 8
	h.NICs = []observe.HostNIC{one, two}
	h.Sent = []host.Sent{
		{Name: "udp"},
		{Name: "open", Messages: &host.Messages{}},
		{Name: "over", NIC: 1, Messages: &host.Messages{Completion: 1}},
		{Name: "lost", NIC: 1, Messages: &host.Messages{Failed: true}},
	}
	var out strings.Builder
	if err := NICsOfHosts().Write(&out, []control.Endpoint{{Name: "h1"}}, []HostNICs{nicsOf(&h)}); err != nil {
		t.Fatal(err)
	}
	want := `h1:
NIC   State  Takes    Flows  Open  Done  Gave up   Sent   Bytes  Received  Bytes  Lost  Link downs  Bad packets
----  -----  -------  -----  ----  ----  -------  -----  ------  --------  -----  ----  ----------  -----------
eth0  up     all          2     1     0        0  1,234  56,789         7    700     0           0            0
eth1  down   4Mbit/s      2     0     1        1      0       0         0      0     3           1            8

NIC   Priority  Paused  Pauses heeded  Total MS  Pauses sent  Repeated  Storms  Receive buffer
----  --------  ------  -------------  --------  -----------  --------  ------  --------------
eth0         3     yes              2      15.0            0         0      no               0
eth0         4      no              0       0.0            0         0      no               0
eth1         5      no              0       0.0            4         6     yes          12,000
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	text, err := json.Marshal(nicsOf(&h))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"host":"h1","nics":[{"nic":"eth0","up":true,"drain_bps":0,"flow_count":2,"open":1,"done":0,"gave_up":0,"sent":1234,"sent_bytes":56789,`,
		`"priorities":[{"priority":3,"pauses":2,"paused":true,"paused_ns":15000000,"pauses_sent":0,"refreshes_sent":0,"storming":false,"rx_buffer":0},`,
		`"bad_packets":{"malformed":0,"icrc":8,`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
