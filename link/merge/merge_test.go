package merge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"softswitch/internal/testkit"
	"softswitch/link"
	"softswitch/link/pcapng"
)

func TestMain(m *testing.M) {
	patience = time.Hour // or who waits for a processor is silent
	goleak.VerifyTestMain(m)
}

// patient bounds what a test waits for that must happen.
const patient = 20 * time.Second

// socketPair is a stream's two ends.
func socketPair(t *testing.T) (node, client *net.UnixConn) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err = net.DialUnix("unix", nil, ln.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	if node, err = ln.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		node.Close()
		client.Close()
	})
	return node, client
}

// scripted is a node that says what a test tells it to.
type scripted struct {
	t    *testing.T
	conn *net.UnixConn
	out  *pcapng.Writer
}

func (s *scripted) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scripted) frame(at int64, text string) {
	s.t.Helper()
	s.must(s.out.WritePacket(pcapng.Packet{Time: at, Data: []byte(text), Direction: pcapng.Inbound, Comment: "saw " + text}))
	s.must(s.out.Flush())
}

func (s *scripted) stats(st pcapng.Statistics) {
	s.t.Helper()
	s.must(s.out.WriteStatistics(st))
	s.must(s.out.Flush())
}

// end ends in order.
func (s *scripted) end() {
	s.t.Helper()
	s.stats(pcapng.Statistics{End: true})
	s.conn.Close()
}

// bench is a merger of scripted nodes, each with one interface eth0.
type bench struct {
	t      *testing.T
	nodes  []*scripted
	out    output
	cancel context.CancelFunc
	done   chan struct{}
	result Result
	err    error

	mu    sync.Mutex
	ended map[string]error
}

