package sim

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// permutation is a k=4 fat-tree at 40 Gbit/s in which every host sends to one of
// the next pod at line rate.
func permutation(duration string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: permutation\ntopology: {fattree: {k: 4}, rate: 40Gbit/s, delay: 1us}\nduration: %s\nflows:\n", duration)
	host := func(i int) string { return fmt.Sprintf("h%d-%d-%d", i>>2, i>>1&1, i&1) }
	for i := range 16 {
		fmt.Fprintf(&b, "  - {name: F%d, from: %s, to: %s, frame: 1514}\n", i, host(i), host((i+5)%16))
	}
	return b.String()
}

// BenchmarkFatTree reports the time per frame-hop: on the clock, and of the
// processor, which other processes on the machine disturb less.
func BenchmarkFatTree(b *testing.B) {
	p := plan(b, permutation("5ms"))
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
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
