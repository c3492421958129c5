// Mode Lossless asks whether what validates without a warning is lossless: random fabrics, links of
// any rate and length, frames, thresholds, cells and pools, with headroom that the file leaves out
// or says. Hosts storm and are slow; no link fails, no wire loses anything. No lossless frame may be
// lost for want of buffer, at switches and at hosts.

package fuzz

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/internal/stat"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// lossless makes a case of mode Lossless.
func (m *maker) lossless() {
	m.MTU = pick(m, 0, 0, 4200, 9000)
	m.rate = pick(m, unit.Rate(1), 10, 25, 40, 100, 200, 400) * 1_000_000_000
	m.tick = m.rate.FrameTime(m.full())
	m.fabric(shapes)
	m.lengths()
	m.traffic()
	m.sameWays()
	for range m.between(1, 3) {
		m.badHost(pick(m, m.Flows...).To)
	}
	m.Events = slices.DeleteFunc(m.Events, func(e Event) bool { return e.Do == "fail" || e.Do == "heal" })
	m.thresholdsOf(pick(m, TruthStatic, TruthOffset, TruthDynamic, TruthSONiC))
	m.Cell = pick(m, 0, 0, 80, 144, 208, 254, 420)
	if m.one(4) {
		m.HeadroomPool = fmt.Sprintf(", headroom_pool: {ratio: 1, port: %d}", pick(m, 0, 1, m.between(1, 100_000), 10_240))
	}
	m.Headroom = 0 // what the links need
	if m.one(4) {
		m.Headroom = m.between(5_000, 200_000)
	}
	if m.one(4) {
		m.RxBuffer = m.between(64<<10, 1<<20)
	}
	m.Duration = m.end + 100*m.hop()
	for _, e := range m.Events {
		m.Duration = max(m.Duration, e.At+e.For+20*m.hop())
	}
}

// lengths draws how long the links are, up to a kilometre, where speeds has them by the time of a
// frame.
func (m *maker) lengths() {
	if m.one(3) {
		return
	}
	for i := range m.Links {
		m.Links[i].Delay, m.Links[i].Jitter = unit.Time(m.between(0, 5000)), pick(m, 0, 0, unit.Time(m.between(0, 1000)))
	}
}

// LosslessOutcome is the result of a case.
type LosslessOutcome struct {
	// Invalid is why the case says nothing, Refused that its file is refused, Warned that it is
	// warned of. Then nothing else is set.
	Invalid         string
	Refused, Warned bool

	Frames uint64 // frame-hops
	XOFF   int
	// Full is how much of its headroom the group that used most of it used, in thousandths.
	Full int
	Lost int
	Why  string // what was lost
}

// ofLosses reports whether a warning is not one of a flow's or an event's rate, by which nothing is lost.
func ofLosses(warning string) bool {
	_, what, _ := strings.Cut(warning, ": ")
	return !strings.HasPrefix(what, "flows[") && !strings.HasPrefix(what, "events[")
}

func (o LosslessOutcome) why() string { return o.Invalid }

// playLossless plays a case with a detector.
func playLossless(r *Run, i int) (o LosslessOutcome) {
	defer recovered(&o, &o.Invalid)
	return r.newCase(i).playLossless(r.detector(), false)
}

// playLossless plays the case, and although it is warned of if it says so.
func (c *Case) playLossless(d catalog.Detector, warned bool) (o LosslessOutcome) {
	s, err := scenario.Parse(c.Name()+".yaml", c.Text(d.Name, ""), scenario.Known{Detectors: []string{d.Name}})
	switch {
	case err != nil:
		return LosslessOutcome{Refused: true}
	case slices.ContainsFunc(s.Warnings, ofLosses) && !warned:
		return LosslessOutcome{Warned: true}
	}
	w, v, err := c.run(d.Name, d.New)
	if err != nil {
		return LosslessOutcome{Invalid: err.Error()}
	}
	o.Frames, _ = w.Frames()
	o.XOFF, o.Full = v.PFC.XOFF, fullest(w)
	for _, reason := range slices.Sorted(maps.Keys(v.LosslessLostBy)) {
		if reason == dataplane.DropTTL.String() { // a loop of routes, which no buffer helps
			continue
		}
		n := v.LosslessLostBy[reason]
		o.Lost += n
		o.Why += fmt.Sprintf(" %d %s", n, reason)
	}
	if o.Lost > 0 {
		o.Why = fmt.Sprintf("%s lost:%s, %+v", unit.Count(o.Lost, "lossless frame"), o.Why, v.HeadroomShort)
	}
	return o
}

