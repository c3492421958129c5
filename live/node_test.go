package live

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/unit"
)

// stream sends total numbered frames from a port to another, with at most window
// of them under way, and checks that they come in order and whole.
func (b *bed) stream(from, to unit.Port, total, window int, r *rand.Rand) error {
	src, dst := b.end(from), b.end(to)
	room := make(chan struct{}, window)
	sent := make(chan error, 1)
	go func() {
		for n := 0; n < total; {
			var batch [][]byte
			for k := min(1+r.IntN(window), total-n); len(batch) < k; n++ {
				room <- struct{}{}
				batch = append(batch, frame(from, to, uint64(n), true))
			}
			if _, err := src.Write(batch); err != nil {
				sent <- err
				dst.Close()
				return
			}
		}
		sent <- nil
	}()
	for n := 0; n < total; {
		frames, err := readFrames(dst, 1)
		if err != nil {
			return fmt.Errorf("from %d to %d: after %d of %d frames: %w", from, to, n, total, errors.Join(err, b.offer(sent)))
		}
		if got := number(frames[0]); got != uint64(n) || ether.Src(frames[0]) != stationMAC(from) {
			return fmt.Errorf("from %d to %d: frame %d came where %d was to come", from, to, got, n)
		}
		n++
		<-room
	}
	return <-sent
}

// offer is what is in a channel, nil if it is empty.
func (b *bed) offer(c <-chan error) error {
	select {
	case err := <-c:
		return err
	default:
		return nil
	}
}

