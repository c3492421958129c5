package dataplane

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/internal/stat"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// slowMarker is the marking of one switch as the papers have it: probabilities as floats,
// phantom queues as fractions.
type slowMarker struct {
	ECN
	coin    stat.Rand // draws what the switch's draws
	phantom map[[2]int]*slowPhantom
	draws   int
}

type slowPhantom struct {
	bytes *big.Rat
	at    unit.Time
}

// marks reports whether a frame that leaves left bytes in its queue is marked.
func (m *slowMarker) marks(now unit.Time, out unit.Port, priority unit.Priority, rate unit.Rate, frame []byte, ect bool, left int) bool {
	if !m.Priorities.Has(priority) {
		return false
	}
	over := false
	if m.Phantom.Drain > 0 {
		id := [2]int{int(out), int(priority)}
		q := m.phantom[id]
		if q == nil {
			q = &slowPhantom{bytes: new(big.Rat)}
			m.phantom[id] = q
		}
		if rate == 0 {
			rate = unit.NominalRate
		}
		drained := big.NewRat(int64(rate), 8*int64(unit.Second))
		drained.Mul(drained, big.NewRat(int64(m.Phantom.Drain), 100))
		drained.Mul(drained, big.NewRat(int64(now-q.at), 1))
		if q.bytes.Sub(q.bytes, drained); q.bytes.Sign() < 0 {
			q.bytes.SetInt64(0)
		}
		q.bytes.Add(q.bytes, big.NewRat(int64(len(frame)+24), 1))
		q.at = now
		over = q.bytes.Cmp(big.NewRat(int64(m.Phantom.Mark), 1)) > 0
	}
	r := m.RED
	switch {
	case !ect:
		return false
	case over:
		return true
	case r.Kmax == 0 || left <= r.Kmin:
		return false
	case left > r.Kmax:
		return true
	}
	m.draws++
	chance := float64(r.Pmax) / 100 * float64(left-r.Kmin) / float64(r.Kmax-r.Kmin)
	return float64(m.coin.Next()>>40)/(1<<24) < chance
}

// marked is a frame as it has to be after marking: gopacket reckons its checksum.
func marked(t *testing.T, frame []byte) []byte {
	t.Helper()
	_, off, _, _, _ := ether.Layer(frame)
	var ip layers.IPv4
	if err := ip.DecodeFromBytes(frame[off:], gopacket.NilDecodeFeedback); err != nil {
		t.Fatal(err)
	}
	ip.TOS |= 3
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{ComputeChecksums: true}, &ip, gopacket.Payload(ip.Payload)); err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(frame[:off]), b.Bytes()...)
}

