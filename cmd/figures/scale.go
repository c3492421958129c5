// Scale measures how large the simulator goes: deadlocks planted in fabrics of thousands of
// switches.
//
//	plant --> sim.Large --> run, a partition a processor --> Result: detected, latency, time, memory
//
// Read in this order: this file, scale_plant.go (the fabrics and their deadlocks).
//
// Invariants:
//   - detection results are the same each time, times are not;
//   - every planted deadlock forms, or the result says that it did not.
//
// It prints nothing, and does not influence the simulation.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"text/tabwriter"
	"time"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/internal/progress"
	"softswitch/oracle"
	"softswitch/play/rates"
	"softswitch/sim"
	"softswitch/unit"
)

// Result is the outcome for the large fabrics.
type Result struct {
	Detector   string   `json:"detector"`
	Processors int      `json:"processors"` // that each was played on
	Fabrics    []Fabric `json:"fabrics"`
	Wall       float64  `json:"wall_seconds"` // of all fabrics, one after the other
	PeakMemory int64    `json:"peak_memory_bytes"`
}

// Fabric is one fabric with deadlocks planted in it.
type Fabric struct {
	Fabric   string `json:"fabric"`
	Switches int    `json:"switches"`
	Ports    int    `json:"ports"` // of all switches
	Hosts    int    `json:"hosts"`
	Links    int    `json:"links"`
	Flows    int    `json:"flows"`

	Planted        int     `json:"planted"` // rings of detours
	Deadlocks      int     `json:"deadlocks"`
	Detected       int     `json:"detected"` // deadlocks that were declared while they lasted
	FalsePositives int     `json:"false_positives"`
	Premature      int     `json:"premature"`
	FalseNegatives int     `json:"false_negatives"`
	LatencyMax     int64   `json:"latency_ns_max"` // to the first declaration of each deadlock
	Build          float64 `json:"build_seconds"`
	Run            float64 `json:"run_seconds"`
	FrameHops      uint64  `json:"frame_hops"`
	Events         uint64  `json:"events"`
	PeakMemory     int64   `json:"peak_memory_bytes"`
	// State of the detector, and the buffer manager's accounts that the detector reads.
	DetectorBytes            int `json:"detector_bytes_per_switch"`
	DetectorBytesPerPriority int `json:"detector_bytes_per_switch_and_priority"`
	CounterBytes             int `json:"counter_bytes_per_switch"`
}

// Measure builds and runs the large fabrics, one after the other, until ctx ends; it
// reports progress on show. Errors of the detector name the flag --detector.
func Measure(ctx context.Context, detector string, show io.Writer) (*Result, error) {
	if _, err := catalog.Named("--detector", detector); err != nil {
		return nil, err
	}
	res := &Result{Detector: detector, Processors: runtime.GOMAXPROCS(0)}
	// What is built stays until its run ends, and a run allocates next to nothing: all that a collector finds is
	// what clearPeak lets it take. With one beside it, two processors build no faster than one.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	start := time.Now()
	for _, plant := range []planter{
		func() (*sim.Large, int, error) { return plantFatTree(64) },
		func() (*sim.Large, int, error) { return plantRings(10000) },
	} {
		f, err := run(ctx, plant, detector, show)
		if err != nil {
			return nil, err
		}
		res.Fabrics = append(res.Fabrics, *f)
		res.PeakMemory = max(res.PeakMemory, f.PeakMemory)
	}
	res.Wall = time.Since(start).Seconds()
	return res, nil
}

