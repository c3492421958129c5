package live

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/link"
	"softswitch/pfcframe"
	"softswitch/unit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, dir := range removeAtEnd {
			os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}

// removeAtEnd are folders that the tests leave to TestMain.
var removeAtEnd []string

var withPoller = flag.Bool("polled", false, "have a Poller fetch the frames of nodes on links in memory")

// notPolled skips a test that says nothing of nodes with a Poller.
func notPolled(t *testing.T, why string) {
	if *withPoller {
		t.Skip(why)
	}
}

// patience bounds what a test waits for that must happen. A goroutine that is
// woken needs some ten microseconds; the rest is for a machine with other work.
const patience = 30 * time.Second

// bed is a node on links in memory, whose far ends the test holds:
//
//	test  far[0] ═══ pipe ═══ port 0 │ node │ port 1 ═══ pipe ═══ far[1]  test
type bed struct {
	*Node
	t       testing.TB
	sw      *dataplane.Switch
	updates chan linkUpdate
	cancel  context.CancelFunc
	poller  *Poller       // nil unless with -polled
	before  int           // events of the machine before it ran
	done    chan error    // what Run returned; closed then
	news    chan struct{} // one slot: something was logged

	mu     sync.Mutex
	far    []link.Link   // guarded by mu: the far end of each port's newest link
	opened []link.Link   // guarded by mu: every link that the node opened
	events []event.Event // guarded by mu: what was logged
	warned []string      // guarded by mu
}

type linkUpdate struct {
	state LinkState
	done  chan struct{}
}

// opts change a bed before it is made.
type opts struct {
	config func(*dataplane.Config)
	// machine puts something around the switch, wrap around each link of the node.
	machine func(*dataplane.Switch) Machine
	wrap    func(p Port, l link.Link) link.Link
	log     func([]event.Event)
	warn    func(format string, args ...any)
	tell    func(format string, args ...any)
	look    func(names []string) ([]LinkState, error)
	watch   func(ctx context.Context, names []string, update func(LinkState)) error
	hosts   unit.PortSet // ports that face hosts
}

func portName(p unit.Port) string { return fmt.Sprintf("p%d", p) }

// stationMAC is the address of the station behind port p; the bed's switch knows it.
func stationMAC(p unit.Port) unit.MAC { return 0x02aa00000000 + unit.MAC(p) }

// newBed makes a bridge of n ports that is not running yet.
func newBed(t testing.TB, n int, o opts) *bed {
	t.Helper()
	c := dataplane.Defaults()
	c.ID, c.Name, c.Refresh = 7, "s7", 10*unit.Millisecond
	c.Batch, c.Granularity, c.Slots = Batch, Granularity, 4096
	b := &bed{t: t, updates: make(chan linkUpdate), done: make(chan error, 1), news: make(chan struct{}, 1), far: make([]link.Link, n)}
	opt := Options{Open: b.openPipe(o.wrap), Watch: b.watch, Log: b.log, Warn: b.warn, Tell: o.tell}
	if *withPoller {
		b.poller = new(Poller)
		opt.Poller = b.poller
	}
	if o.log != nil {
		opt.Log = o.log
	}
	if o.warn != nil {
		opt.Warn = o.warn
	}
	opt.Look = o.look
	if o.watch != nil {
		opt.Watch = o.watch
	}
	for p := range unit.Port(n) {
		c.Ports = append(c.Ports, dataplane.PortConfig{Name: portName(p)})
		c.MAC = append(c.MAC, dataplane.Station{MAC: stationMAC(p), Port: p})
		opt.Ports = append(opt.Ports, Port{Name: portName(p), FacesHost: o.hosts.Has(p)})
	}
	if o.config != nil {
		o.config(&c)
	}
	var err error
	if b.sw, err = dataplane.NewSwitch(c); err != nil {
		t.Fatal(err)
	}
	opt.Machine = b.sw
	if o.machine != nil {
		opt.Machine = o.machine(b.sw)
	}
	b.before = first(opt.Machine)
	if b.Node, err = New(opt); err != nil {
		t.Fatal(err)
	}
	return b
}

