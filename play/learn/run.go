package learn

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/event"
	"softswitch/oracle/verdict"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/unit"
	"softswitch/view/ui"
)

//go:embed steps/*.yaml
var files embed.FS

// Play is a scenario of the course, and what is changed in it.
type Play struct {
	File     string // of steps
	Detector string // instead of none
	Response string // instead of none
	Without  string // a flow that does not send
}

// Run is what was played: the verdict, and who paused in which order for the first time.
type Run struct {
	*verdict.Verdict
	Paused []string    // nodes
	At     []unit.Time // when they did
}

// run plays p, and has stream, unless nil, hold what a page shows of it.
func (p Play) run(stream *ui.Stream) (*Run, error) {
	data, err := files.ReadFile("steps/" + p.File)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if p.Without == "" || !strings.Contains(line, "{name: "+p.Without+",") {
			lines = append(lines, line)
		}
	}
	plan, err := load.Plan(p.File, []byte(strings.Join(lines, "")), load.Instead{Detector: cmp.Or(p.Detector, "none"), Response: p.Response})
	if err != nil {
		return nil, err
	}
	r := new(Run)
	seen := map[string]bool{}
	opt := sim.Options{Seed: 1, Detectors: catalog.Factories()}
	opt.Events = func(n event.Node, e event.Event) {
		if e.Type == event.PauseSent && !seen[n.Name] {
			seen[n.Name] = true
			r.Paused, r.At = append(r.Paused, n.Name), append(r.At, e.At)
		}
	}
	if r.Verdict, err = sim.Play(plan, opt); err == nil && stream != nil {
		_, err = ui.Simulate(plan, sim.Options{Seed: 1, Detectors: catalog.Factories()}, stream)
	}
	if err != nil {
		return nil, fmt.Errorf("learn: %s: %w", p.File, err)
	}
	return r, nil
}

// lines are what a verdict says of a run, as far as the course needs it.
func (r *Run) lines() (out []string) {
	for _, m := range r.Timeline {
		out = append(out, fmt.Sprintf("%9.3f ms  %s", ms(m.At), m.What))
	}
	if len(r.Paused) > 1 {
		out = append(out, "pauses for the first time: "+r.paused())
	}
	return append(out, r.flows()...)
}

// paused is who paused for the first time, in turn, and how long after the first.
func (r *Run) paused() string {
	text := r.Paused[0]
	for i, node := range r.Paused[1:] {
		if after := r.At[i+1] - r.At[0]; after > 0 {
			text += fmt.Sprintf(", %s %.1f ms later", node, ms(after))
		} else {
			text += fmt.Sprintf(", %s at the same time", node)
		}
	}
	return text
}

// result is what came of a run, without what happened in it.
func (r *Run) result() []string {
	text := "no deadlock"
	if r.Deadlock {
		text = fmt.Sprintf("a deadlock at %.3f ms, which came back %s", ms(r.Onset), unit.Count(r.Recurrences, "time"))
	}
	return append([]string{text}, r.flows()...)
}

// flows are a line for each flow.
func (r *Run) flows() (out []string) {
	for _, f := range r.Flows {
		out = append(out, fmt.Sprintf("flow %s, %s to %s: %s sent, %d received, %d lost, %d under way; %.1f Mbit/s",
			f.Name, f.From, f.To, unit.Count(f.Sent, "frame"), f.Received, f.Lost, f.InFlight, float64(f.Throughput)/1e6))
	}
	return out
}

// ms is t in milliseconds, to the microsecond.
func ms(t unit.Time) float64 { return float64(t/unit.Microsecond) / 1e3 }
