package buffer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// small is a configuration in which a few hundred bytes reach every limit.
func small(change func(c *Config)) Config {
	c := Config{
		Ports: 3, Lossless: 1<<3 | 1<<4, Shared: 600, LossyQueue: 100,
		Profile: Profile{Size: 40, StaticTh: 160, XONOffset: 40, XOFF: 120},
	}
	change(&c)
	return c
}

// profiles is what the random tests run over, by name.
var profiles = []struct {
	name   string
	change func(c *Config)
}{
	{"default, scaled", func(*Config) {}},
	{"no reserved minimum", func(c *Config) { c.Profile.Size = 0 }},
	{"reserved minimum only", func(c *Config) { c.Profile.Size, c.Profile.StaticTh, c.Profile.XONOffset = 150, 0, 20 }},
	{"no shared pool", func(c *Config) { c.Shared = 0 }},
	{"pool for one priority group", func(c *Config) { c.Shared = 170 }},
	{"no headroom", func(c *Config) { c.Profile.XOFF = 0 }},
	{"headroom below a frame", func(c *Config) { c.Profile.XOFF = 30 }},
	{"headroom and slack", func(c *Config) { c.Profile.Slack = 110 }},
	{"no hysteresis", func(c *Config) { c.Profile.XONOffset = 0 }},
	{"xon above the offset", func(c *Config) { c.Profile.XON, c.Profile.XONOffset = 90, 190 }},
	{"xon at zero", func(c *Config) { c.Profile.XONOffset = 1000 }},
	{"all priorities, one port", func(c *Config) { c.Ports, c.Lossless = 1, 0xff }},
	{"priority 0 and priority 7", func(c *Config) { c.Lossless = 1<<0 | 1<<7 }},
	{"cells", func(c *Config) { c.Cell = 20 }},
	{"cells longer than frames", func(c *Config) { c.Cell, c.Shared = 64, 1000 }},
	{"headroom of ports", func(c *Config) { c.Headroom = []int{0, 50, 200} }},
	{"pool of headroom", func(c *Config) { c.HeadroomPool = &HeadroomPool{Bytes: 70} }},
	{"pool of headroom, own parts, cells, slack", func(c *Config) {
		c.Cell, c.Headroom, c.HeadroomPool, c.Profile.Slack = 16, []int{48, 160, 96}, &HeadroomPool{Bytes: 64, Port: 48}, 32
	}},
	{"pool of headroom, dynamic", func(c *Config) {
		c.Profile.Dynamic, c.HeadroomPool = true, &HeadroomPool{Bytes: 60, Port: 20}
	}},
	{"thresholds of ports", func(c *Config) { c.Thresholds = []Threshold{{60, 20}, {160, 100}, {300, 0}} }},
	{"dynamic, alpha 1", func(c *Config) { c.Profile.Dynamic = true }},
	{"dynamic, alpha 8", func(c *Config) { c.Profile.Dynamic, c.Profile.DynamicTh = true, 3 }},
	{"dynamic, alpha 1/8", func(c *Config) { c.Profile.Dynamic, c.Profile.DynamicTh = true, -3 }},
	{"dynamic, no reserved minimum", func(c *Config) { c.Profile.Dynamic, c.Profile.Size = true, 0 }},
	{"dynamic, no hysteresis", func(c *Config) { c.Profile.Dynamic, c.Profile.XONOffset = true, 0 }},
	{"dynamic, no shared pool", func(c *Config) { c.Profile.Dynamic, c.Shared = true, 0 }},
}

// pair is an MMU and its reference model that see the same operations, and what must
// hold of them after each.
type pair struct {
	t       testing.TB
	m       *MMU
	slow    *slowMMU
	charged []chargedFrame
	xons    map[slowPG]int // XON transitions seen
	xoffs   map[slowPG]int
	extras  bool   // there were some: a priority group may hold more than its thresholds allow
	where   string // printed with a failure
}

type chargedFrame struct {
	b           slowPG
	n           int
	out         unit.Port
	outPriority unit.Priority
	waits       bool // in its queue: counted in M
}

func newPair(t testing.TB, c Config) *pair {
	t.Helper()
	m, err := NewMMU(c)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{t: t, m: m, slow: newSlowMMU(c), xons: map[slowPG]int{}, xoffs: map[slowPG]int{}}
}

func (w *pair) fatalf(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s: %s", w.where, fmt.Sprintf(format, args...))
}

