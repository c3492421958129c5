package scale

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"softswitch/detect/catalog"
	"softswitch/internal/progress"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// Speed is how fast the simulator is. Times and rates are those of the median run.
type Speed struct {
	FrameHopsPerSecond int64 `json:"frame_hops_per_second"`
	// The same per second of processor time, which leaves out what other processes on
	// the machine take.
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
	MinMax                [2]int64 `json:"frame_hops_per_second_min_max"` // lowest and highest of the runs
}

// WriteText writes the result for people.
func (r *Speed) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "speed\t%.2f million frame-hops/s (median of %d runs; %.2f to %.2f)\n", millions(r.FrameHopsPerSecond), r.Runs, millions(r.MinMax[0]), millions(r.MinMax[1]))
	fmt.Fprintf(t, "\t%.2f million per second of processor time\n", millions(r.FrameHopsPerCPUSecond))
	fmt.Fprintf(t, "run\t%d frame-hops, %d events in %.3f s for %v of virtual time\n", r.FrameHops, r.Events, r.Wall, time.Duration(r.Virtual))
	fmt.Fprintf(t, "pauses\t%d; %d lossless frames lost; detector %s\n", r.XOFF, r.LosslessLost, r.Detector)
	fmt.Fprintf(t, "memory\t%.1f MiB at most\n", float64(r.PeakMemory)/(1<<20))
	return t.Flush()
}

func millions(n int64) float64 { return float64(n) / 1e6 }

// benchFabric is the scenario being measured.
func benchFabric(duration unit.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: bench\ntopology: {fattree: {k: 4}, rate: 40Gbit/s, delay: 1us}\nduration: %dns\nflows:\n", duration)
	host := func(i int) string { return fmt.Sprintf("h%d-%d-%d", i>>2, i>>1&1, i&1) }
	for i := range 16 {
		fmt.Fprintf(&b, "  - {name: F%d, from: %s, to: %s, rate: line, frame: 1514}\n", i, host(i), host((i+5)%16))
	}
	return b.String()
}

// Bench measures runs of the fabric with a detector, until ctx ends; it reports
// progress on show. Errors name the flags --detector, --runs and --duration.
func Bench(ctx context.Context, show io.Writer, detector string, duration unit.Time, runs int) (*Speed, error) {
	if _, err := catalog.Named("--detector", detector); err != nil {
		return nil, err
	}
	if runs < 1 || runs > 1000 {
		return nil, fmt.Errorf("--runs: %d; valid: 1 to 1000", runs)
	}
	if duration < 100*unit.Microsecond || duration > 60*unit.Second {
		return nil, fmt.Errorf("--duration: %v; valid: 100us to 1m", time.Duration(duration))
	}
	s, err := scenario.Parse("bench", []byte(benchFabric(duration)), scenario.Known{Detectors: catalog.Names()})
	if err != nil {
		return nil, err
	}
	s.Detector = detector
	res := &Speed{Detector: detector, Runs: runs, Virtual: int64(duration)}
	var walls, cpus []time.Duration
	work := progress.New(ctx, show, "runs", int64(runs))
	defer work.Close()
	for range runs {
		wall, cpu, err := res.run(s, func(unit.Time) error { return work.Add(0) })
		if err != nil {
			return nil, err
		}
		walls, cpus = append(walls, wall), append(cpus, cpu)
		work.Add(1)
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

// run plays the scenario once and measures it.
func (r *Speed) run(s *scenario.Scenario, watch func(unit.Time) error) (wall, cpu time.Duration, err error) {
	plan, err := scenario.Compile(s)
	if err != nil {
		return 0, 0, err
	}
	w, err := sim.New(plan, sim.Options{Seed: 1, Detectors: catalog.Factories(), Watch: watch})
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
		panic(fmt.Sprintf("getrusage: %v", err)) // it only fails for bad arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
