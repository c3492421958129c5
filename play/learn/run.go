package learn

import (
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
	Response string // instead of none
	Without  string // a flow that does not send
}

// Run is what was played: the verdict, and who paused in which order for the first time.
type Run struct {
	*verdict.Verdict
	Paused []string // nodes
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
	plan, err := load.Plan(p.File, []byte(strings.Join(lines, "")), load.Instead{Detector: "itsy", Response: p.Response})
	if err != nil {
		return nil, err
	}
	r := new(Run)
	seen := map[string]bool{}
	opt := sim.Options{Seed: 1, Detectors: catalog.Factories()}
	opt.Events = func(n event.Node, e event.Event) {
		if e.Type == event.PauseSent && !seen[n.Name] {
			seen[n.Name] = true
			r.Paused = append(r.Paused, n.Name)
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
		out = append(out, fmt.Sprintf("%9.3f ms  %s", float64(m.At/unit.Microsecond)/1e3, m.What))
	}
	for _, f := range r.Flows {
		out = append(out, fmt.Sprintf("flow %s, %s to %s: %d frames sent, %d received, %d lost, %d under way; %.1f Mbit/s", f.Name, f.From, f.To, f.Sent, f.Received, f.Lost, f.InFlight, float64(f.Throughput)/1e6))
	}
	return out
}