func (w *pair) admit(b slowPG, n int, out unit.Port, outPriority unit.Priority) {
	w.t.Helper()
	v, xoff := w.m.Admit(b.in, b.priority, n)
	wantV, wantXOFF := w.slow.admit(b, n)
	if v != wantV || xoff != wantXOFF {
		w.fatalf("Admit(%d, %d, %d) = %d, %v; want %d, %v", b.in, b.priority, n, v, xoff, wantV, wantXOFF)
	}
	if v != HeadroomFull {
		w.charged = append(w.charged, chargedFrame{b, n, out, outPriority, true})
		w.hold(w.charged[len(w.charged)-1], w.slow.cells(n))
	}
	if xoff {
		w.xoffs[b]++
	}
	w.check()
}

// leave is a frame that begins to leave: it is in M no more, but still charged.
func (w *pair) leave(i int) {
	w.t.Helper()
	if f := &w.charged[i]; f.waits {
		f.waits = false
		w.hold(*f, -w.slow.cells(f.n))
	}
	w.check()
}

func (w *pair) release(i int) {
	w.t.Helper()
	w.leave(i)
	f := w.charged[i]
	w.charged = slices.Delete(w.charged, i, i+1)
	xon := w.m.Release(f.b.in, f.b.priority, f.n)
	if want := w.slow.release(f.b, f.n); xon != want {
		w.fatalf("Release(%d, %d, %d) = %v, want %v", f.b.in, f.b.priority, f.n, xon, want)
	}
	if xon {
		w.xons[f.b]++
	}
	var reopened []slowPG
	for {
		in, priority, ok := w.m.Reopened()
		if !ok {
			break
		}
		reopened = append(reopened, slowPG{in, priority})
		w.xons[slowPG{in, priority}]++
	}
	if want := w.slow.reopened(); !slices.Equal(reopened, want) {
		w.fatalf("Reopened: %v, want %v", reopened, want)
	}
	w.check()
}

func (w *pair) hold(f chargedFrame, n int) {
	w.t.Helper()
	e := slowEdge{f.b, f.out, f.outPriority}
	if w.m.Lossless(f.outPriority) {
		w.slow.held[e] += n
	}
	if got, want := w.m.Hold(f.b.in, f.b.priority, f.out, f.outPriority, n), w.slow.held[e]; got != want {
		w.fatalf("Hold = %d, want %d", got, want)
	}
}

// check compares the two and checks the package's invariants by their names.
func (w *pair) check() {
	w.t.Helper()
	if d := w.slow.diff(w.m); d != "" {
		w.fatalf("%s", d)
	}
	p := w.slow.cfg.Profile
	sum := make(map[slowPG]int)
	for _, f := range w.charged {
		sum[f.b] += w.slow.cells(f.n)
	}
	shared := 0
	for b := range w.slow.pgs {
		bytes, headroom := w.m.Bytes(b.in, b.priority)
		shared += max(bytes-headroom-p.Size, 0)
		if bytes != sum[b] {
			w.fatalf("conservation: priority group %v holds %d bytes, its frames are %d", b, bytes, sum[b])
		}
		if bound := w.threshold(b) + w.slow.xoff(b) + p.Slack; !p.Dynamic && bytes > bound && !w.extras || headroom > w.slow.xoff(b)+p.Slack {
			w.fatalf("bound: priority group %v holds %d bytes, %d in headroom; bound %d", b, bytes, headroom, bound)
		}
		w.checkHysteresis(b, bytes)
	}
	if pool := w.slow.cfg.HeadroomPool; pool != nil && w.m.HeadroomPool() > pool.Bytes {
		w.fatalf("bound: %d bytes of the pool of headroom are in use, of %d", w.m.HeadroomPool(), pool.Bytes)
	}
	if shared != w.m.Shared() || shared > w.slow.cfg.Shared {
		w.fatalf("conservation: shared use %d, sum of the priority groups %d, pool %d", w.m.Shared(), shared, w.slow.cfg.Shared)
	}
}

func (w *pair) checkHysteresis(b slowPG, bytes int) {
	w.t.Helper()
	on, period := w.m.XOFF(b.in, b.priority)
	if open := w.xoffs[b] - w.xons[b]; open != 0 && open != 1 || on != (open == 1) || period != uint8(w.xoffs[b]) {
		w.fatalf("hysteresis: priority group %v: %d XOFF, %d XON, XOFF now %v, period %d", b, w.xoffs[b], w.xons[b], on, period)
	}
	// Without hysteresis a priority group that falls to the XOFF threshold resumes there.
	if p := w.slow.cfg.Profile; !p.Dynamic && !on && bytes >= w.threshold(b) && bytes > w.m.XON(b.in, b.priority) && !w.extras {
		w.fatalf("hysteresis: priority group %v holds %d bytes and is not XOFF", b, bytes)
	}
	if on && bytes == 0 {
		w.fatalf("hysteresis: priority group %v is empty and XOFF", b)
	}
}

