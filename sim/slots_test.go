package sim

import (
	"math/rand/v2"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// usedSlots has what leaves much behind in slots: frames that are flooded, loop until their time is over, of
// which routers tell, are paused, marked, acknowledged, cut off and lost, and the control frames of all kinds.
const usedSlots = `
name: used
auth: strict
lldp: {interval: 1s}
topology:
  switches: [s1, s2, s3]
  hosts: [h1, h2, h3, h4]
  links: [s1--h1, s2--h2, s3--h3, s3--h4, s1--s2, s2--s3]
  rate: 1Gbit/s
  delay: 2us
  jitter: 3us
routes:
  - {at: s1, to: s3, ports: [s2]}
  - {at: s2, to: s3, ports: [s1]}
dead: [h4]
flood: all
congestion: {}
flows:
  - {name: A, from: h1, to: h3, priority: 3, rate: 500Mbit/s, frame: 1000, stop: 4ms, ttl: 9}
  - {name: B, from: h2, to: h4, priority: 0, rate: 50Mbit/s, frame: 600, ttl: 20}
  - {name: C, from: h3, to: h2, priority: 4, transport: rc}
  - {name: D, from: h2, to: h1, priority: 3, rate: 100Mbit/s, frame: 200}
  - {name: E, from: h3, to: h4, priority: 3, rate: 100Mbit/s, frame: 700}
events:
  - {at: 2ms, do: storm, host: h1, priority: 3, for: 3ms}
  - {at: 3ms, do: stop, switch: s2}
  - {at: 3.2ms, do: continue, switch: s2}
  - {at: 6ms, do: fail, link: s2--s3}
  - {at: 6.5ms, do: heal, link: s2--s3}
duration: 12ms
`

// use leaves as much as a frame can in n slots of a pool.
func use(pool *buffer.Pool, rng *rand.Rand, n int) {
	all := make([]*buffer.Frame, n)
	for i := range all {
		f := pool.Get()
		for range rng.IntN(2 * ether.MinLen) {
			f.Data = append(f.Data, byte(rng.IntN(256)))
		}
		f.Len, f.In = rng.IntN(10_000), unit.Port(rng.IntN(unit.MaxPorts))
		f.Info = buffer.Info{
			Kind: uint8(rng.IntN(8)), Reason: uint8(rng.IntN(30)), Priority: unit.Priority(rng.IntN(unit.Priorities)), TTL: uint8(rng.IntN(256)),
			L3: int16(rng.IntN(40)), DstIP: rng.Uint32(), Hash: rng.Uint32(), DstMAC: rng.Uint64() >> 16, SrcMAC: rng.Uint64() >> 16,
		}
		f.InPriority, f.OutPriority = unit.Priority(rng.IntN(unit.Priorities)), unit.Priority(rng.IntN(unit.Priorities))
		f.Charged, f.Uncharged, f.Control, f.Flooded = rng.IntN(2) > 0, rng.IntN(2) > 0, rng.IntN(2) > 0, rng.IntN(2) > 0
		f.Waiting.Add(unit.Port(rng.IntN(unit.MaxPorts)))
		all[i] = f
	}
	for _, f := range all {
		pool.Put(f)
	}
}

// TestUsedSlots: what older frames left in the slots changes nothing. Partitions have slots of their own, which
// are used by other frames than those of one partition.
func TestUsedSlots(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for name, text := range map[string]string{"used": usedSlots, "ring": ring, "connections": connections("300us")} {
		p := plan(t, text)
		want := run(t, p, 7, nil)
		if want.lines < 100 {
			t.Errorf("%s: only %d events: this proves little", name, want.lines)
		}
		for range 2 {
			tr := newTracer()
			w, err := New(p, Options{Seed: 7, Detectors: detectors, Events: tr.event})
			if err != nil {
				t.Fatal(err)
			}
			use(w.partitions[0].pool, rng, 5000)
			if got := outcomeOf(t, w, tr); got != want {
				t.Errorf("seed %d, %s: %v, with new slots %v", seed, name, got, want)
			}
		}
	}
}
