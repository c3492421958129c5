package cause

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Bounds of the report for people; its JSON has all.
const (
	textPeriods    = 24
	textCandidates = 40
	textSets       = 8
)

// WriteText writes the report for people, with times in milliseconds from the start of
// the scenario.
func (r *Report) WriteText(out io.Writer) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: seed %d\n", r.Scenario, r.Seed)
	r.writeDeadlock(w)
	r.writeChronology(w)
	r.writeCandidates(w)
	r.writeOfLoop(w)
	r.writeSmallest(w)
	w.Flush()
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) writeDeadlock(w io.Writer) {
	d := r.Deadlock
	kind := ""
	if !d.Strong {
		kind += "; split: a priority group in it waits for several queues"
	}
	if d.Flooded {
		kind += "; flooded frames hold it"
	}
	fmt.Fprintf(w, "\ndeadlock\tfrom %s ms%s\n", ms(d.At), kind)
	for _, loop := range d.Loops {
		fmt.Fprintf(w, "loop\t%s\n", strings.Join(loop, " "))
	}
	fmt.Fprintf(w, "flows in it\t%s\n", strings.Join(d.Flows, " "))
}

func (r *Report) writeChronology(w io.Writer) {
	c := r.Chronology
	fmt.Fprintf(w, "\nchronology: the pauses that led to it, oldest first, with what waited in paused queues; %d source%s\n",
		len(c.Sources), map[bool]string{true: "s"}[len(c.Sources) != 1])
	fmt.Fprintf(w, "  \tfrom ms\tto ms\tpriority\tpaused by\tbytes\twaiting\tcaused by\n")
	shown := 0
	for i, p := range c.Periods {
		if len(c.Periods) > textPeriods && !p.OnLoop && p.CausedBy != nil || shown == textPeriods {
			continue
		}
		shown++
		to, bytes, waiting := "-", "-", "-"
		if p.To > 0 {
			to = ms(p.To)
		}
		if !p.Host {
			bytes, waiting = fmt.Sprint(p.Bytes), fmt.Sprint(p.Waiting)
		}
		fmt.Fprintf(w, "  %d\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", i+1, ms(p.From), to, p.Priority, p.what(), bytes, waiting, p.why())
	}
	writeMore(w, len(c.Periods)-shown)
}

// what is who paused: "s1 to-s0 (on the loop)".
func (p Period) what() string {
	switch {
	case p.Host:
		return "host " + p.Node
	case p.OnLoop:
		return p.Node + " " + p.Port + " (on the loop)"
	}
	return p.Node + " " + p.Port
}

func (p Period) why() string {
	if p.CausedBy == nil {
		return "source"
	}
	return strings.Join(lists.Map(p.CausedBy, func(i int) string { return fmt.Sprint(i + 1) }), " ")
}

func (r *Report) writeCandidates(w io.Writer) {
	fmt.Fprintf(w, "\ncandidates: each treated alone, from the start; its control is another one, drawn at random\n")
	fmt.Fprintf(w, "  \tcausal\tsufficient\tMbit/s\tcontrol causal\n")
	fmt.Fprintf(w, "  nothing\t\t\t%s\t\n", mbits(r.Untreated.Total))
	for _, c := range r.Candidates[:min(len(r.Candidates), textCandidates)] {
		goodput, control := "-", "-"
		if c.Causal {
			goodput = mbits(c.Total)
		}
		if c.Control != nil {
			control = yes[c.Control.Causal]
		}
		fmt.Fprintf(w, "  %v\t%s\t%s\t%s\t%s\n", c.Treatment, yes[c.Causal], yes[c.Sufficient], goodput, control)
	}
	writeMore(w, len(r.Candidates)-textCandidates)
}

// writeMore says how many lines of a part are left out.
func writeMore(w io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(w, "  and %d more\n", n)
	}
}

// writeOfLoop is the control that knows the loop.
func (r *Report) writeOfLoop(w io.Writer) {
	fmt.Fprintf(w, "\nof the loop: what is known of it without trying, and how much of that is causal alone\n")
	for _, x := range []struct {
		what string
		of   Count
	}{{"hosts that paused", r.OfLoop.Hosts}, {"flows in it", r.OfLoop.Flows}, {"turns", r.OfLoop.Turns}, {"other flows", r.OfLoop.Others}} {
		if x.of.Of > 0 {
			fmt.Fprintf(w, "  %s\t%d of %d\n", x.what, x.of.Causal, x.of.Of)
		}
	}
}

func (r *Report) writeSmallest(w io.Writer) {
	s := &r.Smallest
	if len(s.Sets) == 0 {
		fmt.Fprintf(w, "\nsmallest: none, not even all hosts and flows together prevent it\n")
		return
	}
	size := s.Sets[0].Size()
	switch {
	case s.Single:
		fmt.Fprintf(w, "\nsmallest: one host or flow alone prevents it\n")
	case s.All:
		fmt.Fprintf(w, "\nsmallest: no single cause, it takes %d hosts or flows\n", size)
	case s.Proven:
		fmt.Fprintf(w, "\nsmallest: no single cause, it takes %d hosts or flows, such as\n", size)
	default:
		fmt.Fprintf(w, "\nsmallest: no single cause; of these %d none can be left out, though others may be fewer\n", size)
	}
	for _, x := range s.Sets[:min(len(s.Sets), textSets)] {
		fmt.Fprintf(w, "  %v\t%s Mbit/s\n", x.Treatment, mbits(x.Total))
	}
	writeMore(w, len(s.Sets)-textSets)
	best := s.Sets[s.LeastHarm]
	fmt.Fprintf(w, "least harm: %v; %s Mbit/s arrive instead of %s\n", best.Treatment, mbits(best.Total), mbits(r.Untreated.Total))
}

// yes is how a statement that is true, or is not, is shown.
var yes = map[bool]string{true: "yes", false: "no"}

// ms is t in milliseconds, to the microsecond.
func ms(t unit.Time) string {
	return fmt.Sprintf("%d.%03d", t/unit.Millisecond, t%unit.Millisecond/unit.Microsecond)
}

// mbits is r in Mbit/s, to the tenth.
func mbits(r unit.Rate) string { return fmt.Sprintf("%d.%d", r/1_000_000, r%1_000_000/100_000) }
