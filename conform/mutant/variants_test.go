package mutant_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/conform"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/node/config"
	"softswitch/play"
	"softswitch/unit"
)

// variant is a switch that is right, and not ours in what profiles and standards leave open.
type variant struct {
	kinds   []string
	text    string // of its profile
	profile *conform.Profile
	open    func(*config.Switch) // what the profile does not say
	traits  traits
}

// draft is a variant that is being drawn. Its kinds change it.
type draft struct {
	*rand.Rand
	traits
	open []func(*config.Switch)

	speed      unit.Rate
	ports      int
	mtu        int
	delay      unit.Time
	quanta     int
	refresh    unit.Time // in parts of a pause, 1/n; 0: as it is
	xoff, xon  int
	dynamic    bool
	forwarding string
	watchdog   string
	pfc        []string // lines of the profile's pfc
	cell       int      // 0: bytes
	pool       bool     // of headroom, as much as all groups need
	weights    bool     // priorities share a line by weights of their own, some of them strict
	ecn        bool
	slow       bool // the last port has half the speed
}

// variantKinds are the ways in which a right switch may be another one. Each comes in its turn, and others
// at random beside it.
var variantKinds = []struct {
	name  string
	apply func(d *draft)
}{
	{"quanta", func(d *draft) { d.quanta = pick(d.Rand, 100, 1000, 65535) }},
	{"refresh", func(d *draft) { d.refresh = pick[unit.Time](d.Rand, 2, 10) }},
	{"resume by expiry", func(d *draft) { d.expiry = true; d.pfc = append(d.pfc, "resume: expiry") }},
	{"source zero", func(d *draft) { d.zero = true; d.pfc = append(d.pfc, "source: zero") }},
	{"odd pauses", func(d *draft) { // with reserved bits, too long or too short: read right, or dropped
		d.lenient, d.padded = d.chance(2), d.chance(2)
		d.pfc = append(d.pfc, "unpadded: "+pick(d.Rand, "any", map[bool]string{true: "ignore", false: "honour"}[d.padded]))
	}},
	{"both in one", func(d *draft) { d.both = true }},
	{"dynamic thresholds", func(d *draft) {
		d.dynamic = true
		n, off := 1+d.IntN(4), d.frame()*(1+d.IntN(2))
		alpha, pool := -n, d.xoff*(1+1<<n) // one group alone holds xoff of it
		d.open = append(d.open, func(s *config.Switch) {
			s.Buffer.StaticTh, s.Buffer.DynamicTh, s.Buffer.XONOffset, s.Buffer.Pool = nil, &alpha, &off, pool
		})
	}},
	{"order and jitter", func(d *draft) {
		d.jitter = pick(d.Rand, 10*unit.Microsecond, 100*unit.Microsecond, 500*unit.Microsecond, 2*unit.Millisecond)
	}},
	{"watchdog", func(d *draft) {
		poll := pick(d.Rand, 100, 250, 500)
		detect, restore := poll*(1000/poll+d.IntN(4)), poll*(1+d.IntN(3))
		if d.chance(5) {
			d.watchdog = fmt.Sprintf("{contain: %dms}", detect)
			return
		}
		d.watchdog = fmt.Sprintf("{detect: %dms, restore: %dms, poll: %dms, action: %s}", detect, restore, poll, pick(d.Rand, "drop", "forward", "alert"))
	}},
	{"store and forward", func(d *draft) { d.hold = 5 * d.speed.FrameTime(d.frame()) }},
	{"routed", func(d *draft) { d.forwarding = "routed" }},
	{"hysteresis of a frame", func(d *draft) { d.xon = d.xoff - d.frame() }},
	{"weights", func(d *draft) { d.weights = true }},
	{"ECN", func(d *draft) { d.ecn = true }},
	{"cells", func(d *draft) { d.cell = pick(d.Rand, 64, 80, 128, 208, 256) }},
	{"pool of headroom", func(d *draft) { d.pool = true }},
	{"unequal speeds", func(d *draft) { d.slow = true }},
}

// newVariant draws a variant of a kind, and of others.
func newVariant(t testing.TB, kind int, r *rand.Rand) *variant {
	t.Helper()
	d := &draft{Rand: r, ports: pick(r, 2, 3, 3, 3, 4), quanta: 65535, forwarding: "bridge"}
	d.speed = pick[unit.Rate](r, 40, 50, 100, 100, 200, 250, 400) * 1_000_000
	d.mtu = pick(r, 1500, 1500, 1500, 2000, 4096, 9000)
	d.delay = pick(r, 0, 0, unit.Microsecond, 20*unit.Microsecond, 100*unit.Microsecond)
	d.xoff = d.frame()*4 + r.IntN(60_000)
	d.xon = d.xoff - d.frame() - r.IntN(d.xoff/2)
	v := &variant{}
	for i, k := range variantKinds {
		if i == kind || d.chance(4) {
			v.kinds = append(v.kinds, k.name)
			k.apply(d)
		}
	}
	d.keepUp()
	v.text = d.profile()
	var err error
	if v.profile, err = conform.Load("variant.yaml", []byte(v.text)); err != nil {
		t.Fatalf("%v\n%s", err, v.text)
	}
	v.traits = d.traits
	v.open = func(s *config.Switch) {
		for _, change := range d.open {
			change(s)
		}
	}
	return v
}

