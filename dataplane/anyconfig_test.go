package dataplane

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime/debug"
	"testing"
	"time"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

var configs = flag.Duration("configs", 0, "for how long TestAnyConfig plays, instead of a number of configurations")

func pick[T any](r *rand.Rand, vs ...T) T { return vs[r.IntN(len(vs))] }

// anyConfig changes c into a random configuration of n ports, which NewSwitch may refuse.
func anyConfig(r *rand.Rand, c *Config, n int) {
	c.Quanta = pick(r, uint16(1), 2, 1000, 65535)
	c.Refresh = pick(r, unit.Microsecond, 20*unit.Microsecond, unit.Millisecond)
	c.StormBudget = pick(r, unit.Time(0), 1, unit.Microsecond, unit.Millisecond)
	c.TrustPCP = r.IntN(4) == 0
	c.NoFlood = r.IntN(4) == 0
	c.Buffer.Lossless = unit.PrioritySet(r.IntN(256))
	if r.IntN(3) > 0 {
		c.Buffer.Lossless = 1<<3 | 1<<4
	}
	c.Buffer.Shared = pick(r, 0, 1, 1000, 100_000, 1<<30)
	c.Buffer.LossyQueue = pick(r, 0, 100, 20_000, 1<<30)
	c.Buffer.Profile = buffer.Profile{Size: pick(r, 0, 1, 1500, 4096), StaticTh: pick(r, 1, 4000, 40_000), XON: 0, XONOffset: pick(r, 0, 1, 1000, 1<<30), XOFF: pick(r, 0, 1, 2000, 30_000), Slack: pick(r, 0, 0, 5000)}
	c.Buffer.Cell = pick(r, 0, 0, 1, 80, 208, 254, 4096)
	if r.IntN(3) == 0 {
		for range n {
			c.Buffer.Headroom = append(c.Buffer.Headroom, pick(r, 0, 1, 2000, 30_000))
		}
	}
	if r.IntN(3) == 0 {
		c.Buffer.HeadroomPool = &buffer.HeadroomPool{Bytes: pick(r, 0, 1, 5000, 100_000), Port: pick(r, 0, 1, 10_240)}
	}
	switch r.IntN(4) {
	case 0:
		c.Buffer.Profile.Dynamic, c.Buffer.Profile.DynamicTh = true, r.IntN(11)-7
	case 1:
		for range n {
			c.Buffer.Thresholds = append(c.Buffer.Thresholds, buffer.Threshold{StaticTh: pick(r, 1, 3000, 1<<30), XONOffset: pick(r, 0, 1000, 1<<30)})
		}
	}
	for i := range c.DSCP {
		if r.IntN(20) == 0 {
			c.DSCP[i] = unit.Priority(r.IntN(8))
		}
	}
	for p := range c.Ports {
		for i := range unit.Priority(unit.Priorities) {
			switch r.IntN(3) {
			case 0:
				c.Ports[p].Scheduler.Weights[i] = pick[uint8](r, 1, 2, 100)
			case 1:
				c.Ports[p].Scheduler.Strict.Add(i)
			}
		}
		c.Ports[p].Rate = pick(r, unit.Rate(0), 10_000_000, 100_000_000, 400_000_000_000)
		c.Ports[p].FacesHost = r.IntN(3) == 0
		c.Ports[p].FacesStack = r.IntN(12) == 0
		c.Ports[p].HeedPause = r.IntN(2) == 0
	}
	c.Granularity = pick(r, unit.Time(0), unit.Millisecond)
	c.Slots, c.Batch = pick(r, 1, 4, 64, 256), pick(r, 1, 8, 64)
	set := func() (s unit.PortSet) {
		for p := range n {
			if r.IntN(2) == 0 {
				s.Add(unit.Port(p))
			}
		}
		if s.Empty() {
			s.Add(unit.Port(r.IntN(n)))
		}
		return s
	}
	if r.IntN(3) > 0 {
		c.MAC = nil
		half := unit.PortsBelow(n / 2)
		if half.Empty() {
			half = unit.PortsOf(0)
		}
		rest := unit.PortsBelow(n).Without(half)
		c.Subnets = []Subnet{{Prefix: pick(r, prefix("10.0.1.0/24"), prefix("10.0.0.0/15"), prefix("0.0.0.0/0")), Gateway: netip.MustParseAddr("10.0.1.1"), Ports: half, Flood: set().And(rest)}}
		c.Routes = []Route{{Prefix: prefix("0.0.0.0/0"), Ports: set(), Backup: set()}, {Prefix: prefix("10.9.0.0/16"), Ports: set()}, {Prefix: prefix("10.9.1.1/32"), Ports: set(), Backup: set()}}
		c.ARP = []Neighbour{{netip.MustParseAddr("10.0.1.10"), stationMAC(0)}, {netip.MustParseAddr("10.0.1.11"), 0x02dd00000001}}
		if r.IntN(2) == 0 {
			c.MAC = []Station{{stationMAC(0), 0}}
		}
		if r.IntN(2) == 0 {
			c.RouterID = netip.MustParseAddr(pick(r, "10.0.1.1", "10.9.255.1", "198.18.0.7"))
		}
	}
	lossless := []unit.Priority{}
	for x := range unit.Priority(8) {
		if c.Buffer.Lossless.Has(x) {
			lossless = append(lossless, x)
		}
	}
	if len(lossless) > 0 {
		if r.IntN(3) == 0 {
			c.Bands = TTLBands{Width: pick(r, 1, 2, 16, 255), Priorities: lossless}
		} else if r.IntN(2) == 0 {
			for _, cl := range lossless {
				c.Rewrites = append(c.Rewrites, Rewrite{cl, set(), set(), unit.Priority(r.IntN(8))})
			}
		}
		for range r.IntN(3) {
			c.Limits = append(c.Limits, Limit{In: unit.Port(r.IntN(n)), OfPriority: r.IntN(2) == 0, Priority: lossless[0], Flow: detect.FlowID(r.Uint32()), Rate: pick(r, unit.Rate(1), 1_000_000)})
		}
	}
	if r.IntN(3) == 0 {
		c.LAGs = []LAG{{"PortChannel1", set()}}
		if rest := unit.PortsBelow(n).Without(c.LAGs[0].Ports); !rest.Empty() {
			c.LAGs = append(c.LAGs, LAG{"PortChannel2", rest})
		}
	}
	if r.IntN(3) == 0 {
		c.ECN = ECN{Priorities: unit.PrioritySet(r.IntN(256)), RED: RED{Kmin: 0, Kmax: pick(r, 0, 1, 5000), Pmax: pick(r, 1, 100)}, Phantom: Phantom{Drain: pick(r, 0, 1, 100), Mark: pick(r, 0, 3000)}, Seed: 1}
	}
	if r.IntN(3) == 0 {
		c.LLDP.Interval = pick(r, 30*unit.Second, unit.Second)
	}
}

