package rates

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/prometheus/procfs"

	"softswitch/detect/catalog"
	"softswitch/internal/progress"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// Speed is how fast the simulator is with UDP flows, and beside it with reliable
// connections. Times and rates are those of the median run.
type Speed struct {
	FrameHopsPerSecond int64 `json:"frame_hops_per_second"`
	// The same per second of processor time, which leaves out what other processes on
	// the machine take.
	FrameHopsPerCPUSecond int64    `json:"frame_hops_per_cpu_second"`
	FrameHops             uint64   `json:"frame_hops"`
	Events                uint64   `json:"events"`
	Wall                  float64  `json:"wall_seconds"`
	CPU                   float64  `json:"cpu_seconds"`
	PeakMemory            int64    `json:"peak_memory_bytes"` // of the process, with both loads
	XOFF                  int      `json:"pfc_xoff"`
	LosslessLost          int      `json:"lossless_lost"`
	Virtual               int64    `json:"virtual_ns"`
	Detector              string   `json:"detector"`
	Runs                  int      `json:"runs"`
	MinMax                [2]int64 `json:"frame_hops_per_second_min_max"` // lowest and highest of the runs
	RC                    RCSpeed  `json:"rc"`
}

// RCSpeed is how fast the simulator is when the same flows are reliable connections that
// keep to DCQCN.
type RCSpeed struct {
	FrameHopsPerCPUSecond int64   `json:"frame_hops_per_cpu_second"`
	FrameHops             uint64  `json:"frame_hops"`
	Events                uint64  `json:"events"`
	CPU                   float64 `json:"cpu_seconds"`
	XOFF                  int     `json:"pfc_xoff"`
	LosslessLost          int     `json:"lossless_lost"`
	// Ratio is how many times the processor time of a UDP flow's frame-hop one takes: of the
	// median turn, which plays each load once.
	Ratio       float64    `json:"cpu_ratio"`
	RatioMinMax [2]float64 `json:"cpu_ratio_min_max"`
}

// WriteText writes the result for people.
func (r *Speed) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "speed\t%.2f million frame-hops/s (median of %d runs; %.2f to %.2f)\n", millions(r.FrameHopsPerSecond), r.Runs, millions(r.MinMax[0]), millions(r.MinMax[1]))
	fmt.Fprintf(t, "\t%.2f million per second of processor time\n", millions(r.FrameHopsPerCPUSecond))
	fmt.Fprintf(t, "run\t%s, %s in %.3f s for %v of virtual time\n", unit.Count(r.FrameHops, "frame-hop"), unit.Count(r.Events, "event"), r.Wall, time.Duration(r.Virtual))
	fmt.Fprintf(t, "pauses\t%d; %s lost; detector %s\n", r.XOFF, unit.Count(r.LosslessLost, "lossless frame"), r.Detector)
	fmt.Fprintf(t, "memory\t%.1f MiB at most\n", float64(r.PeakMemory)/(1<<20))
	c := &r.RC
	fmt.Fprintf(t, "rc, dcqcn\t%.2f million per second of processor time\n", millions(c.FrameHopsPerCPUSecond))
	fmt.Fprintf(t, "\t%.2f times the processor time of a frame-hop above (median of %d turns; %.2f to %.2f)\n", c.Ratio, r.Runs, c.RatioMinMax[0], c.RatioMinMax[1])
	fmt.Fprintf(t, "\t%s, %s, %d pauses; %s lost\n", unit.Count(c.FrameHops, "frame-hop"), unit.Count(c.Events, "event"), c.XOFF, unit.Count(c.LosslessLost, "lossless frame"))
	return t.Flush()
}

func millions(n int64) float64 { return float64(n) / 1e6 }

// benchLoad is what is measured, and the runs of it so far.
type benchLoad struct {
	scenario     *scenario.Scenario
	hops, events uint64
	xoff, lost   int
	walls, cpus  []time.Duration // in the order of the runs
}

// newLoad is 16 flows on a fat-tree, UDP at line rate or reliable connections with DCQCN.
func newLoad(detector string, duration unit.Time, connections bool) (*benchLoad, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "name: bench\ntopology: {fattree: {k: 4}, rate: 40Gbit/s, delay: 1us}\nduration: %dns\n", duration)
	flow := "rate: line, frame: 1514"
	if connections {
		b.WriteString("congestion: {}\n")
		flow = "transport: rc"
	}
	b.WriteString("flows:\n")
	host := func(i int) string { return fmt.Sprintf("h%d-%d-%d", i>>2, i>>1&1, i&1) }
	for i := range 16 {
		fmt.Fprintf(&b, "  - {name: F%d, from: %s, to: %s, %s}\n", i, host(i), host((i+5)%16), flow)
	}
	s, err := scenario.Parse("bench", []byte(b.String()), scenario.Known{Detectors: catalog.Names()})
	if err != nil {
		return nil, err
	}
	s.Detector = detector
	return &benchLoad{scenario: s}, nil
}

