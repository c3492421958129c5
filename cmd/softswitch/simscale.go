package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/scenario/config"
	"softswitch/sim"
	"softswitch/topo"
	"softswitch/unit"
)

// scaleResult is what `sim scale` prints.
type scaleResult struct {
	Detector   string        `json:"detector"`
	Fabrics    []scaleFabric `json:"fabrics"`
	Wall       float64       `json:"wall_seconds"` // of all fabrics, one after the other
	PeakMemory int64         `json:"peak_memory_bytes"`
}

// scaleFabric is one fabric with deadlocks planted in it.
type scaleFabric struct {
	Fabric   string `json:"fabric"`
	Switches int    `json:"switches"`
	Ports    int    `json:"ports"` // of all switches
	Hosts    int    `json:"hosts"`
	Links    int    `json:"links"`
	Flows    int    `json:"flows"`

	Planted        int     `json:"planted"` // rings of detours
	Deadlocks      int     `json:"deadlocks"`
	Detected       int     `json:"detected"` // deadlocks that were declared while they lived
	FalsePositives int     `json:"false_positives"`
	Premature      int     `json:"premature"`
	FalseNegatives int     `json:"false_negatives"`
	LatencyMax     int64   `json:"latency_ns_max"` // of the first declaration of each deadlock
	Build          float64 `json:"build_seconds"`
	Run            float64 `json:"run_seconds"`
	FrameHops      uint64  `json:"frame_hops"`
	Events         uint64  `json:"events"`
	PeakMemory     int64   `json:"peak_memory_bytes"`
	// State of the detector, and the buffer manager's accounts that it reads.
	DetectorBytes         int `json:"detector_bytes_per_switch"`
	DetectorBytesPerClass int `json:"detector_bytes_per_switch_and_class"`
	CounterBytes          int `json:"counter_bytes_per_switch"`
}