func TestForwardsInOrderBothWays(t *testing.T) {
	b := startBed(t, 2, opts{})
	seed := testkit.Seed(t)
	var streams sync.WaitGroup
	for p := range unit.Port(2) {
		streams.Go(func() {
			if err := b.stream(p, 1-p, 30_000, 200, rand.New(rand.NewPCG(seed, uint64(p)))); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
	}
	streams.Wait()
	if s := b.Stats(0); s.Received != 30_000 || s.Sent < 30_000 {
		t.Errorf("port 0 received %d frames and sent %d, want 30000 of both", s.Received, s.Sent)
	}
}

// A node knows which of its links are up before it reads: what waits when it begins is forwarded, though
// nobody has told it of a carrier yet.
func TestKnowsItsLinksBeforeItReads(t *testing.T) {
	var b *bed
	b = newBed(t, 2, opts{look: func(names []string) (states []LinkState, err error) {
		b.write(0, frame(0, 1, 7, false))
		for _, name := range names {
			states = append(states, LinkState{Name: name, Index: 1, Running: true})
		}
		return states, nil
	}})
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	b.start()
	if got := b.read(1, 1); !bytes.Equal(got[0], frame(0, 1, 7, false)) {
		t.Errorf("%x came", got)
	}
	b.Do(func(unit.Time) {
		if n := b.sw.Counters(0).Drops[dataplane.DropLinkDown]; n != 0 {
			t.Errorf("%d frames were dropped, since a link was not known to be up", n)
		}
	})
}

// What cannot be asked for ends Open, and nothing stays open.
func TestLookFails(t *testing.T) {
	lost := errors.New("netlink is lost")
	b := newBed(t, 2, opts{look: func([]string) ([]LinkState, error) { return nil, lost }})
	if err := b.Open(); !errors.Is(err, lost) {
		t.Errorf("Open: %v, want %v", err, lost)
	}
	for i, l := range b.opened {
		if _, err := l.Read(make([][]byte, 1)); err == nil {
			t.Errorf("link %d is still open", i)
		}
	}
}

// wakeUps is how long TestNoWakeUpIsLost looks for one:
//
//	go test ./live -run TestNoWakeUpIsLost -wakeups 10m -timeout 15m
var wakeUps = flag.Duration("wakeups", 2*time.Second, "how long TestNoWakeUpIsLost runs")

// In each round one frame comes at every port but one, all at once, and all leave
// through that one: goroutines meet at its lock, while others read whatever statistics
// are made of. A wake-up that is lost there stops the round, since nothing else makes
// the port ready.
func TestNoWakeUpIsLost(t *testing.T) {
	const ports = 4
	b := startBed(t, ports, opts{})
	defer readStatistics(b, 4)()
	rounds := 0
	for end := time.Now().Add(*wakeUps); time.Now().Before(end); rounds++ {
		to := unit.Port(rounds % ports)
		for from := range unit.Port(ports) {
			if from != to {
				b.write(from, frame(from, to, uint64(rounds), rounds%2 == 0))
			}
		}
		for _, f := range b.read(to, ports-1) {
			if number(f) != uint64(rounds) {
				t.Fatalf("frame of round %d came in round %d", number(f), rounds)
			}
		}
	}
	t.Logf("%d rounds", rounds)
}

// readStatistics has n goroutines read a node's statistics until stop returns.
func readStatistics(b *bed, n int) (stop func()) {
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for i := range n {
		readers.Go(func() {
			for k := i; ; k++ {
				select {
				case <-ended:
					return
				default:
				}
				switch k % 5 {
				case 0:
					b.Lateness()
				case 1:
					b.Stats(unit.Port(k % len(b.ports)))
				case 2:
					b.EventsLost()
				case 3:
					b.Sync()
				case 4:
					b.Do(func(unit.Time) {})
				}
			}
		})
	}
	return func() {
		close(ended)
		readers.Wait()
	}
}

// moody is a link that refuses now and then.
type moody struct {
	link.Link
	mood func(frames [][]byte) (n int, err error) // what to take before refusing; nil error: all
}

func (m *moody) Write(frames [][]byte) (int, error) {
	n, mood := m.mood(frames)
	if mood == nil {
		return m.Link.Write(frames)
	}
	took, err := m.Link.Write(frames[:n])
	if err != nil {
		return took, err
	}
	return took, mood
}

// moodAt gives port p's links a mood.
func moodAt(p unit.Port, mood func([][]byte) (int, error)) func(Port, link.Link) link.Link {
	return func(o Port, l link.Link) link.Link {
		if o.Name != portName(p) {
			return l
		}
		return &moody{l, mood}
	}
}

func TestBusyLinkGetsAllInOrder(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	busy := 0
	b := startBed(t, 2, opts{wrap: moodAt(1, func(frames [][]byte) (int, error) {
		if r.IntN(2) == 0 {
			return 0, nil
		}
		busy++
		return r.IntN(len(frames)), link.ErrBusy
	})})
	if err := b.stream(0, 1, 2000, 100, rand.New(rand.NewPCG(seed, 1))); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	b.cancel()
	<-b.done
	if busy == 0 {
		t.Errorf("seed %d: the link was never busy", seed)
	}
	if w := b.warnings(); len(w) > 0 {
		t.Errorf("a busy link is nothing to warn of: %q", w)
	}
}

// A link that stays busy keeps its frames until it closes.
func TestBusyLinkHolds(t *testing.T) {
	var open atomic.Bool
	asked := make(chan struct{}, 1)
	b := startBed(t, 2, opts{wrap: moodAt(1, func([][]byte) (int, error) {
		select {
		case asked <- struct{}{}:
		default:
		}
		if open.Load() {
			return 0, nil
		}
		return 0, link.ErrBusy
	})})
	for n := range uint64(200) {
		b.write(0, frame(0, 1, n, true))
	}
	for range 5 {
		await(t, asked, "another try")
	}
	open.Store(true)
	wantNumbers(t, "after a long refusal", b.read(1, 200), 0)
}

func TestFrameErrorSkipsOne(t *testing.T) {
	var refused []uint64
	refuse := func(frames [][]byte) (int, error) {
		for i, f := range frames {
			if len(f) == 80 && number(f)%10 == 3 && !slices.Contains(refused, number(f)) {
				refused = append(refused, number(f))
				return i, &link.FrameError{Interface: "p1", Len: len(f), Err: errors.New("not this one")}
			}
		}
		return 0, nil
	}
	b := startBed(t, 2, opts{wrap: moodAt(1, refuse)})
	var batch [][]byte
	for n := range uint64(100) {
		batch = append(batch, frame(0, 1, n, true))
	}
	b.write(0, batch...)
	got := b.read(1, 90)
	for n, i := uint64(0), 0; n < 100; n++ {
		if n%10 == 3 {
			continue
		}
		if number(got[i]) != n {
			t.Fatalf("frame %d came where %d was to come", number(got[i]), n)
		}
		i++
	}
	b.Sync()
	w := b.warnings()
	if len(w) != 1 || !strings.HasPrefix(w[0], "port p1: 1 frame not sent: link: write \"p1\": a frame of 80 bytes: not this one") {
		t.Errorf("%d warnings, the first of %q; want one that names port and reason", len(w), w)
	}
	if s := b.Stats(1); s.Lost != 10 || s.Sent < 90 {
		t.Errorf("%d frames were sent and %d lost, want 90 and 10", s.Sent, s.Lost)
	}
}

// Whoever takes warnings may take its time.
func TestFramesFlowWhileAWarningIsAwaited(t *testing.T) {
	warned, wake := make(chan struct{}, 1), make(chan struct{})
	b := startBed(t, 2, opts{
		warn: func(string, ...any) {
			warned <- struct{}{}
			<-wake
		},
		wrap: moodAt(1, func(frames [][]byte) (int, error) {
			if len(frames[0]) == 80 && number(frames[0]) == 0 {
				return 0, &link.FrameError{Interface: "p1", Len: len(frames[0]), Err: errors.New("not this one")}
			}
			return 0, nil
		}),
	})
	b.write(0, frame(0, 1, 0, true))
	await(t, warned, "the warning")
	for n := range uint64(100) {
		b.write(0, frame(0, 1, n+1, true))
	}
	wantNumbers(t, "meanwhile", b.read(1, 100), 1)
	close(wake)
}

// A carrier that goes or comes is told in a line, and one that stays is not, however often it is told of.
func TestCarriersAreTold(t *testing.T) {
	var got []string // of one goroutine: who sets a link waits for it
	b := startBed(t, 2, opts{tell: func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }})
	b.setLink(1, 2, true)
	b.setLink(1, 2, false)
	b.setLink(1, 2, false)
	b.setLink(1, 2, true)
	b.setLink(0, 0, false)
	want := []string{"port p1: its carrier is gone", "port p1: its carrier is there", "port p0: its interface is gone"}
	if !slices.Equal(got, want) {
		t.Errorf("it said %q, want %q", got, want)
	}
}

// An error that nobody foresaw costs the frames that were under way, and these are counted.
func TestOtherErrorsOfWriteAreCounted(t *testing.T) {
	broken := make(chan struct{})
	first := true
	b := startBed(t, 2, opts{wrap: moodAt(1, func(frames [][]byte) (int, error) {
		if first {
			first = false
			close(broken)
			return 0, errors.New("a wire fell off")
		}
		return 0, nil
	})})
	var batch [][]byte
	for n := range uint64(10) {
		batch = append(batch, frame(0, 1, n, true))
	}
	b.write(0, batch...)
	await(t, broken, "a write")
	b.write(0, frame(0, 1, 10, true))
	for got := b.read(1, 1); number(got[0]) != 10; got = b.read(1, 1) {
	}
	b.wantConserved(1)
	b.Sync()
	if s, w := b.Stats(1), b.warnings(); s.Lost == 0 || len(w) != 1 || !strings.Contains(w[0], "frames not sent: a wire fell off") {
		t.Errorf("%d frames were lost, and these warnings given: %q; want some, and one", s.Lost, w)
	}
}

// telltale is a link that tells when a write of it has failed.
type telltale struct {
	link.Link
	failed chan struct{} // one slot
}

func (l *telltale) Write(frames [][]byte) (int, error) {
	n, err := l.Link.Write(frames)
	if errors.Is(err, link.ErrDown) {
		select {
		case l.failed <- struct{}{}:
		default:
		}
	}
	return n, err
}

// A frame that was on its way when its link failed is in a counter.
func TestFailingLinksLoseNothingUncounted(t *testing.T) {
	failed := make(chan struct{}, 1)
	b := startBed(t, 2, opts{wrap: func(p Port, l link.Link) link.Link { return &telltale{l, failed} }})
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // frames for port 1 without end
		defer close(ended)
		src := b.end(0)
		var batch [][]byte
		for n := range uint64(Batch) {
			batch = append(batch, frame(0, 1, n, n%2 == 0))
		}
		for {
			select {
			case <-stop:
				return
			default:
				src.Write(batch) // what there is no room for is not sent
			}
		}
	}()
	for i := range 57 {
		b.read(1, 3*Batch)
		b.end(1).Close() // the far end goes first
		await(t, failed, "frames to run into the gap")
		b.setLink(1, 0, false)
		b.setLink(1, i+2, true)
	}
	close(stop)
	<-ended
	b.setLink(1, 0, false)
	b.wantConserved(1)
	if s := b.Stats(1); s.Lost < 57 {
		t.Errorf("%d frames were lost in 57 failures, want one in each at least", s.Lost)
	}
}