// fates is what became of data frames that came in: how often each left by a port, or was dropped.
type fates map[*buffer.Frame]int

// over forgets a frame whose slot is lent again, and reports whether anything became of it.
func (w fates) over(f *buffer.Frame) bool {
	n, came := w[f]
	delete(w, f)
	return !came || n > 0
}

// anyRun plays random frames, pauses, times, links, rates and actions on a switch of random
// configuration: nothing panics, no frame vanishes, what groups are charged is what waits and
// leaves, each drop is told and counted once, and at the end every slot and byte is back
// (newTestSwitch). It reports whether the configuration is a valid one.
func anyRun(t *testing.T, seed uint64, steps int) bool {
	r := rand.New(rand.NewPCG(seed, 77))
	n := pick(r, 1, 2, 3, 6)
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("seed %d: panic: %v\n%s", seed, p, debug.Stack())
		}
	}()
	c := testConfig(n)
	anyConfig(r, &c, n)
	if _, err := NewSwitch(c); err != nil {
		return false
	}
	told, became := uint64(0), fates{}
	c.Dropped = func(f *buffer.Frame, why Reason) {
		told++
		became[f.Orig()]++
	}
	s := newTestSwitch(t, n, func(x *Config) { d := x.Detector; *x = c; x.Detector = d })
	t.Cleanup(func() { // what speaks LLDP comes to rest without links alone
		for p := range unit.Port(n) {
			s.link(p, false)
		}
	})
	receive := func(in unit.Port, frames [][]byte) {
		fs := s.fill(in, frames...)
		for _, f := range fs {
			if !became.over(f) {
				t.Fatalf("seed %d: a frame has vanished: %x", seed, f.Data[:34])
			}
			if f.Info.Kind == kindData {
				became[f] = 0
			}
		}
		s.Receive(s.now, in, fs)
		s.work()
	}
	macs := []unit.MAC{unit.Broadcast, 0x01005e000001, 0, stationMAC(0), stationMAC(unit.Port(n - 1)), portMAC(0), portMAC(unit.Port(n - 1)), 0x02dd00000001}
	ips := []string{"10.0.1.1", "10.0.1.10", "10.0.1.11", "10.0.1.12", "10.9.1.1", "10.9.255.1", "198.18.0.7", "224.0.0.1", "255.255.255.255", "0.0.0.0"}
	dead := [64]bool{}
	for range steps {
		p := unit.Port(r.IntN(n))
		switch k := r.IntN(100); {
		case k < 55:
			var fs [][]byte
			for range 1 + r.IntN(s.cfg.Batch) {
				d := datagram{dst: pick(r, append(macs, s.cfg.Ports[p].MAC, s.cfg.Ports[p].MAC)...), src: pick(r, macs...), from: pick(r, ips...), to: pick(r, ips...), priority: unit.Priority(r.IntN(8)), ecn: uint8(r.IntN(4)), ttl: 5, size: pick(r, 60, 61, 500, 1514), id: 1}
				f := d.frame()
				f[22] = pick(r, uint8(0), 1, 2, 64, 255)
				switch r.IntN(12) {
				case 0:
					f = tagged(f, uint8(r.IntN(8)))
				case 1:
					f = plain(d.dst, d.src, d.size)
				case 2:
					f = arp(uint16(1+r.IntN(2)), d.dst, d.src, pick(r, ips...), 0, pick(r, ips...))
				case 3:
					f[r.IntN(40)] ^= byte(1 << r.IntN(8))
				}
				fs = append(fs, f)
			}
			receive(p, fs)
		case k < 63:
			c := unit.Priority(r.IntN(8))
			s.receive(p, pick(r, pauseOf(c, uint16(r.IntN(3)*1000), uint8(r.IntN(3))), pfc(map[unit.Priority]uint16{c: uint16(r.IntN(65536)), 3: 9}), pause8023(pick(r, pauseGroup, s.cfg.Ports[p].MAC), uint16(r.IntN(3)*1000)), message(label(uint16(r.IntN(9)))), neighbour(pick(r, "a", "b"), unit.PrioritySet(r.IntN(256)))[:pick(r, 60, 40)]))
		case k < 82:
			for _, f := range s.lend(p, 1+r.IntN(s.cfg.Batch)) {
				became[f.Orig()]++
			}
			checkCharged(t, seed, s, n)
			s.sent(p)
		case k < 90:
			s.advance(pick(r, unit.Time(1), 1000, unit.Microsecond*50, unit.Millisecond, unit.Second))
		case k < 94:
			dead[p] = !dead[p]
			s.SetLink(s.now, p, !dead[p])
			s.work()
		case k < 95:
			s.SetRate(s.now, p, pick(r, unit.Rate(0), 10_000_000, 100_000_000))
			s.work()
		default:
			if s.lossless == 0 {
				continue
			}
			cl := s.lossless.First()
			b, q := detect.PG{Port: p, Priority: cl}, detect.Queue{Port: unit.Port(r.IntN(n)), Priority: cl}
			on := r.IntN(2) == 0
			switch r.IntN(12) {
			case 0:
				s.det.Drop(b, q)
			case 1:
				s.det.Force(b, q, r.IntN(5000))
			case 2:
				s.det.Ignore(q, on)
			case 3:
				s.det.Lossy(q, on)
			case 4:
				s.det.Flush(q, on)
			case 5:
				s.det.Discard(q, on)
			case 6:
				s.det.Restrict(b, q, on)
			case 7:
				s.det.Extra(b, pick(r, 0, 100, 5000))
			case 8:
				s.det.Avoid(p, q.Port, on)
			case 9:
				s.det.LossyTurn(b, q, on)
			case 10:
				s.det.Police(p, detect.FlowID(r.Uint32()), pick(r, unit.Rate(0), 1, 1000))
			}
			s.work()
		}
		s.log, s.det.calls = nil, nil
		checkCharged(t, seed, s, n)
	}
	s.cfg.Refresh = 10 * unit.Second
	// Every action is taken back, all links come up, and all drains.
	for p := range unit.Port(n) {
		s.ports[p].acted = acted{turns: s.ports[p].acted.turns}
		s.SetRate(s.now, p, 0)
		s.SetLink(s.now, p, true)
		s.work()
	}
	sum := uint64(0)
	for p := range unit.Port(n) {
		for rr := NoReason; rr < Reasons; rr++ {
			if !rr.Odd() {
				sum += s.Counters(p).Drops[rr]
			}
		}
	}
	if sum != told {
		t.Errorf("seed %d: %d drops were told, %d counted", seed, told, sum)
	}
	return true
}

