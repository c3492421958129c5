package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"softswitch/internal/stat"
)

// FloorOptions are the settings of Floor.
type FloorOptions struct {
	Program  string    // program of the ring's processes; "" is this one
	Laps     int       // of each kind, at least 1
	Progress io.Writer // takes a line for each kind
}

// FloorResult is what Floor measured.
type FloorResult struct {
	Bench      string `json:"bench"` // "floor"
	Hops       int    `json:"hops"`
	Laps       int    `json:"laps"`
	FrameBytes int    `json:"frame_bytes"`
	// Spaced laps begin EveryNs apart: between them the machine is idle and its
	// processors may sleep.
	EveryNs int64 `json:"every_ns"`
	Spaced  Times `json:"spaced"`
	// BackToBack laps begin when the one before ends.
	BackToBack Times `json:"back_to_back"`
}

// Times is a summary of lap times, in ns.
type Times struct {
	Min    int64 `json:"min_ns"`
	Median int64 `json:"median_ns"`
	P90    int64 `json:"p90_ns"`
	Max    int64 `json:"max_ns"`
}

// Hops is the number of processes, and of wires, of a ring.
const Hops = 4

// Spacing is the time between the starts of spaced laps.
const Spacing = 2 * time.Millisecond

// warmUpLaps are not counted: the first ones touch memory for the first time.
const warmUpLaps = 50

// Floor measures laps round a ring of bare relays. It needs root.
func Floor(ctx context.Context, opt FloorOptions) (*FloorResult, error) {
	if opt.Laps < 1 {
		return nil, fmt.Errorf("floor: %d laps; valid: 1 and more", opt.Laps)
	}
	if opt.Program == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		opt.Program = self
	}
	r := &FloorResult{Bench: "floor", Hops: Hops, Laps: opt.Laps, FrameBytes: MinFrame, EveryNs: int64(Spacing)}
	for _, kind := range []struct {
		name  string
		every time.Duration
		into  *Times
	}{{"spaced", Spacing, &r.Spaced}, {"back-to-back", 0, &r.BackToBack}} {
		times, err := laps(ctx, opt, kind.every)
		if err != nil {
			return nil, fmt.Errorf("floor: %w", err)
		}
		*kind.into = sumUpLaps(times)
		fmt.Fprintf(opt.Progress, "%-12s  median %.1f us\n", kind.name, float64(kind.into.Median)/1e3)
	}
	return r, nil
}

func sumUpLaps(times []int64) Times {
	slices.Sort(times)
	at := func(percent int) int64 { return times[stat.NearestRank(len(times), percent)] }
	return Times{Min: times[0], Median: at(50), P90: at(90), Max: times[len(times)-1]}
}

// laps builds a ring and returns the times of its laps.
func laps(ctx context.Context, opt FloorOptions, every time.Duration) ([]int64, error) {
	ring, err := newRing()
	if err != nil {
		return nil, err
	}
	defer closeRooms(ring)
	dir, err := os.MkdirTemp("", "softswitch-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// A lost frame would make a lap endless.
	total := opt.Laps + warmUpLaps
	ctx, cancel := context.WithTimeout(ctx, time.Duration(total)*(every+time.Millisecond)+startTimeout)
	defer cancel()
	relays, err := startRelays(ctx, opt.Program, ring[1:], dir)
	defer stopAll(relays)
	if err != nil {
		return nil, err
	}
	lapper, err := start(launch{
		room: ring[0], cpu: anyCPU, dir: dir, name: "lap", env: oneThread, pipe: true,
		argv: []string{opt.Program, "lap", "prev", "next", strconv.Itoa(total), every.String()},
	})
	if err != nil {
		return nil, err
	}
	defer lapper.stop()
	line, err := lapper.readLine(ctx)
	if err != nil {
		return nil, errors.Join(append(deaths(relays), fmt.Errorf("laps: %w", err))...)
	}
	var times []int64
	if err := json.Unmarshal([]byte(line), &times); err != nil {
		return nil, fmt.Errorf("laps: %w", err)
	}
	if len(times) != total {
		return nil, fmt.Errorf("laps: %d times of %d laps", len(times), total)
	}
	return times[warmUpLaps:], nil
}

// newRing creates namespaces in which next of each is wired to prev of the following one.
func newRing() ([]room, error) {
	ring, err := rooms(Hops)
	if err != nil {
		return nil, err
	}
	for i := range ring {
		if err := wire(ring[i], "next", ring[(i+1)%Hops], "prev"); err != nil {
			closeRooms(ring)
			return nil, err
		}
	}
	return ring, nil
}

// startRelays starts a relay in each room and waits until all are ready.
func startRelays(ctx context.Context, program string, rs []room, dir string) (relays []*child, err error) {
	for i, r := range rs {
		c, err := start(launch{
			room: r, cpu: anyCPU, dir: dir, name: fmt.Sprintf("relay%d", i+1), env: oneThread, pipe: true,
			argv: []string{program, "relay", "prev", "next"},
		})
		if err != nil {
			return relays, err
		}
		relays = append(relays, c)
	}
	for _, c := range relays {
		if _, err := c.readLine(ctx); err != nil {
			return relays, err
		}
	}
	return relays, nil
}