// wantConserved checks that each frame that the machine handed out for a port was sent, is
// counted as lost, or is in the batch that is being sent.
func (b *bed) wantConserved(p unit.Port) {
	b.t.Helper()
	t := &b.ports[p].tx
	t.mu.Lock() // nobody sends, or takes frames for it, meanwhile
	defer b.kickAll(p.Set())
	defer t.mu.Unlock()
	var out uint64
	b.Do(func(unit.Time) {
		k := b.sw.Counters(p)
		out = k.TxMessages
		for c := range unit.Priorities {
			out += k.TxFrames[c] + k.TxPause[c] + k.TxResume[c] + k.TxRefresh[c]
		}
	})
	taken := uint64(t.n - t.wrote)
	if s := b.Stats(p); s.Sent+s.Lost+taken != out {
		b.t.Errorf("port %d: the machine handed out %d frames, of which %d were sent, %d lost and %d are being sent: %d are missing",
			p, out, s.Sent, s.Lost, taken, int64(out-s.Sent-s.Lost-taken))
	}
}

func TestPauseIsHonoured(t *testing.T) {
	b := startBed(t, 2, opts{config: func(c *dataplane.Config) {
		for i := range c.Ports {
			c.Ports[i].Rate = 1_000_000 // 65535 quanta are 33 s
		}
	}})
	b.write(1, pfc(65535))
	b.awaitEvents(event.Paused, 1)
	b.write(0, frame(0, 1, 1, true), frame(0, 1, 2, false))
	if f := b.read(1, 1); number(f[0]) != 2 {
		t.Errorf("frame %d left a paused queue", number(f[0]))
	}
	b.snapshot(func() {
		if n := b.sw.Queue(1, 3).Bytes(); n != 80 {
			t.Errorf("%d bytes wait in the paused queue, want 80", n)
		}
	})
	b.write(1, pfc(0))
	wantNumbers(t, "after the resume", b.read(1, 1), 1)
}

// A pause that runs out is a deadline that nobody else reminds of.
func TestPauseExpires(t *testing.T) {
	b := startBed(t, 2, opts{config: func(c *dataplane.Config) { c.Ports[1].Rate = 1_000_000_000 }})
	for i := range 20 {
		b.write(1, pfc(2000)) // 1.024 ms
		b.awaitEvents(event.Paused, i+1)
		b.write(0, frame(0, 1, 1, true))
		wantNumbers(t, "after the expiry", b.read(1, 1), 1)
	}
	b.awaitEvents(event.Expired, 20)
}

func TestPacedPortKeepsItsRate(t *testing.T) {
	const rate = unit.Rate(10_000_000)
	b := startBed(t, 2, opts{config: func(c *dataplane.Config) { c.Ports[1].Rate = rate }})
	const frames = 1000
	var batch [][]byte
	for n := range uint64(frames) {
		batch = append(batch, frame(0, 1, n, false))
	}
	begin := time.Now()
	b.write(0, batch...)
	wantNumbers(t, "a paced port", b.read(1, frames), 0)
	// A burst of eight granularities may go at once.
	least := frames*rate.FrameTime(80) - 8*Granularity
	if took := unit.Time(time.Since(begin)); took < least {
		t.Errorf("%d frames at %d bit/s left in %d ns, want at least %d", frames, rate, took, least)
	}
}

// A goroutine that reads must get back to its link: it sends a bounded number of
// batches for others, and leaves the rest to the port's txLoop.
func TestSendingIsHandedOver(t *testing.T) {
	notPolled(t, "kicks leave sending to a Poller")
	var writes atomic.Int64
	b := newBed(t, 2, opts{wrap: moodAt(1, func([][]byte) (int, error) {
		writes.Add(1)
		return 0, nil
	})})
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	const batches = 3 * handOver
	b.Node.mu.Lock()
	b.sw.SetLink(0, 0, true)
	b.sw.SetLink(0, 1, true)
	for i := range uint64(batches) {
		fs := make([]*buffer.Frame, Batch)
		b.sw.Lend(0, fs)
		for j, f := range fs {
			f.Data = append(f.Data[:0], frame(0, 1, i*Batch+uint64(j), false)...)
			f.Len = len(f.Data)
			b.sw.Parse(f)
		}
		b.sw.Receive(0, 0, fs)
	}
	ready := b.work(timer.Now())
	b.Node.mu.Unlock()

	b.kickAll(ready) // returns, though nobody else sends
	if n := writes.Load(); n != handOver {
		t.Errorf("%d batches were sent, want %d", n, handOver)
	}
	b.kickAll(ready)
	if n := writes.Load(); n != 2*handOver {
		t.Errorf("%d batches were sent after another kick, want %d", n, 2*handOver)
	}
	wantNumbers(t, "what was sent at once", b.read(1, 2*handOver*Batch), 0)
	b.start()
	wantNumbers(t, "what txLoop sent", b.read(1, handOver*Batch), 2*handOver*Batch)
}

