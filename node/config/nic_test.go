package config

import (
	"net/netip"
	"reflect"
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