// Random frames, queues and thresholds: what leaves is what came, marked where the papers
// say so, with a checksum that gopacket reckons, and with as many draws as chance decides.
func TestECN(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	total := 0
	for n := range 40 {
		e := ECN{Priorities: unit.PrioritySet(r.IntN(4)<<3 | r.IntN(2)), Seed: r.Uint64()}
		if n%4 != 1 {
			e.RED = RED{Kmin: r.IntN(3000), Pmax: 1 + r.IntN(100)}
			e.RED.Kmax = max(1, e.RED.Kmin+r.IntN(4000)*(n%3))
		}
		if n%4 != 2 {
			e.Phantom = Phantom{Drain: 1 + r.IntN(100), Mark: r.IntN(4000)}
		}
		s := newTestSwitch(t, 3, func(c *Config) {
			c.ECN, c.Ports[2].Rate = e, 1_000_000_000
			c.Buffer.Profile = buffer.DefaultProfile
		})
		ref := slowMarker{ECN: e, coin: stat.Rand(e.Seed), phantom: map[[2]int]*slowPhantom{}}
		var queues [3][unit.Priorities][][]byte // frames that wait
		var counts [3][unit.Priorities]uint64
		id := uint32(0)
		for range 400 {
			out := unit.Port(1 + r.IntN(2))
			s.advance(unit.Time(r.Int64N(3000)))
			for range r.IntN(6) {
				id++
				d := datagram{
					dst: stationMAC(out), src: stationMAC(0), priority: []unit.Priority{0, 3, 4}[r.IntN(3)], ecn: uint8(r.IntN(4)),
					size: 60 + r.IntN(1400), ttl: uint8(1 + r.IntN(255)), sport: uint16(1 + r.IntN(60000)), id: id,
				}
				f, priority := d.frame(), d.priority
				switch r.IntN(8) {
				case 0:
					f = tagged(f, 5) // trusted is the DSCP
				case 1:
					f, priority = plain(d.dst, d.src, d.size), 0
				}
				before := s.Queue(out, priority).Frames()
				s.receive(0, f)
				if s.Queue(out, priority).Frames() > before {
					queues[out][priority] = append(queues[out][priority], f)
				}
			}
			for _, f := range s.lend(out, r.IntN(6)) {
				q := &queues[out][f.OutPriority]
				in := (*q)[0]
				*q = (*q)[1:]
				left := 0
				for _, w := range *q {
					left += len(w)
				}
				_, off, _, _, _ := ether.Layer(in)
				ip := in[off-2] == 8 && in[off-1] == 0
				ect := ip && (in[off+1]&3 == 1 || in[off+1]&3 == 2)
				want := in
				if ref.marks(s.now, out, f.OutPriority, s.cfg.Ports[out].Rate, in, ect, left) {
					want = marked(t, in)
					counts[out][f.OutPriority]++
					total++
				}
				if !bytes.Equal(f.Data, want) {
					t.Fatalf("seed %d, run %d, %+v: %d bytes stay behind\n% x leaves, want\n% x", seed, n, e, left, f.Data[:40], want[:40])
				}
			}
			s.sent(out)
		}
		for _, out := range []unit.Port{2, 1, 0} { // the pauses of port 0 last
			if got := s.Counters(out).Marked; got != counts[out] {
				t.Errorf("seed %d, run %d: port %d counts %v marks, want %v", seed, n, out, got, counts[out])
			}
			s.advance(unit.Second)
			for len(s.transmit(out, 8)) > 0 {
				s.advance(unit.Second)
			}
		}
		if e.Priorities == 0 && s.marker.coin != stat.Rand(e.Seed) {
			t.Errorf("run %d: something was drawn, and nothing is to be marked", n)
		}
	}
	if total < 100 {
		t.Errorf("seed %d: %d frames were marked in all, want more", seed, total)
	}
}

// ecnOf are the two bits of each frame.
func ecnOf(frames [][]byte) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprint(&b, f[15]&3)
	}
	return b.String()
}

// A script: five frames of 1000 bytes wait, and those that leave more than 2000 bytes behind
// are marked, if their sender heeds it.
func TestRED(t *testing.T) {
	for ecn, want := range []string{0: "00000", 1: "33111", 2: "33222", 3: "33333"} {
		s := newTestSwitch(t, 2, func(c *Config) { c.ECN = ECN{Priorities: 1 << 3, RED: RED{Kmin: 2000, Kmax: 2000, Pmax: 100}} })
		for range 5 {
			s.receive(0, datagram{dst: stationMAC(1), src: stationMAC(0), priority: 3, ecn: uint8(ecn)}.frame())
		}
		if got := ecnOf(s.transmit(1, 8)); got != want {
			t.Errorf("ECN %d leaves as %s, want %s", ecn, got, want)
		}
		if got, want := s.Counters(1).Marked[3], uint64(strings.Count(want, "3")); ecn < 3 && got != want || ecn == 3 && got != 0 {
			t.Errorf("ECN %d: %d marks are counted, want %d, and none of a frame that came marked", ecn, got, want)
		}
		s.transmit(0, 8) // the pause
	}
	// What waits for a link that goes down does not leave.
	s := newTestSwitch(t, 2, func(c *Config) { c.ECN = ECN{Priorities: 1 << 3, RED: RED{Kmax: 1, Pmax: 100}} })
	s.receive(0, datagram{dst: stationMAC(1), src: stationMAC(0), priority: 3, ecn: 2}.frame(), between(0, 1, 3, 1))
	s.link(1, false)
	if n := s.Counters(1).Marked[3]; n != 0 {
		t.Errorf("%d marks on frames that were dropped", n)
	}
}

