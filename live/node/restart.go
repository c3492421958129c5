package node

import (
	"encoding/json"
	"errors"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/control"
	"softswitch/live"
	"softswitch/node/client"
)

// restart is how to start the switch again. It is the cause with which the previous
// one's context ended.
type restart client.RestartArgs

func (r *restart) Error() string {
	return "restart with detector " + r.Detector + ", response " + r.Response
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
