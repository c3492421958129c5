package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/unit"
)

// The time between the order to start and the start of the scenario, so that every host has
// the order by then: leadTimes as long as a question to all of them takes, which is long on a
// machine that is busy, and leadMin at least.
const (
	leadMin   = 200 * unit.Millisecond
	leadTimes = 5
)

// eventLateMax is how late an event is where nothing else runs, with those that are due before it, and
// as much again. An event that is later must not come after anything that it should precede, the end included.
const eventLateMax = 10 * unit.Millisecond

// Run is the data left by playing a scenario.
type Run struct {
	Plan       *scenario.Plan
	Start, End unit.Time
	Nodes      []Record // switches first, in the order of the plan
	Invalid    []string // reasons why the run cannot be trusted
	Cores      float64  // average number of processors that the nodes used
	PerProcess int      // nodes in the process with the most; 0 on an attached lab
	Polled     bool     // processes that nodes share poll
	Killed     map[string]bool
	Stopped    map[string]bool // frozen by the scenario, for a while or permanently
	Lateness   unit.Time       // how late the machine was before the run, as ScaleHeadroom measured it; 0 if it did not

	attached bool            // somebody else built the lab
	truth    *oracle.Result  // by the logs, if all nodes have one clock
	toldFull map[string]bool // nodes whose log is known not to be whole
	// Of an attached lab: by node, and how many frames of a port had not reached its far end before the run.
	clocks     map[string]clock
	lostBefore map[scenario.LinkEnd]int64
}

