package lab

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// clock is a node's clock.
type clock struct {
	id    string
	ahead unit.Time // of the clock of this process, as near as an answer tells
}

// asks is how often a node is asked for the time of a clock of its own.
const asks = 5

// clocks asks nodes for their clocks.
func clocks(ctx context.Context, ends []control.Endpoint) (map[string]clock, error) {
	there, answers, err := control.AskAll(ctx, ends, askClock)
	all := map[string]clock{}
	for i, e := range there {
		all[e.Name] = answers[i]
	}
	return all, err
}

// askClock asks a node for its clock. The answer that was there soonest tells the most.
func askClock(e control.Endpoint) (c clock, err error) {
	soonest := unit.Time(-1)
	for range asks {
		before := timer.Now()
		now, err := client.Stats[observe.Live](e)
		if err != nil {
			return c, err
		}
		if c.id = now.Clock; c.id == timer.Clock() {
			return clock{id: c.id}, nil
		}
		if took := timer.Now() - before; soonest < 0 || took < soonest {
			soonest, c.ahead = took, now.At-before-took/2
		}
	}
	return c, nil
}

// refusePlayed returns an error if a host of an attached lab was started, or has received: its
// counters and its log would be of more than one run.
func refusePlayed(ctx context.Context, hosts []control.Endpoint) error {
	_, _, err := control.AskAll(ctx, hosts, func(e control.Endpoint) (any, error) {
		h, err := client.Stats[observe.Host](e)
		if err == nil && (h.Started || len(h.Received) > 0 || slices.ContainsFunc(h.Sent, func(s host.Sent) bool { return s.Frames > 0 })) {
			err = errPlayed
		}
		return nil, err
	})
	return err
}

var errPlayed = errors.New("it was started before, and counts what it sent and received then too: a run wants nodes that have just been started")

// copyMax is how long the copy of an event log may need until it is whole.
const copyMax = 5 * time.Second

// awaitCopy waits until the copy of a log is as long as the log was said to be. If it does
// not become so, whoever reads it finds that out.
func awaitCopy(path string, written int64) {
	timer.UntilFile(path, copyMax, func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() >= written
	})
}