// first lets a machine be the first at its place, which has nobody to let go of: its links were up
// at time 0. It returns how many events that made.
func first(m Machine) (events int) {
	for p := range unit.Port(m.Ports()) {
		m.SetLink(0, p, true)
		m.SetLink(0, p, false)
	}
	_, ev := m.Work(nil)
	return len(ev)
}

// startBed makes a bed that runs, with all links up, until the test ends.
func startBed(t testing.TB, n int, o opts) *bed {
	t.Helper()
	b := newBed(t, n, o)
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	b.start()
	for p := range unit.Port(n) {
		b.setLink(p, 1, true)
	}
	return b
}

func (b *bed) start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	polling, end := context.WithCancel(context.Background())
	polled := make(chan struct{})
	go func() {
		if b.poller != nil {
			b.poller.Run(polling)
		}
		close(polled)
	}()
	go func() {
		b.done <- b.Run(ctx)
		end()
		<-polled
		close(b.done)
	}()
	b.t.Cleanup(b.stop)
}

// stop ends the node and checks that it closed every link that it opened.
func (b *bed) stop() {
	b.t.Helper()
	b.cancel()
	select {
	case err := <-b.done:
		if err != nil {
			b.t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		b.t.Fatal("Run did not end")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.far {
		if l != nil {
			l.Close()
		}
	}
	for i, l := range b.opened {
		if _, err := l.Read(make([][]byte, 1)); err == nil {
			b.t.Errorf("the node left link %d open", i)
		}
	}
}

// openPipe is the node's Open.
func (b *bed) openPipe(wrap func(Port, link.Link) link.Link) func(Port) (link.Link, error) {
	return func(p Port) (link.Link, error) {
		near, far := link.Pipe()
		end := near
		if wrap != nil {
			near = wrap(p, near)
		}
		if p.Polled {
			near = &polledPipe{near, end.(link.Poller), make(chan struct{}), sync.Once{}}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		for i := range b.far {
			if portName(unit.Port(i)) == p.Name {
				if b.far[i] != nil {
					b.far[i].Close()
				}
				b.far[i] = far
			}
		}
		b.opened = append(b.opened, near)
		return near, nil
	}
}

// polledPipe is a link whose frames come by Poll alone, from the end of a pipe.
type polledPipe struct {
	link.Link
	end    link.Poller
	closed chan struct{}
	once   sync.Once
}

func (l *polledPipe) Poll(bufs [][]byte) int { return l.end.Poll(bufs) }

func (l *polledPipe) Read(bufs [][]byte) (int, error) {
	if d, ok := l.Link.(*deaf); ok {
		return d.Read(bufs)
	}
	<-l.closed
	return 0, net.ErrClosed
}

func (l *polledPipe) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Link.Close()
}

// watch is the node's Watch: the script's.
func (b *bed) watch(ctx context.Context, _ []string, update func(LinkState)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case u := <-b.updates:
			update(u.state)
			close(u.done)
		}
	}
}

func (b *bed) log(ev []event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, ev...)
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// awaitEvents waits until n events of a type were logged.
func (b *bed) awaitEvents(want event.Type, n int) {
	b.t.Helper()
	for {
		b.mu.Lock()
		got := 0
		for _, e := range b.events {
			if e.Type == want {
				got++
			}
		}
		b.mu.Unlock()
		if got >= n {
			return
		}
		select {
		case <-b.news:
		case <-time.After(patience):
			b.t.Fatalf("waited in vain for %d events of type %v; there are %d: %s", n, want, got, b.doings())
		}
	}
}

// doings is what there is to say of a bed in which nothing moves.
func (b *bed) doings() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	types := map[event.Type]int{}
	for _, e := range b.events {
		types[e.Type]++
	}
	return fmt.Sprintf("events %v, links %+v, warnings %q", types, b.AllStats(), b.warned)
}

func (b *bed) warn(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.warned = append(b.warned, fmt.Sprintf(format, args...))
}

func (b *bed) warnings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.warned
}