// firstAsked is a switch that is asked by one goroutine, and keeps in which order ports sent
// first: on a busy machine a pause may be refreshed before all have sent.
type firstAsked struct {
	*dataplane.Switch
	asked []unit.Port
}

func (f *firstAsked) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (int, unit.Time) {
	n, next := f.Switch.Transmit(now, out, fs)
	if n > 0 && !slices.Contains(f.asked, out) {
		f.asked = append(f.asked, out)
	}
	return n, next
}

// Pauses go first, and of these the ones to switches, wherever hosts have their ports; of
// these the last port's.
func TestPausesToSwitchesGoFirst(t *testing.T) {
	notPolled(t, "kicks leave sending to a Poller")
	for _, tt := range []struct {
		hosts unit.PortSet
		want  string
	}{
		{unit.PortsOf(0), "[2 1 0 3]"},
		{unit.PortsOf(2), "[1 0 2 3]"},
		{unit.PortsOf(1, 2), "[0 2 1 3]"},
		{unit.PortsOf(0, 1, 2), "[2 1 0 3]"},
	} {
		var m *firstAsked
		b := newBed(t, 5, opts{
			config: func(c *dataplane.Config) {
				c.Buffer.Profile.StaticTh, c.Buffer.Profile.Size = 100, 0
				c.Ports[4].Rate = 1_000_000 // its pause takes half a minute
			},
			machine: func(sw *dataplane.Switch) Machine {
				m = &firstAsked{Switch: sw}
				return m
			},
			hosts: tt.hosts,
		})
		if err := b.Open(); err != nil {
			t.Fatal(err)
		}
		b.Do(func(now unit.Time) {
			for p := range unit.Port(5) {
				b.sw.SetLink(now, p, true)
			}
			b.sw.Receive(now, 4, b.parsed(4, pfc(65535)))
			for p := range unit.Port(3) { // these pass their threshold: ports 0 to 2 owe a pause
				b.sw.Receive(now, p, b.parsed(p, frame(p, 4, 0, true), frame(p, 4, 1, true)))
			}
			b.sw.Receive(now, 4, b.parsed(4, frame(4, 3, 0, true)))
		})
		if got := fmt.Sprint(m.asked); got != tt.want {
			t.Errorf("hosts %b: ports sent in the order %s, want %s", tt.hosts, got, tt.want)
		}
		b.close()
	}
}

// parsed is frames in slots of a port, as rxLoop has them.
func (b *bed) parsed(in unit.Port, frames ...[]byte) []*buffer.Frame {
	fs := make([]*buffer.Frame, len(frames))
	b.sw.Lend(in, fs)
	for i, f := range fs {
		f.Data = append(f.Data[:0], frames[i]...)
		f.Len = len(f.Data)
		b.sw.Parse(f)
	}
	return fs
}

// handed is a switch that keeps how much it is handed at once.
type handed struct {
	*dataplane.Switch
	bytes []int // guarded by the node's lock
}

func (h *handed) Receive(now unit.Time, in unit.Port, fs []*buffer.Frame) {
	bytes := 0
	for _, f := range fs {
		bytes += f.Len
	}
	h.bytes = append(h.bytes, bytes)
	h.Switch.Receive(now, in, fs)
}

// Whatever the profile holds, a batch that arrives at once neither pauses its sender nor
// is lost where nothing is congested, and is handed on in portions as large as they may be.
func TestBatchIsHandedOnInPortions(t *testing.T) {
	notPolled(t, "a Poller fetches less at once")
	const frames = 60
	for _, profile := range []buffer.Profile{
		buffer.DefaultProfile,
		{StaticTh: 5000, XOFF: 4000},
		{StaticTh: 2000, XOFF: 100_000},
		{StaticTh: 100_000, XOFF: 100_000},
	} {
		var m *handed
		b := startBed(t, 2, opts{
			config: func(c *dataplane.Config) { c.Buffer.Profile = profile },
			machine: func(sw *dataplane.Switch) Machine {
				m = &handed{Switch: sw}
				return m
			},
		})
		var batch [][]byte
		for n := range uint64(frames) {
			batch = append(batch, frameOf(1000, 0, 1, n, true))
		}
		b.write(0, batch...)
		wantNumbers(t, "what left", b.read(1, frames), 0)
		b.snapshot(func() {
			if c := b.sw.Counters(0); c.TxPause[3] > 0 || c.LosslessLost > 0 {
				t.Errorf("%+v: %d pauses sent, %d frames lost", profile, c.TxPause[3], c.LosslessLost)
			}
			free := profile.Threshold() // a group that is at XON too when it reaches it does not pause
			if profile.XONOffset > 0 {
				free--
			}
			if most := min(free/1000, frames) * 1000; slices.Max(m.bytes) != max(most, 1000) {
				t.Errorf("%+v: %d bytes handed on at once, want %d", profile, m.bytes, most)
			}
		})
	}
}

// always is a link of which a batch can be read at any time. It tells of each.
type always struct {
	link.Link
	frame   []byte
	batches int64
	read    func(batches int64)
	ended   atomic.Bool
}

func (a *always) Read(bufs [][]byte) (int, error) {
	if a.ended.Load() {
		return 0, net.ErrClosed
	}
	a.batches++
	a.read(a.batches)
	for i := range bufs {
		bufs[i] = append(bufs[i][:0], a.frame...)
	}
	return len(bufs), nil
}