// Play plays p on a lab that is up: it starts the hosts, carries out the scheduled
// events, and collects every node's counters and logs. progress gets a line for each
// event. begins is called before the hosts are started, with the end of the run, a point of
// CLOCK_MONOTONIC.
func Play(ctx context.Context, p *scenario.Plan, st *netnslab.State, progress io.Writer, begins func(end unit.Time)) (*Run, error) {
	run := &Run{Plan: p, Killed: map[string]bool{}, Stopped: map[string]bool{}, toldFull: map[string]bool{}, attached: st.Attached()}
	defer stayAwake()()
	if !st.Attached() {
		run.PerProcess = st.PerProcess()
	}
	if st.Attached() {
		if err := refusePlayed(ctx, ends(st, hosts(p))); err != nil {
			return nil, err
		}
		var err error
		if run.clocks, err = clocks(ctx, ends(st, append(switches(p), hosts(p)...))); err != nil {
			return nil, err
		}
		if err := refuseDisorder(p, run.clocks); err != nil {
			return nil, err
		}
	}
	if err := tape(p, st); err != nil {
		return nil, err
	}
	before, err := takeMeters(st)
	if err != nil {
		return nil, err
	}
	if st.Attached() {
		run.countTunnels(st)
	}
	run.Start = timer.Now() + lead(ctx, ends(st, hosts(p)))
	run.End = run.Start + p.Scenario.Duration
	begins(run.End)
	if err := run.appoint(ctx, st); err != nil {
		return nil, err
	}
	for _, e := range p.Events {
		if err := run.until(ctx, run.Start+e.At, st, progress); err != nil {
			return nil, err
		}
		fmt.Fprintf(progress, "%9.3f s  %s\n", seconds(timer.Now()-run.Start), describe(p, e))
		if err := run.do(ctx, p, st, e); err != nil {
			return nil, err
		}
		switch done := timer.Now() - run.Start; {
		case done <= e.At+eventLateMax:
		case hostsAct(p.Scenario, e.At, done):
			run.doubt("%s: done %.0f ms late, after what hosts were to do after it", describe(p, e), float64(done-e.At)/1e6)
		case done > p.Scenario.Duration:
			run.doubt("%s: done %.0f ms late, after the end of the run", describe(p, e), float64(done-e.At)/1e6)
		}
	}
	fmt.Fprintf(progress, "%9.3f s  running until %.1f s\n", seconds(timer.Now()-run.Start), seconds(p.Scenario.Duration))
	if err := run.until(ctx, run.End, st, progress); err != nil {
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
	if err := run.collect(st); err != nil {
		return nil, err
	}
	return run, nil
}

// lead returns how early the start order is sent, so that every host has it in time.
func lead(ctx context.Context, hosts []control.Endpoint) unit.Time {
	asked := timer.Now()
	// Who does not answer is reported when it is to start.
	control.AskAll(ctx, hosts, client.Stats[observe.Live])
	return max(leadMin, leadTimes*(timer.Now()-asked))
}

// appoint tells every host when to start, and every node of which instant to keep a
// snapshot: nodes can only be asked one after the other, and their flows go on.
func (r *Run) appoint(ctx context.Context, st *netnslab.State) error {
	if err := startAt(ctx, ends(st, hosts(r.Plan)), r.Start, r.clocks); err != nil {
		return err
	}
	if late := timer.Now() - r.Start; late > 0 {
		r.doubt("the hosts were started %v late", time.Duration(late))
	}
	// A node that cannot be reached keeps no snapshot, and collect reports it.
	tell(ctx, ends(st, append(switches(r.Plan), hosts(r.Plan)...)), func(e control.Endpoint) error {
		return client.Keep(e, r.End+r.clocks[e.Name].ahead)
	})
	return nil
}

// hostsAct reports whether hosts do something of themselves after from and until to: a flow starts or
// stops, a host becomes slow.
func hostsAct(s *scenario.Scenario, from, to unit.Time) bool {
	within := func(at unit.Time) bool { return from < at && at <= to }
	return slices.ContainsFunc(s.Flows, func(f scenario.Flow) bool { return within(f.Start) || within(f.Stop) }) ||
		slices.ContainsFunc(s.Events, func(e scenario.Event) bool {
			return within(e.At) && (e.Do == scenario.Slow || e.Do == scenario.Storm || e.Do == scenario.Normal)
		})
}

func switches(p *scenario.Plan) []string {
	return lists.Map(p.Switches, func(s config.Switch) string { return s.Name })
}

func hosts(p *scenario.Plan) []string {
	return lists.Map(p.Hosts, func(h config.Host) string { return h.Name })
}

func ends(st *netnslab.State, nodes []string) []control.Endpoint {
	return lists.Map(nodes, func(name string) control.Endpoint { return endpoint(st, name) })
}

// do carries out one scheduled event.
func (r *Run) do(ctx context.Context, p *scenario.Plan, st *netnslab.State, e scenario.Event) error {
	order := Orders{st: st, hurried: true}
	switch e.Do {
	case scenario.Fail:
		return order.Fail(ctx, st.Links[e.Link])
	case scenario.Heal:
		return order.Heal(ctx, st.Links[e.Link])
	}
	name := p.Fabric.Nodes[e.Node].Name
	switch e.Do {
	case scenario.Kill:
		r.Killed[name] = true
		return order.Kill(name)
	case scenario.Stop:
		r.Stopped[name] = true
		return order.Freeze(name)
	case scenario.Continue:
		return order.Continue(name)
	case scenario.Lose:
		return order.Lose(name, config.WireRequest{Port: iface(p, e), Nth: e.Nth})
	case scenario.Forge:
		return order.Forge(name, config.WireRequest{Port: iface(p, e), Frame: e.Frame})
	case scenario.Replay:
		return replay(p, st, e)
	}
	return fmt.Errorf("lab: event %q at %s cannot be played", e.Do, e.At)
}

// replay puts a control frame that the event's node has sent on the wire once more, or on the
// one back. Nothing happens if it has sent none.
func replay(p *scenario.Plan, st *netnslab.State, e scenario.Event) error {
	at := config.WireRequest{Port: iface(p, e), Nth: e.Nth, Flip: e.Flip}
	frame, err := client.Taped(endpoint(st, p.Fabric.Nodes[e.Node].Name), at)
	if err != nil || frame == nil {
		return err
	}
	if e.Back {
		l := p.Links[e.Link]
		e.Node = l.A.Node + l.B.Node - e.Node
	}
	return OrdersTo(st).Forge(p.Fabric.Nodes[e.Node].Name, config.WireRequest{Port: iface(p, e), Frame: frame})
}

// tape makes the nodes keep control frames at each port where an event replays some.
func tape(p *scenario.Plan, st *netnslab.State) error {
	type end struct{ node, link int }
	taped := map[end]bool{}
	for _, e := range p.Events {
		if e.Do != scenario.Replay || taped[end{e.Node, e.Link}] {
			continue
		}
		taped[end{e.Node, e.Link}] = true
		if err := OrdersTo(st).Tape(p.Fabric.Nodes[e.Node].Name, config.WireRequest{Port: iface(p, e)}); err != nil {
			return err
		}
	}
	return nil
}

// iface is the interface of the event's node on the event's link.
func iface(p *scenario.Plan, e scenario.Event) string {
	if l := p.Links[e.Link]; l.A.Node == e.Node {
		return l.A.Iface
	}
	return p.Links[e.Link].B.Iface
}

func describe(p *scenario.Plan, e scenario.Event) string {
	switch e.Do {
	case scenario.Fail, scenario.Heal:
		return fmt.Sprintf("%s %s", e.Do, p.Links[e.Link].Name)
	case scenario.Lose:
		return fmt.Sprintf("lose control frame %d from %s on %s", e.Nth, p.Fabric.Nodes[e.Node].Name, p.Links[e.Link].Name)
	case scenario.Forge:
		return fmt.Sprintf("forge a frame from %s on %s", p.Fabric.Nodes[e.Node].Name, p.Links[e.Link].Name)
	case scenario.Replay:
		return fmt.Sprintf("replay control frame %d before now, from %s on %s", e.Nth, p.Fabric.Nodes[e.Node].Name, p.Links[e.Link].Name)
	}
	return fmt.Sprintf("%s %s", e.Do, p.Fabric.Nodes[e.Node].Name)
}

// until waits until a point of CLOCK_MONOTONIC.
func until(ctx context.Context, at unit.Time) error {
	return timer.Sleep(ctx, time.Duration(at-timer.Now()))
}

// endpoint is the control socket of a node.
func endpoint(st *netnslab.State, node string) control.Endpoint {
	return control.Endpoint{Name: node, Path: filepath.Join(netnslab.Dir(st.Name), node, ControlName)}
}

func seconds(t unit.Time) float64 { return float64(t) / float64(unit.Second) }

// stayAwake keeps idle processors of the machine out of deep sleep, where permitted,
// until the returned function is called or this process ends. A frame that had to wake
// a processor at each hop would take longer for that than for everything a switch does.
// (Documentation/power/pm_qos_interface.rst: /dev/cpu_dma_latency.)
func stayAwake() (done func()) {
	f, err := os.OpenFile("/dev/cpu_dma_latency", os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	f.Write(make([]byte, 4)) // 0 us; if it fails the machine stays as it was
	return func() { f.Close() }
}
