package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"softswitch/detect/catalog"
	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/internal/safefile"
	"softswitch/internal/strictyaml"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// Orders is the one door by which a lab that is up is changed: what commands and the page order, the
// events of a scenario, and what the NIC demo does to its receiver.
type Orders struct {
	st     *netnslab.State
	socket string // control socket of the one host that orders are for, where there is no lab
	// hurried orders do not wait until switches have noticed that a link went up or down: the next
	// event of a scenario may be due.
	hurried bool
}

// OrdersTo is the door to a lab.
func OrdersTo(st *netnslab.State) Orders { return Orders{st: st} }

// OrdersBehind is the door to one host, which orders need not name.
func OrdersBehind(socket string) Orders { return Orders{socket: socket} }

// Fail sets links down. When it returns the switches at their ends have noticed, if they answer: the
// kernel tells them of it, some milliseconds later.
func (o Orders) Fail(ctx context.Context, links ...netnslab.LinkState) error {
	return o.setLinks(ctx, links, (*netnslab.State).Fail, false)
}

// Heal sets links up, as Fail sets them down.
func (o Orders) Heal(ctx context.Context, links ...netnslab.LinkState) error {
	return o.setLinks(ctx, links, (*netnslab.State).Heal, true)
}

func (o Orders) setLinks(ctx context.Context, links []netnslab.LinkState, set func(*netnslab.State, netnslab.LinkState) error, up bool) error {
	for _, l := range links {
		if err := set(o.st, l); err != nil {
			return err
		}
	}
	if o.hurried {
		return nil
	}
	for _, l := range links {
		for _, e := range []netnslab.End{l.A, l.B} {
			if err := awaitNotice(ctx, o.st, e, up); err != nil {
				return err
			}
		}
	}
	return nil
}

// noticeMax is how long a switch may take to notice that a link went up or down.
const noticeMax = 10 * time.Second

