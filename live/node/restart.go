package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/control"
	"softswitch/internal/lists"
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
			err = fmt.Errorf("response: the detector %s names no loop that could be broken; detectors that do: %s", d.Name(), strings.Join(namingLoops(), ", "))
			return
		}
		s.response = policy.String()
	})
	return nil, err
}

// namingLoops are the detectors whose findings a response can act on.
func namingLoops() []string {
	of := lists.Where(catalog.Detectors(), func(d catalog.Detector) bool { return d.NamesLoops })
	return lists.Map(of, func(d catalog.Detector) string { return d.Name })
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
	c := s.sw.Config()
	if err := catalog.Fits(r.Detector, "this one", c.ID, len(c.Ports)); err != nil {
		return nil, fmt.Errorf("restart: detector: %w", err)
	}
	if _, err := respond.Parse(r.Response); err != nil {
		return nil, err
	}
	return control.Then(func() { s.again(r) }), nil
}
