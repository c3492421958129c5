package dataplane

import (
	"fmt"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// loop drives a switch without allocating: it receives a batch of one frame and
// transmits what comes of it.
type loop struct {
	s      *Switch
	now    unit.Time
	frames []*buffer.Frame // lent to read into
	one    [1]*buffer.Frame
	out    []*buffer.Frame
	events []event.Event
}

func newLoop(tb testing.TB, batch int, change func(c *Config)) *loop {
	c := testConfig(6)
	c.Batch, c.Slots = batch, 1024
	c.Detector = detect.NewNone
	c.Buffer.Profile, c.Buffer.Shared = buffer.DefaultProfile, 2<<20
	if change != nil {
		change(&c)
	}
	s, err := NewSwitch(c)
	if err != nil {
		tb.Fatal(err)
	}
	for p := range unit.Port(s.Ports()) {
		s.SetLink(0, p, true)
	}
	return &loop{s: s, now: 1, frames: make([]*buffer.Frame, batch), out: make([]*buffer.Frame, batch), events: make([]event.Event, 0, 1024)}
}

// hop passes n frames through Lend, Parse, Receive, Work, Transmit, Sent, and says how
// many left by port out.
func (l *loop) hop(frame []byte, n int, in, out unit.Port) int {
	l.now++
	l.s.Lend(in, l.frames[:n])
	for _, f := range l.frames[:n] {
		// A wire writes a whole frame; its header is what differs here from the last one.
		f.Data, f.Len = f.Data[:len(frame)], len(frame)
		copy(f.Data, frame[:min(len(frame), 64)])
		l.s.Parse(f)
	}
	l.s.Receive(l.now, in, l.frames[:n])
	clear(l.frames[:n])
	_, l.events = l.s.Work(l.events[:0])
	return l.transmit(out)
}

func (l *loop) transmit(out unit.Port) int {
	sent, _ := l.s.Transmit(l.now, out, l.out)
	l.s.Sent(l.now, out, l.out[:sent])
	return sent
}

// No frame costs an allocation, whichever way it goes.
func TestNoAllocs(t *testing.T) {
	l2, lossy, broadcast := between(0, 1, 3, 1), between(0, 1, 0, 1), plain(unit.Broadcast, stationMAC(0), 100)
	l3 := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", priority: 3}.frame()
	ect := datagram{dst: stationMAC(1), src: stationMAC(0), priority: 3, ecn: 2}.frame()
	small := func(c *Config) { c.Buffer.Profile = testProfile }
	for _, tc := range []struct {
		name   string
		change func(c *Config)
		run    func(t *testing.T, l *loop)
	}{
		{"L2, lossless", nil, func(t *testing.T, l *loop) { l.want(t, l.hop(l2, 8, 0, 1), 8) }},
		{"L2, cells and a pool of headroom", func(c *Config) {
			c.Buffer.Cell, c.Buffer.HeadroomPool = 208, &buffer.HeadroomPool{Bytes: 100_000, Port: 10_240}
		}, func(t *testing.T, l *loop) { l.want(t, l.hop(l2, 8, 0, 1), 8) }},
		{"dropped for want of headroom", func(c *Config) { c.Buffer.Profile = buffer.Profile{StaticTh: 100} }, func(t *testing.T, l *loop) {
			l.want(t, l.hop(l2, 8, 0, 1), 0)
		}},
		{"L2, lossy", nil, func(t *testing.T, l *loop) { l.want(t, l.hop(lossy, 8, 0, 1), 8) }},
		{"L2, flooded", nil, func(t *testing.T, l *loop) {
			l.want(t, l.hop(broadcast, 4, 0, 1), 4)
			for p := unit.Port(2); p < 6; p++ {
				l.want(t, l.transmit(p), 4)
			}
		}},
		{"L3", withHosts, func(t *testing.T, l *loop) { l.want(t, l.hop(l3, 8, 0, 3), 8) }},
		{"L3, weighted and paced", func(c *Config) { withHosts(c); weigh(c, map[unit.Priority]uint8{3: 1}); c.Ports[3].Rate = 1e12 }, func(t *testing.T, l *loop) {
			l.now += unit.Millisecond
			if l.hop(l3, 1, 0, 3) != 1 {
				t.Fatal("paced frame did not leave")
			}
		}},
		{"L3, dropped", withHosts, func(t *testing.T, l *loop) { l.want(t, l.hop(l2, 8, 4, 3), 0) }},
		{"XOFF and XON, pause and resume sent", small, func(t *testing.T, l *loop) {
			l.s.Receive(l.now, 1, l.parsed(pauseFrame))
			l.want(t, l.hop(l2, 5, 0, 1), 0)
			l.want(t, l.transmit(0), 1) // the pause
			l.now += l.s.cfg.Refresh
			l.want(t, l.transmit(0), 1) // its refresh
			l.s.Receive(l.now, 1, l.parsed(resumeFrame))
			l.want(t, l.transmit(1), 5)
			l.want(t, l.transmit(0), 1) // the resume
		}},
		{"marked", func(c *Config) {
			c.ECN = ECN{Priorities: 1 << 3, RED: RED{Kmin: 1000, Kmax: 5000, Pmax: 50}, Phantom: Phantom{Drain: 95, Mark: 3000}}
		}, func(t *testing.T, l *loop) { l.want(t, l.hop(ect, 8, 0, 1), 8) }},
		{"pause that expires", nil, func(t *testing.T, l *loop) {
			l.s.Receive(l.now, 1, l.parsed(pauseFrame))
			l.now += unit.Millisecond
			l.want(t, l.transmit(1), 0)
		}},
		{"messages", nil, func(t *testing.T, l *loop) {
			l.s.Receive(l.now, 1, l.parsed(messageFrame))
			actions{l.s}.Send(1, label(1))
			l.want(t, l.transmit(1), 1)
		}},
		{"malformed", nil, func(t *testing.T, l *loop) { l.s.Receive(l.now, 1, l.parsed(pauseFrame[:59])) }},
		{"echo reply", withHosts, func(t *testing.T, l *loop) { l.want(t, l.hop(echoFrame, 8, 0, 0), 8) }},
		{"time exceeded", withHosts, func(t *testing.T, l *loop) {
			l.now += icmpEach
			l.want(t, l.hop(expiredFrame, 1, 0, 0), 1)
		}},
		{"ARP reply", withHosts, func(t *testing.T, l *loop) { l.want(t, l.hop(arpFrame, 1, 0, 0), 1) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLoop(t, 8, tc.change)
			tc.run(t, l) // tables and rings grow once
			if got := testing.AllocsPerRun(200, func() { tc.run(t, l) }); got > 0 {
				t.Errorf("%v allocations", got)
			}
			if free, slots := l.s.pool.Free(), l.s.pool.Slots(); free != slots {
				t.Errorf("%d of %d slots free", free, slots)
			}
		})
	}
}

var (
	echoFrame    = datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.0.1.1"}.echo(18)
	expiredFrame = datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1, size: 60}.frame()
	pauseFrame   = pauseOf(3, 1000, 1)
	resumeFrame  = resumeOf(3, 1)
	messageFrame = message(label(1))
	arpFrame     = arp(ether.ARPRequest, unit.Broadcast, stationMAC(0), "10.0.1.10", 0, "10.0.1.1")
)

