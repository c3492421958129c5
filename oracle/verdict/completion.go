package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"softswitch/internal/stat"
	"softswitch/node/observe"
	"softswitch/unit"
)

// sizeBounds are where one range of flow sizes ends and the next begins, in bytes: those by
// which DCTCP (SIGCOMM 2010, figure 22) shows completion times.
var sizeBounds = [...]int64{10_000, 100_000, 1_000_000, 10_000_000}

// Completion is what became of the flows that have an end: connections with a size.
type Completion struct {
	// Paused is for how long the hosts that send them were paused, in the priorities of these
	// flows, added up.
	Paused unit.Time `json:"paused_ns"`
	All    Completed `json:"all"`
	// BySize is the same by ranges of sizes: those in which there are flows, the smallest
	// first.
	BySize []Completed `json:"by_size"`
}

// Completed is what became of the flows of a range of sizes.
type Completed struct {
	From   int64 `json:"from_bytes"`
	Below  int64 `json:"below_bytes"` // 0: no bound
	Flows  int   `json:"flows"`
	Done   int   `json:"done"`   // of them, acknowledged as a whole
	Failed int   `json:"failed"` // gave up
	// Time and Slowdown are those of the flows that are done; Slowdown is without those that
	// could not arrive alone.
	Time     Tail[unit.Time] `json:"completion_ns"`
	Slowdown Tail[float64]   `json:"slowdown"`
	// Bytes are those of acknowledged messages, Goodput the same by the time from the start
	// of the first flow until the last was done; until the end of the run if one was not.
	Bytes   int64 `json:"bytes"`
	Goodput int64 `json:"goodput_bps"`
	// Packets that were sent again, their payload, packets that came with Congestion
	// Experienced, and notifications that senders got.
	Again      int64 `json:"again"`
	AgainBytes int64 `json:"again_bytes"`
	Marked     int64 `json:"marked"`
	CNPs       int64 `json:"cnps"`
}

// Tail is the median of some samples, and their upper end by nearest rank; all 0 if there are
// no samples.
type Tail[T unit.Time | float64] struct {
	P50 T `json:"p50"`
	P95 T `json:"p95"`
	P99 T `json:"p99"`
	Max T `json:"max"`
}

// TailOf computes the tail of t, which it sorts.
func TailOf[T unit.Time | float64](t []T) Tail[T] {
	if len(t) == 0 {
		return Tail[T]{}
	}
	slices.Sort(t)
	at := func(percent int) T { return t[stat.NearestRank(len(t), percent)] }
	return Tail[T]{P50: stat.Median(t), P95: at(95), P99: at(99), Max: t[len(t)-1]}
}

// completion is that of all runs together, nil if no flow has an end.
func completion(runs []*Verdict) *Completion {
	c := Completion{All: completed(runs, 0, 0)}
	if c.All.Flows == 0 {
		return nil
	}
	from := int64(0)
	for _, below := range append(sizeBounds[:], 0) {
		if s := completed(runs, from, below); s.Flows > 0 {
			c.BySize = append(c.BySize, s)
		}
		from = below
	}
	return &c
}

// completed is what became of the flows of from to below bytes. Of several runs the flows are put together
// and the spans added up, so that goodput is bytes by the time that all runs took.
func completed(runs []*Verdict, from, below int64) Completed {
	c := Completed{From: from, Below: below}
	var times []unit.Time
	var slowdowns []float64
	var span unit.Time // of all runs
	for _, v := range runs {
		first, last := unit.Never, unit.Time(0)
		for i := range v.Flows {
			m := v.Flows[i].Messages
			if m == nil || m.Size == 0 || m.Size < from || below > 0 && m.Size >= below {
				continue
			}
			c.Flows++
			c.Failed += count(m.Failed)
			c.Bytes += m.Bytes
			c.Again, c.AgainBytes = c.Again+m.Again, c.AgainBytes+m.AgainBytes
			c.Marked, c.CNPs = c.Marked+m.Marked, c.CNPs+m.CNPs
			end := v.Duration
			if m.Completion > 0 {
				c.Done++
				times = append(times, m.Completion)
				end = m.Start + m.Completion
			}
			if m.Slowdown > 0 {
				slowdowns = append(slowdowns, m.Slowdown)
			}
			first, last = min(first, m.Start), max(last, end)
		}
		span += max(0, last-first)
	}
	c.Time, c.Slowdown = TailOf(times), TailOf(slowdowns)
	if c.Bytes > 0 {
		c.Goodput = perSecond(uint64(c.Bytes), span)
	}
	return c
}