// threshold is where a priority group goes XOFF, unless thresholds are dynamic.
func (w *pair) threshold(b slowPG) int {
	if th := w.slow.cfg.Thresholds; th != nil {
		return w.slow.cfg.Profile.Size + th[b.in].StaticTh
	}
	return w.slow.cfg.Profile.Threshold()
}

func (w *pair) setExtra(b slowPG, n int) {
	w.t.Helper()
	w.extras = true
	xon, ok := w.m.SetExtra(b.in, b.priority, n)
	if wantXON, wantOK := w.slow.setExtra(b, n); xon != wantXON || ok != wantOK {
		w.fatalf("SetExtra(%d, %d, %d) = %v, %v; want %v, %v", b.in, b.priority, n, xon, ok, wantXON, wantOK)
	}
	if xon {
		w.xons[b]++
	}
	w.check()
}

// TestRandomExtras takes back what it gave: then all is as if it had never been.
func TestRandomExtras(t *testing.T) {
	for _, tc := range profiles {
		t.Run(tc.name, func(t *testing.T) {
			seed := testkit.Seed(t)
			rng := rand.New(rand.NewPCG(seed, 0))
			w := newPair(t, small(tc.change))
			pg := func() slowPG {
				return slowPG{unit.Port(rng.IntN(w.m.cfg.Ports)), w.m.priority(rng.IntN(w.m.lossless))}
			}
			for step := range testkit.Sized(1600, 4000) {
				w.where = fmt.Sprintf("seed %d, step %d", seed, step)
				switch k := rng.IntN(100); {
				case k < 10:
					w.setExtra(pg(), rng.IntN(3)*rng.IntN(200))
				case k < 55+30*(step/200%2):
					w.admit(pg(), 1+rng.IntN(60), unit.Port(rng.IntN(w.m.cfg.Ports)), unit.Priority(rng.IntN(8)))
				case len(w.charged) > 0:
					w.release(rng.IntN(len(w.charged)))
				}
			}
			w.where = fmt.Sprintf("seed %d, draining", seed)
			for b := range w.slow.pgs {
				w.setExtra(b, 0)
			}
			for len(w.charged) > 0 {
				w.release(rng.IntN(len(w.charged)))
			}
			if w.m.open != 0 || w.m.Shared() != 0 || w.m.extra != 0 {
				t.Errorf("seed %d: drained, but %d priority groups are XOFF, %d shared bytes used and %d given", seed, w.m.open, w.m.Shared(), w.m.extra)
			}
		})
	}
}

// TestRandomOperations also drains what it filled: an empty MMU must have no
// priority group that is XOFF.
func TestRandomOperations(t *testing.T) {
	for _, tc := range profiles {
		t.Run(tc.name, func(t *testing.T) {
			seed := testkit.Seed(t)
			rng := rand.New(rand.NewPCG(seed, 0))
			w := newPair(t, small(tc.change))
			for step := range 4000 {
				w.where = fmt.Sprintf("seed %d, step %d", seed, step)
				// The load drifts between filling and draining.
				fill := 50 + 40*(step/200%2*2-1)
				switch {
				case rng.IntN(100) < fill:
					b := slowPG{unit.Port(rng.IntN(w.m.cfg.Ports)), w.m.priority(rng.IntN(w.m.lossless))}
					w.admit(b, 1+rng.IntN(60), unit.Port(rng.IntN(w.m.cfg.Ports)), unit.Priority(rng.IntN(8)))
				case len(w.charged) == 0:
				case rng.IntN(3) == 0:
					w.leave(rng.IntN(len(w.charged)))
				default:
					w.release(rng.IntN(len(w.charged)))
				}
				if rng.IntN(500) == 0 {
					w.m.ClearWatermarks()
					w.slow.clearWatermarks()
				}
			}
			// Without headroom only the frame that meets the threshold exactly makes XOFF.
			if len(w.xons) == 0 && w.m.cfg.Profile.XOFF > 0 {
				t.Errorf("seed %d: no priority group was ever XOFF: the test tests nothing", seed)
			}
			w.where = fmt.Sprintf("seed %d, draining", seed)
			for len(w.charged) > 0 {
				w.release(rng.IntN(len(w.charged)))
			}
			if w.m.open != 0 || w.m.Shared() != 0 {
				t.Errorf("seed %d: drained, but %d priority groups are XOFF and %d shared bytes used", seed, w.m.open, w.m.Shared())
			}
		})
	}
}

