package sim

import (
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/host"
	"softswitch/unit"
)

// twoHosts are two hosts and a wire between them; the first sends.
func twoHosts(t *testing.T, c BenchConfig) (*Bench, [2]*host.Host) {
	t.Helper()
	c.Pool = buffer.NewPool(0, 1<<16, 1<<16, keep)
	var hosts [2]*host.Host
	for i := range hosts {
		cfg := host.Config{
			ID: unit.NodeID(i + 1), Name: string(rune('a' + i)), Quanta: 1000, Refresh: unit.Millisecond, RxBuffer: 64 << 10, Batch: 1, MaxFrame: 1514, SlotBytes: keep, Pool: c.Pool, Keep: keep,
			NIC: host.NIC{MAC: unit.MAC(0x020000000001 + i), GatewayMAC: unit.MAC(0x020000000002 - i), Address: unit.Addr(0x0a000001 + i).Netip(), Rate: 1e9},
		}
		if i == 0 {
			cfg.Flows = []host.Flow{{Name: "f", To: unit.Addr(0x0a000002).Netip(), SrcPort: 49152, Priority: 0, Stream: host.Stream{Frame: 1514, TTL: 64}}}
		}
		h, err := host.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		hosts[i] = h
		c.Machines = append(c.Machines, BenchMachine{Name: cfg.Name, Machine: h})
	}
	b, err := NewBench(c)
	if err != nil {
		t.Fatal(err)
	}
	return b, hosts
}

// Machines on a bench are played piece by piece, and a wire between them goes down and comes up.
func TestBenchMachines(t *testing.T) {
	events := 0
	b, hosts := twoHosts(t, BenchConfig{Wires: []BenchWire{{A: BenchPort{0, 0}, B: BenchPort{1, 0}, Rate: 1e9}}, Events: func(string, event.Event) { events++ }})
	b.Do(0, hosts[0].Start)
	play := func(d unit.Time) (frames uint64) {
		t.Helper()
		was := b.Frames()
		if err := b.Play(b.Now() + d); err != nil {
			t.Fatal(err)
		}
		return b.Frames() - was
	}
	const each = 1538 * 8 // ns
	if n := play(each * 1000); n < 999 || n > 1000 {
		t.Errorf("%d frames in the time of 1000", n)
	}
	b.SetLink(BenchPort{1, 0}, false)
	if n := play(each * 1000); n != 0 {
		t.Errorf("%d frames while the wire was down", n)
	}
	b.SetLink(BenchPort{0, 0}, true)
	if n := play(each * 1000); n < 998 || n > 1000 {
		t.Errorf("%d frames in the time of 1000, after the wire came up", n)
	}
	if events == 0 {
		t.Error("no events")
	}
}

// Wires that cannot be are refused.
func TestBenchRefuses(t *testing.T) {
	for _, tt := range []struct {
		wires []BenchWire
		want  string
	}{
		{[]BenchWire{{A: BenchPort{0, 0}, B: BenchPort{1, 0}}}, "unlimited"},
		{[]BenchWire{{A: BenchPort{0, 0}, B: BenchPort{1, 1}, Rate: 1}}, "port 1 of machine 1: there is none"},
		{[]BenchWire{{A: BenchPort{0, 0}, B: BenchPort{0, 0}, Rate: 1}}, "both its ends"},
		{[]BenchWire{{A: BenchPort{0, 0}, B: BenchPort{1, 0}, Rate: 1}, {A: BenchPort{0, 0}, B: BenchPort{1, 0}, Rate: 1}}, "has a wire already"},
	} {
		pool := buffer.NewPool(0, 16, 16, keep)
		var machines []BenchMachine
		for range 2 {
			machines = append(machines, BenchMachine{Machine: &stub{}})
		}
		if _, err := NewBench(BenchConfig{Machines: machines, Wires: tt.wires, Pool: pool}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; want %s", err, tt.want)
		}
	}
}

// stub is a machine of one port that nobody plays.
type stub struct{ dataplane.Machine }

func (*stub) Ports() int { return 1 }