// awaitNotice waits until the switch at the end of a link has noticed that it is up or down. Nobody is
// waited for who does not answer.
func awaitNotice(ctx context.Context, st *netnslab.State, e netnslab.End, up bool) error {
	if !slices.Contains(Names(st, "switch"), e.Node) {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, noticeMax, fmt.Errorf("%s does not notice that %s is %s", e.Node, e.Iface, map[bool]string{true: "up", false: "down"}[up]))
	defer cancel()
	at := endpoint(st, e.Node)
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		snap, err := client.StatsWithin[observe.Switch](time.Second, at)
		if err != nil {
			return nil
		}
		if slices.ContainsFunc(snap.Ports, func(p observe.Port) bool { return p.Name == e.Iface && p.Up == up }) {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Impair has links, in both directions, do this to frames from now on. All is checked before anything
// changes.
func (o Orders) Impair(ctx context.Context, w config.Wire, links ...netnslab.LinkState) error {
	if _, err := w.Build(); err != nil {
		return err
	}
	var ends []control.Endpoint
	ports := map[string][]string{} // by node
	for _, l := range links {
		for _, e := range []netnslab.End{l.A, l.B} {
			if ports[e.Node] == nil {
				ends = append(ends, endpoint(o.st, e.Node))
			}
			ports[e.Node] = append(ports[e.Node], e.Iface)
		}
	}
	return tell(ctx, ends, func(e control.Endpoint) error {
		for _, p := range ports[e.Name] {
			if err := client.Impair(e, config.WireRequest{Port: p, Wire: w}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Kill ends the processes of nodes, as a crash does.
func (o Orders) Kill(nodes ...string) error {
	return o.each(nodes, o.st.Kill)
}

// Freeze halts the process of a node until Continue.
func (o Orders) Freeze(node string) error { return o.st.Stop(node) }

// Continue makes the process of a node run again.
func (o Orders) Continue(node string) error { return o.st.Continue(node) }

// Restart restarts the processes of nodes, dead ones too.
func (o Orders) Restart(ctx context.Context, nodes ...string) error {
	return o.each(nodes, func(node string) error { return o.st.Restart(ctx, node) })
}

// each does something to nodes, one after the other, if there are all of them.
func (o Orders) each(nodes []string, do func(node string) error) error {
	if _, err := Pick(o.st, nodes, ""); err != nil {
		return err
	}
	for _, node := range nodes {
		if err := do(node); err != nil {
			return err
		}
	}
	return nil
}

// restartPatience is how long a switch may take to come back.
const restartPatience = 5 * time.Second

// RestartSwitches restarts every switch in its process, with empty buffers and another detector
// and response, and waits until all are back.
func (o Orders) RestartSwitches(ctx context.Context, detector, response string) error {
	switches := ends(o.st, Names(o.st, "switch"))
	before := make([]int, len(switches))
	for i, s := range switches {
		snap, err := client.Stats[observe.Switch](s)
		if err == nil {
			err = catalog.Fits(detector, "this one", unit.NodeID(snap.ID), len(snap.Ports))
		}
		if err != nil {
			return fmt.Errorf("switch %s: %w", s.Name, err)
		}
		before[i] = snap.Restarts
	}
	for _, s := range switches {
		if err := client.Restart(s, client.RestartArgs{Detector: detector, Response: response}); err != nil {
			return fmt.Errorf("switch %s: %w", s.Name, err)
		}
	}
	for i, s := range switches {
		if err := awaitRestart(ctx, s, before[i]); err != nil {
			return err
		}
	}
	return o.configure(func(s *config.Switch) { s.Detector, s.Response = detector, response })
}

// Respond changes what every switch does about deadlocks, while it runs: detectors keep their state.
// What stands is acted on once all switches know what to do, for a claim has to get round. Switches that
// restart do so with the new response.
func (o Orders) Respond(ctx context.Context, response string) error {
	switches := ends(o.st, Names(o.st, "switch"))
	for _, standing := range []bool{false, true} {
		args := client.ResponseArgs{Response: response, Standing: standing}
		if err := tell(ctx, switches, func(e control.Endpoint) error { return client.Respond(e, args) }); err != nil {
			return err
		}
	}
	return o.configure(func(s *config.Switch) { s.Response = response })
}

// configure changes the configurations from which switches start, of those that this lab starts.
func (o Orders) configure(change func(*config.Switch)) error {
	for _, n := range o.st.Nodes {
		if n.Kind != "switch" || n.Via != nil {
			continue
		}
		path := ConfigPath(n)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s, _, err := config.LoadSwitch(path, data)
		if err != nil {
			return err
		}
		change(&s)
		if err := safefile.Replace(path, s.Marshal(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// awaitRestart waits until a switch answers that has restarted more often than before: the one
// that ends may answer, too.
func awaitRestart(ctx context.Context, s control.Endpoint, before int) error {
	ctx, cancel := context.WithTimeout(ctx, restartPatience)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		snap, err := client.Stats[observe.Switch](s)
		if err == nil && snap.Restarts > before {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("switch %s does not come back: %w", s.Name, errors.Join(err, ctx.Err()))
		}
	}
}

// startLead is the time between the order to start and the first frame, so that every
// host has the order by then.
const startLead = 200 * unit.Millisecond

// Start makes hosts send their flows from the start of the scenario; without names, all that have
// flows.
func (o Orders) Start(ctx context.Context, hosts ...string) error {
	to, err := o.hosts(hosts, PickSenders)
	if err != nil {
		return err
	}
	all, err := clocks(ctx, to)
	if err != nil {
		return err
	}
	return startAt(ctx, to, timer.Now()+startLead, all)
}

// startAt makes hosts start at a point of the clock of this process, each by its own clock.
func startAt(ctx context.Context, hosts []control.Endpoint, at unit.Time, all map[string]clock) error {
	return tell(ctx, hosts, func(e control.Endpoint) error { return client.Start(e, at+all[e.Name].ahead) })
}

// Stop makes hosts stop sending; without names, all that have flows.
func (o Orders) Stop(ctx context.Context, hosts ...string) error {
	to, err := o.hosts(hosts, PickSenders)
	if err != nil {
		return err
	}
	return stopAll(ctx, to)
}

func stopAll(ctx context.Context, hosts []control.Endpoint) error {
	return tell(ctx, hosts, client.Stop)
}

// BoundStorms changes for how long hosts may pause a priority of any switch; 0 is for ever. Switches that
// restart do so with the new bound.
func (o Orders) BoundStorms(ctx context.Context, budget unit.Time) error {
	args := client.StormArgs{Budget: budget}
	if err := tell(ctx, ends(o.st, Names(o.st, "switch")), func(e control.Endpoint) error { return client.BoundStorms(e, args) }); err != nil {
		return err
	}
	return o.configure(func(s *config.Switch) { s.PFC.StormBudget = &budget })
}

// Storm makes hosts pause a priority without end. HOST:INTERFACE names one NIC, a host all of its NICs; so
// in Slow and Normal.
func (o Orders) Storm(ctx context.Context, priority int, hosts ...string) error {
	return o.act(ctx, hosts, config.Act{Do: "storm", Priority: priority})
}

// Slow makes hosts accept what they are sent at no more than a rate.
func (o Orders) Slow(ctx context.Context, rate unit.Rate, hosts ...string) error {
	return o.act(ctx, hosts, config.Act{Do: "slow", Rate: rate})
}

// Normal ends what Storm and Slow began.
func (o Orders) Normal(ctx context.Context, hosts ...string) error {
	return o.act(ctx, hosts, config.Act{Do: "normal"})
}

// act changes the behaviour of hosts, or of single NICs. All is found before anything changes.
func (o Orders) act(ctx context.Context, names []string, a config.Act) error {
	var hosts []string
	nics := map[string][]string{} // interfaces by host, "" for all of its NICs
	for _, name := range names {
		host, nic, _ := strings.Cut(name, ":")
		if nics[host] == nil {
			hosts = append(hosts, host)
		}
		nics[host] = append(nics[host], nic)
	}
	to, err := o.hosts(hosts, func(st *netnslab.State, names []string) ([]netnslab.NodeState, error) { return Pick(st, names, "host") })
	if err != nil {
		return err
	}
	acts := map[string][]config.Act{}
	for _, e := range to {
		if nics[e.Name] == nil {
			acts[e.Name] = []config.Act{a}
		}
		for _, nic := range nics[e.Name] {
			one := a
			if nic != "" {
				if one.NIC, err = nicOf(e, nic); err != nil {
					return err
				}
			}
			acts[e.Name] = append(acts[e.Name], one)
		}
	}
	return tell(ctx, to, func(e control.Endpoint) error {
		for _, one := range acts[e.Name] {
			if err := client.Act(e, one); err != nil {
				return err
			}
		}
		return nil
	})
}

// nicOf is the number of the NIC of a host with this interface.
func nicOf(e control.Endpoint, name string) (*int, error) {
	h, err := client.Stats[observe.Host](e)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", e.Name, err)
	}
	all := lists.Map(h.NICs, func(n observe.HostNIC) string { return n.Name })
	i := slices.Index(all, name)
	if i < 0 {
		return nil, fmt.Errorf("host %s has no NIC %q%s; it has: %s", e.Name, name, strictyaml.DidYouMean(name, all), strings.Join(all, ", "))
	}
	return &i, nil
}

// tell tells nodes something. The error names those that refused.
func tell(ctx context.Context, ends []control.Endpoint, one func(control.Endpoint) error) error {
	_, _, err := control.AskAll(ctx, ends, func(e control.Endpoint) (any, error) { return nil, one(e) })
	return err
}

// hosts are those that pick finds, or the one behind the socket.
func (o Orders) hosts(names []string, pick func(*netnslab.State, []string) ([]netnslab.NodeState, error)) ([]control.Endpoint, error) {
	if o.socket != "" {
		return []control.Endpoint{{Path: o.socket}}, nil
	}
	nodes, err := pick(o.st, names)
	return Endpoints(nodes), err
}

// Lose has a control frame that a node sends be lost on its way.
func (o Orders) Lose(node string, at config.WireRequest) error {
	return client.Lose(endpoint(o.st, node), at)
}

// Forge puts a frame on a link as if a node had sent it.
func (o Orders) Forge(node string, at config.WireRequest) error {
	return client.Forge(endpoint(o.st, node), at)
}

// Tape has a node keep the control frames that it sends, to be forged later.
func (o Orders) Tape(node string, at config.WireRequest) error {
	return client.Tape(endpoint(o.st, node), at)
}