// TestEveryState goes through every state that two ports, two priorities and at most
// three frames of one or two bytes can reach, and does in each all that can be
// done: admit a frame to any priority group, or release any of those charged.
func TestEveryState(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    Config
	}{
		{"static", Config{Ports: 2, Lossless: 1<<3 | 1<<4, Shared: 3, Profile: Profile{Size: 1, StaticTh: 2, XONOffset: 1, XOFF: 2}}},
		{"static, pool for one", Config{Ports: 2, Lossless: 1<<3 | 1<<4, Shared: 1, Profile: Profile{StaticTh: 2, XONOffset: 1, XOFF: 1}}},
		{"reserved minimum only", Config{Ports: 2, Lossless: 1<<3 | 1<<4, Shared: 2, Profile: Profile{Size: 2, XONOffset: 1, XOFF: 2}}},
		{"dynamic", Config{Ports: 2, Lossless: 1<<3 | 1<<4, Shared: 3, Profile: Profile{Size: 1, Dynamic: true, XONOffset: 1, XOFF: 2}}},
		{"pool of headroom, cells of two", Config{Ports: 2, Lossless: 1<<3 | 1<<4, Cell: 2, Shared: 2, Profile: Profile{StaticTh: 2, XONOffset: 1, XOFF: 4}, HeadroomPool: &HeadroomPool{Port: 1}}},
		{"dynamic, alpha 1/2", Config{Ports: 2, Lossless: 1<<3 | 1<<4, Shared: 4, Profile: Profile{Dynamic: true, DynamicTh: -1, XOFF: 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := explorer{seen: make(map[string]bool)}
			e.visit(newPair(t, tc.c), "empty")
			for len(e.frontier) > 0 {
				w := e.frontier[0]
				e.frontier = e.frontier[1:]
				e.expand(w)
			}
			t.Logf("%d states, %d operations, %d XOFF, %d XON, %d drops", len(e.seen), e.ops, e.xoffs, e.xons, e.drops)
			if e.xoffs == 0 || e.xons == 0 || e.drops == 0 {
				t.Error("the space is too small to test anything")
			}
		})
	}
}

// explorer goes through the states breadth first. A state is what decides what can
// happen next: periods and watermarks are not in it.
type explorer struct {
	seen                    map[string]bool
	frontier                []*pair
	ops, xoffs, xons, drops int
}

func (e *explorer) visit(w *pair, where string) {
	w.where = where
	if key := w.state(); !e.seen[key] {
		e.seen[key] = true
		e.frontier = append(e.frontier, w)
	}
}

func (e *explorer) expand(w *pair) {
	if len(w.charged) < 3 {
		for in := range unit.Port(2) {
			for _, priority := range []unit.Priority{3, 4} {
				for n := 1; n <= 2; n++ {
					e.do(w, fmt.Sprintf("admit %d.%d %d", in, priority, n), func(w *pair) {
						w.admit(slowPG{in, priority}, n, 1-in, priority)
					})
				}
			}
		}
	}
	for i := range w.charged {
		e.do(w, fmt.Sprintf("release %v", w.charged[i]), func(w *pair) { w.release(i) })
	}
}

// do applies an operation to a copy of w.
func (e *explorer) do(w *pair, name string, op func(w *pair)) {
	c := w.clone()
	c.where = w.where + ", " + name
	op(c)
	e.ops++
	e.xoffs += sum(c.xoffs) - sum(w.xoffs)
	e.xons += sum(c.xons) - sum(w.xons)
	if strings.HasPrefix(name, "admit") && len(c.charged) == len(w.charged) {
		e.drops++
	}
	e.visit(c, c.where)
}

func (w *pair) state() string {
	var s strings.Builder
	for in := range unit.Port(w.slow.cfg.Ports) {
		for priority := range unit.Priority(unit.Priorities) {
			b := slowPG{in, priority}
			g := w.slow.pgs[b]
			if g == nil {
				continue
			}
			var frames []int
			for _, f := range w.charged {
				if f.b == b {
					frames = append(frames, f.n)
				}
			}
			slices.Sort(frames)
			fmt.Fprintf(&s, "%d %d %d %v %v|", g.count("R"), g.count("S"), g.count("H"), g.xoff, frames)
		}
	}
	return s.String()
}

