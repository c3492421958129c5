package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"softswitch/scenario"
	"softswitch/sim"
)

// benchResult is what `sim bench` prints. Figures are medians over the runs.
type benchResult struct {
	FrameHopsPerSecond int64    `json:"frame_hops_per_second"`
	EventsPerSecond    int64    `json:"events_per_second"`
	FrameHops          uint64   `json:"frame_hops"`
	Events             uint64   `json:"events"`
	Wall               float64  `json:"wall_seconds"`
	PeakMemory         int64    `json:"peak_memory_bytes"` // of the process, over all runs
	XOFF               int      `json:"pfc_xoff"`
	LosslessLost       int      `json:"lossless_lost"`
	Virtual            string   `json:"virtual_time"`
	Detector           string   `json:"detector"`
	Runs               int      `json:"runs"`
	Spread             [2]int64 `json:"frame_hops_per_second_min_max"`
}

func simBench() *cobra.Command {
	var detector string
	var duration time.Duration
	var runs int
	var asJSON bool
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast scenarios are simulated",
		RunE: func(*cobra.Command, []string) error {
			res, err := benchSimulator(detector, duration, runs)
			if err != nil {
				return err
			}
			e := json.NewEncoder(os.Stdout)
			e.SetIndent("", "  ")
			return e.Encode(res)
		},
	}
	c.Flags().StringVar(&detector, "detector", "itsypaper", "d")
	c.Flags().DurationVar(&duration, "duration", 20*time.Millisecond, "virtual time of a run")
	c.Flags().IntVar(&runs, "runs", 5, "runs; figures are their medians")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func benchScenario(duration time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: bench\ntopology:\n  fattree: {k: 4}\n  rate: 40Gbit/s\n  delay: 1us\nduration: %s\nflows:\n", duration)
	host := func(i int) string { return fmt.Sprintf("h%d-%d-%d", i>>2, i>>1&1, i&1) }
	for i := range 16 {
		fmt.Fprintf(&b, "  - {name: F%d, from: %s, to: %s, frame: 1514}\n", i, host(i), host((i+5)%16))
	}
	return b.String()
}

func benchSimulator(detector string, duration time.Duration, runs int) (*benchResult, error) {
	s, err := scenario.Parse("bench", []byte(benchScenario(duration)), scenario.Known{Detectors: detectorNames})
	if err != nil {
		return nil, err
	}
	s.Detector = detector
	res := &benchResult{Detector: detector, Runs: runs, Virtual: duration.String()}
	var walls []time.Duration
	for range runs {
		plan, err := scenario.Compile(s)
		if err != nil {
			return nil, err
		}
		w, err := sim.New(plan, sim.Options{Seed: 1, Detectors: detectors})
		if err != nil {
			return nil, err
		}
		start := time.Now()
		v, err := w.Run()
		walls = append(walls, time.Since(start))
		if err != nil {
			return nil, err
		}
		res.FrameHops, res.Events = w.Frames()
		res.XOFF, res.LosslessLost = v.PFC.XOFF, v.LosslessLost
	}
	slices.SortFunc(walls, func(a, b time.Duration) int { return cmp.Compare(a, b) })
	rate := func(n uint64, d time.Duration) int64 { return int64(float64(n) / d.Seconds()) }
	mid := walls[len(walls)/2]
	res.Wall = mid.Seconds()
	res.FrameHopsPerSecond, res.EventsPerSecond = rate(res.FrameHops, mid), rate(res.Events, mid)
	res.Spread = [2]int64{rate(res.FrameHops, walls[len(walls)-1]), rate(res.FrameHops, walls[0])}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return nil, err
	}
	res.PeakMemory = u.Maxrss << 10
	return res, nil
}