// Between Kmin and Kmax as many are marked as the line through both says.
func TestChance(t *testing.T) {
	const n = 100_000
	for _, pmax := range []int{1, 10, 100} {
		m := newMarker(ECN{Priorities: 1 << 3, RED: RED{Kmin: 5000, Kmax: 25_000, Pmax: pmax}, Seed: 7}, 1)
		if m.early(5000) || !m.early(25_001) || m.coin != 7 {
			t.Errorf("pmax %d: up to Kmin none is marked, above Kmax all, and nothing is drawn", pmax)
		}
		for left := 5000; left <= 25_000; left += 4000 {
			got := 0
			for range n {
				if m.early(left) {
					got++
				}
			}
			chance := float64(pmax) / 100 * float64(left-5000) / 20_000
			if most := 5*math.Sqrt(n*chance*(1-chance)) + 1; math.Abs(float64(got)-n*chance) > most {
				t.Errorf("pmax %d, %d bytes: %d of %d, want %.0f within %.0f", pmax, left, got, n, n*chance, most)
			}
		}
	}
}

// A phantom queue by hand: at 1 byte a nanosecond, half of which it drains.
func TestPhantom(t *testing.T) {
	var q phantomQueue
	for _, step := range []struct {
		now   unit.Time
		bytes int
		want  int64
	}{{10, 100, 100}, {11, 10, 110}, {12, 0, 109}, {12, 1, 110}, {112, 0, 60}, {231, 0, 1}, {232, 0, 0}, {300, 7, 7}, {unit.Never, 3, 3}} {
		if got := q.pass(step.now, 8_000_000_000, 50, step.bytes); got != step.want {
			t.Errorf("%d bytes at %d ns: %d, want %d", step.bytes, step.now, got, step.want)
		}
	}
	for mark, want := range map[int]string{1023: "3", 1024: "2"} { // 1000 bytes and what goes with them on a wire
		s := newTestSwitch(t, 2, func(c *Config) { c.ECN = ECN{Priorities: 1 << 3, Phantom: Phantom{Drain: 95, Mark: mark}} })
		s.receive(0, datagram{dst: stationMAC(1), src: stationMAC(0), priority: 3, ecn: 2}.frame())
		if got := ecnOf(s.transmit(1, 1)); got != want {
			t.Errorf("a phantom queue that marks above %d bytes: a frame leaves with %s, want %s", mark, got, want)
		}
	}
}

// A flooded frame shares its bytes with copies on other wires, and is marked only once it is
// the last.
func TestMarkFlooded(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.ECN = ECN{Priorities: 1 << 3, Phantom: Phantom{Drain: 1}} })
	flood := datagram{dst: unit.Broadcast, src: stationMAC(0), priority: 3, ecn: 2}.frame()
	s.receive(0, flood)
	if got := ecnOf([][]byte{s.lend(1, 1)[0].Data}); got != "2" {
		t.Errorf("the first of two leaves with %s, want 2", got)
	}
	s.sent(1)
	if got := ecnOf(s.transmit(2, 1)); got != "3" {
		t.Errorf("the last leaves with %s, want 3", got)
	}
	s.receive(0, flood)
	s.lend(1, 1)
	if got := ecnOf(s.transmit(2, 1)); got != "2" {
		t.Errorf("the second leaves with %s while the first is on its wire, want 2", got)
	}
	s.sent(1)
}

// What cannot be is refused, with what can.
func TestECNRefused(t *testing.T) {
	for _, e := range []ECN{
		{RED: RED{Kmin: 5, Kmax: 4, Pmax: 10}},
		{RED: RED{Kmin: -1, Kmax: 4, Pmax: 10}},
		{RED: RED{Kmax: 1<<30 + 1, Pmax: 10}},
		{RED: RED{Kmax: 4}},
		{RED: RED{Kmax: 4, Pmax: 101}},
		{Phantom: Phantom{Drain: 101}},
		{Phantom: Phantom{Drain: -1}},
		{Phantom: Phantom{Drain: 95, Mark: -1}},
	} {
		c := testConfig(2)
		c.ECN = e
		if _, err := NewSwitch(c); err == nil || !strings.Contains(err.Error(), "ecn: ") || !strings.Contains(err.Error(), "valid: ") {
			t.Errorf("%+v: error %v, want one of ecn that says what is valid", e, err)
		}
	}
}