func sum(m map[slowPG]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func (w *pair) clone() *pair {
	c := &pair{t: w.t, charged: slices.Clone(w.charged), xons: map[slowPG]int{}, xoffs: map[slowPG]int{}}
	m := *w.m
	m.groups, m.held, m.rooms = slices.Clone(m.groups), slices.Clone(m.held), slices.Clone(m.rooms)
	c.m, c.slow = &m, newSlowMMU(w.slow.cfg)
	for b, g := range w.slow.pgs {
		copied := *g
		copied.letters = slices.Clone(g.letters)
		c.slow.pgs[b] = &copied
		c.xons[b], c.xoffs[b] = w.xons[b], w.xoffs[b]
	}
	for e, n := range w.slow.held {
		c.slow.held[e] = n
	}
	return c
}

// A script with the numbers of the default profile: XOFF at 40960, XON at 36864,
// loss above 71680.
func TestDefaultProfile(t *testing.T) {
	m, err := NewMMU(Config{Ports: 2, Lossless: 1 << 3, Shared: 1 << 20, Profile: DefaultProfile})
	if err != nil {
		t.Fatal(err)
	}
	admit := func(n int, want Verdict, wantXOFF bool) {
		t.Helper()
		if v, xoff := m.Admit(1, 3, n); v != want || xoff != wantXOFF {
			b, h := m.Bytes(1, 3)
			t.Fatalf("Admit of %d = %d, %v; want %d, %v (priority group now %d, headroom %d)", n, v, xoff, want, wantXOFF, b, h)
		}
	}
	release := func(n int, wantXON bool) {
		t.Helper()
		if xon := m.Release(1, 3, n); xon != wantXON {
			b, h := m.Bytes(1, 3)
			t.Fatalf("Release of %d: XON %v, want %v (priority group now %d, headroom %d)", n, xon, wantXON, b, h)
		}
	}
	admit(40959, Accepted, false)
	admit(2, InHeadroom, true) // does not fit below the threshold
	release(2, false)
	admit(1, Accepted, false) // exactly the threshold; XOFF already
	admit(30720, InHeadroom, false)
	admit(1, HeadroomFull, false)
	if b, h := m.Watermark(1, 3); b != 71680 || h != 30720 {
		t.Errorf("watermark %d, headroom %d; want 71680, 30720", b, h)
	}
	release(30720, false)
	release(4095, false) // 36865
	release(1, true)     // 36864
	if on, period := m.XOFF(1, 3); on || period != 1 {
		t.Errorf("XOFF %v, period %d; want false, 1", on, period)
	}
	admit(4095, Accepted, false)
	admit(1, Accepted, true)
	if on, period := m.XOFF(1, 3); !on || period != 2 {
		t.Errorf("XOFF %v, period %d; want true, 2", on, period)
	}
	if m.Shared() != 36864 {
		t.Errorf("shared use %d, want 36864", m.Shared())
	}
	if b, _ := m.Bytes(0, 3); b != 0 {
		t.Errorf("the other port's priority group holds %d", b)
	}
}

func TestPeriodWraps(t *testing.T) {
	m, err := NewMMU(Config{Ports: 1, Lossless: 1, Shared: 10, Profile: Profile{StaticTh: 1, XON: 0, XONOffset: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 600 {
		if _, xoff := m.Admit(0, 0, 1); !xoff {
			t.Fatalf("XOFF %d did not happen", i)
		}
		if _, period := m.XOFF(0, 0); period != uint8(i+1) {
			t.Fatalf("after XOFF %d: period %d, want %d", i+1, period, uint8(i+1))
		}
		if !m.Release(0, 0, 1) {
			t.Fatalf("XON %d did not happen", i)
		}
	}
}

// Unique claims that two queues cannot both hold more than XON bytes of a priority group.
// The attempt to fill two queues as far as the MMU lets it must fail under a
// profile that is Unique, and succeeds under one that is not.
func TestUnique(t *testing.T) {
	for _, tc := range []struct {
		p      Profile
		unique bool
	}{
		{DefaultProfile, true},
		{Profile{Size: 100, StaticTh: 100, XONOffset: 50, XOFF: 100}, true},  // 300 >= 300
		{Profile{Size: 100, StaticTh: 100, XONOffset: 50, XOFF: 102}, false}, // 300 < 302
		{Profile{StaticTh: 100, XON: 10, XONOffset: 100, XOFF: 50}, false},
		{Profile{Size: 100, StaticTh: 100, XOFF: 10, Dynamic: true}, false},
	} {
		if got := tc.p.Unique(); got != tc.unique {
			t.Errorf("%+v: Unique() = %v, want %v", tc.p, got, tc.unique)
		}
		if tc.p.Dynamic {
			continue
		}
		m, err := NewMMU(Config{Ports: 3, Lossless: 1 << 3, Shared: 1 << 20, Profile: tc.p})
		if err != nil {
			t.Fatal(err)
		}
		for out := unit.Port(0); ; out = 1 - out {
			if v, _ := m.Admit(2, 3, 1); v == HeadroomFull {
				break
			}
			m.Hold(2, 3, out, 3, 1)
		}
		both := m.Held(2, 3, 0, 3) > m.XON(2, 3) && m.Held(2, 3, 1, 3) > m.XON(2, 3)
		if both == tc.unique {
			t.Errorf("%+v: queues hold %d and %d, XON %d; Unique() = %v", tc.p, m.Held(2, 3, 0, 3), m.Held(2, 3, 1, 3), m.XON(2, 3), tc.unique)
		}
	}
}

func TestAdmitLossy(t *testing.T) {
	m, err := NewMMU(small(func(*Config) {}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		queued, n int
		want      bool
	}{{0, 100, true}, {0, 101, false}, {40, 60, true}, {40, 61, false}, {100, 0, true}} {
		if got := m.AdmitLossy(tc.queued, tc.n); got != tc.want {
			t.Errorf("AdmitLossy(%d, %d) = %v, want %v", tc.queued, tc.n, got, tc.want)
		}
	}
}

func TestBrokenAccountsPanic(t *testing.T) {
	m, err := NewMMU(small(func(*Config) {}))
	if err != nil {
		t.Fatal(err)
	}
	m.Admit(2, 4, 10)
	wantPanic(t, "release of 11 bytes from priority group (2, 4) that holds 10", func() { m.Release(2, 4, 11) })
	wantPanic(t, "M((2, 4), (0, 3)) fell to -1", func() { m.Hold(2, 4, 0, 3, -1) })
}

func wantPanic(t *testing.T, text string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), text) {
			t.Errorf("panic %v, want one with %q", r, text)
		}
	}()
	do()
}

func TestCounterBytes(t *testing.T) {
	const ample = 1 << 30
	for _, tc := range []struct{ ports, priorities, pool, group int }{{4, 1, ample, 24}, {4, 2, ample, 24}, {64, 2, ample, 24}, {64, 2, 1, 28}} {
		m, err := NewMMU(Config{Ports: tc.ports, Lossless: unit.PrioritySet(1<<tc.priorities - 1), Shared: tc.pool, Profile: DefaultProfile})
		if err != nil {
			t.Fatal(err)
		}
		n := tc.ports * tc.priorities
		if got, want := m.CounterBytes(), 4*n*n+tc.group*n; got != want {
			t.Errorf("%d ports, %d priorities: %d bytes, want %d", tc.ports, tc.priorities, got, want)
		}
	}
}

func TestMMUAllocatesNothing(t *testing.T) {
	for _, dynamic := range []bool{false, true} {
		m, err := NewMMU(small(func(c *Config) { c.Profile.Dynamic = dynamic }))
		if err != nil {
			t.Fatal(err)
		}
		allocs := testing.AllocsPerRun(100, func() {
			for range 20 {
				m.Admit(1, 3, 10)
				m.Hold(1, 3, 2, 4, 10)
			}
			for range 20 {
				m.Hold(1, 3, 2, 4, -10)
				m.Release(1, 3, 10)
				m.Reopened()
			}
			m.Watermark(1, 3)
			m.ClearWatermarks()
		})
		if b, _ := m.Bytes(1, 3); allocs != 0 || b != 0 {
			t.Errorf("dynamic %v: %v allocations, %d bytes left; want 0, 0", dynamic, allocs, b)
		}
	}
}

// What a far end sends at once makes no priority group XOFF, also if those of all ports hold as
// much, and takes no more than half of the headroom of one that is about to be.
func TestAtOnce(t *testing.T) {
	for _, tt := range profiles {
		t.Run(tt.name, func(t *testing.T) {
			c := small(tt.change)
			priority := losslessOf(c)
			m := mustMMU(t, c)
			for in := range unit.Port(c.Ports) {
				if v, xoff := m.Admit(in, priority, m.AtOnce(in)); m.AtOnce(in) > 0 && (v != Accepted || xoff) {
					t.Errorf("port %d: %d at once: verdict %d, XOFF %v", in, m.AtOnce(in), v, xoff)
				}
			}
			for in := range unit.Port(c.Ports) {
				m := mustMMU(t, c)
				for xoff := false; !xoff && c.XOFF(in) > 0; {
					_, xoff = m.Admit(in, priority, 1)
				}
				_, before := m.Bytes(in, priority) // the frame that made it XOFF, if it took a cell of it
				v, _ := m.Admit(in, priority, m.AtOnce(in))
				if _, headroom := m.Bytes(in, priority); v == HeadroomFull && m.AtOnce(in) > 0 || headroom-before > c.Charge(c.XOFF(in)/2) {
					t.Errorf("port %d: %d at once into a priority group that is XOFF: verdict %d, %d of the headroom", in, m.AtOnce(in), v, headroom)
				}
			}
		})
	}
}

// losslessOf is a priority that is lossless in c.
func losslessOf(c Config) unit.Priority {
	priority := unit.Priority(7)
	for !c.Lossless.Has(priority) {
		priority--
	}
	return priority
}

// Whatever priority groups hold, what has room changes the state of none: it makes none XOFF, and
// is not dropped where it is. With a static threshold a byte more does, so room is all
// that there is.
func TestRoom(t *testing.T) {
	for _, tt := range profiles {
		t.Run(tt.name, func(t *testing.T) {
			seed := testkit.Seed(t)
			r := rand.New(rand.NewPCG(seed, 0))
			c := small(tt.change)
			priority := losslessOf(c)
			for range 300 {
				m, like := mustMMU(t, c), mustMMU(t, c)
				for range r.IntN(30) {
					p, n := unit.Port(r.IntN(c.Ports)), r.IntN(100)
					if v, _ := m.Admit(p, priority, n); v != HeadroomFull {
						like.Admit(p, priority, n)
						if r.IntN(3) == 0 {
							m.Release(p, priority, n)
							like.Release(p, priority, n)
						}
					}
				}
				in := unit.Port(r.IntN(c.Ports))
				was, _ := m.XOFF(in, priority)
				room := m.Room(in, priority)
				for left := room; left > 0; {
					n := 1 + r.IntN(left)
					if c.Charge(n) > left {
						break
					}
					if v, xoff := m.Admit(in, priority, n); v == HeadroomFull || xoff {
						t.Fatalf("seed %d: room for %d, XOFF %v, and with %d left %d bytes: verdict %d, XOFF %v", seed, room, was, left, n, v, xoff)
					}
					left -= c.Charge(n)
				}
				if v, xoff := like.Admit(in, priority, room+1); !c.Profile.Dynamic && !was && v == Accepted && !xoff {
					t.Fatalf("seed %d: room for %d only, and a byte more is accepted without XOFF", seed, room)
				}
			}
		})
	}
}

// What a priority group that is XOFF keeps room for is not lost, also where others take all of the
// pool before it comes, and where it was lent an extra threshold, or had one before.
func TestKept(t *testing.T) {
	for _, tt := range profiles {
		t.Run(tt.name, func(t *testing.T) {
			seed := testkit.Seed(t)
			r := rand.New(rand.NewPCG(seed, 0))
			c := small(tt.change)
			priority, asked := losslessOf(c), 0
			for i := range 400 {
				if i == 200 { // from here on the port has one lossless priority
					c.Lossless = 1 << priority
				}
				m := mustMMU(t, c)
				in := unit.Port(r.IntN(c.Ports))
				m.SetExtra(in, priority, r.IntN(500))
				for range r.IntN(60) {
					m.Admit(in, priority, 1+r.IntN(100))
				}
				m.SetExtra(in, priority, r.IntN(300))
				others := othersOf(c, in, priority)
				if len(others) > 0 {
					other := others[r.IntN(len(others))]
					m.SetExtra(other.in, other.priority, r.IntN(500))
					for range r.IntN(20) {
						m.Admit(other.in, other.priority, 1+r.IntN(100))
					}
					m.SetExtra(other.in, other.priority, r.IntN(100))
				}
				if on, _ := m.XOFF(in, priority); !on {
					continue
				}
				longest := c.Charge(20)
				outside, headroom := m.Kept(in, priority)
				kept := (outside/longest + headroom/longest) * longest
				for _, other := range others {
					for range 300 {
						m.Admit(other.in, other.priority, 1+r.IntN(100))
					}
				}
				for left := kept; left > 0; {
					n := 1 + r.IntN(min(left, 20))
					if c.Charge(n) > left {
						break
					}
					asked++
					if v, _ := m.Admit(in, priority, n); v == HeadroomFull {
						t.Fatalf("seed %d: keeps room for %d, and with %d left %d bytes find none", seed, kept, left, n)
					}
					left -= c.Charge(n)
				}
			}
			if asked == 0 && (c.HeadroomPool == nil || c.HeadroomPool.Port >= c.Charge(20)) && c.Profile.XOFF > 0 {
				t.Errorf("seed %d: no priority group kept room", seed)
			}
		})
	}
}

// member names a priority group.
type member struct {
	in       unit.Port
	priority unit.Priority
}

// othersOf are the priority groups of c but one.
func othersOf(c Config, in unit.Port, priority unit.Priority) (others []member) {
	for p := range unit.Port(c.Ports) {
		for set := c.LosslessAt(p); set != 0; set &= set - 1 {
			if o := (member{p, set.First()}); o != (member{in, priority}) {
				others = append(others, o)
			}
		}
	}
	return others
}

func TestAtOnceOfProfiles(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(c *Config)
		want   int
	}{
		{"default", func(*Config) {}, UsualAtOnce},
		{"default, 64 ports", func(c *Config) { c.Ports = 64 }, UsualAtOnce},
		{"headroom of 8000", func(c *Config) { c.Profile.XOFF = 8000 }, 4000},
		{"XOFF at 8000", func(c *Config) { c.Profile.StaticTh = 8000 - c.Profile.Size }, 4000},
		{"a pool of 8000 for four ports", func(c *Config) { c.Shared = 8000 }, (4096 + 2000) / 2},
		{"XOFF of a port at 8000", func(c *Config) { c.Thresholds = []Threshold{{StaticTh: 8000 - 4096}, {}, {}, {}} }, 4000},
		{"dynamic, alpha 1", func(c *Config) { c.Profile.Dynamic, c.Shared = true, 20_000 }, (4096 + 4000) / 2},
		{"dynamic, alpha 2", func(c *Config) { c.Profile.Dynamic, c.Profile.DynamicTh, c.Shared = true, 1, 20_000 }, (4096 + 4444) / 2},
		{"dynamic, alpha 1/2", func(c *Config) { c.Profile.Dynamic, c.Profile.DynamicTh, c.Shared = true, -1, 21_000 }, (4096 + 3500) / 2},
		{"no headroom", func(c *Config) { c.Profile.XOFF = 0 }, 0},
		{"slack", func(c *Config) { c.Profile.Slack = 1 << 20 }, UsualAtOnce},
	} {
		c := Config{Ports: 4, Lossless: 1 << 3, Shared: 2 << 20, Profile: DefaultProfile}
		tt.change(&c)
		if got := mustMMU(t, c).AtOnce(0); got != tt.want {
			t.Errorf("%s: %d bytes, want %d", tt.name, got, tt.want)
		}
	}
	if UsualAtOnce != 15_360 {
		t.Errorf("usual at once are %d bytes", UsualAtOnce)
	}
}

// TestSlack: with slack everything is as without, but what would have been dropped is taken,
// until headroom and slack are full.
func TestSlack(t *testing.T) {
	with, without := mustMMU(t, small(func(c *Config) { c.Profile.Slack = 50 })), mustMMU(t, small(func(*Config) {}))
	const in, priority, n = 0, 3, 10
	for {
		v, xoff := with.Admit(in, priority, n)
		w, also := without.Admit(in, priority, n)
		if w == HeadroomFull {
			if v != InHeadroom {
				t.Errorf("where the headroom is full: verdict %d, want %d", v, InHeadroom)
			}
			break
		}
		if v != w || xoff != also {
			t.Fatalf("verdict %d, XOFF %v; without slack %d, %v", v, xoff, w, also)
		}
	}
	for v := InHeadroom; v != HeadroomFull; {
		v, _ = with.Admit(in, priority, n)
	}
	_, got := with.Bytes(in, priority)
	if _, headroom := without.Bytes(in, priority); got != headroom+50 {
		t.Errorf("%d bytes of headroom are full, without slack %d; want 50 more", got, headroom)
	}
	if with.XON(in, priority) != without.XON(in, priority) || with.Shared() != without.Shared() || with.AtOnce(in) != without.AtOnce(in) {
		t.Errorf("XON %d, %d shared, %d at once; without slack %d, %d, %d", with.XON(in, priority), with.Shared(), with.AtOnce(in), without.XON(in, priority), without.Shared(), without.AtOnce(in))
	}
}

func mustMMU(t testing.TB, c Config) *MMU {
	t.Helper()
	m, err := NewMMU(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
