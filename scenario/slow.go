package scenario

import (
	"fmt"
	"maps"
	"slices"

	"softswitch/node/config"
	"softswitch/unit"
)

// maxSlow is the limit of Slow.
const maxSlow = config.MaxTimesSlower

// longest is the duration of the longest scenario, and so its latest time.
const longest = 24 * 3600 * unit.Second

// Slow is the same experiment n times slower: every rate is divided by n and every time
// multiplied by n. Bytes, thresholds and TTLs stay; pause quanta, which count bit
// times, scale by themselves. So buffers fill in the same order and by the same amount,
// and a world that cannot keep up with 40 Gbit/s can play the experiment at 100 Mbit/s.
// The name includes n: "hu-fig4 (slow 400)". For n = 1 it is s.
//
// The result shares unchanged parts with s. Rates are rounded to whole bits per second.
// The error names what cannot be slowed down: an n outside 1 to 1,000,000, a rate that
// would round to 0, or a time that would exceed a day.
func (s *Scenario) Slow(n int) (*Scenario, error) {
	if n < 1 || n > maxSlow {
		return nil, fmt.Errorf("slow: %d; valid: 1 to %d", n, maxSlow)
	}
	if n == 1 {
		return s, nil
	}
	x := slower{n: int64(n)}
	t := *s
	t.Name = fmt.Sprintf("%s (slow %d)", s.Name, n)
	x.time("duration", &t.Duration)
	x.pfc(&t.PFC)
	if s.Watchdog != nil {
		t.Watchdog = x.watchdog(s.Watchdog)
	}
	t.Links = slices.Clone(s.Links)
	for i := range t.Links {
		x.link(s.Fabric.Links[i].Name, &t.Links[i])
	}
	t.Flows = slices.Clone(s.Flows)
	for i := range t.Flows {
		x.flow(&t.Flows[i])
	}
	if s.Prevention != nil {
		t.Prevention = x.prevention(*s.Prevention)
	}
	if s.Congestion != nil {
		t.Congestion = x.congestion(*s.Congestion)
	}
	t.Events = slices.Clone(s.Events)
	for i := range t.Events {
		x.event(i, &t.Events[i])
	}
	x.time("expect: max_latency", &t.Expect.MaxLatency)
	t.ExpectFor = maps.Clone(s.ExpectFor)
	for _, detector := range slices.Sorted(maps.Keys(s.ExpectFor)) {
		e := s.ExpectFor[detector]
		x.time("expect_for "+detector+": max_latency", &e.MaxLatency)
		t.ExpectFor[detector] = e
	}
	if x.err != nil {
		return nil, fmt.Errorf("scenario %s: slowed down %d times: %w", s.Name, n, x.err)
	}
	return &t, nil
}

// slower multiplies times by n and divides rates by it. err is the first failure.
type slower struct {
	n   int64
	err error
}

func (x *slower) time(what string, t *unit.Time) {
	if *t > longest/unit.Time(x.n) {
		x.fail("%s: %s becomes more than %s", what, (*t).String(), longest.String())
		return
	}
	*t *= unit.Time(x.n)
}

// rate divides a rate; 0, "as fast as the link", stays.
func (x *slower) rate(what string, r *unit.Rate) {
	slow := (*r + unit.Rate(x.n/2)) / unit.Rate(x.n)
	if *r > 0 && slow == 0 {
		x.fail("%s: nothing is left of %s", what, (*r).String())
	}
	*r = slow
}

func (x *slower) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}

func (x *slower) link(name string, l *LinkSpeed) {
	x.rate("link "+name, &l.Rate)
	x.time("link "+name+": delay", &l.Delay)
	x.time("link "+name+": jitter", &l.Jitter)
	x.time("link "+name+": delay's spread", &l.DelaySpread)
}

func (x *slower) flow(f *Flow) {
	x.rate("flow "+f.Name, (*unit.Rate)(&f.Rate))
	if f.RateSpread /= unit.Rate(x.n); f.Rate > 0 {
		f.RateSpread = min(f.RateSpread, unit.Rate(f.Rate)-1) // less than the rate, however both are rounded
	}
	x.time("flow "+f.Name+": start", &f.Start)
	x.time("flow "+f.Name+": start's jitter", &f.Jitter)
	x.time("flow "+f.Name+": stop", &f.Stop)
	if f.RC != nil {
		c, timeout := *f.RC, *f.RC.Timeout
		x.time("flow "+f.Name+": rc.timeout", &timeout)
		c.Timeout = &timeout
		if c.TimeoutLow != nil {
			low := *c.TimeoutLow
			x.time("flow "+f.Name+": rc.timeout_low", &low)
			c.TimeoutLow = &low
		}
		f.RC = &c
	}
}

func (x *slower) watchdog(w *config.Watchdog) *config.Watchdog {
	detection, restoration, poll := *w.Detection, *w.Restoration, *w.Poll
	x.time("watchdog.detection_time", &detection)
	x.time("watchdog.restoration_time", &restoration)
	x.time("watchdog.poll", &poll)
	return &config.Watchdog{Detection: &detection, Restoration: &restoration, Poll: &poll}
}

func (x *slower) prevention(v Prevention) *Prevention {
	v.Limits = slices.Clone(v.Limits)
	for i := range v.Limits {
		x.rate("prevention: limit", &v.Limits[i].Rate)
	}
	if v.GFC != nil {
		slow := *v.GFC
		x.rate("prevention.gfc.lowest", &slow.Lowest)
		v.GFC = &slow
	}
	return &v
}

// congestion takes note of how much slower it is; parameters are made where they are used.
func (x *slower) congestion(c Congestion) *Congestion {
	if c.TimesSlower > maxSlow/int(x.n) {
		x.fail("congestion.times_slower: %d becomes more than %d", c.TimesSlower, maxSlow)
	}
	c.TimesSlower *= int(x.n)
	return &c
}

func (x *slower) event(i int, e *Event) {
	what := fmt.Sprintf("event %d, %s", i, e.Do)
	x.time(what, &e.At)
	x.rate(what+": rate", &e.Rate)
	x.time(what+": for", &e.For)
}

// pfc slows the refresh down, also a default one: a pause that lasts n times as long
// must contain as many refreshes as before.
func (x *slower) pfc(p *config.PFC) {
	refresh, storm := *p.Refresh, *p.StormBudget
	x.time("pfc.refresh", &refresh)
	if storm > longest/unit.Time(x.n) {
		storm = 0 // no scenario lasts as long as that
	}
	x.time("pfc.storm_budget", &storm)
	p.Refresh, p.StormBudget = &refresh, &storm
}