// fullest is how much of its headroom the group of a switch used that used most of it, in
// thousandths.
func fullest(w *sim.World) (most int) {
	w.EachSwitch(func(s *dataplane.Switch) {
		buffers := s.MMU().Config()
		for p := range unit.Port(s.Ports()) {
			for c := range unit.Priority(unit.Priorities) {
				if _, used := s.MMU().Watermark(p, c); used > 0 {
					most = max(most, 1000*used/max(1, buffers.XOFF(p)))
				}
			}
		}
	})
	return most
}

// LosslessReport sums up the outcomes of many cases.
type LosslessReport struct {
	Seed     uint64 `json:"seed"`
	Detector string `json:"detector"`
	Cases    int    `json:"cases"`
	Refused  int    `json:"refused"`
	Warned   int    `json:"warned"`
	Invalid  int    `json:"invalid"`
	// Played are those that the rest is about; of them Paused in which something paused, and Near
	// those in which a group used nine tenths of its headroom.
	Played int        `json:"played"`
	Paused int        `json:"paused"`
	Near   int        `json:"headroom_used_by_nine_tenths"`
	Frames uint64     `json:"frame_hops"`
	Lost   int        `json:"lossless_lost"`
	Losing stat.Share `json:"cases_that_lose"`
	// Why says what was lost, case by case.
	Why []string `json:"why"`
}

func newLosslessReport(r *Run) *LosslessReport {
	return &LosslessReport{Seed: r.Seed, Detector: r.detector().Name, Why: []string{}}
}

// Add counts the outcome of case number i.
func (r *LosslessReport) Add(i int, o *LosslessOutcome) {
	r.Cases++
	switch {
	case o.Invalid != "":
		r.Invalid++
		return
	case o.Refused:
		r.Refused++
		return
	case o.Warned:
		r.Warned++
		return
	}
	r.Played++
	r.Frames += o.Frames
	r.Lost += o.Lost
	r.Losing.Add(o.Lost > 0)
	count(&r.Paused, o.XOFF > 0)
	count(&r.Near, o.Full >= 900)
	if o.Why != "" {
		r.Why = append(r.Why, fmt.Sprintf("seed %d, case %d: %s", r.Seed, i, o.Why))
	}
}

// Clean reports whether every case could be played and none lost a lossless frame.
func (r *LosslessReport) Clean() bool { return r.Invalid+r.Lost == 0 }

// WriteText writes the report for people.
func (r *LosslessReport) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "mode %s, detector %s, seed %d, %s, %s\n\n", Lossless, r.Detector, r.Seed, unit.Count(r.Cases, "case"), unit.Count(r.Frames, "frame-hop"))
	fmt.Fprintf(w, "played     %d; %d warned of, %d refused, %d invalid\n", r.Played, r.Warned, r.Refused, r.Invalid)
	fmt.Fprintf(w, "paused     in %d; in %d a group of a switch used nine tenths of its headroom or more\n", r.Paused, r.Near)
	_, err := fmt.Fprintf(w, "lost       %s, in %d cases, %s\n", unit.Count(r.Lost, "lossless frame"), r.Losing.N, percent(r.Losing))
	for _, why := range r.Why {
		_, err = fmt.Fprintln(w, why)
	}
	return err
}
