package lab

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/control"
	"softswitch/link"
	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/scenario"
	"softswitch/unit"
	"softswitch/view/observe"
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

// ask asks a node for its counters at the end of the run; false if it does not live.
func (r *Run) ask(st *netnslab.State, name string, snap any) bool {
	if r.Killed[name] {
		return false
	}
	if err := control.Call(controlPath(st, name), "stats", instant{r.End}, snap); err != nil {
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
// the nodes at the ends of a link that wait for one send pauses, and heed them, too
// late. Together with the bursts in which frames leave, that must not be longer than
// headroom lasts. So does a node that the scenario stops, or that a system made
// ignore pauses; then that is no wonder.
func (r *Run) doubtLoss() {
	if len(r.Stopped) > 0 || slices.ContainsFunc(r.Nodes, ignoredPauses) {
		return
	}
	var lost uint64
	late := map[string]unit.Time{}
	for _, n := range r.Nodes {
		switch {
		case n.Switch != nil:
			lost += n.Switch.LosslessLost
			late[n.Name] = n.Switch.Lateness
		case n.Host != nil:
			late[n.Name] = n.Host.Lateness
		}
	}
	if lost == 0 {
		return
	}
	spare := func(l scenario.Link) unit.Time {
		return l.Rate.FrameTime(*r.Plan.Switches[0].Buffer.XOFF) - live.Granularity - late[l.A.Name] - late[l.B.Name]
	}
	worst := slices.MinFunc(r.Plan.Links, func(a, b scenario.Link) int { return cmp.Compare(spare(a), spare(b)) })
	if spare(worst) < 0 {
		a, b := worst.A.Name, worst.B.Name
		if late[a] < late[b] {
			a, b = b, a
		}
		r.Invalid = append(r.Invalid, fmt.Sprintf("%d lossless frames were dropped where headroom lasts %.1f ms, and %s and %s were starved: %.1f and %.1f ms late",
			lost, float64(worst.Rate.FrameTime(*r.Plan.Switches[0].Buffer.XOFF))/1e6, a, b, float64(late[a])/1e6, float64(late[b])/1e6))
	}
}

func ignoredPauses(n Record) bool {
	return slices.ContainsFunc(n.Log.Events, func(e event.Event) bool { return e.Type == event.Measured && e.Measure == detect.MeasureIgnore })
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
