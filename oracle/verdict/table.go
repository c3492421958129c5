package verdict

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"softswitch/detect"
	"softswitch/internal/lists"
	"softswitch/unit"
)

// Bounds of the table, in columns and rows. Chosen: as much as somebody reads; the JSON has all.
const (
	tableWidth      = 100
	tableDetections = 20
	tableRefusals   = 5
	tableDrawn      = 8
	// Above tableFlows only the slowest tableSlowest are shown.
	tableFlows   = 100
	tableSlowest = 20
)

// WriteText writes the verdict for people: at most 96 columns wide unless a name is
// longer, times in milliseconds from the scenario's start. Its last line says whether
// the expectation is met, or why not.
func (v *Verdict) WriteText(w io.Writer) error {
	var t table
	t.line("%s: %s, detector %s, response %s, seed %d", v.Scenario, v.World, cmp.Or(v.Detector, "none"), cmp.Or(v.Response, "none"), v.Seed)
	v.writeDrawn(&t)
	for _, text := range v.Warnings {
		t.wrap("warning     ", text)
	}
	v.writeTimeline(&t)
	v.writeTruth(&t)
	v.writeDetections(&t)
	v.writeFlows(&t)
	t.line("\nframes      lossless lost %d; dropped to break a deadlock %d (%d bytes), to handle its trigger %d", v.LosslessLost, v.ResponseDropped, v.ResponseDroppedBytes, v.Policed)
	v.writeDropped(&t)
	v.writeLoss(&t)
	v.writeStarved(&t)
	if v.Completion != nil {
		v.Completion.writeLine(&t)
	}
	if len(v.Killed) > 0 {
		t.wrap("killed      ", strings.Join(v.Killed, " ")+": what it held, and what came to it afterwards, is counted nowhere")
	}
	for _, f := range v.Refusals[:min(len(v.Refusals), tableRefusals)] {
		t.line("refused     %s at %s ms: %s", f.Switch, ms(f.At), f.Why)
	}
	t.more("            and %d more", len(v.Refusals)-tableRefusals)
	t.line("pfc         %d XOFF, %d XON, %s", v.PFC.XOFF, v.PFC.XON, unit.Count(v.PFC.Refresh, "refresh"))
	t.line("detector    %s, %d bytes of state in a switch (buffer manager: %d)", unit.Count(v.ControlMessages, "control message"), v.DetectorBytesPerSwitch, v.CounterBytesPerSwitch)
	v.writeAuth(&t)
	v.writeLAGs(&t)
	v.writeDCBX(&t)
	v.writeMachine(&t)
	t.line("")
	v.writeConclusion(&t)
	_, err := io.WriteString(w, t.String())
	return err
}

func (v *Verdict) writeTimeline(t *table) {
	if len(v.Timeline) == 0 {
		return
	}
	t.line("\ntime line (ms)")
	width := 0
	for _, m := range v.Timeline {
		width = max(width, len(ms(m.At)))
	}
	for _, m := range v.Timeline {
		t.wrap(fmt.Sprintf("  %*s  ", width, ms(m.At)), m.What)
	}
}

// Truth says whether there was a deadlock, and from when to when: "yes, from 400.030 ms; ...".
func (v *Verdict) Truth() string {
	switch {
	case !v.Deadlock && v.UndecidedDeadlocks > 0:
		return "undecided"
	case !v.Deadlock:
		return "no"
	case v.Recovered:
		return fmt.Sprintf("yes, from %s ms; gone after %s ms for the rest of the run, %s ms; %s", ms(v.Onset), ms(v.Recovery), ms(v.Quiet), unit.Count(v.Recurrences, "recurrence"))
	case v.RecoveryUndecided:
		return fmt.Sprintf("yes, from %s ms; whether it is gone at the end is undecided; %s", ms(v.Onset), unit.Count(v.Recurrences, "recurrence"))
	}
	return fmt.Sprintf("yes, from %s ms; still there at the end; %s", ms(v.Onset), unit.Count(v.Recurrences, "recurrence"))
}