// output is a buffer that can be looked at while it grows.
type output struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	grew chan struct{}
	fail error
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		return 0, o.fail
	}
	o.buf.Write(p)
	select {
	case o.grew <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (o *output) blocks(t *testing.T) (names []string, frames []pcapng.Packet, stats []pcapng.Statistics) {
	t.Helper()
	o.mu.Lock()
	data := bytes.Clone(o.buf.Bytes())
	o.mu.Unlock()
	if len(data) == 0 {
		return names, frames, stats
	}
	err := pcapng.Read(bytes.NewReader(data), func(block any) {
		switch b := block.(type) {
		case pcapng.Interface:
			names = append(names, b.Name)
		case pcapng.Packet:
			frames = append(frames, b)
		case pcapng.Statistics:
			stats = append(stats, b)
		}
	})
	if err != nil {
		t.Fatalf("the output is not whole: %v", err)
	}
	return names, frames, stats
}

func newBench(t *testing.T, names ...string) *bench {
	t.Helper()
	b := &bench{t: t, done: make(chan struct{}), ended: map[string]error{}}
	b.out.grew = make(chan struct{}, 1)
	var sources []Source
	for _, name := range names {
		node, client := socketPair(t)
		out, err := pcapng.NewWriter(node, "test", "")
		if err != nil {
			t.Fatal(err)
		}
		s := &scripted{t, node, out}
		_, err = out.AddInterface(pcapng.Interface{Name: "eth0", Description: "switch " + name})
		s.must(err)
		b.nodes = append(b.nodes, s)
		sources = append(sources, Source{name, client})
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() {
		defer close(b.done)
		b.result, b.err = Run(ctx, &b.out, sources, Options{Note: "a note", Ended: func(name string, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ended[name] = err
		}})
	}()
	t.Cleanup(func() {
		cancel()
		<-b.done
	})
	return b
}

// wait waits until Run has returned.
func (b *bench) wait() Result {
	b.t.Helper()
	select {
	case <-b.done:
	case <-time.After(patient):
		b.t.Fatal("Run does not end")
	}
	return b.result
}

// await waits until the output has n frames.
func (b *bench) await(n int) {
	b.t.Helper()
	late := time.After(patient)
	for {
		if _, frames, _ := b.out.blocks(b.t); len(frames) >= n {
			return
		}
		select {
		case <-b.out.grew:
		case <-late:
			b.t.Fatalf("the output has not got %d frames", n)
		}
	}
}

// want wants the output to be these frames, as "node:interface text".
func (b *bench) want(want ...string) {
	b.t.Helper()
	names, frames, _ := b.out.blocks(b.t)
	var got []string
	for _, f := range frames {
		got = append(got, names[f.Interface]+" "+string(f.Data))
		if f.Comment != "saw "+string(f.Data) || f.Direction != pcapng.Inbound {
			b.t.Errorf("frame %q has comment %q, direction %d", f.Data, f.Comment, f.Direction)
		}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		b.t.Errorf("the output is\n %q, want\n %q", got, want)
	}
}

const ms = int64(time.Millisecond)

// TestOrder: a frame is not written before all nodes are past it.
func TestOrder(t *testing.T) {
	b := newBench(t, "a", "b")
	one, two := b.nodes[0], b.nodes[1]
	one.frame(100*ms, "first")
	one.frame(300*ms, "third")
	one.stats(pcapng.Statistics{Time: 400 * ms})
	two.frame(200*ms, "second")
	two.stats(pcapng.Statistics{Time: 250 * ms})
	b.await(2)
	b.want("a:eth0 first", "b:eth0 second")
	two.frame(260*ms, "between")
	one.end()
	two.end()
	if r := b.wait(); b.err != nil || r != (Result{Frames: 4}) {
		t.Errorf("Run = %+v, %v", r, b.err)
	}
	b.want("a:eth0 first", "b:eth0 second", "b:eth0 between", "a:eth0 third")
	if len(b.ended) != 2 || b.ended["a"] != nil || b.ended["b"] != nil {
		t.Errorf("nodes that ended: %v", b.ended)
	}
}

// TestSilentNodeIsNotWaitedFor: what it says late is written late.
func TestSilentNodeIsNotWaitedFor(t *testing.T) {
	was := patience
	patience = time.Second
	defer func() { patience = was }()
	b := newBench(t, "a", "b")
	one, two := b.nodes[0], b.nodes[1]
	one.frame(100*ms, "first")
	one.stats(pcapng.Statistics{Time: 200 * ms})
	stop := make(chan struct{})
	var talking sync.WaitGroup
	talking.Go(func() { // goes on saying how far it is
		for at := 200 * ms; ; at += ms {
			select {
			case <-stop:
				return
			case <-time.After(askEvery):
				if one.out.WriteStatistics(pcapng.Statistics{Time: at}) != nil || one.out.Flush() != nil {
					return
				}
			}
		}
	})
	b.await(1)
	close(stop)
	talking.Wait()
	two.frame(50*ms, "late")
	one.end()
	two.end()
	if r := b.wait(); r != (Result{Frames: 2, Late: 1}) {
		t.Errorf("Run = %+v", r)
	}
	b.want("a:eth0 first", "b:eth0 late")
}

// TestDeadNode: a node that dies in the middle of a block costs only what it had not
// written; a node that talks nonsense is one that died.
func TestDeadNode(t *testing.T) {
	b := newBench(t, "a", "b", "c")
	b.nodes[0].frame(100*ms, "last words")
	b.nodes[0].conn.Write([]byte{6, 0, 0, 0, 60})
	b.nodes[0].conn.Close()
	b.nodes[1].frame(200*ms, "nonsense")
	b.nodes[1].conn.Write(bytes.Repeat([]byte{0xff}, 64))
	b.nodes[2].frame(300*ms, "well")
	b.nodes[2].end()
	if r := b.wait(); b.err != nil || r != (Result{Frames: 3, Cut: 2}) {
		t.Errorf("Run = %+v, %v", r, b.err)
	}
	b.want("a:eth0 last words", "b:eth0 nonsense", "c:eth0 well")
	if b.ended["a"] == nil || !strings.Contains(fmt.Sprint(b.ended["b"]), "bytes; want a multiple of 4") || b.ended["c"] != nil {
		t.Errorf("nodes that ended: %v", b.ended)
	}
}

// TestStop: when the caller has enough, the nodes' last frames are still written, but
// a node that does not answer is not waited for.
func TestStop(t *testing.T) {
	b := newBench(t, "a", "b")
	b.nodes[1].frame(200*ms, "mute")
	b.cancel()
	io.Copy(io.Discard, b.nodes[0].conn) // until it is told to end
	b.nodes[0].frame(100*ms, "last")
	b.nodes[0].stats(pcapng.Statistics{Dropped: 7})
	b.nodes[0].stats(pcapng.Statistics{Dropped: 7, End: true})
	b.nodes[0].conn.Close()
	if r := b.wait(); b.err != nil || r != (Result{Frames: 2, Missed: 7, Cut: 1}) {
		t.Errorf("Run = %+v, %v", r, b.err)
	}
	b.want("a:eth0 last", "b:eth0 mute")
	if _, _, stats := b.out.blocks(t); len(stats) != 2 || stats[0].Dropped != 7 || !stats[0].End {
		t.Errorf("statistics %+v", stats)
	}
	if len(b.ended) != 1 || !errors.Is(b.ended["b"], errStuck) {
		t.Errorf("nodes that ended unasked: %v", b.ended)
	}
}

func TestOutputFails(t *testing.T) {
	b := newBench(t, "a")
	b.out.mu.Lock() // or Run ends, and with it the node's connection, after the first block
	b.nodes[0].frame(1, "x")
	b.nodes[0].stats(pcapng.Statistics{Time: 100 * ms})
	b.out.fail = os.ErrClosed
	b.out.mu.Unlock()
	if b.wait(); !errors.Is(b.err, os.ErrClosed) {
		t.Errorf("Run's error is %v", b.err)
	}
}

// TestLab merges the captures of two real nodes whose links are joined: every frame is
// there twice, as it was sent before as it was received.
func TestLab(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	offset := link.WallOffset()
	left, right := link.Pipe()
	var nodes [2]link.Link
	var sources []Source
	var serving sync.WaitGroup
	for i, l := range []link.Link{left, right} {
		taps := &link.Taps{}
		nodes[i] = taps.Tap(l, pcapng.Interface{Name: "eth0"})
		server, client := socketPair(t)
		c, err := taps.Capture(server, link.CaptureOptions{Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		serving.Go(func() {
			for one := make([]byte, 1); ; c.Mark() {
				if _, err := server.Read(one); err != nil {
					break
				}
			}
			c.Close()
			server.Close()
		})
		sources = append(sources, Source{fmt.Sprintf("n%d", i), client})
	}
	const frames = 2000
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		bufs := make([][]byte, 8)
		for i := range bufs {
			bufs[i] = make([]byte, 0, 64)
		}
		for sent := 0; sent < frames; {
			from := rng.IntN(2)
			n := 1 + rng.IntN(8)
			var batch [][]byte
			for range n {
				batch = append(batch, binary.BigEndian.AppendUint32(make([]byte, 56), uint32(sent)))
				sent++
			}
			nodes[from].Write(batch)
			for got := 0; got < n; {
				k, err := nodes[1-from].Read(bufs)
				if err != nil {
					return
				}
				got += k
			}
		}
	}()
	out := output{grew: make(chan struct{}, 1)}
	r, err := Run(ctx, &out, sources, Options{})
	serving.Wait()
	_, all, _ := out.blocks(t)
	if err != nil || r.Late != 0 || r.Cut != 0 || r.Missed != 0 || int(r.Frames) != len(all) || len(all) < 2*frames {
		t.Fatalf("Run = %+v, %v; %d frames", r, err, len(all))
	}
	sent := map[uint32]bool{}
	for i, f := range all {
		number := binary.BigEndian.Uint32(f.Data[56:])
		switch {
		case i > 0 && f.Time < all[i-1].Time:
			t.Fatalf("frame %d is older than the one before", i)
		case f.Direction == pcapng.Outbound:
			sent[number] = true
		case !sent[number]:
			t.Fatalf("frame %d was received before it was sent", number)
		}
	}
}