func (a *always) Close() error {
	a.ended.Store(true)
	return a.Link.Close()
}

// On one processor, a port that never waits does not keep others waiting for more than a
// turn of its own and one after that: by itself the runtime looks for what is ready every
// 10 ms, in which a thousand batches are read.
func TestBusyPortTakesTurns(t *testing.T) {
	notPolled(t, "a Poller goes from port to port by itself")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	deadline, err := timer.New()
	if err != nil {
		t.Fatal(err)
	}
	defer deadline.Close()
	var now, passed atomic.Int64 // batches: that were read, and when the deadline passed
	var waiting atomic.Bool
	startBed(t, 2, opts{wrap: func(p Port, l link.Link) link.Link {
		if p.Name != portName(0) {
			return l
		}
		return &always{Link: l, frame: frame(0, 1, 1, false), read: func(batches int64) {
			now.Store(batches)
			if batches%97 == 0 && waiting.CompareAndSwap(true, false) {
				passed.Store(batches)
				deadline.Arm(1)
			}
		}}
	}})
	const most = 2*turnFrames/Batch + 1
	for range 20 {
		waiting.Store(true)
		if err := deadline.Wait(); err != nil {
			t.Fatal(err)
		}
		if n := now.Load() - passed.Load(); n > most {
			t.Errorf("after a deadline had passed %d batches were read until it was kept, want at most %d", n, most)
		}
	}
}

// More ready ports than one goroutine may send for: a broadcast to 20.
func TestFloodReachesAllPorts(t *testing.T) {
	const ports = 20
	b := startBed(t, ports, opts{})
	for n := range uint64(50) {
		f := frame(0, 1, n, false)
		ether.PutMAC(f, unit.Broadcast)
		b.write(0, f)
		for p := unit.Port(1); p < ports; p++ {
			wantNumbers(t, fmt.Sprintf("port %d", p), b.read(p, 1), n)
		}
	}
}

func TestLinkGoneAndBack(t *testing.T) {
	cycles := 1000
	if testing.Short() {
		cycles = 100
	}
	// A cycle that keeps slots, 64 to read into or those under way, would use them up.
	b := startBed(t, 2, opts{config: func(c *dataplane.Config) { c.Slots = 64 }})
	for i := range cycles {
		b.write(0, frame(0, 1, 1, false))
		b.setLink(1, 0, false)
		b.write(0, frame(0, 1, 2, false)) // is lost
		b.setLink(1, i+2, true)
		b.write(0, frame(0, 1, 3, false))
		for number(b.read(1, 1)[0]) != 3 {
		}
		b.write(1, frame(1, 0, 4, false))
		for number(b.read(0, 1)[0]) != 4 {
		}
	}
	b.mu.Lock()
	if len(b.opened) != cycles+2 {
		t.Errorf("links were opened %d times, want %d", len(b.opened), cycles+2)
	}
	b.mu.Unlock()
	if s := b.Stats(1); s.Received != uint64(cycles) || s.Sent < uint64(cycles) {
		t.Errorf("over all its links port 1 received %d frames and sent %d, want %d and at least as many", s.Received, s.Sent, cycles)
	}
	if w := b.warnings(); len(w) > 0 {
		t.Errorf("warnings: %q", w)
	}
}

// A kernel that is slow to say what it counted does not stop the machine.
func TestFramesFlowWhileStatisticsAreAwaited(t *testing.T) {
	asked, wake := make(chan struct{}, 1), make(chan struct{})
	b := startBed(t, 2, opts{wrap: func(_ Port, l link.Link) link.Link { return &link.Asleep{Link: l, Asked: asked, Wake: wake} }})
	got := make(chan link.Stats)
	go func() { got <- b.Stats(1) }()
	await(t, asked, "the link to be asked")
	if err := b.stream(0, 1, 1000, 100, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Error(err)
	}
	close(wake)
	if s := <-got; s.Sent < 1000 {
		t.Errorf("%d frames were sent, want 1000 at least", s.Sent)
	}
}

// slowClose is a link that calls closing before it closes.
type slowClose struct {
	link.Link
	closing func()
}

func (s *slowClose) Close() error {
	s.closing()
	return s.Link.Close()
}

// What a link has counted is in the node's statistics also while it is being closed.
func TestStatisticsDoNotGoBack(t *testing.T) {
	var b *bed
	checked := make(chan struct{}, 1)
	b = startBed(t, 2, opts{wrap: func(p Port, l link.Link) link.Link {
		if p.Name != "p1" {
			return l
		}
		return &slowClose{l, func() {
			if s := b.Stats(1); s.Sent != 100 {
				t.Errorf("while the link is closed %d frames were sent, want 100", s.Sent)
			}
			checked <- struct{}{}
		}}
	}})
	for n := range uint64(100) {
		b.write(0, frame(0, 1, n, false))
	}
	wantNumbers(t, "before", b.read(1, 100), 0)
	b.setLink(1, 0, false)
	await(t, checked, "the link to be closed")
	b.setLink(1, 2, true)
	if s := b.Stats(1); s.Sent != 100 {
		t.Errorf("with another link %d frames were sent, want 100", s.Sent)
	}
}

// wantNewLink wants port 1 to have a third link open, beside the two of the start, and frames to leave by it.
func (b *bed) wantNewLink() {
	b.t.Helper()
	b.mu.Lock()
	n := len(b.opened)
	b.mu.Unlock()
	if n != 3 {
		b.t.Fatalf("%d links were opened, want 3", n)
	}
	b.write(0, frame(0, 1, 1, false))
	wantNumbers(b.t, "the new link", b.read(1, 1), 1)
}

// An interface that was deleted and made again before anyone told of the deletion.
func TestNewIndexIsANewLink(t *testing.T) {
	b := startBed(t, 2, opts{})
	b.setLink(1, 1, true) // no news
	b.setLink(1, 5, true)
	b.wantNewLink()
}