func (l *loop) want(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("%d frames left, want %d", got, want)
	}
}

// parsed is one frame in a slot, parsed; the slice is good until the next call.
func (l *loop) parsed(frame []byte) []*buffer.Frame {
	l.one[0] = nil
	l.s.Lend(0, l.one[:])
	f := l.one[0]
	f.Data = append(f.Data[:0], frame...)
	f.Len = len(frame)
	l.s.Parse(f)
	l.now++
	_, l.events = l.s.Work(l.events[:0])
	return l.one[:]
}

// BenchmarkHop is what one frame costs from Parse to Sent: the switch's share of a
// hop, without the wire.
func BenchmarkHop(b *testing.B) {
	for _, bm := range []struct {
		name   string
		frame  datagram
		out    unit.Port
		change func(c *Config)
	}{
		{"L2", datagram{dst: stationMAC(1), src: stationMAC(0), priority: 3}, 1, nil},
		{"L3", datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", priority: 3}, 3, withHosts},
		{"lossy", datagram{dst: stationMAC(1), src: stationMAC(0)}, 1, nil},
		{"cells", datagram{dst: stationMAC(1), src: stationMAC(0), priority: 3}, 1, func(c *Config) { c.Buffer.Cell = 208 }},
	} {
		for _, size := range []int{60, 1514} {
			for _, batch := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/%d/batch%d", bm.name, size, batch), func(b *testing.B) {
					l := newLoop(b, batch, func(c *Config) {
						if bm.change != nil {
							bm.change(c)
						}
						c.Buffer.Profile.StaticTh = 1 << 20
						c.Buffer.LossyQueue = 1 << 20
					})
					bm.frame.size = size
					frame := bm.frame.frame()
					b.ReportAllocs()
					b.ResetTimer()
					for n := 0; n < b.N; n += batch {
						if got := l.hop(frame, batch, 0, bm.out); got != batch {
							b.Fatalf("%d frames of %d left", got, batch)
						}
					}
				})
			}
		}
	}
}

// BenchmarkPause is a pause and a resume, received and honoured.
func BenchmarkPause(b *testing.B) {
	l := newLoop(b, 1, nil)
	b.ReportAllocs()
	for b.Loop() {
		l.s.Receive(l.now, 1, l.parsed(pauseFrame))
		l.s.Receive(l.now, 1, l.parsed(resumeFrame))
	}
}
