package observe

import (
	"testing"

	"softswitch/host"
	"softswitch/host/nic"
	"softswitch/unit"
)

// A NIC that is paused in priority 3, whose send queue is full, and whose slow stack makes
// it pause in turn and then lose what comes all the same.
func TestNIC(t *testing.T) {
	n, err := nic.New(nic.Config{
		ID: 9, Name: "h9", NIC: host.NIC{MAC: 0x020000000009, Rate: 100_000_000, Lossless: 1 << 3}, Quanta: 65535, Refresh: unit.Millisecond, RxBuffer: 8192, MaxFrame: 1514, Batch: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	n.SetLink(0, nic.Wire, true)
	n.SetLink(0, nic.Stack, true)
	arrive(n, 1000, nic.Stack, data())
	send(n, 2000, nic.Wire)
	arrive(n, 3000, nic.Wire, pause(3))
	for range nic.SendQueue/1000 + 3 {
		arrive(n, 4000, nic.Stack, data())
	}
	if err := n.Do(5000, host.Act{Do: host.Slow, Rate: 1_000_000}); err != nil {
		t.Fatal(err)
	}
	back := data()
	back[5], back[11] = back[11], back[5]
	arrive(n, 5000, nic.Wire, back)
	send(n, 5000, nic.Stack)
	for range 10 { // seven until XOFF, one into the headroom
		arrive(n, 6000, nic.Wire, back)
	}
	send(n, unit.Millisecond, nic.Wire)

	got := TakeNIC(n, links, 7)
	got.Live = Live{At: 2000, Lateness: 5}
	wantGolden(t, "testdata/nic.json", got)
	wantReadBack(t, got)
	if got.InHost.Sum() != 3+30+7+40 {
		t.Errorf("lost in the host: %+v", got.InHost)
	}
}