// chance is true for one of n.
func (d *draft) chance(n int) bool { return d.IntN(n) == 0 }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// frame is the longest frame in bytes.
func (d *draft) frame() int { return d.mtu + 14 }

// charge is what n bytes take of the buffer, in frames of which none is shorter.
func (d *draft) charge(n int) int {
	if d.cell == 0 {
		return n
	}
	return max(2, d.cell/60+1)*n + d.cell
}

// pause is how long quanta last.
func (d *draft) pause() unit.Time {
	return unit.Time(d.quanta) * 512 * unit.Second / unit.Time(d.speed)
}

// slack is what the variant takes in time besides what a chip does: what is held has to wait for the end
// of a frame besides.
func (d *draft) slack() unit.Time {
	if d.jitter == 0 && d.hold == 0 {
		return 0
	}
	return d.jitter + d.hold + 2*d.speed.FrameTime(d.frame())
}

// keepUp takes longer pauses where repetitions would come too late: behind a frame of the longest, and by
// the jitter.
func (d *draft) keepUp() {
	n := max(d.refresh, 2)
	for d.pause()-d.pause()/n < 2*d.slack()+3*d.speed.FrameTime(d.frame()) {
		d.quanta = min(d.quanta*10, 65535)
	}
	if d.refresh > 0 {
		every := d.pause() / d.refresh
		d.open = append(d.open, func(s *config.Switch) { s.PFC.Refresh = &every })
	}
}

// profile is the text of the profile.
func (d *draft) profile() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("name: variant")
	line("ports:")
	for i := range d.ports {
		text := fmt.Sprintf("name: %c, mac: \"02:00:00:00:00:%02x\"", 'a'+i, i+1)
		if d.forwarding == "routed" {
			text += fmt.Sprintf(", address: 10.%d.0.2, gateway: 10.%d.0.1, gateway_mac: \"02:00:00:00:00:%02x\"", i+1, i+1, i+1)
		}
		if d.slow && i == d.ports-1 {
			text += fmt.Sprintf(", speed: %s", d.speed/2)
		}
		line("  - {%s}", text)
	}
	if d.ports >= 3 {
		of := strings.Join([]string{"a", "b", "c", "d"}[:3+d.IntN(d.ports-2)], ", ")
		line("rings: [{kind: instances, of: [%s]}, {kind: loops, of: [%s]}]", of, of)
	}
	line("speed: %s", d.speed)
	line("forwarding: %s", d.forwarding)
	line("mtu: %d", d.mtu)
	line("trust: %s", pick(d.Rand, "dscp", "dscp", "pcp", "both"))
	points := d.Perm(64)
	used := unit.PrioritySet(d.IntN(256) | d.IntN(256))
	for used.Len() < 4 {
		used.Add(unit.Priority(d.IntN(unit.Priorities)))
	}
	var lossless []string
	line("dscp:")
	classes := used.List()
	d.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	for i, c := range classes {
		for range 1 + d.IntN(3) {
			line("  %d: %d", points[0], c)
			points = points[1:]
		}
		if i < 2 || i == 2 && d.chance(3) {
			lossless = append(lossless, strconv.Itoa(c))
		}
	}
	slices.Sort(lossless)
	line("lossless: [%s]", strings.Join(lossless, ", "))
	line("pfc:")
	line("  quanta: %s", pick(d.Rand, "probe", strconv.Itoa(d.quanta)))
	line("  slack: %s", d.slack())
	for _, more := range d.pfc {
		line("  %s", more)
	}
	quanta, _ := buffer.ResponseOf(d.speed)
	late := int(int64(d.speed) / 8 * int64(d.slack()) / int64(unit.Second))
	headroom := buffer.LinkEnd{Rate: d.speed, Delay: d.delay, Own: d.frame(), Peer: d.charge(d.frame()), Above: d.charge(d.frame()), Response: quanta, Cell: d.cell}.Headroom() + 2*d.charge(late) + d.charge(d.frame())
	if d.dynamic {
		d.open = append(d.open, func(s *config.Switch) { s.Buffer.XOFF = &headroom })
		line("buffer: {delay: %s}", d.delay)
	} else {
		more := ""
		if d.cell > 0 {
			more += fmt.Sprintf(", cell: %d", d.cell)
		}
		if d.pool {
			more += fmt.Sprintf(", pool: %d", headroom*d.ports*len(lossless))
		}
		line("buffer: {xoff: %d, xon: %d, headroom: %d, delay: %s%s}", d.xoff, d.xon, headroom, d.delay, more)
	}
	if d.weights {
		line("scheduler:")
		for i, c := range classes {
			if i > 2 && d.chance(4) {
				line("  %d: {strict: true}", c)
			} else {
				line("  %d: {dwrr: %d}", c, 1+d.IntN(12))
			}
		}
	}
	if d.ecn {
		least := d.IntN(d.xoff / 2)
		most := least + 2000 + d.IntN(d.xoff/2)
		share := 1 + d.IntN(100)
		line("ecn:")
		for _, c := range lossless {
			line("  %s: {min: %d, max: %d, probability: %d%%}", c, 1+least, most, share)
		}
	}
	if d.watchdog != "" {
		line("watchdog: %s", d.watchdog)
	}
	return b.String()
}