func simScale() *cobra.Command {
	var detector string
	var asJSON bool
	c := &cobra.Command{
		Use:   "scale",
		Short: "Detect planted deadlocks in fabrics of thousands of switches",
		Long: `Build two fabrics of 64-port switches, plant deadlocks in them, and see whether
they are detected:

  - a fat-tree of k = 64: 5120 switches, 65536 hosts;
  - 10000 switches of 62 links to others, each to those that follow it at 31
    distances, and 2 hosts.

Every switch and every host is there. A deadlock is a ring of three to twelve
switches round which flows are sent by way of a route for their destinations.
Switches have routes to those subnets alone that flows go to.

Exit status: 0 all deadlocks were detected and there was no false alarm; 1 not.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if _, err := catalog.Named("--detector", detector); err != nil {
				return err
			}
			res := scaleResult{Detector: detector}
			start := time.Now()
			for _, plant := range []planter{
				func() (*sim.Large, int, error) { return plantFatTree(64) },
				func() (*sim.Large, int, error) { return plantRings(10000) },
			} {
				f, err := runScale(plant, detector)
				if err != nil {
					return err
				}
				res.Fabrics = append(res.Fabrics, *f)
				res.PeakMemory = max(res.PeakMemory, f.PeakMemory)
			}
			res.Wall = time.Since(start).Seconds()
			return res.print(os.Stdout, asJSON)
		},
	}
	detectorFlag(c, &detector, "itsy", "deadlock detector")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (r *scaleResult) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
	} else {
		r.table(w)
	}
	for _, f := range r.Fabrics {
		if f.Deadlocks < f.Planted || f.Detected < f.Planted || f.FalseNegatives+f.FalsePositives+f.Premature > 0 {
			return errUnmet
		}
	}
	return nil
}

func (r *scaleResult) table(w io.Writer) {
	for _, f := range r.Fabrics {
		fmt.Fprintf(w, "%s: %d switches with %d ports, %d hosts, %d links, %d flows\n", f.Fabric, f.Switches, f.Ports, f.Hosts, f.Links, f.Flows)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "  deadlocks\t%d planted, %d came about, %d detected by %s, %d missed\n", f.Planted, f.Deadlocks, f.Detected, r.Detector, f.FalseNegatives)
		fmt.Fprintf(t, "  alarms\t%d false, %d premature\n", f.FalsePositives, f.Premature)
		fmt.Fprintf(t, "  latency\tat most %.1f us\n", float64(f.LatencyMax)/1e3)
		fmt.Fprintf(t, "  time\t%.1f s to build, %.1f s to run %d frame-hops\n", f.Build, f.Run, f.FrameHops)
		fmt.Fprintf(t, "  memory\t%.2f GiB at most\n", float64(f.PeakMemory)/(1<<30))
		fmt.Fprintf(t, "  detector\t%d B a switch, %d B a switch and class; the buffer manager's accounts %d B\n", f.DetectorBytes, f.DetectorBytesPerClass, f.CounterBytes)
		t.Flush()
	}
	fmt.Fprintf(w, "in all %.1f s, %.2f GiB at most\n", r.Wall, float64(r.PeakMemory)/(1<<30))
}

// planter makes a fabric with so many deadlocks planted in it.
type planter func() (l *sim.Large, planted int, err error)

// runScale builds a fabric and runs it.
func runScale(plant planter, detector string) (*scaleFabric, error) {
	clearPeak()
	start := time.Now()
	l, planted, err := plant()
	if err != nil {
		return nil, err
	}
	l.Detector, l.Switch = detector, scaleSwitch(l.Link)
	w, err := sim.NewLarge(*l, sim.Options{Seed: 1, Detectors: catalog.Factories()})
	if err != nil {
		return nil, err
	}
	f := &scaleFabric{
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
	f.DetectorBytesPerClass = f.DetectorBytes / l.Switch.Buffer.Lossless.Len()
	f.PeakMemory, err = peakMemory()
	return f, err
}

// scaleSwitch is what the switches of the large fabrics have in common: defaults,
// but for an XON far below XOFF, so that a ring of pauses closes within a
// millisecond.
func scaleSwitch(link scenario.LinkSpeed) dataplane.Config {
	c := config.Switch{Name: "any", ID: 1, Ports: []config.Port{{Rate: config.FormatRate(link.Rate)}}}
	c.Fill()
	built := c.Build(detect.NewNone, 1, 0)
	built.Buffer.Profile.XONOffset = 38912
	return built
}

var scaleLink = scenario.LinkSpeed{Rate: 40e9, Delay: unit.Microsecond}

const scaleDuration = unit.Millisecond

// plantFatTree plants rings of four in a fat-tree, k from 24 on: an aggregation
// switch of each of two pods, and two cores. What two hosts of each of these pods
// send goes one hop too far round the ring and leaves it for another pod.
func plantFatTree(k int) (*sim.Large, int, error) {
	rings := k / 8
	f, err := topo.FatTree(k)
	if err != nil {
		return nil, 0, err
	}
	l := &sim.Large{Name: fmt.Sprintf("fat-tree k=%d", k), Fabric: f, Link: scaleLink, Duration: scaleDuration}
	node := func(format string, args ...any) int {
		i, ok := f.Node(fmt.Sprintf(format, args...))
		if !ok {
			panic("no node " + fmt.Sprintf(format, args...))
		}
		return i
	}
	for r := range rings {
		pod := 6 * r
		agg := [2]int{node("agg%d-%d", pod, r), node("agg%d-%d", pod+1, r)}
		core := [2]int{node("core%d", r*k/2), node("core%d", r*k/2+1)}
		for i := range 4 {
			from, to := i/2, pod+2+i
			l.Flows = append(l.Flows, sim.LargeFlow{
				From: node("h%d-%d-0", pod+from, i%2), To: node("h%d-0-0", to), Class: 3,
				Via: []int{
					node("edge%d-%d", pod+from, i%2), agg[from], core[from], agg[1-from], core[1-from],
					node("agg%d-%d", to, r), node("edge%d-0", to),
				},
			})
		}
	}
	// The others run between pods, in edges and to subnets that no ring has.
	for i := range 4 * k {
		l.Flows = append(l.Flows, sim.LargeFlow{From: node("h%d-%d-1", i%k, 2+i/k), To: node("h%d-%d-1", (i+17)%k, 8+i/k), Class: 3})
	}
	return l, rings, nil
}

// plantRings plants rings in a fabric of so many switches, 200 at least, each of
// which is linked to those that follow it at up to 31 distances: m switches in a
// row and the link from the last back to the first are a ring. Every switch of it
// sends all the way round to the one before it.
func plantRings(switches int) (*sim.Large, int, error) {
	sizes := []int{3, 4, 5, 7, 9, 12, 4, 3} // of rings, a link more than a distance
	near := slices.IndexFunc(distances, func(d int) bool { return 2*d >= switches })
	if near < 0 {
		near = len(distances)
	}
	f, err := circulant(switches, distances[:near], 2)
	if err != nil {
		return nil, 0, err
	}
	l := &sim.Large{Name: fmt.Sprintf("%d switches", switches), Fabric: f, Link: scaleLink, Duration: scaleDuration}
	host := func(s, i int) int {
		h, _ := f.Node(fmt.Sprintf("h%d-%d", s%switches, i))
		return h
	}
	for r, m := range sizes {
		first := r * switches / 10
		for i := range m {
			flow := sim.LargeFlow{From: host(first+i, 0), To: host(first+(i+m-1)%m, 0), Class: 3}
			for j := range m {
				flow.Via = append(flow.Via, first+(i+j)%m)
			}
			l.Flows = append(l.Flows, flow)
		}
	}
	for i := range switches / 39 {
		l.Flows = append(l.Flows, sim.LargeFlow{From: host(100+39*i, 1), To: host(100+39*i+switches/2-50, 1), Class: 3})
	}
	return l, len(sizes), nil
}

// distances grow by about a third, so that few hops lead anywhere.
var distances = []int{
	1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 47, 62, 82, 108, 142, 187, 246, 324, 426, 560, 737, 970, 1276, 1679, 2209, 2906, 3400, 3824, 4421, 4877,
}

// circulant is n switches s0, s1, ..., each linked to those that follow it at the
// given distances, with the given number of hosts each, h0-0, h0-1, ...
func circulant(n int, distances []int, hosts int) (*topo.Fabric, error) {
	var nodes []topo.ExplicitNode
	var links [][2]string
	name := func(i int) string { return "s" + strconv.Itoa(i%n) }
	for i := range n {
		nodes = append(nodes, topo.ExplicitNode{Name: name(i), Kind: topo.Switch})
		for j := range hosts {
			h := fmt.Sprintf("h%d-%d", i, j)
			nodes = append(nodes, topo.ExplicitNode{Name: h, Kind: topo.Host})
			links = append(links, [2]string{name(i), h})
		}
	}
	for _, d := range distances {
		for i := range n {
			links = append(links, [2]string{name(i), name(i + d)})
		}
	}
	return topo.Explicit(nodes, links)
}

// clearPeak makes peakMemory count anew, where the kernel can.
func clearPeak() {
	runtime.GC()
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // proc(5): resets the peak
}

// peakMemory is the most memory that this process ever had resident.
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("/proc/self/status: no VmHWM")
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err
}
