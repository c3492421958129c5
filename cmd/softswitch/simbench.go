package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// benchResult is what `sim bench` prints. Times and rates are those of the median
// run.
type benchResult struct {
	FrameHopsPerSecond int64 `json:"frame_hops_per_second"`
	// The same per second of processor time: what other processes on the machine
	// take away does not count.
	FrameHopsPerCPUSecond int64    `json:"frame_hops_per_cpu_second"`
	FrameHops             uint64   `json:"frame_hops"`
	Events                uint64   `json:"events"`
	Wall                  float64  `json:"wall_seconds"`
	CPU                   float64  `json:"cpu_seconds"`
	PeakMemory            int64    `json:"peak_memory_bytes"`
	XOFF                  int      `json:"pfc_xoff"`
	LosslessLost          int      `json:"lossless_lost"`
	Virtual               int64    `json:"virtual_ns"`
	Detector              string   `json:"detector"`
	Runs                  int      `json:"runs"`
	MinMax                [2]int64 `json:"frame_hops_per_second_min_max"` // of the runs
}

func simBench() *cobra.Command {
	var detector string
	var duration time.Duration
	var runs int
	var asJSON bool
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the simulator: frame-hops a second",
		Long: `Measure how fast the simulator is: a fat-tree of k = 4 at 40 Gbit/s whose 16
hosts each send to a host of another pod at line rate, with the buffer manager,
PFC and the detector that a scenario has too. Several flows share links, so
there are pauses all the time.

A frame-hop is a frame that arrives at a node. The simulator uses one processor.`,
		Example: "  softswitch sim bench --json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if _, err := catalog.Named("--detector", detector); err != nil {
				return err
			}
			if runs < 1 || runs > 1000 {
				return fmt.Errorf("--runs: %d; valid: 1 to 1000", runs)
			}
			if duration < 100*time.Microsecond || duration > time.Minute {
				return fmt.Errorf("--duration: %v; valid: 100us to 1m", duration)
			}
			res, err := benchSimulator(detector, unit.Time(duration), runs)
			if err != nil {
				return err
			}
			return res.print(os.Stdout, asJSON)
		},
	}
	detectorFlag(c, &detector, "itsypaper", "deadlock detector")
	c.Flags().DurationVar(&duration, "duration", 20*time.Millisecond, "virtual time of a run")
	c.Flags().IntVar(&runs, "runs", 5, "how often it is measured")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (r *benchResult) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "speed\t%.2f million frame-hops/s (median of %d runs; %.2f to %.2f)\n", millions(r.FrameHopsPerSecond), r.Runs, millions(r.MinMax[0]), millions(r.MinMax[1]))
	fmt.Fprintf(t, "\t%.2f million per second of processor time\n", millions(r.FrameHopsPerCPUSecond))
	fmt.Fprintf(t, "run\t%d frame-hops, %d events in %.3f s for %v of virtual time\n", r.FrameHops, r.Events, r.Wall, time.Duration(r.Virtual))
	fmt.Fprintf(t, "pauses\t%d; %d lossless frames lost; detector %s\n", r.XOFF, r.LosslessLost, r.Detector)
	fmt.Fprintf(t, "memory\t%.1f MiB at most\n", float64(r.PeakMemory)/(1<<20))
	return t.Flush()
}

func millions(n int64) float64 { return float64(n) / 1e6 }

// benchFabric is the scenario that is measured.
func benchFabric(duration unit.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: bench\ntopology: {fattree: {k: 4}, rate: 40Gbit/s, delay: 1us}\nduration: %dns\nflows:\n", duration)
	host := func(i int) string { return fmt.Sprintf("h%d-%d-%d", i>>2, i>>1&1, i&1) }
	for i := range 16 {
		fmt.Fprintf(&b, "  - {name: F%d, from: %s, to: %s, rate: line, frame: 1514}\n", i, host(i), host((i+5)%16))
	}
	return b.String()
}

func benchSimulator(detector string, duration unit.Time, runs int) (*benchResult, error) {
	s, err := scenario.Parse("bench", []byte(benchFabric(duration)), scenario.Known{Detectors: catalog.Names()})
	if err != nil {
		return nil, err
	}
	s.Detector = detector
	res := &benchResult{Detector: detector, Runs: runs, Virtual: int64(duration)}
	var walls, cpus []time.Duration
	for range runs {
		wall, cpu, err := res.run(s)
		if err != nil {
			return nil, err
		}
		walls, cpus = append(walls, wall), append(cpus, cpu)
	}
	slices.Sort(walls)
	slices.Sort(cpus)
	rate := func(d time.Duration) int64 { return int64(float64(res.FrameHops) / d.Seconds()) }
	wall, cpu := walls[runs/2], cpus[runs/2]
	res.Wall, res.CPU = wall.Seconds(), cpu.Seconds()
	res.FrameHopsPerSecond, res.FrameHopsPerCPUSecond = rate(wall), rate(cpu)
	res.MinMax = [2]int64{rate(walls[runs-1]), rate(walls[0])}
	res.PeakMemory, err = peakMemory()
	return res, err
}

// run plays the scenario once and measures that.
func (r *benchResult) run(s *scenario.Scenario) (wall, cpu time.Duration, err error) {
	plan, err := scenario.Compile(s)
	if err != nil {
		return 0, 0, err
	}
	w, err := sim.New(plan, sim.Options{Seed: 1, Detectors: catalog.Factories()})
	if err != nil {
		return 0, 0, err
	}
	start, used := time.Now(), cpuTime()
	v, err := w.Run()
	if err != nil {
		return 0, 0, err
	}
	wall, cpu = time.Since(start), cpuTime()-used
	r.FrameHops, r.Events = w.Frames()
	r.XOFF, r.LosslessLost = v.PFC.XOFF, v.LosslessLost
	return wall, cpu, nil
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err)) // it fails for bad arguments only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
