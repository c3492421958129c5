package link

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkRelay measures a forwarder that only reads and writes, between two veth
// pairs, while a sender with its own sendmmsg keeps another processor busy:
//
//	sender ──▶ left ═veth═ right ──▶ relay ──▶ left ═veth═ right (nobody listens)
//
// The kernel copies a frame into the relay's ring on the sender's processor. Mpps
// is what the relay sent. offered-Mpps is what the sender sent: where the two are
// the same, the sender was the limit.
func BenchmarkRelay(b *testing.B) {
	for _, size := range []int{64, 1500} {
		for _, batch := range []int{1, 32, 64} {
			b.Run(fmt.Sprintf("size=%d/batch=%d", size, batch), func(b *testing.B) {
				benchmarkRelay(b, size, batch)
			})
		}
	}
}

func benchmarkRelay(b *testing.B, size, batch int) {
	in, out := newWire(b), newWire(b)
	sender, rx, tx := in.openLeft(Options{}), in.openRight(Options{}), out.openLeft(Options{})
	var stop atomic.Bool
	offering := make(chan error, 1)
	go func() { offering <- offer(sender, numbered(0, size), &stop) }()

	bufs := frameBuffers(batch, 2048)
	b.ReportAllocs()
	b.ResetTimer()
	begin, before := time.Now(), sender.Stats().Sent
	for done := 0; done < b.N; {
		n, err := rx.Read(bufs)
		if err != nil {
			b.Fatal(err)
		}
		for sent := 0; sent < n; {
			k, err := tx.Write(bufs[sent:n])
			if err != nil && !errors.Is(err, ErrBusy) {
				b.Fatal(err)
			}
			sent += k
		}
		done += n
	}
	took := time.Since(begin).Seconds()
	b.StopTimer()
	stop.Store(true)
	if err := <-offering; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(tx.Stats().Sent)/took/1e6, "Mpps")
	b.ReportMetric(float64(sender.Stats().Sent-before)/took/1e6, "offered-Mpps")
	b.ReportMetric(0, "ns/op")
}

// offer sends frame as fast as it can until stop.
func offer(l Link, frame []byte, stop *atomic.Bool) error {
	frames := make([][]byte, maxSend)
	for i := range frames {
		frames[i] = frame
	}
	for !stop.Load() {
		if _, err := l.Write(frames); err != nil && !errors.Is(err, ErrBusy) {
			return err
		}
	}
	return nil
}

// BenchmarkOneWay is the time of one frame through an idle link: Write, the
// kernel, the netpoller, Read, and the answer's way back, halved.
func BenchmarkOneWay(b *testing.B) {
	w := newWire(b)
	left, right := w.openLeft(Options{}), w.openRight(Options{})
	echoed := make(chan error, 1)
	go func() { echoed <- echo(right) }()
	frames, bufs := [][]byte{numbered(1, 60)}, frameBuffers(1, 2048)
	for b.Loop() {
		if _, err := left.Write(frames); err != nil {
			b.Fatal(err)
		}
		if _, err := left.Read(bufs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N)/1e3, "us/way")
	right.Close()
	if err := <-echoed; !errors.Is(err, net.ErrClosed) {
		b.Error(err)
	}
}

// echo sends back what it reads until l is closed.
func echo(l Link) error {
	bufs := frameBuffers(1, 2048)
	for {
		n, err := l.Read(bufs)
		if err != nil {
			return err
		}
		if _, err := l.Write(bufs[:n]); err != nil {
			return err
		}
	}
}