// An interface that was deleted after it was opened, and before the node heard of it.
func TestInterfaceGoneBeforeItIsKnown(t *testing.T) {
	b := newBed(t, 2, opts{})
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.setLink(0, 1, true)
	b.setLink(1, 0, false)
	b.setLink(1, 5, true)
	b.wantNewLink()
}

func TestFlapKeepsTheLink(t *testing.T) {
	b := startBed(t, 2, opts{})
	for n := range uint64(100) {
		b.setLink(1, 1, false)
		b.setLink(1, 1, true)
		b.write(0, frame(0, 1, n, false))
		wantNumbers(t, "after a flap", b.read(1, 1), n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.opened) != 2 {
		t.Errorf("%d links were opened, want 2", len(b.opened))
	}
}

func TestLinkThatCannotBeOpenedAgain(t *testing.T) {
	var broken atomic.Bool
	b := newBed(t, 2, opts{})
	open := b.opt.Open
	b.opt.Open = func(p Port) (link.Link, error) {
		if broken.Load() {
			return nil, errors.New("no memory for the ring")
		}
		return open(p)
	}
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.setLink(0, 1, true)
	b.setLink(1, 1, true)
	broken.Store(true)
	b.setLink(1, 2, true)
	b.snapshot(func() {
		if b.sw.LinkUp(1) || !b.sw.LinkUp(0) {
			t.Errorf("link 0 is up: %v, link 1, which has no socket: %v", b.sw.LinkUp(0), b.sw.LinkUp(1))
		}
	})
	if w := b.warnings(); len(w) != 1 || w[0] != "port p1: no memory for the ring" {
		t.Errorf("warnings: %q", w)
	}
	broken.Store(false)
	b.setLink(1, 2, true)
	b.write(0, frame(0, 1, 1, false))
	wantNumbers(t, "after another try", b.read(1, 1), 1)

	broken.Store(true)
	b.setLink(1, 3, true)
	broken.Store(false)
	b.awaitEvents(event.LinkUp, 4) // nobody tells of the interface again
	b.write(0, frame(0, 1, 2, false))
	wantNumbers(t, "after a try of its own", b.read(1, 1), 2)
}

// deaf is a link whose Read fails.
type deaf struct{ link.Link }

func (d *deaf) Read([][]byte) (int, error) { return 0, errors.New("a wire fell off") }

// frail is a link that can be read once only.
type frail struct {
	link.Link
	used bool
}

func (f *frail) Read(bufs [][]byte) (int, error) {
	if f.used {
		return 0, errors.New("a wire fell off")
	}
	f.used = true
	return f.Link.Read(bufs)
}

// A link that cannot be read any more is opened anew at once, and the port stays up.
func TestLinkThatFailsIsOpenedAnew(t *testing.T) {
	notPolled(t, "the link fails after a Read, which a Poller does without")
	const again = 3
	opened := make(chan struct{}, again+1)
	b := startBed(t, 2, opts{wrap: func(p Port, l link.Link) link.Link {
		if p.Name != "p1" {
			return l
		}
		opened <- struct{}{}
		return &frail{Link: l}
	}})
	await(t, opened, "the first link")
	for n := range uint64(again) {
		b.ports[1].change.Lock()
		b.ports[1].opened = time.Time{} // long ago
		b.ports[1].change.Unlock()
		b.write(1, frame(1, 0, n, false))
		wantNumbers(t, "before the link fails", b.read(0, 1), n)
		await(t, opened, "another link")
	}
	b.setLink(1, 0, false) // waits until the last of them is in use
	if w := b.warnings(); len(w) != again || w[0] != "port p1: receives no more and is reopened: a wire fell off" {
		t.Errorf("warnings: %q", w)
	}
	if s := b.Stats(1); s.Reopened != again || s.Received != again {
		t.Errorf("the link was opened anew %d times and received %d frames, want %d of both", s.Reopened, s.Received, again)
	}
	b.Sync()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.events) != 3 {
		t.Errorf("events: %+v; want the links up, and one down at the end", b.events)
	}
}

// A link that fails as soon as it is opened is opened once a second, and the port is
// down meanwhile.
func TestLinkThatFailsAtOnceIsDown(t *testing.T) {
	var failures atomic.Int64
	b := startBed(t, 2, opts{wrap: func(p Port, l link.Link) link.Link {
		if p.Name == "p1" && failures.Add(-1) >= 0 {
			return &deaf{l}
		}
		return l
	}})
	failures.Store(1)
	b.setLink(1, 2, true)
	b.awaitEvents(event.LinkDown, 1)
	b.awaitEvents(event.LinkUp, 3)
	b.write(1, frame(1, 0, 1, false))
	wantNumbers(t, "by the next link", b.read(0, 1), 1)
	if s, w := b.Stats(1), b.warnings(); s.Reopened != 1 || len(w) != 1 {
		t.Errorf("the link was opened anew %d times, with the warnings %q; want once, and one", s.Reopened, w)
	}
}

// A link that was deleted while it waits to be opened anew stays away until it is back.
func TestFailedLinkGoesAndComes(t *testing.T) {
	var failing, broken atomic.Bool
	b := newBed(t, 2, opts{wrap: func(p Port, l link.Link) link.Link {
		if p.Name == "p1" && failing.Load() {
			return &deaf{l}
		}
		return l
	}})
	open := b.opt.Open
	b.opt.Open = func(p Port) (link.Link, error) {
		if broken.Load() {
			return nil, errors.New("no such interface")
		}
		return open(p)
	}
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.setLink(0, 1, true)
	b.setLink(1, 1, true)
	failing.Store(true)
	b.setLink(1, 2, true)
	b.awaitEvents(event.LinkDown, 1)
	broken.Store(true)
	b.setLink(1, 0, false)
	failing.Store(false)
	broken.Store(false)
	b.setLink(1, 3, true)
	b.write(1, frame(1, 0, 1, false))
	wantNumbers(t, "the link that came back", b.read(0, 1), 1)
}

