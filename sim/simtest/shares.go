package simtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// Shares is a scenario that measures how ports share their links, and what each flow should get of its
// link's time. Eight hosts, one for each priority, send to each of some receivers, whose links are slow and
// have random schedulers of their own. Flows of strict priorities take little; each of the others
// offers more than its share.
type Shares struct {
	Text string
	want map[string]float64
	wire map[string]float64 // bytes of a frame on the wire, by flow
	time unit.Time
}

// The speed of a receiver's link, and for how many rounds it is measured: what a queue got may be a
// quantum apart from its share.
const (
	sharesRate   = 10_000_000
	sharesRounds = 30
)

// NewShares draws the schedulers of some receivers, and the lengths of frames. lossless are the lossless
// priorities; they need a receiver that is alone, for one that waits would pause what the others get.
func NewShares(r *rand.Rand, receivers, mtu int, lossless []int) *Shares {
	s := &Shares{want: map[string]float64{}, wire: map[string]float64{}}
	var hosts, links, overrides, flows []string
	for c := range unit.Priorities {
		hosts, links = append(hosts, fmt.Sprint("tx", c)), append(links, fmt.Sprintf("tx%d--s1", c))
	}
	for i := range receivers {
		hosts, links = append(hosts, fmt.Sprint("rx", i)), append(links, fmt.Sprintf("s1--rx%d", i))
		strict, weights := [unit.Priorities]bool{}, [unit.Priorities]int{}
		left, all := 1.0, 0
		var load [unit.Priorities]float64 // of strict ones
		var keys []string
		for c := range unit.Priorities {
			if strict[c] = c > 0 && r.IntN(4) == 0; strict[c] { // priority 0 is weighted in any case
				load[c] = 0.02 + 0.08*r.Float64()
				left -= load[c]
				keys = append(keys, fmt.Sprintf("%d: {type: strict}", c))
				continue
			}
			weights[c] = 1 + r.IntN(20)
			all += weights[c]
			keys = append(keys, fmt.Sprintf("%d: {type: dwrr, weight: %d}", c, weights[c]))
		}
		least := slices.Min(lists.Where(weights[:], func(w int) bool { return w > 0 }))
		s.time = max(s.time, sharesRounds*unit.Time(all)*unit.Rate(sharesRate).FrameTime(mtu+18)/unit.Time(least))
		overrides = append(overrides, fmt.Sprintf("    - {link: s1--rx%d, rate: %dbit/s, scheduler: {%s}}", i, sharesRate, strings.Join(keys, ", ")))
		for c := range unit.Priorities {
			name, frame := fmt.Sprintf("F%d-%d", i, c), 200+r.IntN(mtu+14-200+1)
			share := load[c]
			offered := share
			if !strict[c] {
				share = left * float64(weights[c]) / float64(all)
				offered = 1.5*share + 0.01
			}
			rate := fmt.Sprintf("%dbit/s", int(offered*sharesRate))
			// A turn is longer than what a lossless queue may hold: it has to be filled meanwhile.
			if !strict[c] && slices.Contains(lossless, c) {
				rate = "line"
			}
			s.want[name], s.wire[name] = share, float64(frame+unit.WireOverhead)
			flows = append(flows, fmt.Sprintf("  - {name: %s, from: tx%d, to: rx%d, priority: %d, rate: %s, frame: %d}", name, c, i, c, rate, frame))
		}
	}
	s.Text = fmt.Sprintf(`name: shares
topology:
  switches: [s1]
  hosts: [%s]
  links: [%s]
  rate: 100Mbit/s
  mtu: %d
  overrides:
%s
pfc: {lossless: %s}
detector: none
flows:
%s
duration: %s
`, strings.Join(hosts, ", "), strings.Join(links, ", "), mtu, strings.Join(overrides, "\n"), strings.ReplaceAll(fmt.Sprint(lossless), " ", ", "), strings.Join(flows, "\n"), s.time)
	return s
}

// Apart is how far the flow that was furthest off was from its share, in parts of its link's time, and
// which one that was.
func (s *Shares) Apart(v *verdict.Verdict) (worst float64, flow string) {
	for _, f := range v.Flows {
		got := float64(f.Received) * s.wire[f.Name] * 8 / sharesRate / (float64(s.time) / float64(unit.Second))
		if apart := max(got-s.want[f.Name], s.want[f.Name]-got); apart > worst {
			worst, flow = apart, fmt.Sprintf("%s got %.2f %% of its link, and its share is %.2f %%", f.Name, 100*got, 100*s.want[f.Name])
		}
	}
	return worst, flow
}
