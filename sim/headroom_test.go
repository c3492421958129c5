package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/host"
	"softswitch/internal/testkit"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// stopped is a random scenario: two hosts send over two switches to a third one, which stops, while
// it sends long frames the other way.
type stopped struct {
	rate             unit.Rate
	delay            unit.Time
	mtu, frame, cell int
	stop             string
	priority         int // of the frames the other way
	phase            unit.Time
}

func randomStop(r *rand.Rand) stopped {
	c := stopped{
		rate:     unit.Rate(1e9 * math.Pow(400, r.Float64())),
		delay:    unit.Time(r.IntN(5001)),
		mtu:      []int{1500, 1500, 4096, 9216}[r.IntN(4)],
		cell:     []int{0, 0, 96, 144, 208, 254}[r.IntN(6)],
		stop:     []string{"storm", "slow"}[r.IntN(2)],
		priority: []int{0, 4}[r.IntN(2)],
	}
	c.frame = 64 + r.IntN(c.mtu+14-64+1)
	if r.IntN(2) == 0 {
		c.frame = c.mtu + 14
	}
	c.phase = unit.Time(r.IntN(int(c.rate.FrameTime(c.mtu + 14))))
	return c
}

// text is its file, with more keys.
func (c stopped) text(more string) string {
	event := "{at: 0s, do: slow, host: h3, rate: 1kbit/s}"
	if c.stop == "storm" {
		event = "{at: 0s, do: storm, host: h3}"
	}
	// Until all buffers are full and all pauses have taken effect.
	needs := config.PFC{}.NeedsHeadroom(c.rate, c.delay, c.mtu, c.cell)
	duration := c.rate.FrameTime(400_000+12*needs) + 20*c.delay
	return fmt.Sprintf(`name: stopped
topology: {switches: [s1, s2], hosts: [h1, h2, h3], links: [h1--s1, h2--s1, s1--s2, s2--h3], rate: %s, delay: %s, mtu: %d}
flows:
  - {name: there, from: [h1, h2], to: h3, frame: %d}
  - {name: back, from: h3, to: h1, priority: %d, frame: %d, start: %s}
  - {name: beside, from: h3, to: h2, priority: %d, frame: %d, start: %s}
events: [%s]
duration: %s
detector: none
%s`, c.rate.String(), c.delay.String(), c.mtu, c.frame, c.priority, c.mtu+14, c.phase.String(), c.priority, c.mtu+14, c.phase.String(),
		event, duration.String(), more)
}

// lost plays s and returns how many lossless frames switches, and how many hosts, lost.
func lost(t *testing.T, s *scenario.Scenario, seed uint64) (switches, hosts int) {
	w := simtest.World(t, s, sim.Options{Seed: seed, Detectors: catalog.Factories()})
	v, _ := simtest.RunWorld(t, w)
	w.EachHost(func(h *host.Host) { hosts += int(h.Counters().Overflow) })
	if v.PFC.XOFF == 0 {
		t.Errorf("seed %d: nobody paused", seed)
	}
	return v.LosslessLost, hosts
}

// What links have by default loses nothing, whatever their rate, delay, frames and cells, when all
// that is behind them stops. With four fifths of what they need nearly all lose whose wires hold so
// many frames that those at the ends count little. With cells only frames of the worst length
// would.
func TestDefaultHeadroomLosesNothing(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 5))
	tried, lossy := 0, 0
	runs := testkit.Sized[uint64](300, 3000)
	for i := range runs {
		c := randomStop(r)
		cell := ""
		if c.cell > 0 {
			cell = fmt.Sprintf("buffer: {cell: %d}\n", c.cell)
		}
		s := simtest.Parse(t, "stopped.yaml", c.text(cell), "none")
		if len(s.Warnings) > 0 {
			t.Errorf("seed %d, case %d: %+v: %q", seed, i, c, s.Warnings)
		}
		if switches, hosts := lost(t, s, i+1); switches+hosts > 0 {
			t.Errorf("seed %d, case %d: %+v: %d lossless frames lost, %d of them at hosts\n%s", seed, i, c, switches, hosts, c.text(cell))
		}
		needs := config.PFC{}.NeedsHeadroom(c.rate, c.delay, c.mtu, c.cell)
		if inWires := int(2 * float64(c.delay) * float64(c.rate) / 8e9); c.cell > 0 || inWires < 10*(c.mtu+14) || c.frame < 1000 {
			continue
		}
		tried++
		s = simtest.Parse(t, "stopped.yaml", c.text(fmt.Sprintf("buffer: {xoff: %d}\n", needs*4/5)), "none")
		if len(s.Warnings) == 0 {
			t.Errorf("seed %d, case %d: %+v: no warning of %d bytes where %d are needed", seed, i, c, needs*4/5, needs)
		}
		if switches, _ := lost(t, s, i+1); switches > 0 {
			lossy++
		}
	}
	t.Logf("%d cases without loss; with 80 %% of the headroom %d of %d lose (%.0f %%)", runs, lossy, tried, 100*float64(lossy)/float64(tried))
	if lossy*10 <= tried*9 {
		t.Errorf("seed %d: with 80 %% of the headroom %d of %d cases lose; want more than 90 %%", seed, lossy, tried)
	}
}

// A shared pool of headroom holds what some groups need at once. In an incast all of them need it: with
// a fourth of what they take frames are lost, and the file is warned of it; with all of it none is.
func TestHeadroomPoolInAnIncast(t *testing.T) {
	for ratio, loses := range map[int]bool{1: false, 4: true} {
		s := simtest.Parse(t, "incast.yaml", fmt.Sprintf(`name: incast
topology: {switches: [s1], hosts: [h1, h2, h3, h4, h5], links: [h1--s1, h2--s1, h3--s1, h4--s1, h5--s1], rate: 100Gbit/s, delay: 2us}
buffer: {headroom_pool: {ratio: %d}}
pfc: {lossless: [3]}
flows: [{name: a, from: [h1, h2, h3, h4], to: h5}]
events: [{at: 0s, do: storm, host: h5}]
duration: 100us
detector: none
`, ratio), "none")
		if warned := len(s.Warnings) > 0; warned != loses {
			t.Errorf("ratio %d: warnings %q", ratio, s.Warnings)
		}
		if switches, hosts := lost(t, s, 1); switches > 0 != loses || hosts > 0 {
			t.Errorf("ratio %d: %d lossless frames lost at switches, %d at hosts; want losses: %v", ratio, switches, hosts, loses)
		}
	}
}