// A timer that the kernel does not serve is told of, and the port goes on.
func TestTimerThatFailsIsWarnedOf(t *testing.T) {
	notPolled(t, "a Poller needs no timers")
	b := newBed(t, 1, opts{})
	wait := b.ports[0].tx.wait
	failed := false
	b.ports[0].tx.wait = func() error {
		if !failed {
			failed = true
			return errors.New("a spring broke")
		}
		return wait()
	}
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	warned := make(chan struct{})
	warn := b.opt.Warn
	b.opt.Warn = func(format string, args ...any) {
		warn(format, args...)
		close(warned)
	}
	b.start()
	await(t, warned, "a warning")
	if w := b.warnings(); len(w) != 1 || w[0] != "port p0: its deadlines are kept to a second only: a spring broke" {
		t.Errorf("warnings: %q", w)
	}
}

func TestMACOfTheInterface(t *testing.T) {
	m := &macSpy{}
	b := newBed(t, 2, opts{machine: func(s *dataplane.Switch) Machine { m.Switch = s; return m }})
	b.opt.Ports[0].KeepMAC = true
	b.ports[0].opt.KeepMAC = true
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.setLink(0, 1, true)
	b.setLink(1, 1, true)
	b.setLink(1, 0, false) // a link that is gone has no address
	b.snapshot(func() {
		if got := fmt.Sprint(m.set); got != "[1:02:00:00:00:00:01]" {
			t.Errorf("addresses were set: %s, want port 1's alone", got)
		}
	})
}

// macSpy is a switch that tells of SetMAC.
type macSpy struct {
	*dataplane.Switch
	set []string
}

func (s *macSpy) SetMAC(p unit.Port, m unit.MAC) { s.set = append(s.set, fmt.Sprintf("%d:%v", p, m)) }

func TestRunEndsWithinASecond(t *testing.T) {
	for _, what := range []string{"idle", "under load", "with a busy link"} {
		t.Run(what, func(t *testing.T) {
			withinASecond(t, func() time.Duration {
				o := opts{}
				if what == "with a busy link" {
					o.wrap = moodAt(1, func([][]byte) (int, error) { return 0, link.ErrBusy })
				}
				b := startBed(t, 2, o)
				var load sync.WaitGroup
				if what != "idle" {
					b.write(0, frame(0, 1, 0, false))
					load.Go(func() { // until the node closes its end
						far := b.end(0)
						for {
							if _, err := far.Write([][]byte{frame(0, 1, 1, false)}); err != nil && !errors.Is(err, link.ErrBusy) {
								return
							}
						}
					})
					if what == "under load" {
						b.read(1, 100)
					}
				}
				begin := time.Now()
				b.cancel()
				select {
				case <-b.done:
				case <-time.After(patience):
					t.Fatal("Run did not end")
				}
				took := time.Since(begin)
				load.Wait()
				b.Sync() // of a node that has ended: returns
				return took
			})
		})
	}
}

// withinASecond wants what end does to take a second at most, unless the machine is busy: then once in
// ten times.
func withinASecond(t *testing.T, end func() (took time.Duration)) {
	t.Helper()
	var took time.Duration
	for range 10 {
		if took = end(); took <= time.Second {
			return
		}
	}
	t.Errorf("it took %v to end", took)
}

// A link that comes back while the node ends is closed with the others.
func TestLinkThatComesBackAtTheEnd(t *testing.T) {
	b := newBed(t, 1, opts{watch: func(ctx context.Context, _ []string, update func(LinkState)) error {
		<-ctx.Done()
		update(LinkState{Name: "p0"})
		update(LinkState{Name: "p0", Index: 2, Running: true})
		return ctx.Err()
	}})
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.Sync()
	b.stop() // says if a link is left
}

func TestWatchThatFailsEndsRun(t *testing.T) {
	lost := errors.New("netlink is lost")
	b := newBed(t, 1, opts{watch: func(context.Context, []string, func(LinkState)) error { return lost }})
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	if err := b.Run(context.Background()); !errors.Is(err, lost) {
		t.Errorf("Run: %v, want %v", err, lost)
	}
}

func TestOpenFails(t *testing.T) {
	b := newBed(t, 3, opts{})
	open := b.opt.Open
	b.opt.Open = func(p Port) (link.Link, error) {
		if p.Name == "p2" {
			return nil, errors.New("no such interface")
		}
		return open(p)
	}
	if err := b.Open(); err == nil || err.Error() != "no such interface" {
		t.Errorf("Open: %v", err)
	}
	for i, l := range b.opened {
		if _, err := l.Read(make([][]byte, 1)); err == nil {
			t.Errorf("link %d is still open", i)
		}
	}
}

func TestNewRefusesTheWrongNumberOfPorts(t *testing.T) {
	b := newBed(t, 2, opts{})
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	b.close()
	if _, err := New(Options{Machine: b.sw, Ports: []Port{{Name: "a"}}}); err == nil || !strings.Contains(err.Error(), "1 interfaces for a machine of 2 ports") {
		t.Errorf("New: %v", err)
	}
}

// --- the log ---