// traits are those of a variant that are seen on its frames.
type traits struct {
	expiry  bool      // no pause is taken back
	zero    bool      // pauses have no source
	lenient bool      // pauses that are too long, or have reserved bits, are read
	padded  bool      // pauses that are too short are not
	both    bool      // a pause names all priorities that are paused
	jitter  unit.Time // by which control frames may be late, in and out, those of different priorities in any order
	hold    unit.Time // by which data frames come later
}

// device is our switch with the traits of a variant.
type device struct {
	dataplane.Machine
	traits
	rand  *rand.Rand
	in    [][]waiting // by port, in order of time
	out   [][]waiting
	said  [][unit.Priorities]uint16 // the quanta of each priority that were sent last
	ready unit.PortSet
}

type waiting struct {
	at  unit.Time
	f   *buffer.Frame
	set unit.PrioritySet // of a pause
}

func newDevice(m dataplane.Machine, of traits, r *rand.Rand) *device {
	n := m.Ports()
	return &device{Machine: m, traits: of, rand: r, in: make([][]waiting, n), out: make([][]waiting, n), said: make([][unit.Priorities]uint16, n)}
}

// insert puts a frame behind those that are due no later.
func insert(q []waiting, w waiting) []waiting {
	i := len(q)
	for i > 0 && q[i-1].at > w.at {
		i--
	}
	return slices.Insert(q, i, w)
}

// late is a random time of up to the jitter.
func (d *device) late() unit.Time { return unit.Time(d.rand.Int64N(int64(d.jitter) + 1)) }

// isPFC reports whether b begins as a pause of the standard does.
func isPFC(b []byte) bool {
	return len(b) >= 18 && string(b[:6]) == "\x01\x80\xc2\x00\x00\x01" && string(b[12:16]) == "\x88\x08\x01\x01"
}

// Parse implements dataplane.Machine. What the variant reads otherwise is changed into what our switch
// reads so.
func (d *device) Parse(f *buffer.Frame) {
	if isPFC(f.Data) {
		switch {
		case f.Len < 60 && d.padded:
			f.Data[15] = 0xff
		case d.lenient && len(f.Data) >= 60:
			f.Data, f.Len, f.Data[16] = f.Data[:60], 60, 0
		}
	}
	d.Machine.Parse(f)
}

// Receive implements dataplane.Machine.
func (d *device) Receive(now unit.Time, in unit.Port, fs []*buffer.Frame) {
	for _, f := range fs {
		at := now + d.hold
		if isControl(f.Data) {
			at = now + d.late()
			for _, w := range d.in[in] { // pauses of a sender keep their order
				if isControl(w.f.Data) {
					at = max(at, w.at)
				}
			}
		}
		d.in[in] = insert(d.in[in], waiting{at: at, f: f})
	}
	d.hand(now, in)
	d.ready.Add(in)
}

func isControl(b []byte) bool { return len(b) >= 14 && string(b[12:14]) == "\x88\x08" }

// hand gives the switch what has waited long enough.
func (d *device) hand(now unit.Time, in unit.Port) {
	for len(d.in[in]) > 0 && d.in[in][0].at <= now {
		f := d.in[in][0].f
		d.in[in] = d.in[in][1:]
		d.Machine.Receive(now, in, []*buffer.Frame{f})
	}
}