// --- verbs ---

// setLink tells the node of a port's interface and returns when it has acted.
func (b *bed) setLink(p unit.Port, index int, running bool) {
	b.t.Helper()
	u := linkUpdate{LinkState{Name: portName(p), Index: index, Running: running, MAC: 0x020000000000 + unit.MAC(p)}, make(chan struct{})}
	select {
	case b.updates <- u:
	case <-time.After(patience):
		b.t.Fatalf("the node does not watch: setLink(%d, %d, %v)", p, index, running)
	}
	await(b.t, u.done, fmt.Sprintf("the node to act on setLink(%d, %d, %v)", p, index, running))
}

func await(t testing.TB, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
}

// end is the far end of a port's newest link.
func (b *bed) end(p unit.Port) link.Link {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.far[p]
}

// write lets frames arrive at a port. The pipe must have room.
func (b *bed) write(p unit.Port, frames ...[]byte) {
	b.t.Helper()
	if n, err := b.end(p).Write(frames); err != nil {
		b.t.Fatalf("port %d took %d of %d frames: %v", p, n, len(frames), err)
	}
}

// read returns the next n frames that left through a port, MAC Control aside.
func (b *bed) read(p unit.Port, n int) [][]byte {
	b.t.Helper()
	frames, err := readFrames(b.end(p), n)
	if err != nil {
		b.t.Fatalf("port %d: %d of %d frames came: %v", p, len(frames), n, err)
	}
	return frames
}

// readFrames reads n frames from l; after patience it closes l.
func readFrames(l link.Link, n int) (frames [][]byte, err error) {
	giveUp := time.AfterFunc(patience, func() { l.Close() })
	defer giveUp.Stop()
	bufs := make([][]byte, 64)
	for i := range bufs {
		bufs[i] = make([]byte, 0, 2048)
	}
	for len(frames) < n {
		got, err := l.Read(bufs[:min(len(bufs), n-len(frames))])
		if errors.Is(err, link.ErrDown) {
			continue
		}
		if err != nil {
			return frames, err
		}
		for _, f := range bufs[:got] {
			if !pfcframe.IsMACControl(f) {
				frames = append(frames, bytes.Clone(f))
			}
		}
	}
	return frames, nil
}

// snapshot runs fn while the machine stands still.
func (b *bed) snapshot(fn func()) { b.Do(func(unit.Time) { fn() }) }

// wantNumbers checks that frames are those from first on, in order.
func wantNumbers(t testing.TB, what string, frames [][]byte, first uint64) {
	t.Helper()
	for i, f := range frames {
		if got, want := number(f), first+uint64(i); got != want {
			t.Fatalf("%s: frame %d came where %d was to come", what, got, want)
		}
	}
}

// --- frames ---

// frame is data from the station at a port to that at another, with a number. It
// has priority 3 where lossless is true, else 0.
func frame(from, to unit.Port, n uint64, lossless bool) []byte {
	return frameOf(80, from, to, n, lossless)
}

// frameOf is a frame of some bytes.
func frameOf(bytes int, from, to unit.Port, n uint64, lossless bool) []byte {
	b := make([]byte, bytes)
	ether.SetAddresses(b, stationMAC(to), stationMAC(from))
	binary.BigEndian.PutUint16(b[12:], ether.TypeIPv4)
	tos := uint8(0)
	if lossless {
		tos = 26 << 2
	}
	ether.PutIPv4(b[14:], tos, 64, ether.ProtoUDP, len(b)-14, 0x0a000001, 0x0a000002)
	binary.BigEndian.PutUint64(b[60:], n)
	return b
}

func number(f []byte) uint64 { return binary.BigEndian.Uint64(f[60:]) }

// pfc is a pause of priority 3 for some quanta; 0 is a resume.
func pfc(quanta uint16) []byte {
	b := make([]byte, pfcframe.Len)
	f := pfcframe.Frame{Src: stationMAC(9).Bytes(), Enable: 1 << 3}
	f.Quanta[3] = quanta
	pfcframe.Put(b, f)
	return b
}