// countCompletion fills in what became of the flows that have an end. It comes after count.
// end is that of the scenario on the clock of a host.
func (v *Verdict) countCompletion(hosts []observe.Host, end func(host string) unit.Time) {
	if v.Completion = completion([]*Verdict{v}); v.Completion == nil {
		return
	}
	for i := range hosts {
		h := &hosts[i]
		var priorities unit.PrioritySet
		for _, f := range v.Flows {
			if f.Messages != nil && f.Messages.Size > 0 && f.From == h.Name {
				priorities.Add(unit.Priority(f.Priority))
			}
		}
		for c := range unit.Priority(unit.Priorities) {
			if !priorities.Has(c) {
				continue
			}
			for _, k := range countersOf(h) {
				v.Completion.Paused += pausedFor(k, c, end(h.Name))
			}
		}
	}
}

// byIndex is the order in which the scenario has the flows.
func (v *Verdict) byIndex() (order []int) {
	for i := range v.Flows {
		order = append(order, i)
	}
	return order
}

// slowest is the order of flows, by index, that shows the slowest first: those with an end
// that have not reached it, the first to begin before others; those that have, by slowdown;
// the others by what they received. Flows that are equal stay in their order.
func (v *Verdict) slowest() []int {
	order := v.byIndex()
	kind := func(m *MessageResult) int {
		switch {
		case m == nil || m.Size == 0:
			return 2
		case m.Completion > 0:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		f, g := &v.Flows[a], &v.Flows[b]
		m, n := f.Messages, g.Messages
		switch k := kind(m); {
		case k != kind(n):
			return cmp.Compare(k, kind(n))
		case k == 0:
			return cmp.Compare(m.Start, n.Start)
		case k == 1:
			return cmp.Compare(n.Slowdown, m.Slowdown)
		}
		return cmp.Compare(f.Throughput, g.Throughput)
	})
	return order
}

// writeSizes writes a line for each range of sizes, for people.
func (c *Completion) writeSizes(t *table) {
	rows := [][]string{{"flows of", "flows", "done", "slowdown p50", "p95", "p99", "ms p50", "p95", "p99", "max"}}
	row := func(name string, s *Completed) {
		slow := func(x float64) string { return or("-", x > 0, fmt.Sprintf("%.2f", x)) }
		took := func(x unit.Time) string { return or("-", s.Done > 0, ms(x)) }
		rows = append(rows, cells(name, s.Flows, s.Done, slow(s.Slowdown.P50), slow(s.Slowdown.P95), slow(s.Slowdown.P99),
			took(s.Time.P50), took(s.Time.P95), took(s.Time.P99), took(s.Time.Max)))
	}
	for i := range c.BySize {
		row(c.BySize[i].sizes(), &c.BySize[i])
	}
	if len(c.BySize) > 1 {
		row("all sizes", &c.All)
	}
	t.line("")
	t.rows(rows, "lrrrrrrrrr", func(int) {})
}

// writeLine writes what became of all of them, for people.
func (c *Completion) writeLine(t *table) {
	a := &c.All
	failed := or("", a.Failed > 0, fmt.Sprintf(", %d gave up", a.Failed))
	t.wrap("completed   ", fmt.Sprintf("%d of %d flows%s; %s Mbit/s; %d bytes sent again; %d packets marked, %d CNPs; senders paused for %s ms",
		a.Done, a.Flows, failed, mbits(a.Goodput), a.AgainBytes, a.Marked, a.CNPs, ms(c.Paused)))
}

// sizes is the range of sizes for people: "10 KB to 100 KB".
func (s *Completed) sizes() string {
	switch {
	case s.From == 0:
		return "below " + bytesText(s.Below)
	case s.Below == 0:
		return bytesText(s.From) + " and more"
	}
	return bytesText(s.From) + " to " + bytesText(s.Below)
}

// bytesText is a whole number of kilobytes or megabytes.
func bytesText(n int64) string {
	if n >= 1e6 {
		return strconv.FormatInt(n/1e6, 10) + " MB"
	}
	return strconv.FormatInt(n/1000, 10) + " KB"
}

// or is a text, or nothing if it is not known.
func or(nothing string, known bool, text string) string {
	if !known {
		return nothing
	}
	return text
}