// Transmit implements dataplane.Machine.
func (d *device) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (n int, next unit.Time) {
	d.hand(now, out)
	_, next = d.Machine.Transmit(now, out, nil)
	for n < len(fs) {
		if q := d.out[out]; len(q) > 0 && q[0].at <= now {
			fs[n], d.out[out] = q[0].f, q[1:]
			n++
			continue
		}
		k := 0
		if k, next = d.Machine.Transmit(now, out, fs[n:n+1]); k == 0 {
			break
		}
		switch at, set := d.leaves(now, out, fs[n]); {
		case set == 0 && at == unit.Never:
			d.Machine.Sent(now, out, fs[n:n+1])
		case at > now:
			d.out[out] = insert(d.out[out], waiting{at, fs[n], set})
		default:
			n++
		}
	}
	if q := d.in[out]; len(q) > 0 {
		next = min(next, max(q[0].at, now))
	}
	if q := d.out[out]; len(q) > 0 && n < len(fs) { // else the wire is busy
		next = min(next, max(q[0].at, now))
	}
	return n, next
}

// leaves makes of a pause what the variant sends, and tells when: never if not at all.
func (d *device) leaves(now unit.Time, out unit.Port, f *buffer.Frame) (at unit.Time, set unit.PrioritySet) {
	if !isPFC(f.Data) {
		return now, 0
	}
	b, said := f.Data, &d.said[out]
	for c := range unit.Priorities {
		if b[17]>>c&1 != 0 {
			said[c] = uint16(b[18+2*c])<<8 | uint16(b[19+2*c])
		} else if d.both && said[c] > 0 {
			b[17] |= 1 << c
			b[18+2*c], b[19+2*c] = byte(said[c]>>8), byte(said[c])
		}
		if d.expiry && said[c] == 0 {
			b[17] &^= 1 << c
		}
	}
	if set = unit.PrioritySet(b[17]); set == 0 {
		return unit.Never, 0
	}
	if d.zero {
		clear(b[6:12])
	}
	at = now + d.late()
	for _, w := range d.out[out] { // those of a priority keep their order
		if w.set&set != 0 {
			at = max(at, w.at)
		}
	}
	return at, set
}

// SetLink implements dataplane.Machine. What waits in a port that goes down is lost.
func (d *device) SetLink(now unit.Time, p unit.Port, up bool) {
	d.Machine.SetLink(now, p, up)
	d.said[p] = [unit.Priorities]uint16{}
	for _, w := range d.in[p] {
		d.Machine.Receive(now, p, []*buffer.Frame{w.f})
	}
	for _, w := range d.out[p] {
		d.Machine.Sent(now, p, []*buffer.Frame{w.f})
	}
	d.in[p], d.out[p] = nil, nil
}

// Work implements dataplane.Machine.
func (d *device) Work(ev []event.Event) (unit.PortSet, []event.Event) {
	ready, ev := d.Machine.Work(ev)
	ready, d.ready = ready.Or(d.ready), unit.PortSet{}
	return ready, ev
}

// TestVariants: switches that are right in another way than ours fail no case. The environment may say
// which cases, CONFORM_CASES="R02 W", and in how many runs, RUNS=40.
func TestVariants(t *testing.T) {
	runs, seed := testkit.Sized(2, 100), testkit.Seed(t)
	if text := os.Getenv("RUNS"); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil {
			t.Fatalf("RUNS=%q: want a number", text)
		}
	}
	cases, err := conform.Select(strings.Fields(os.Getenv("CONFORM_CASES")))
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]int{}
	for run := range runs {
		r := rand.New(rand.NewPCG(seed, uint64(run)))
		kind := (int(seed%uint64(len(variantKinds))) + run) % len(variantKinds)
		v := newVariant(t, kind, r)
		report, err := play.ConformSim(context.Background(), play.ConformOptions{
			Profile: v.profile, Cases: cases, Seed: r.Uint64(), Soak: 200 * unit.Millisecond, Switch: v.open,
			Wrap: func(m dataplane.Machine) dataplane.Machine { return newDevice(m, v.traits, r) },
		}, io.Discard)
		if err != nil {
			t.Fatalf("run %d, %s: %v\n%s", run, strings.Join(v.kinds, ", "), err, v.text)
		}
		wrong := false
		for _, o := range report.Cases {
			if o.ID == "C02" && (v.traits.expiry || v.traits.both) {
				continue // the switch within has counted what it sent, which is not what left
			}
			switch o.Result {
			case conform.Pass:
				passed[o.ID]++
			case conform.Skipped:
			case conform.Undecided: // no verdict, and no wrong one
				t.Logf("run %d: %s: %s: %s", run, o.ID, o.Result, o.Reason)
			default:
				wrong = true
				t.Errorf("run %d: %s: %s: %s", run, o.ID, o.Result, o.Reason)
			}
		}
		if wrong {
			t.Logf("run %d, %s, %+v:\n%s", run, strings.Join(v.kinds, ", "), v.traits, v.text)
		}
	}
	t.Logf("%d runs; passed: %v", runs, slices.Sorted(maps.Keys(passed)))
	for _, c := range cases {
		if runs >= 100 && passed[c.ID] == 0 {
			t.Errorf("%s passed in none of %d runs: its alarm is not tried", c.ID, runs)
		}
	}
}