// Clean reports whether every planted deadlock formed and was detected, and nothing
// else was declared.
func (r *Result) Clean() bool {
	return !slices.ContainsFunc(r.Fabrics, func(f Fabric) bool {
		return f.Deadlocks < f.Planted || f.Detected < f.Planted || f.FalseNegatives+f.FalsePositives+f.Premature > 0
	})
}

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	for _, f := range r.Fabrics {
		fmt.Fprintf(w, "%s: %s with %d ports, %s, %s, %s\n", f.Fabric, unit.Count(f.Switches, "switch"), f.Ports, unit.Count(f.Hosts, "host"), unit.Count(f.Links, "link"), unit.Count(f.Flows, "flow"))
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "  deadlocks\t%d planted, %d formed, %d detected by %s, %d missed\n", f.Planted, f.Deadlocks, f.Detected, r.Detector, f.FalseNegatives)
		fmt.Fprintf(t, "  alarms\t%d false, %d premature\n", f.FalsePositives, f.Premature)
		fmt.Fprintf(t, "  latency\tat most %.1f us\n", float64(f.LatencyMax)/1e3)
		fmt.Fprintf(t, "  time\t%.1f s to build, %.1f s to run %s\n", f.Build, f.Run, unit.Count(f.FrameHops, "frame-hop"))
		fmt.Fprintf(t, "  memory\t%.2f GiB at most\n", float64(f.PeakMemory)/(1<<30))
		fmt.Fprintf(t, "  detector\t%d B a switch, %d B a switch and priority; the buffer manager's accounts %d B\n", f.DetectorBytes, f.DetectorBytesPerPriority, f.CounterBytes)
		t.Flush()
	}
	_, err := fmt.Fprintf(w, "in all %.1f s on %s, %.2f GiB at most\n", r.Wall, unit.Count(r.Processors, "processor"), float64(r.PeakMemory)/(1<<30))
	return err
}

// planter builds a fabric with planted deadlocks.
type planter func() (l *sim.Large, planted int, err error)

// run builds a fabric and simulates it.
func run(ctx context.Context, plant planter, detector string, show io.Writer) (*Fabric, error) {
	clearPeak()
	start := time.Now()
	l, planted, err := plant()
	if err != nil {
		return nil, err
	}
	l.Detector, l.Switch = detector, scaleSwitch(l.Link)
	work := progress.New(ctx, show, l.Name, int64(l.Duration))
	defer work.Close()
	watch := func(now unit.Time) error { return work.Set(int64(now)) }
	w, err := sim.NewLarge(*l, sim.Options{
		Seed: 1, Detectors: catalog.Factories(), Watch: watch,
		Partitions: runtime.GOMAXPROCS(0), Each: progress.AtOnce,
	})
	if err != nil {
		return nil, err
	}
	f := &Fabric{
		Fabric: l.Name, Switches: l.Fabric.Switches(), Hosts: len(l.Fabric.Nodes) - l.Fabric.Switches(), Links: len(l.Fabric.Links),
		Flows: len(l.Flows), Planted: planted, Build: time.Since(start).Seconds(),
	}
	start = time.Now()
	res, err := w.Play()
	if err != nil {
		return nil, err
	}
	f.Run = time.Since(start).Seconds()
	f.FrameHops, f.Events = w.Frames()
	f.FalsePositives, f.Premature, f.FalseNegatives = res.Count(oracle.FalsePositive), res.Count(oracle.Premature), len(res.Missed())
	first := make(map[int]bool) // deadlocks that were declared
	for _, x := range res.Findings {
		if x.Deadlock >= 0 && !first[x.Deadlock] {
			first[x.Deadlock] = true
			f.LatencyMax = max(f.LatencyMax, int64(x.Latency))
		}
	}
	f.Deadlocks, f.Detected = len(res.Deadlocks), len(first)
	w.EachSwitch(func(s *dataplane.Switch) {
		f.Ports += s.Ports()
		f.DetectorBytes = max(f.DetectorBytes, s.Detector().StateBytes())
		f.CounterBytes = max(f.CounterBytes, s.MMU().CounterBytes())
	})
	f.DetectorBytesPerPriority = f.DetectorBytes / l.Switch.Buffer.Lossless.Len()
	f.PeakMemory, err = rates.PeakMemory()
	return f, err
}

// clearPeak resets rates.PeakMemory, where the kernel can.
func clearPeak() {
	runtime.GC()
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // proc(5): resets the peak
}
