package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"softswitch/internal/control"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/scenario"
	"softswitch/scenario/config"
	"softswitch/unit"
)

// lead is the time between the order to start and the start of the time line, so
// that every host has it by then.
const lead = 200 * unit.Millisecond

// Run is what a played scenario left behind.
type Run struct {
	Plan       *scenario.Plan
	Start, End unit.Time
	Nodes      []Record // switches first, in the order of the plan
	Invalid    []string // reasons why the run cannot be trusted
	Cores      float64  // processors that the nodes used, on average
	Killed     map[string]bool
	Stopped    map[string]bool // the time line froze them, for a while or for good
}

// Play plays p on a lab that is up: it starts the hosts, makes happen what the
// time line says, and collects what every node has to tell. progress gets a line
// for each event.
func Play(ctx context.Context, p *scenario.Plan, st *netnslab.State, progress io.Writer) (*Run, error) {
	run := &Run{Plan: p, Killed: map[string]bool{}, Stopped: map[string]bool{}}
	defer stayAwake()()
	before, err := takeMeters(st)
	if err != nil {
		return nil, err
	}
	run.Start = timer.Now() + lead
	run.End = run.Start + p.Scenario.Duration
	if err := run.appoint(ctx, st); err != nil {
		return nil, err
	}
	for _, e := range p.Events {
		if err := until(ctx, run.Start+e.At); err != nil {
			return nil, err
		}
		fmt.Fprintf(progress, "%9.3f s  %s\n", seconds(timer.Now()-run.Start), describe(p, e))
		if err := run.do(p, st, e); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(progress, "%9.3f s  running until %.1f s\n", seconds(timer.Now()-run.Start), seconds(p.Scenario.Duration))
	if err := until(ctx, run.End); err != nil {
		return nil, err
	}
	after, err := takeMeters(st)
	if err != nil {
		return nil, err
	}
	run.Cores = after.cores(before)
	if lost := after.softnet - before.softnet; lost > 0 {
		run.doubt("the kernel lost %d frames between veths (softnet backlog)", lost)
	}
	fmt.Fprintf(progress, "%9.3f s  collecting\n", seconds(timer.Now()-run.Start))
	run.collect(st)
	return run, nil
}

// instant is the argument of requests about a point of CLOCK_MONOTONIC.
type instant struct {
	At unit.Time `json:"at"`
}

// appoint tells every host when to start, and every node of what instant it will be asked:
// nobody can ask all of them at once, and their flows go on.
func (r *Run) appoint(ctx context.Context, st *netnslab.State) error {
	_, _, err := control.AskAll(ctx, ends(st, hosts(r.Plan)), func(e control.Endpoint) (any, error) {
		return nil, e.Call("start", instant{r.Start}, nil)
	})
	if err != nil {
		return err
	}
	if late := timer.Now() - r.Start; late > 0 {
		r.doubt("the hosts were started %v late", time.Duration(late))
	}
	// Who cannot be told has kept nothing, and collect says so.
	control.AskAll(ctx, ends(st, append(switches(r.Plan), hosts(r.Plan)...)), func(e control.Endpoint) (any, error) {
		return nil, e.Call("keep", instant{r.End}, nil)
	})
	return nil
}

func switches(p *scenario.Plan) (names []string) {
	for _, s := range p.Switches {
		names = append(names, s.Name)
	}
	return names
}

func hosts(p *scenario.Plan) (names []string) {
	for _, h := range p.Hosts {
		names = append(names, h.Name)
	}
	return names
}

func ends(st *netnslab.State, nodes []string) (ends []control.Endpoint) {
	for _, name := range nodes {
		ends = append(ends, control.Endpoint{Name: name, Path: controlPath(st, name)})
	}
	return ends
}

// do makes one event of the time line happen.
func (r *Run) do(p *scenario.Plan, st *netnslab.State, e scenario.Event) error {
	switch e.Do {
	case scenario.Fail:
		return st.Fail(st.Links[e.Link])
	case scenario.Heal:
		return st.Heal(st.Links[e.Link])
	}
	name := p.Fabric.Nodes[e.Node].Name
	switch e.Do {
	case scenario.Kill:
		r.Killed[name] = true
		return st.Kill(name)
	case scenario.Stop:
		r.Stopped[name] = true
		return st.Stop(name)
	case scenario.Continue:
		return st.Continue(name)
	}
	return fmt.Errorf("lab: event %q at %s cannot be played", e.Do, config.FormatTime(e.At))
}

func describe(p *scenario.Plan, e scenario.Event) string {
	switch e.Do {
	case scenario.Fail, scenario.Heal:
		return fmt.Sprintf("%s %s", e.Do, p.Links[e.Link].Name)
	}
	return fmt.Sprintf("%s %s", e.Do, p.Fabric.Nodes[e.Node].Name)
}

// until waits for a point of CLOCK_MONOTONIC.
func until(ctx context.Context, at unit.Time) error {
	t := time.NewTimer(time.Duration(max(0, at-timer.Now())))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func controlPath(st *netnslab.State, node string) string {
	return filepath.Join(netnslab.Dir(st.Name), node, controlName)
}

func seconds(t unit.Time) float64 { return float64(t) / float64(unit.Second) }

// stayAwake keeps the machine's processors from sleeping deeply when they are idle,
// where that is permitted, until the function that it returns is called or this
// process ends: a frame that has to wake a processor at each hop would otherwise
// take longer than anything that a switch does with it.
// (Documentation/power/pm_qos_interface.rst: /dev/cpu_dma_latency.)
func stayAwake() (done func()) {
	f, err := os.OpenFile("/dev/cpu_dma_latency", os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	f.Write(make([]byte, 4)) // 0 us; without it the machine is as it was
	return func() { f.Close() }
}
