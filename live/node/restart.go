package node

import (
	"encoding/json"
	"errors"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/control"
	"softswitch/live"
)

// restart is what a switch is to begin anew with. It is the cause for which the one
// before it ended.
type restart struct {
	Detector string `json:"detector"`
	Response string `json:"response"`
}

func (r *restart) Error() string {
	return "restart with detector " + r.Detector + ", response " + r.Response
}

// restart ends the switch and lets another begin in its place. Its interfaces stay up,
// and its neighbours see no more of it than a switch that says nothing for a moment.
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