func (v *Verdict) writeTruth(t *table) {
	t.line("\ndeadlock    %s", v.Truth())
	if v.Openings > 0 {
		t.line("opens       by itself, what waited in a circle until others had left the pool: %d times, %s ms at most; no deadlock", v.Openings, ms(v.LongestOpening))
	}
	if v.Clocks == nil {
		t.line("declared    %d: %d true, %d false, %d premature, %d late; %s missed", len(v.Detections), v.truePositives(), v.FalsePositives, v.Premature, v.Late, unit.Count(v.FalseNegatives, "deadlock"))
		return
	}
	t.line("declared    %d: %d true, %d false, %d premature, %d late, %d undecided", len(v.Detections), v.truePositives(), v.FalsePositives, v.Premature, v.Late, v.Undecided)
	t.line("            %s missed, %s undecided", unit.Count(v.FalseNegatives, "deadlock"), unit.Count(v.UndecidedDeadlocks, "possible one"))
	c := v.Clocks
	if c.Typical == Unbounded {
		t.line("clocks      %d, and few frames between them: %.1f %% of the logs without a bound", c.Count, float64(c.Unbounded)/10)
		return
	}
	t.line("clocks      %d, known to each other to %s ms, at worst %s ms; %.1f %% of the logs without a bound", c.Count, ms(c.Typical), ms(c.Worst), float64(c.Unbounded)/10)
}

// latency is a latency, or between what it is: "0.231 to 0.256".
func (d *Detection) latency() string {
	switch {
	case !d.TruePositive:
		return "-"
	case d.LatencyMost == Unbounded:
		return ms(d.Latency) + " or more"
	case d.LatencyMost == 0:
		return ms(d.Latency)
	}
	return ms(d.Latency) + " to " + ms(d.LatencyMost)
}

func (v *Verdict) writeDetections(t *table) {
	if len(v.Detections) == 0 {
		return
	}
	rows := [][]string{{"at ms", "latency ms", "judged", "switch", "port", "priority", "initial trigger"}}
	for _, d := range v.Detections[:min(len(v.Detections), tableDetections)] {
		rows = append(rows, cells(ms(d.At), d.latency(), d.Judged, d.Switch, d.Port, d.Priority, d.Trigger))
	}
	t.line("")
	t.rows(rows, "rrlllrl", func(row int) {
		if loop := v.Detections[row].Loop; len(loop) > 0 {
			t.wrap("      loop  ", strings.Join(loop, " "))
		}
		for _, c := range v.Detections[row].Causes {
			t.wrap("      cause ", c.String())
		}
	})
	t.more("  and %d more", len(v.Detections)-tableDetections)
}

// where is how a place is called that is on the loop, or is not.
var where = map[bool]string{true: "on the loop", false: "off the loop"}

// String is the trigger for people: "agg0-0 to-core1 (switch, on the loop)".
func (f FoundTrigger) String() string {
	if f.Kind == "" {
		return "none named"
	}
	if f.Kind == "host" {
		return fmt.Sprintf("%s (host, %s)", f.Node, where[f.OnLoop])
	}
	return fmt.Sprintf("%s %s (%s, %s)", f.Node, f.Port, f.Kind, where[f.OnLoop])
}

// String is the cause for people: "contention at agg0-0 to-core1, off the loop: flows A, B
// (80 %)", after "and " if it is named together with the one before it.
func (c FoundCause) String() string {
	port := c.Port
	if c.In != "" {
		port = c.In + " " + port
	}
	what := fmt.Sprintf("%s at %s %s, %s", strings.ReplaceAll(c.Type, "-", " "), c.Node, port, where[c.OnLoop])
	if c.Type == detect.CauseHost.String() {
		what = fmt.Sprintf("host %s, %s", c.Node, where[c.OnLoop])
	}
	switch len(c.Flows) {
	case 0:
	case 1:
		what += ": flow " + c.Flows[0]
	default:
		what += ": flows " + strings.Join(c.Flows, ", ")
	}
	if c.Together {
		what = "and " + what
	}
	return fmt.Sprintf("%s (%d %%)", what, c.Confidence)
}