// Simulator measures runs of the fabric with a detector, until ctx ends; it reports
// progress on show. Errors name the flags --detector, --runs and --duration.
func Simulator(ctx context.Context, show io.Writer, detector string, duration unit.Time, runs int) (*Speed, error) {
	if _, err := catalog.Named("--detector", detector); err != nil {
		return nil, err
	}
	if runs < 1 || runs > 1000 {
		return nil, fmt.Errorf("--runs: %d; valid: 1 to 1000", runs)
	}
	if duration < 100*unit.Microsecond || duration > 60*unit.Second {
		return nil, fmt.Errorf("--duration: %v; valid: 100us to 1m", time.Duration(duration))
	}
	udp, err := newLoad(detector, duration, false)
	rc, errRC := newLoad(detector, duration, true)
	if err := cmp.Or(err, errRC); err != nil {
		return nil, err
	}
	work := progress.New(ctx, show, "runs", int64(2*runs))
	defer work.Close()
	for range runs {
		for _, l := range []*benchLoad{udp, rc} {
			if err := l.run(func(unit.Time) error { return work.Add(0) }); err != nil {
				return nil, err
			}
			work.Add(1)
		}
	}
	res := &Speed{
		FrameHops: udp.hops, Events: udp.events, XOFF: udp.xoff, LosslessLost: udp.lost,
		Detector: detector, Runs: runs, Virtual: int64(duration), RC: rc.beside(udp),
	}
	walls := slices.Sorted(slices.Values(udp.walls))
	wall, cpu := walls[runs/2], median(udp.cpus)
	res.Wall, res.CPU = wall.Seconds(), cpu.Seconds()
	res.FrameHopsPerSecond, res.FrameHopsPerCPUSecond = udp.rate(wall), udp.rate(cpu)
	res.MinMax = [2]int64{udp.rate(walls[runs-1]), udp.rate(walls[0])}
	res.PeakMemory, err = PeakMemory()
	return res, err
}

// run plays the load once and measures it.
func (l *benchLoad) run(watch func(unit.Time) error) error {
	plan, err := scenario.Compile(l.scenario)
	if err != nil {
		return err
	}
	w, err := sim.New(plan, sim.Options{Seed: 1, Detectors: catalog.Factories(), Watch: watch})
	if err != nil {
		return err
	}
	start, used := time.Now(), cpuTime()
	v, err := w.Run()
	if err != nil {
		return err
	}
	l.walls, l.cpus = append(l.walls, time.Since(start)), append(l.cpus, cpuTime()-used)
	l.hops, l.events = w.Frames()
	l.xoff, l.lost = v.PFC.XOFF, v.LosslessLost
	return nil
}

// rate is the frame-hops of a run per second of d.
func (l *benchLoad) rate(d time.Duration) int64 { return int64(float64(l.hops) / d.Seconds()) }

// beside is the speed of l beside that of udp, which took turns with it.
func (l *benchLoad) beside(udp *benchLoad) RCSpeed {
	var ratios []float64
	for i, cpu := range l.cpus {
		ratios = append(ratios, cpu.Seconds()/float64(l.hops)/(udp.cpus[i].Seconds()/float64(udp.hops)))
	}
	cpu := median(l.cpus)
	return RCSpeed{
		FrameHopsPerCPUSecond: l.rate(cpu), FrameHops: l.hops, Events: l.events, CPU: cpu.Seconds(), XOFF: l.xoff, LosslessLost: l.lost,
		Ratio: median(ratios), RatioMinMax: [2]float64{slices.Min(ratios), slices.Max(ratios)},
	}
}

// median is the middle of some numbers, the upper one of two.
func median[T cmp.Ordered](of []T) T { return slices.Sorted(slices.Values(of))[len(of)/2] }

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err)) // it only fails for bad arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PeakMemory is the most memory that this process ever had resident, in bytes.
func PeakMemory() (int64, error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, err
	}
	status, err := self.NewStatus()
	return int64(status.VmHWM), err
}
