package dataplane

import (
	"fmt"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/unit"
)

// wide makes a configuration one of n ports, with the detector itsy.
func wide(n int) func(c *Config) {
	return func(c *Config) {
		all := testConfig(n)
		c.Ports, c.MAC, c.Detector = all.Ports, all.MAC, itsy.New
		c.Buffer.Profile.StaticTh = 1 << 20
	}
}

// widths are numbers of ports: of a small switch, and of those of chips.
var widths = []int{4, 64, 128, 256}

// TestWide: frames between the ports of a wide switch, one that is flooded, and a pause for the last port cost no
// allocation, and the pause stops that port alone.
func TestWide(t *testing.T) {
	for _, n := range widths {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			l := newLoop(t, 8, wide(n))
			last := unit.Port(n - 1)
			there, back, broadcast := between(0, last, 3, 1), between(last, 1, 3, 1), plain(unit.Broadcast, stationMAC(last), 100)
			run := func() {
				l.want(t, l.hop(there, 8, 0, last), 8)
				l.s.Receive(l.now, last, l.parsed(pauseFrame))
				l.want(t, l.hop(there, 8, 0, last), 0)
				l.want(t, l.hop(back, 8, last, 1), 8)
				l.s.Receive(l.now, last, l.parsed(resumeFrame))
				l.want(t, l.transmit(last), 8)
				l.want(t, l.hop(broadcast, 1, last, 0), 1)
				for p := unit.Port(1); p < last; p++ {
					l.want(t, l.transmit(p), 1)
				}
			}
			run() // tables and rings grow once
			if got := testing.AllocsPerRun(20, run); got > 0 {
				t.Errorf("%v allocations", got)
			}
			if free, slots := l.s.pool.Free(), l.s.pool.Slots(); free != slots {
				t.Errorf("%d of %d slots free", free, slots)
			}
		})
	}
}

// BenchmarkWide is BenchmarkHop in a switch of so many ports with itsy: each batch goes from the next port to the one
// after it, so that all of the switch's state is used in turn.
func BenchmarkWide(b *testing.B) {
	for _, n := range widths {
		for _, batch := range []int{1, 64} {
			b.Run(fmt.Sprintf("%d/batch%d", n, batch), func(b *testing.B) {
				l := newLoop(b, batch, wide(n))
				frames := make([][]byte, n)
				for p := range frames {
					frames[p] = datagram{dst: stationMAC(unit.Port((p + 1) % n)), src: stationMAC(unit.Port(p)), priority: 3, size: 60}.frame()
				}
				b.ReportAllocs()
				b.ResetTimer()
				for i, p := 0, 0; i < b.N; i, p = i+batch, (p+1)%n {
					if got := l.hop(frames[p], batch, unit.Port(p), unit.Port((p+1)%n)); got != batch {
						b.Fatalf("%d frames of %d left", got, batch)
					}
				}
			})
		}
	}
}

// BenchmarkNew makes a switch of so many ports with itsy and the default buffers; the bytes of an operation are its
// memory at first. Beside them stand those that slots may grow to, and those of the detector and of the accounts.
func BenchmarkNew(b *testing.B) {
	for _, n := range widths {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := Defaults()
			c.ID, c.Ports, c.Refresh = 1, testConfig(n).Ports, unit.Millisecond
			var d detect.Detector
			c.Detector = func(v detect.View, a detect.Actions) detect.Detector {
				d = itsy.New(v, a)
				return d
			}
			var s *Switch
			var err error
			b.ReportAllocs()
			for b.Loop() {
				if s, err = NewSwitch(c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.pool.Slots()*c.SlotBytes), "slots-at-most-B")
			b.ReportMetric(float64(d.StateBytes()), "itsy-B")
			b.ReportMetric(float64(s.MMU().CounterBytes()), "accounts-B")
		})
	}
}
