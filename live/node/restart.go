package node

import (
	"encoding/json"
	"errors"
	"fmt"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/control"
	"softswitch/live"
	"softswitch/node/client"
	"softswitch/unit"
)

// restart is how to start the switch again. It is the cause with which the previous
// one's context ended.
type restart client.RestartArgs

func (r *restart) Error() string {
	return "restart with detector " + r.Detector + ", response " + r.Response
}

// respond changes what the switch does about deadlocks, while it runs.
func (s *switchNode) respond(n *live.Node, args client.ResponseArgs) (_ any, err error) {
	if s.fixed != "" {
		return nil, errors.New("response: " + s.fixed)
	}
	policy, err := respond.Parse(args.Response)
	if err != nil {
		return nil, err
	}
	n.Do(func(unit.Time) {
		if d := s.sw.Detector(); !respond.Change(d, policy, args.Standing) {
			err = fmt.Errorf("response: the detector %s acts by itself: stop it first", d.Name())
			return
		}
		s.response = policy.String()
	})
	return nil, err
}

// boundStorms changes for how long hosts may pause.
func (s *switchNode) boundStorms(n *live.Node, args client.StormArgs) (any, error) {
	switch {
	case s.fixed != "":
		return nil, errors.New("storm_budget: " + s.fixed)
	case args.Budget < 0:
		return nil, fmt.Errorf("storm_budget: %v: want 0, for no bound, or more", args.Budget)
	}
	n.Do(func(now unit.Time) { s.sw.SetStormBudget(now, args.Budget) })
	return nil, nil
}

// restart ends the switch, and another takes its place. Its interfaces stay up; to its
// neighbours it is a switch that is silent for a moment.
func (s *switchNode) restart(_ *live.Node, args json.RawMessage) (any, error) {
	if s.fixed != "" {
		return nil, errors.New("restart: " + s.fixed)
	}
	var r restart
	if err := readArguments(args, &r); err != nil {
		return nil, err
	}
	if _, err := catalog.Named("restart: detector", r.Detector); err != nil {
		return nil, err
	}
	if _, err := respond.Parse(r.Response); err != nil {
		return nil, err
	}
	return control.Then(func() { s.again(r) }), nil
}
