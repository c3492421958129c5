package record

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/live/replay"
	"softswitch/node/config"
	"softswitch/unit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Frames and ports of the tests' switch.
const (
	batch   = 32
	station = unit.MAC(0x02aa00000001) // behind port 1
)

// recorded is a switch of two ports that is recorded on w, with at most limit bytes
// waiting to be written.
func recorded(t *testing.T, w io.Writer, limit int) *Recorder {
	t.Helper()
	cfg := config.Switch{
		Name: "s7", ID: 7,
		Ports: []config.Port{{Name: "p0", Rate: 1e9}, {Name: "p1", Rate: 1e9}},
		MAC:   []config.MAC{{MAC: station, Port: 1}},
	}
	cfg.Fill()
	sw, err := dataplane.NewSwitch(cfg.Build(detect.NewNone, batch, unit.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	h := replay.Header{Kind: replay.Switch, Name: "s7", Config: string(cfg.Marshal()), Batch: batch, Granularity: unit.Millisecond}
	return newBounded(sw, w, h, event.Node{ID: 7, Name: "s7", Ports: []string{"p0", "p1"}}, limit)
}

// forward lets n frames of 100 bytes through the recorded switch, as a node does.
func forward(t *testing.T, r *Recorder, n int) {
	t.Helper()
	now := unit.Time(0)
	for p := range unit.Port(2) {
		r.SetLink(now, p, true)
	}
	in, out := make([]*buffer.Frame, batch), make([]*buffer.Frame, batch)
	r.Lend(0, in)
	for sent := 0; sent < n; now += unit.Millisecond {
		for _, f := range in {
			f.Data = append(f.Data[:0], make([]byte, 100)...)
			ether.SetAddresses(f.Data, station, 0x02aa00000000)
			f.Len = len(f.Data)
			r.Parse(f)
		}
		r.Receive(now, 0, in)
		clear(in)
		r.Lend(0, in)
		r.Work(nil)
		k, _ := r.Transmit(now, 1, out)
		r.Sent(now, 1, out[:k])
		if sent += k; k == 0 {
			t.Fatalf("at %d the switch sends nothing", now)
		}
	}
}

func play(t *testing.T, file []byte) *replay.Result {
	t.Helper()
	res, err := replay.Play(bytes.NewReader(file), map[string]detect.Factory{"none": detect.NewNone}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// stuckWriter takes the first write and keeps it until it is let go.
type stuckWriter struct {
	begun, letGo chan struct{}
	once         sync.Once
	file         bytes.Buffer
}

func (w *stuckWriter) Write(b []byte) (int, error) {
	w.once.Do(func() { close(w.begun) })
	<-w.letGo
	return w.file.Write(b)
}

// A disk that stands still does not stop the node: the recording ends, says so, and
// what it has is whole.
func TestRecorderIsFull(t *testing.T) {
	w := &stuckWriter{begun: make(chan struct{}), letGo: make(chan struct{})}
	rec := recorded(t, w, 2*batchBytes)
	if err := rec.Err(); err != nil {
		t.Errorf("Err at first: %v", err)
	}
	forward(t, rec, 3000)
	<-w.begun
	rec.mu.Lock()
	if n := cap(rec.buf) + cap(rec.spare); n > 8*batchBytes || !rec.full {
		t.Errorf("the recorder holds %d bytes, full %v; want few, true", n, rec.full)
	}
	rec.mu.Unlock()
	if err := rec.Err(); err == nil || !strings.Contains(err.Error(), "ended early") {
		t.Errorf("Err while the disk stands still: %v; want that it ended early", err)
	}
	close(w.letGo)
	if err := rec.Close(); err == nil || !strings.Contains(err.Error(), "ended early") {
		t.Errorf("Close: %v; want that it ended early", err)
	}
	if res := play(t, w.file.Bytes()); !res.Full || !res.Same || res.Fault != "" || res.Frames == 0 || res.Frames >= 3000 {
		t.Errorf("%+v, difference %+v", res, res.Difference)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("no space left")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// Nor does one that fails.
func TestRecorderCannotWrite(t *testing.T) {
	rec := recorded(t, brokenWriter{}, waitingMax)
	forward(t, rec, 1500)
	if err := rec.Close(); !errors.Is(err, errBroken) {
		t.Errorf("Close: %v; want %v", err, errBroken)
	}
}

// nothing is a machine that does nothing.
type nothing struct{ replay.Machine }

func (nothing) Receive(unit.Time, unit.Port, []*buffer.Frame) {}

// BenchmarkRecorder is what recording costs the data path for a frame that is
// received, in batches of 32.
func BenchmarkRecorder(b *testing.B) {
	rec := newBounded(nothing{}, io.Discard, replay.Header{}, event.Node{}, math.MaxInt) // never full
	pool := buffer.NewPool(32, 32, 0, 2048)
	fs := make([]*buffer.Frame, 32)
	for i := range fs {
		fs[i] = pool.Get()
		fs[i].Data, fs[i].Len = fs[i].Data[:1500], 1500
	}
	now := unit.Time(0)
	for b.Loop() {
		now += 1000
		rec.Receive(now, 0, fs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(fs)), "ns/frame")
	rec.Close()
}
