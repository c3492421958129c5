package node

import (
	"net/netip"
	"testing"
	"time"

	"softswitch/host"
	"softswitch/host/nic"
	"softswitch/link"
	"softswitch/live"
	"softswitch/unit"
)

// While a snapshot waits for what the kernel has counted on a link, the machine runs.
func TestSnapshotAsksTheKernelWithoutTheLock(t *testing.T) {
	sw := onePort(t)
	h, err := host.New(host.Config{
		ID: 2, Name: "h1", NIC: host.NIC{Address: netip.MustParseAddr("10.0.0.1"), Rate: 100_000_000}, Quanta: 65535,
		Refresh: unit.Millisecond, RxBuffer: 16_000, Batch: live.Batch, MaxFrame: 1514, SlotBytes: 2048,
	})
	if err != nil {
		t.Fatal(err)
	}
	card, err := nic.New(nic.Config{
		ID: 3, Name: "h2", NIC: host.NIC{Rate: 100_000_000}, Quanta: 65535,
		Refresh: unit.Millisecond, RxBuffer: 16_000, MaxFrame: 1514, Batch: live.Batch,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		m    live.Machine
		take func(*live.Node)
	}{
		{"switch", sw, func(n *live.Node) { newSwitchNode(sw, "").snapshot(n) }},
		{"host", h, func(n *live.Node) { new(runner).takeHost(n, h) }},
		{"nic", card, func(n *live.Node) { new(runner).takeNIC(n, card, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, wake := make(chan struct{}, 1), make(chan struct{})
			n := runOn(t, c.m, func() link.Link {
				near, _ := link.Pipe()
				return &link.Asleep{Link: near, Asked: asked, Wake: wake}
			})
			taken, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(taken)
				c.take(n)
			}()
			<-asked
			go func() {
				defer close(done)
				n.Do(func(unit.Time) {})
			}()
			select {
			case <-done:
			case <-time.After(5 * time.Second):
				t.Error("the machine stands still while its link is asked what it counted")
			}
			close(wake)
			<-taken
			<-done
		})
	}
}