// writeMachine writes what a live run took of its machine, and how late that was.
func (v *Verdict) writeMachine(t *table) {
	h := v.Headroom
	if h == nil {
		return
	}
	before, whose := "", ", as the scenario says"
	if h.Scaled {
		before, whose = fmt.Sprintf("%s ms late before the run, ", ms(h.Lateness)), fmt.Sprintf(", %d of it used", h.Used)
	}
	t.wrap("machine     ", fmt.Sprintf("%.2f processors used; up to %s%s ms late in it", v.Cores, before, ms(h.Late)))
	if v.NodesPerProcess > 0 {
		t.wrap("nodes       ", fmt.Sprintf("up to %d share a process%s", v.NodesPerProcess, or("", v.Polled, ", which polls")))
	}
	t.wrap("headroom    ", fmt.Sprintf("%d bytes and %d of slack%s; both last %s ms", h.Bytes, h.Slack, whose, ms(h.Lasts)))
	var late []string
	for i := range v.Flows {
		if f := &v.Flows[i]; f.LeftOut > v.Duration/100 {
			late = append(late, fmt.Sprintf("%s %s ms", f.Name, ms(f.LeftOut)))
		}
	}
	if len(late) > 0 {
		t.wrap("left out    ", "what flows were to send while their hosts were late: of "+strings.Join(late, ", "))
	}
}

func (v *Verdict) writeFlows(t *table) {
	if len(v.Flows) == 0 {
		return
	}
	rows := [][]string{{"flow", "from", "to", "priority", "sent", "received", "lost", "in flight", "reordered", "Mbit/s"}}
	shown := v.shownFlows()
	for _, i := range shown {
		f := &v.Flows[i]
		sent, received, inFlight := fmt.Sprint(f.Sent), fmt.Sprint(f.Received), fmt.Sprint(f.InFlight)
		switch f.ProgramEnd {
		case "from":
			sent, inFlight = "–", "–"
		case "to":
			received, inFlight = "–", "–"
		}
		rows = append(rows, cells(f.Name, f.From, f.To, f.Priority, sent, received, f.Lost, inFlight, f.Reordered, mbits(f.Throughput)))
	}
	t.line("")
	t.rows(rows, "lllrrrrrrr", func(int) {})
	v.writeMessages(t, shown)
	v.writeRefused(t, shown)
	if len(shown) < len(v.Flows) {
		t.line("\n  the slowest %d of %d flows; --json has all", len(shown), len(v.Flows))
	}
	v.writeHosts(t)
	if v.Completion != nil {
		v.Completion.writeSizes(t)
	}
}

// shownFlows are the flows that the table shows, by index, in the order in which it does.
func (v *Verdict) shownFlows() []int {
	if len(v.Flows) > tableFlows {
		return v.slowest()[:tableSlowest]
	}
	return v.byIndex()
}

// writeMessages writes what became of the messages of those of the flows that are of
// transport rc.
func (v *Verdict) writeMessages(t *table, flows []int) {
	rows := [][]string{{"flow", "messages", "mean ms", "max ms", "all ms", "slowdown", "again", "NAKs", "timeouts", "marked", "CNPs", ""}}
	for _, i := range flows {
		f := &v.Flows[i]
		m := f.Messages
		if m == nil {
			continue
		}
		all, slowdown, note := or("–", m.Completion > 0, ms(m.Completion)), or("–", m.Slowdown > 0, fmt.Sprintf("%.2f", m.Slowdown)), ""
		switch {
		case m.Failed:
			note = "gave up"
		case m.Unmeasured:
			note = "no round trip measured"
		}
		rows = append(rows, cells(f.Name, m.Done, ms(m.Mean), ms(m.Max), all, slowdown, m.Again, m.Naks, m.Timeouts, m.Marked, m.CNPs, note))
	}
	if len(rows) > 1 {
		t.line("")
		t.rows(rows, "lrrrrrrrrrrl", func(int) {})
	}
}

