package dataplane

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// TestBatches: what a switch does with frames that it takes at once is what it does with them one after the other,
// whichever stations they are of: those that move from port to port or are unknown, groups, and addresses that no
// station has.
func TestBatches(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, kind := range []struct {
		name   string
		change func(c *Config)
	}{
		{"bridge", func(c *Config) { c.MAC = c.MAC[:2] }},
		{"LAG", func(c *Config) { c.MAC, c.LAGs = nil, []LAG{{Name: "lag", Ports: ports(1, 2)}} }},
		{"router", withHosts},
	} {
		t.Run(kind.name, func(t *testing.T) {
			for range testkit.Sized(30, 300) {
				change := func(c *Config) { kind.change(c); c.Batch = 32 }
				batch, single := newTestSwitch(t, 6, change), newTestSwitch(t, 6, change)
				stations := []unit.MAC{0, unit.Broadcast, portMAC(0), stationMAC(0), stationMAC(1), stationMAC(2), made(1), made(2)}
				for range 6 {
					in := unit.Port(r.IntN(3))
					var frames [][]byte
					var src, dst unit.MAC
					for range r.IntN(32) {
						if r.IntN(3) == 0 {
							src = stations[r.IntN(len(stations))]
						}
						if r.IntN(3) == 0 {
							dst = stations[r.IntN(len(stations))]
						}
						frames = append(frames, datagram{dst: dst, src: src, sport: uint16(1 + r.IntN(4)), priority: unit.Priority(r.IntN(5)), size: 60 + r.IntN(900)}.frame())
					}
					batch.receive(in, frames...)
					for _, f := range frames {
						single.receive(in, f)
					}
					if r.IntN(2) == 0 {
						continue
					}
					for out := range unit.Port(6) {
						if got, want := frameText(batch.drain(out)), frameText(single.drain(out)); got != want {
							t.Fatalf("port %d sends\n%s\nand of frames one by one\n%s", out, got, want)
						}
					}
				}
				for p := range unit.Port(6) {
					if got, want := *batch.Counters(p), *single.Counters(p); got != want {
						t.Fatalf("counters of port %d: %+v; of frames one by one: %+v", p, got, want)
					}
				}
				if got, want := fmt.Sprint(batch.log, batch.det.calls), fmt.Sprint(single.log, single.det.calls); got != want {
					t.Fatalf("events and calls\n%s\nand of frames one by one\n%s", got, want)
				}
				if got, want := fmt.Sprint(batch.macs.entries), fmt.Sprint(single.macs.entries); got != want {
					t.Fatalf("stations\n%s\nand of frames one by one\n%s", got, want)
				}
				for out := range unit.Port(6) {
					batch.drain(out)
					single.drain(out)
				}
			}
		})
	}
}
