package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/pfcframe"
	"softswitch/scenario"
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
	return control.AskByName(ctx, ends, askClock)
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

// refuseDisorder returns an error if a link between nodes of different clocks repeats frames, has them
// overtake each other, or is to carry pauses that its ends have not sent. How the clocks differ is told by
// its pauses, each of which is taken for one that was sent, in their order (oracle.JudgeClocks).
func refuseDisorder(p *scenario.Plan, clocks map[string]clock) error {
	for i, l := range p.Links {
		if clocks[l.A.Name].id == clocks[l.B.Name].id {
			continue
		}
		why := ""
		for _, e := range p.Events {
			if e.Link == i && (e.Do == scenario.Replay || e.Do == scenario.Forge && pfcframe.IsMACControl(e.Frame)) {
				why = string(e.Do)
			}
		}
		switch {
		case l.Duplicate > 0:
			why = "duplicate"
		case l.Reorder > 0:
			why = "reorder"
		}
		if why != "" {
			return fmt.Errorf("scenario %s: link %s: %s: its ends go by different clocks, and how these differ is told by its pauses, which have to come once, in the order in which they were sent", p.Scenario.Name, l.Name, why)
		}
	}
	return nil
}

// refusePlayed returns an error if a host of an attached lab was started, or has received: its
// counters and its log would be of more than one run.
func refusePlayed(ctx context.Context, hosts []control.Endpoint) error {
	return tell(ctx, hosts, func(e control.Endpoint) error {
		h, err := client.Stats[observe.Host](e)
		if err == nil && (h.Started || len(h.Received) > 0 || slices.ContainsFunc(h.Sent, func(s host.Sent) bool { return s.Frames > 0 })) {
			err = errPlayed
		}
		return err
	})
}

var errPlayed = errors.New("it was started before, and counts what it sent and received then too: a run wants nodes that have just been started")

// copyMax is how long the copy of an event log may need until it is whole.
const copyMax = 5 * time.Second

// awaitCopy waits until the copy of a log is as long as the log was said to be. If it stays
// shorter, the reader of the copy finds out.
func awaitCopy(path string, written int64) {
	timer.UntilFile(path, copyMax, func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() >= written
	})
}