// checkCharged counts anew what each group is charged: the frames that wait, and those that are
// leaving, each once.
func checkCharged(t *testing.T, seed uint64, s *testSwitch, n int) {
	t.Helper()
	charged, seen := map[detect.PG]int{}, map[*buffer.Frame]bool{}
	count := func(f *buffer.Frame) {
		if o := f.Orig(); o.Charged && !seen[o] {
			seen[o] = true
			charged[detect.PG{Port: o.In, Priority: o.InPriority}] += s.mmu.Charge(o.Len)
		}
	}
	for p := range unit.Port(n) {
		for cl := range unit.Priority(unit.Priorities) {
			for f := s.Queue(p, cl).Head(); f != nil; f = f.Next() {
				count(f)
			}
		}
		for _, f := range s.lent[p] {
			count(f)
		}
	}
	for p := range unit.Port(n) {
		for cl := range unit.Priority(unit.Priorities) {
			b, headroom := s.mmu.Bytes(p, cl)
			if b != charged[detect.PG{Port: p, Priority: cl}] || headroom < 0 || headroom > b {
				t.Fatalf("seed %d: group %d.%d is charged %d bytes, %d of them in the headroom; frames of %d wait and leave", seed, p, cl, b, headroom, charged[detect.PG{Port: p, Priority: cl}])
			}
		}
	}
	if pool := s.cfg.Buffer.HeadroomPool; pool != nil && (s.mmu.HeadroomPool() < 0 || s.mmu.HeadroomPool() > pool.Bytes) {
		t.Fatalf("seed %d: %d bytes of the pool of headroom are in use, of %d", seed, s.mmu.HeadroomPool(), pool.Bytes)
	}
}

// TestAnyConfig plays random valid configurations: some, or as many as -configs has time for.
func TestAnyConfig(t *testing.T) {
	from, begun := testkit.Seed(t), time.Now()
	played, refused := 0, 0
	for i := uint64(0); *configs > 0 && time.Since(begun) < *configs || *configs == 0 && i < 150; i++ {
		seed := from + i
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if anyRun(t, seed, 300) {
				played++
			} else {
				refused++
			}
		}) {
			break
		}
	}
	t.Logf("%d configurations from seed %d on, %d more refused", played, from, refused)
	if played == 0 {
		t.Error("no configuration was valid")
	}
}
