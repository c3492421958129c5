package watchdog

import (
	"math/rand/v2"
	"testing"

	"softswitch/unit"
)

// asics are those of which SONiC has a script.
var asics = []ASIC{Broadcom, Mellanox, Mellanox2023}

// byASIC is the default watchdog of an ASIC.
func byASIC(of ASIC) Config {
	c := Default()
	c.ASIC = of
	return c
}

// counters is what SAI counts of a queue, in SONiC's COUNTERS_DB.
type counters struct {
	occupancy int       // SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES
	packets   uint64    // SAI_QUEUE_STAT_PACKETS
	rx        uint64    // SAI_PORT_STAT_PFC_n_RX_PKTS
	on2off    uint64    // SAI_PORT_STAT_PFC_n_ON2OFF_RX_PKTS
	duration  unit.Time // SAI_PORT_STAT_PFC_n_RX_PAUSE_DURATION_US
	paused    bool      // SAI_QUEUE_ATTR_PAUSE_STATUS
}

// lua is the reference: pfc_detect_broadcom.lua and pfc_detect_mellanox.lua, the latter before and since pull
// request 3036, line by line, for one queue that has had no storm.
type lua struct {
	of              ASIC
	detection, poll unit.Time
	left            unit.Time
	at              unit.Time
	last            *counters
}

func (l *lua) storm(at unit.Time, c counters) bool {
	effective := at - l.at
	if l.last == nil {
		l.at, l.last, l.left = at, &c, l.detection
		return false
	}
	last := *l.last
	l.at, l.last = at, &c
	agrees, over := false, false
	charge := l.poll
	switch l.of {
	case Broadcom:
		agrees = c.rx-last.rx > 0 && c.on2off-last.on2off == 0 && last.paused && c.paused
		over = l.left <= l.poll
	case Mellanox:
		agrees = c.occupancy > 0 && c.packets-last.packets == 0 && float64(c.duration-last.duration) > float64(effective)*0.99
		over = float64(l.detection-l.left+effective) > float64(l.detection)*0.99
		charge = effective
	case Mellanox2023:
		agrees = c.occupancy > 0 && c.packets-last.packets == 0 && c.rx-last.rx > 0 ||
			c.occupancy == 0 && c.packets-last.packets == 0 && float64(c.duration-last.duration) > float64(l.poll)*0.8
		over = l.left <= l.poll
	}
	switch {
	case !agrees:
		l.left = l.detection
	case over:
		return true
	default:
		l.left -= charge
	}
	return false
}

// history is a queue over time, of which a watchdog and the reference hear.
type history struct {
	*script
	begun  []unit.Time // of pauses
	ended  []unit.Time
	on2off uint64
}

// next lets something random happen, sometimes nothing for a while.
func (h *history) next(r *rand.Rand) {
	switch n := r.IntN(20); {
	case n < 10 && h.paused, n < 16 && !h.paused:
		if !h.paused {
			h.begun = append(h.begun, h.now)
		}
		h.pause()
	case n < 17 && h.paused:
		h.ended, h.on2off = append(h.ended, h.now), h.on2off+1
		h.resume()
	case n == 17 && !h.paused:
		h.left++
	case n == 18:
		h.bytes[in] = 0
	default:
		h.bytes[in] = 1500
	}
}

// counters adds the pauses up, one by one.
func (h *history) counters() counters {
	c := counters{occupancy: h.bytes[in], packets: h.left, rx: h.pauses, on2off: h.on2off, paused: h.paused}
	for i, begun := range h.begun {
		end := h.now
		if i < len(h.ended) {
			end = h.ended[i]
		}
		c.duration += end - begun
	}
	return c
}

