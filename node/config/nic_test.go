package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"softswitch/host"
	"softswitch/host/nic"
	"softswitch/unit"
)

// A host with a stack needs no gateway, and its NIC is what the file says.
func TestBuildNIC(t *testing.T) {
	h, err := LoadHost("nic.yaml", []byte(`
name: h1
id: 9
port: {name: eth1, mac: 02:00:00:00:00:09, rate: 100Mbit/s}
address: 10.0.1.2/24
stack: nic0
pfc: {lossless: [3], quanta: 1000, refresh: 1ms}
rx_buffer: 65536
`))
	if err != nil {
		t.Fatal(err)
	}
	one := host.NIC{Name: "eth1", MAC: 0x020000000009, Address: netip.MustParseAddr("10.0.1.2"), Rate: 100_000_000, Lossless: 1 << 3}
	want := nic.Config{
		ID: 9, Name: "h1", NIC: one, Quanta: 1000, Refresh: unit.Millisecond,
		RxBuffer: 65536, MaxFrame: 1514, Granularity: 5, Batch: 64,
	}
	if got := h.BuildNIC(64, 5); !reflect.DeepEqual(got, want) {
		t.Errorf("the NIC is %+v, want %+v", got, want)
	}
	if _, err := nic.New(want); err != nil {
		t.Error(err)
	}
}

// The largest receive buffer that a file may give a NIC is one that the NIC takes, however many priorities share it.
func TestLargestStackBuffer(t *testing.T) {
	const file = "name: h1\nid: 9\nport: {name: eth1}\nstack: tap-a\npfc: {lossless: %s}\nrx_buffer: %d\n"
	lossless := "[0"
	for n := 1; n <= unit.Priorities; n++ {
		most := min(nic.RxBufferMax(n), 1<<30)
		h, err := LoadNIC("nic.yaml", fmt.Appendf(nil, file, lossless+"]", most))
		if err != nil {
			t.Fatal(err)
		}
		c := h.BuildNIC(1, 1)
		if _, err := nic.New(c); err != nil {
			t.Errorf("%d priorities, %d bytes: %v", n, most, err)
		}
		if n > 1 {
			want := fmt.Sprintf("nic.yaml:6: rx_buffer: %d: use at most %d, as a host with a stack has 1 GiB for its %d lossless priorities", most+4, most, n)
			if _, err := LoadNIC("nic.yaml", fmt.Appendf(nil, file, lossless+"]", most+4)); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			c.RxBuffer = most + 8
			if _, err := nic.New(c); err == nil {
				t.Errorf("%d priorities: a NIC takes %d bytes too, so that %d is not the most", n, c.RxBuffer, most)
			}
		}
		lossless += fmt.Sprintf(", %d", n)
	}
}

// A host whose stack is an interface that exists has no address; then it has no gateway either.
func TestStackThatExists(t *testing.T) {
	const file = "name: h1\nid: 9\nport: {name: eth1}\nstack: tap-a\n"
	if _, err := LoadNIC("nic.yaml", []byte(file)); err != nil {
		t.Error(err)
	}
	_, err := LoadNIC("nic.yaml", []byte(file+"gateway: 10.0.0.1\n"))
	if want := "nic.yaml:5: gateway: a host whose stack is an interface that exists has none here"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a gateway without an address: %v, want %s", err, want)
	}
}

// Flows with a program at the other end are of a host with a stack, one of them, and have a handshake.
func TestPrograms(t *testing.T) {
	const file = "name: h1\nid: 9\nport: {name: eth1, rate: 10Mbit/s}\naddress: 10.0.0.2/24\ngateway: 10.0.0.1\ngateway_mac: 02:00:00:00:00:01\n"
	const flow = "{number: 1, name: f, peer: 10.0.0.3, sends: true, priority: 3, transport: rc, rc: {handshake: perftest, operation: read}}"
	h, err := LoadNIC("nic.yaml", []byte(file+"stack: nic0\nprograms: ["+flow+"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f := h.Programs[0]; f.Client() || f.RC.Message != 65536 || *f.RC.Timeout != 67*unit.Millisecond {
		t.Errorf("%+v", f)
	}
	for want, text := range map[string]string{
		"programs: the host has no stack":             "programs: [" + flow + "]\n",
		"programs: 2; perftest knows one test":        "stack: nic0\nprograms: [" + flow + ", " + flow + "]\n",
		"programs[0].rc.handshake: missing":           "stack: nic0\nprograms: [{number: 1, name: f, peer: 10.0.0.3, priority: 3, transport: rc}]\n",
		"flows[0].rc.handshake: perftest: flows with": "flows: [{number: 1, name: f, to: 10.0.0.3, src_port: 5, priority: 3, transport: rc, rc: {handshake: perftest}}]\n",
		"flows[0].rc.operation: send: a flow without": "flows: [{number: 1, name: f, to: 10.0.0.3, src_port: 5, priority: 3, transport: rc, rc: {operation: send}}]\n",
	} {
		if _, err := LoadHost("nic.yaml", []byte(file+text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