func TestSyncAndOrderOfEvents(t *testing.T) {
	b := startBed(t, 2, opts{})
	var actors sync.WaitGroup
	actors.Go(func() {
		for range 200 {
			b.setLink(1, 1, false)
			b.setLink(1, 1, true)
		}
	})
	actors.Go(func() {
		for i := range 400 {
			b.write(0, pfc(uint16(1-i%2)*65535))
		}
	})
	actors.Wait()
	for i := range 50 {
		b.setLink(0, 1, false)
		b.setLink(0, 1, true)
		b.Sync()
		b.mu.Lock()
		n := 0
		for _, e := range b.events {
			if e.Type == event.LinkDown && e.Port == 0 {
				n++
			}
		}
		b.mu.Unlock()
		if n != i+1 {
			t.Fatalf("after Sync %d of %d events were logged", n, i+1)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	up := [2]bool{}
	for i, e := range b.events {
		if i > 0 && e.At < b.events[i-1].At {
			t.Fatalf("event %d is of %d, before the one before it, of %d", i, e.At, b.events[i-1].At)
		}
		if e.Type == event.LinkUp || e.Type == event.LinkDown {
			if up[e.Port] == (e.Type == event.LinkUp) {
				t.Fatalf("event %d says twice that link %d is up: %v", i, e.Port, up[e.Port])
			}
			up[e.Port] = !up[e.Port]
		}
	}
	if b.EventsLost() != 0 {
		t.Errorf("%d events were lost", b.EventsLost())
	}
}

// What happens while the node ends is logged, too.
func TestLastEventsAreLogged(t *testing.T) {
	for range 50 {
		b := newBed(t, 1, opts{watch: func(ctx context.Context, _ []string, update func(LinkState)) error {
			update(LinkState{Name: "p0", Index: 1, Running: true})
			<-ctx.Done()
			update(LinkState{Name: "p0", Index: 1})
			return ctx.Err()
		}})
		if err := b.Open(); err != nil {
			t.Fatal(err)
		}
		b.start()
		b.stop()
		if n := len(b.events); n != 2 || b.events[1].Type != event.LinkDown {
			t.Fatalf("%d events were logged, want 2, the last LinkDown: %+v", n, b.events)
		}
	}
}

// A log that is too slow loses whole batches, and says how many events.
func TestSlowLog(t *testing.T) {
	const batch = 10_000
	entered, leave := make(chan struct{}, 1000), make(chan struct{})
	var logged uint64
	m := &talker{}
	b := startBed(t, 1, opts{
		machine: func(s *dataplane.Switch) Machine { m.Switch = s; return m },
		log: func(ev []event.Event) {
			entered <- struct{}{}
			<-leave
			logged += uint64(len(ev))
		},
	})
	await(t, entered, "the log to be busy")
	told := uint64(0)
	for range eventsMax/batch + 10 {
		b.Do(func(unit.Time) { m.talk = batch })
		told += batch
	}
	if lost := b.EventsLost(); lost < 9*batch || lost > 11*batch {
		t.Errorf("%d events were lost, want about %d", lost, 10*batch)
	}
	close(leave)
	b.Sync()
	b.stop()
	if lost := b.EventsLost(); logged != told+1-lost {
		t.Errorf("%d events were logged and %d lost, of %d", logged, lost, told+1)
	}
}

// talker is a switch that makes events on request.
type talker struct {
	*dataplane.Switch
	talk int
}

func (s *talker) Work(ev []event.Event) (unit.PortSet, []event.Event) {
	ready, ev := s.Switch.Work(ev)
	for ; s.talk > 0; s.talk-- {
		ev = append(ev, event.Event{Type: event.XOFF})
	}
	return ready, ev
}

// --- deadlines ---

// clockwork is a switch that asks to be woken: at the next of its times, once each.
type clockwork struct {
	*dataplane.Switch
	asked chan unit.Time // when Transmit was called
	next  []func(now unit.Time) unit.Time
}

func (c *clockwork) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (int, unit.Time) {
	n, next := c.Switch.Transmit(now, out, fs)
	if out == 0 && len(c.next) > 0 {
		next = min(next, c.next[0](now))
		c.next = c.next[1:]
		c.asked <- now
	}
	return n, next
}

func TestDeadlinesAreKept(t *testing.T) {
	c := &clockwork{asked: make(chan unit.Time, 100)}
	in := func(d unit.Time) func(unit.Time) unit.Time { return func(now unit.Time) unit.Time { return now + d } }
	b := startBed(t, 1, opts{machine: func(s *dataplane.Switch) Machine { c.Switch = s; return c }})
	b.Do(func(unit.Time) {
		for range 20 {
			c.next = append(c.next, in(2*unit.Millisecond))
		}
	})
	b.kickAll(unit.PortsOf(0))
	var last unit.Time
	early := 0
	for i := range 20 {
		select {
		case at := <-c.asked:
			if i > 0 && at < last+2*unit.Millisecond {
				early++
			}
			last = at
		case <-time.After(patience):
			t.Fatal("a deadline was missed")
		}
	}
	if early > 1 { // beside the kick, the link that has come up may have it asked
		t.Errorf("asked %d times less than 2 ms after the last time, want once at most", early)
	}
}

func TestLateness(t *testing.T) {
	c := &clockwork{asked: make(chan unit.Time, 100)}
	b := startBed(t, 1, opts{machine: func(s *dataplane.Switch) Machine { c.Switch = s; return c }})
	before := b.Lateness()
	b.Do(func(unit.Time) {
		c.next = []func(unit.Time) unit.Time{
			func(now unit.Time) unit.Time { return now - 40*unit.Second }, // is late when it is named
			func(unit.Time) unit.Time { return unit.Never },
		}
	})
	b.kickAll(unit.PortsOf(0))
	for range 2 {
		select {
		case <-c.asked:
		case <-time.After(patience):
			t.Fatal("a deadline was missed")
		}
	}
	// The second Transmit was at the deadline; its drain ends after it.
	for deadline := time.Now().Add(patience); b.Lateness() < 40*unit.Second && time.Now().Before(deadline); {
		b.kickAll(unit.PortsOf(0))
	}
	if after := b.Lateness(); before >= 40*unit.Second || after < 40*unit.Second || after > 40*unit.Second+unit.Time(patience) {
		t.Errorf("lateness was %d, and is %d after a deadline that was missed by 40 s", before, after)
	}
}
