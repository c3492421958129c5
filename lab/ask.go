package lab

import (
	"context"
	"slices"

	"softswitch/internal/control"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/unit"
)

// startLead is the time between the order to start and the first frame, so that every
// host has the order by then.
const startLead = 200 * unit.Millisecond

// Start makes hosts send their flows from the start of the scenario.
func Start(ctx context.Context, hosts []control.Endpoint) error {
	all, err := clocks(ctx, hosts)
	if err != nil {
		return err
	}
	at := timer.Now() + startLead
	_, _, err = control.AskAll(ctx, hosts, func(e control.Endpoint) (struct{}, error) {
		return struct{}{}, e.Call("start", instant{at + all[e.Name].ahead}, nil)
	})
	return err
}

// Stop makes hosts stop sending.
func Stop(ctx context.Context, hosts []control.Endpoint) error {
	return ask(ctx, hosts, "stop", nil)
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

func askHosts(ctx context.Context, st *netnslab.State, hosts []string, do string, args any) error {
	nodes, err := Pick(st, hosts, "host")
	if err != nil {
		return err
	}
	return ask(ctx, Endpoints(nodes), do, args)
}

func ask(ctx context.Context, ends []control.Endpoint, do string, args any) error {
	_, _, err := control.AskAll(ctx, ends, func(e control.Endpoint) (struct{}, error) {
		return struct{}{}, e.Call(do, args, nil)
	})
	return err
}