// writeRefused writes what receivers did with packets of connections that they did not take.
func (v *Verdict) writeRefused(t *table, flows []int) {
	rows := [][]string{{"flow", "taken", "behind a gap", "again", "outside", "invalid", "access errors"}}
	for _, i := range flows {
		if f := &v.Flows[i]; f.Packets != nil {
			p := f.Packets
			rows = append(rows, cells(f.Name, p.Packets, p.OutOfOrder, p.Duplicates, p.Outside, p.Invalid, p.AccessErrors))
		}
	}
	if len(rows) > 1 {
		t.line("")
		t.rows(rows, "lrrrrrr", func(int) {})
	}
}

func (v *Verdict) writeConclusion(t *table) {
	switch {
	case v.Invalid != "":
		t.line("run not valid: %s", v.Invalid)
	case !v.Expected && v.ExpectedMet:
		t.line("nothing expected")
	case !v.Expected:
		t.line("%s", strings.Join(v.Reasons, "; "))
	case v.ExpectedMet:
		t.line("expectation met")
	default:
		t.line("expectation NOT met: %s", strings.Join(v.Reasons, "; "))
	}
}

// table is text in lines and columns.
type table struct{ strings.Builder }

func (t *table) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// more is a line on n that are left out, unless none is.
func (t *table) more(format string, n int) {
	if n > 0 {
		t.line(format, n)
	}
}

// wrap writes text after head, in lines of tableWidth, broken at spaces and indented to
// align with the first.
func (t *table) wrap(head, text string) {
	line, empty := head, true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > tableWidth {
			t.line("%s", line)
			line, empty = strings.Repeat(" ", len(head)), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	t.line("%s", line)
}

// rows writes rows, the first of them a heading. align has a letter for each column, l
// or r; after is called below each row, counted without the heading.
func (t *table) rows(rows [][]string, align string, after func(row int)) {
	width := make([]int, len(align))
	for _, r := range rows {
		for c, cell := range r {
			width[c] = max(width[c], len(cell))
		}
	}
	for i, r := range rows {
		line := ""
		for c, cell := range r {
			w := width[c]
			if align[c] == 'l' {
				w = -w
			}
			line += fmt.Sprintf("  %*s", w, cell)
		}
		t.line("%s", strings.TrimRight(line, " "))
		if i > 0 {
			after(i - 1)
		}
	}
}

// cells are a row of what is printed as it is.
func cells(of ...any) []string { return lists.Map(of, func(c any) string { return fmt.Sprint(c) }) }

// mbits is a rate in Mbit/s, to the kbit/s.
func mbits(bps int64) string { return fmt.Sprintf("%d.%03d", bps/1e6, bps%1e6/1e3) }

// ms is t in milliseconds, to the microsecond.
func ms(t unit.Time) string {
	sign := ""
	if t < 0 {
		sign, t = "-", -t
	}
	return fmt.Sprintf("%s%d.%03d", sign, t/unit.Millisecond, t%unit.Millisecond/unit.Microsecond)
}

// writeDrawn writes what the run drew by its seed.
func (v *Verdict) writeDrawn(t *table) {
	var all []string
	for _, d := range v.Drawn[:min(len(v.Drawn), tableDrawn)] {
		text := d.Flow + d.Link
		if d.Start != nil {
			text += fmt.Sprintf(" start %s ms", ms(*d.Start))
		}
		if d.Rate != nil {
			text += fmt.Sprintf(" rate %s", d.Rate)
		}
		if d.Delay != nil {
			text += fmt.Sprintf(" delay %s", d.Delay)
		}
		all = append(all, text)
	}
	if len(all) > 0 {
		t.wrap("drawn       ", strings.Join(all, ", "))
		t.more("            and %d more; --json has all", len(v.Drawn)-tableDrawn)
	}
}
