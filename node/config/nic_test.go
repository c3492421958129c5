package config

import (
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
