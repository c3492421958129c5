package sim

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"softswitch/unit"
)

// permutation is a k=4 fat-tree at 40 Gbit/s in which every host sends to one of
// the next pod at line rate.
func permutation(duration string) string { return permuted(duration, "", "frame: 1514") }

// connections is the same with reliable connections that keep to DCQCN.
func connections(duration string) string {
	return permuted(duration, "congestion: {}\n", "transport: rc")
}

func permuted(duration, congestion, flow string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: permutation\ntopology: {fattree: {k: 4}, rate: 40Gbit/s, delay: 1us}\nduration: %s\n%sflows:\n", duration, congestion)
	host := func(i int) string { return fmt.Sprintf("h%d-%d-%d", i>>2, i>>1&1, i&1) }
	for i := range 16 {
		fmt.Fprintf(&b, "  - {name: F%d, from: %s, to: %s, %s}\n", i, host(i), host((i+5)%16), flow)
	}
	return b.String()
}

// Once queues and wires have had their most, nothing is allocated for a frame.
func TestFramesAllocateNothing(t *testing.T) {
	for name, text := range map[string]string{"udp": permutation("1s"), "rc": connections("1s")} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, text)
			w := started(t, p, Options{Seed: 1, Detectors: detectors})
			end := 4 * unit.Millisecond
			w.play(end)
			before := w.partitions[0].frames
			allocs := testing.AllocsPerRun(4, func() {
				end += unit.Millisecond / 2
				w.play(end)
			})
			// What is left is the record of pauses, that grows.
			if frames := float64(w.partitions[0].frames-before) / 5; frames < 10_000 || allocs > frames/1000 {
				t.Errorf("%.0f allocations for %.0f frames", allocs, frames)
			}
		})
	}
}

// BenchmarkFatTree reports the time per frame-hop: on the clock, and of the
// processor, which other processes on the machine disturb less.
func BenchmarkFatTree(b *testing.B) {
	for name, text := range map[string]string{"udp": permutation("5ms"), "rc": connections("5ms")} {
		b.Run(name, func(b *testing.B) {
			p := plan(b, text)
			var hops uint64
			start := processorTime(b)
			for b.Loop() {
				w, err := New(p, Options{Seed: 1, Detectors: detectors})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := w.Run(); err != nil {
					b.Fatal(err)
				}
				n, _ := w.Frames()
				hops += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(hops), "ns/hop")
			b.ReportMetric(float64((processorTime(b)-start).Nanoseconds())/float64(hops), "cpu-ns/hop")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