// Each ASIC's watchdog calls the first storm of random histories at the poll at which its script does, however
// late polls come.
func TestASICsAsTheirScripts(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	storms, calm, other := map[ASIC]int{}, map[ASIC]int{}, 0
	for n := range 3000 {
		detection := []unit.Time{200 * ms, 450 * ms, 1000 * ms}[r.IntN(3)]
		late := []unit.Time{1, 3 * ms, 60 * ms}[r.IntN(3)]
		history1, history2, quiet := r.Uint64(), r.Uint64(), unit.Time(5+r.IntN(250))*ms
		first := map[ASIC]unit.Time{}
		for _, of := range asics {
			c := byASIC(of)
			c.Detection = detection
			h := &history{script: start(t, c)}
			ref := lua{of: of, detection: detection, poll: c.Poll}
			r := rand.New(rand.NewPCG(history1, history2)) // the same for each ASIC
			for next := unit.Time(0); h.now < 10_000*ms; {
				at := h.dog.Deadline() + unit.Time(r.Int64N(int64(late)))
				for ; next <= at; next += 1 + unit.Time(r.Int64N(int64(quiet))) {
					h.now = next
					h.next(r)
				}
				h.now = at
				h.dog.Tick(at)
				want := ref.storm(at, h.counters())
				if got := h.dog.Stats(q).Stormed; got != want {
					t.Fatalf("case %d, %s, detection %d ms, polls up to %d us late: at %d us a storm: %v, by the script: %v", n, h.dog.Name(), detection/ms, late/unit.Microsecond, at/unit.Microsecond, got, want)
				}
				if want {
					first[of] = at
					break
				}
			}
			if _, ok := first[of]; ok {
				storms[of]++
			} else {
				calm[of]++
			}
		}
		if len(first) > 0 && (first[Broadcom] != first[Mellanox] || first[Mellanox] != first[Mellanox2023]) {
			other++
		}
	}
	for _, of := range asics {
		if storms[of] < 50 || calm[of] < 50 {
			t.Errorf("%s: %d histories with a storm, %d without; want both", asicNames[of], storms[of], calm[of])
		}
	}
	if other < 100 {
		t.Errorf("the ASICs differ in %d histories; want many", other)
	}
}

// What each makes of a queue from the baseline at 0 to the poll at 200 ms; everything holds at that poll too.
func TestASICs(t *testing.T) {
	for name, c := range map[string]struct {
		between                           func(sc *script)
		any, broadcom, mellanox, oldStyle uint64 // storms
	}{
		"stands still": {func(sc *script) { sc.standstill() }, 1, 1, 1, 1},
		"empty, before a host that storms": {func(sc *script) {
			sc.pause()
		}, 0, 1, 0, 1},
		"no pause frame since the baseline": {func(sc *script) {
			sc.bytes[in] = 1500
			sc.pauses -= 2
		}, 1, 0, 1, 0},
		"a pause of 1 ms that ended": {func(sc *script) {
			sc.bytes[in] = 1500
			sc.until(100 * ms)
			sc.resume()
			sc.until(101 * ms)
			sc.pause()
		}, 0, 0, 1, 1},
		"flickers, and nothing gets through": {func(sc *script) {
			sc.bytes[in] = 1500
			for at := 10 * ms; at < 200*ms; at += 10 * ms {
				sc.until(at)
				sc.resume()
				sc.until(at + ms)
				sc.pause()
			}
		}, 0, 0, 0, 1},
		"sends in between": {func(sc *script) {
			sc.bytes[in] = 1500
			sc.left++
		}, 0, 1, 0, 0},
	} {
		for of, want := range map[ASIC]uint64{AnyASIC: c.any, Broadcom: c.broadcom, Mellanox: c.mellanox, Mellanox2023: c.oldStyle} {
			sc := start(t, byASIC(of))
			sc.pause()
			sc.until(0)
			c.between(sc)
			sc.until(200 * ms)
			if got := sc.dog.Stats(q).Detected; got != want {
				t.Errorf("%s: %s has %d storms, want %d", name, asicNames[of], got, want)
			}
		}
	}
}

// The first poll is a baseline, and so is the first one after no poll was to be taken: nothing is a storm by what
// was before.
func TestASICsBeginWithABaseline(t *testing.T) {
	for _, of := range asics {
		sc := start(t, byASIC(of))
		sc.standstill()
		sc.until(199 * ms)
		sc.wantStorms(0, 0)
		sc.dog.SetPolling(false)
		sc.until(1100 * ms)
		sc.dog.SetPolling(true)
		sc.until(1200 * ms)
		sc.wantStorms(0, 0)
		sc.until(1400 * ms)
		sc.wantStorms(1, 0)
	}
}

// A watchdog that replaces another one while a queue is paused hears of no beginning, and counts from its first
// poll.
func TestASICsInPlaceOfAnother(t *testing.T) {
	for _, of := range asics {
		sc := start(t, byASIC(of))
		sc.paused, sc.bytes[in] = true, 1500
		sc.until(199 * ms)
		sc.wantStorms(0, 0)
		sc.until(200 * ms)
		sc.wantStorms(1, 0)
	}
}
