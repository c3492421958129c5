package lab

import (
	"context"
	"slices"

	"softswitch/internal/control"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/scenario/config"
	"softswitch/unit"
)

// startLead is the time between the order to start and the first frame, so that every
// host has the order by then.
const startLead = 200 * unit.Millisecond

// Start makes the hosts with these names, or all, send their flows from the start of
// the scenario.
func Start(ctx context.Context, st *netnslab.State, hosts []string) error {
	at := struct {
		At unit.Time `json:"at"`
	}{timer.Now() + startLead}
	return askSenders(ctx, st, hosts, "start", at)
}

// Stop makes the hosts with these names, or all, stop sending.
func Stop(ctx context.Context, st *netnslab.State, hosts []string) error {
	return askSenders(ctx, st, hosts, "stop", nil)
}

// Act changes the behaviour of the hosts with these names. The error names those that
// refused.
func Act(ctx context.Context, st *netnslab.State, hosts []string, a config.Act) error {
	return askHosts(ctx, st, hosts, "act", a)
}

// Senders are the hosts that send flows of their own.
func Senders(st *netnslab.State) []string {
	nics := NICs(st)
	return slices.DeleteFunc(Names(st, "host"), func(h string) bool { return slices.Contains(nics, h) })
}

func askSenders(ctx context.Context, st *netnslab.State, hosts []string, do string, args any) error {
	nodes, err := PickSenders(st, hosts)
	if err != nil {
		return err
	}
	return ask(ctx, nodes, do, args)
}

func askHosts(ctx context.Context, st *netnslab.State, hosts []string, do string, args any) error {
	nodes, err := Pick(st, hosts, "host")
	if err != nil {
		return err
	}
	return ask(ctx, nodes, do, args)
}

func ask(ctx context.Context, nodes []netnslab.NodeState, do string, args any) error {
	_, _, err := control.AskAll(ctx, Endpoints(nodes), func(e control.Endpoint) (struct{}, error) {
		return struct{}{}, e.Call(do, args, nil)
	})
	return err
}
