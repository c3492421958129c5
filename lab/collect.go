package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/control"
	"softswitch/internal/unit"
	"softswitch/link"
	netnslab "softswitch/netns-lab"
	"softswitch/observe"
)

// Record is what one node has to tell after a run.
type Record struct {
	Name   string
	Switch *observe.Switch // of a switch that lives
	Host   *observe.Host   // of a host that lives
	Log    event.Log
}

// starvedMax is the lateness from which a node counts as starved: pauses of
// 100 Mbit/s are refreshed every 10 ms and expire after 335 ms.
const starvedMax = 100 * unit.Millisecond

// collect asks every node for its counters and reads its log.
func (r *Run) collect(st *netnslab.State) error {
	for _, s := range r.Plan.Switches {
		var snap observe.Switch
		rec := Record{Name: s.Name}
		if r.ask(st, s.Name, &snap) {
			rec.Switch = &snap
			for _, p := range snap.Ports {
				r.distrust(s.Name, p.Name, p.Link)
			}
			r.starved(s.Name, snap.Live)
		}
		if err := r.readLog(st, rec); err != nil {
			return err
		}
	}
	for _, h := range r.Plan.Hosts {
		var snap observe.Host
		rec := Record{Name: h.Name}
		if r.ask(st, h.Name, &snap) {
			rec.Host = &snap
			r.distrust(h.Name, h.Port.Name, snap.Link)
			r.starved(h.Name, snap.Live)
		}
		if err := r.readLog(st, rec); err != nil {
			return err
		}
	}
	r.doubtLoss()
	return nil
}

// ask asks a node for its counters; false if it does not live.
func (r *Run) ask(st *netnslab.State, name string, snap any) bool {
	if r.Killed[name] {
		return false
	}
	if err := control.Call(controlPath(st, name), "stats", nil, snap); err != nil {
		r.Invalid = append(r.Invalid, fmt.Sprintf("%s does not answer: %v", name, err))
		return false
	}
	return true
}

// distrust notes frames that the machine, not the fabric, lost at a port of a node. A
// node that was stopped reads nothing meanwhile: that is the scenario's doing.
func (r *Run) distrust(node, port string, s link.Stats) {
	if r.Stopped[node] {
		s.Drops = 0
	}
	for _, l := range []struct {
		n    uint64
		what string
	}{{s.Drops, "frames lost in the receive ring"}, {s.Truncated, "frames truncated"}, {s.Busy, "times the kernel refused to send"}} {
		if l.n > 0 {
			r.Invalid = append(r.Invalid, fmt.Sprintf("%s %s: %d %s", node, port, l.n, l.what))
		}
	}
}

func (r *Run) starved(name string, l observe.Live) {
	if l.Lateness > starvedMax && !r.Stopped[name] {
		r.Invalid = append(r.Invalid, fmt.Sprintf("%s was starved: %.0f ms late", name, float64(l.Lateness)/1e6))
	}
	if l.EventsLost > 0 {
		r.Invalid = append(r.Invalid, fmt.Sprintf("%s: %d events lost", name, l.EventsLost))
	}
}

// doubtLoss notes when lossless frames may have been lost for want of a processor:
// a node that waits for one longer than headroom lasts sends its pauses, or heeds
// them, too late. So does a node that the scenario stops, or that a system made
// ignore pauses; then that is no wonder.
func (r *Run) doubtLoss() {
	if len(r.Stopped) > 0 || slices.ContainsFunc(r.Nodes, ignoredPauses) {
		return
	}
	var lost uint64
	var late unit.Time
	var latest string
	for _, n := range r.Nodes {
		var live observe.Live
		switch {
		case n.Switch != nil:
			lost += n.Switch.LosslessLost
			live = n.Switch.Live
		case n.Host != nil:
			live = n.Host.Live
		}
		if live.Lateness > late {
			late, latest = live.Lateness, n.Name
		}
	}
	if lasts := r.headroomLasts(); lost > 0 && late > lasts {
		r.Invalid = append(r.Invalid, fmt.Sprintf("%d lossless frames were dropped where headroom lasts %.1f ms, and %s was starved: %.1f ms late",
			lost, float64(lasts)/1e6, latest, float64(late)/1e6))
	}
}

func ignoredPauses(n Record) bool {
	return slices.ContainsFunc(n.Log.Events, func(e event.Event) bool { return e.Type == event.Measured && e.Measure == detect.MeasureIgnore })
}

// headroomLasts is how long the fastest link takes to fill the headroom of a
// bucket.
func (r *Run) headroomLasts() unit.Time {
	lasts := unit.Time(math.MaxInt64)
	for _, l := range r.Plan.Links {
		lasts = min(lasts, l.Rate.FrameTime(*r.Plan.Switches[0].Buffer.XOFF))
	}
	return lasts
}

func (r *Run) readLog(st *netnslab.State, rec Record) error {
	path := filepath.Join(netnslab.Dir(st.Name), rec.Name, eventsName)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A node that was killed may have been writing; one that lives may be still.
	rec.Log, err = event.Decode(path, data, true)
	if err != nil {
		return err
	}
	r.Nodes = append(r.Nodes, rec)
	return nil
}
