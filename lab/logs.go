package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// logPerFrame is how many bytes of event log a switch writes for each frame that waits in a queue
// which is paused again and again: an event. Measured on leaves and spines of 100 Mbit/s, with the
// default thresholds and frames of 1000 bytes: 35 to 165.
const logPerFrame = 150

// LogWarning says that an event log is likely to become longer than it may, "" if none is: a run
// whose log is not whole is not valid. A scenario that is to lock is quiet after that, so that it
// may be warned of for nothing.
func LogWarning(p *scenario.Plan) string {
	node, bytes := longestLog(p)
	limit := int64(logLimit(p))
	mib := bytes >> 20
	if mib <= limit {
		return ""
	}
	return fmt.Sprintf("the event log of %s may come to %d MiB in %s of congestion, and %s is %d: a run whose log is full is not valid; give --log-limit %d, or write %s: %d",
		p.Fabric.Nodes[node].Name, mib, p.Scenario.Duration.String(), scenario.LogLimitKey, limit, 2*mib, scenario.LogLimitKey, 2*mib)
}

// logLimit is how long a log may become, in MiB.
func logLimit(p *scenario.Plan) int { return cmp.Or(p.Scenario.LogLimit, config.DefaultLogLimit) }

// longestLog is the switch whose event log becomes the longest, and how long in bytes, as far as
// rates tell: what is sent into a link that cannot take it waits in the switches before it.
func longestLog(p *scenario.Plan) (node int, bytes int64) {
	s := p.Scenario
	offered := map[topo.Hop]float64{} // to the link behind a hop, without In
	for i, f := range s.Flows {
		for _, h := range p.Flows[i].Hops {
			offered[to(h)] += float64(flowRate(p, f))
		}
	}
	logs := make([]float64, len(p.Fabric.Nodes))
	for i, f := range s.Flows {
		if !slices.Contains(s.Lossless(), int(f.Priority)) {
			continue
		}
		hops, share := p.Flows[i].Hops, 1.0
		for _, h := range hops {
			share = min(share, float64(takes(p, h))/offered[to(h)])
		}
		frames := float64(flowRate(p, f)) * share / 8 / float64(f.Frame) * lasting(s, f)
		if f.Size > 0 {
			frames = min(frames, float64(f.Size)/float64(f.Frame))
		}
		waits := false // for a link behind this one
		for _, h := range slices.Backward(hops) {
			if waits {
				logs[h.Node] += frames * logPerFrame
			}
			waits = waits || float64(takes(p, h)) < offered[to(h)]
		}
	}
	for i, n := range logs {
		if n > logs[node] {
			node = i
		}
	}
	return node, int64(logs[node])
}

// to is a hop by its egress alone.
func to(h topo.Hop) topo.Hop { return topo.Hop{Node: h.Node, Out: h.Out} }

// flowRate is the rate of a flow, that of its host's link at most.
func flowRate(p *scenario.Plan, f scenario.Flow) unit.Rate {
	line := p.Scenario.Links[p.Scenario.LinkOf(&f)].Rate
	return min(cmp.Or(unit.Rate(f.Rate), line), line)
}

// takes is the rate at which what is behind a hop takes frames: that of the link, or of a host that
// is slow for half of the run or longer.
func takes(p *scenario.Plan, h topo.Hop) unit.Rate {
	port := p.Fabric.Nodes[h.Node].Ports[h.Out]
	rate := p.Scenario.Links[port.Link].Rate
	for _, e := range p.Scenario.Events {
		if e.Do == scenario.Slow && e.Node == port.Peer.Node && e.AtNIC(port.Peer.Port) && (e.For == 0 || 2*e.For >= p.Scenario.Duration) {
			rate = min(rate, e.Rate)
		}
	}
	return rate
}

// lasting is for how many seconds a flow sends.
func lasting(s *scenario.Scenario, f scenario.Flow) float64 {
	return seconds(cmp.Or(f.Stop, s.Duration) - f.Start)
}

// lookEvery is how often logs are checked for being full while there is nothing else to do.
const lookEvery = time.Second

// until waits until a point of CLOCK_MONOTONIC, and meanwhile tells of event logs that are full.
func (r *Run) until(ctx context.Context, at unit.Time, st *netnslab.State, progress io.Writer) error {
	for timer.Now()+2*unit.Time(lookEvery) < at {
		if err := until(ctx, timer.Now()+unit.Time(lookEvery)); err != nil {
			return err
		}
		r.tellFullLogs(st, progress)
	}
	return until(ctx, at)
}

// tellFullLogs tells which nodes say that their logs are not whole, each once. Only those are asked
// whose log is half as long as it may be: to ask takes a moment of what they are there for.
func (r *Run) tellFullLogs(st *netnslab.State, progress io.Writer) {
	for _, name := range append(switches(r.Plan), hosts(r.Plan)...) {
		info, err := os.Stat(filepath.Join(netnslab.Dir(st.Name), name, EventsName))
		if err != nil || r.toldFull[name] || r.Killed[name] || r.Stopped[name] || info.Size() < int64(logLimit(r.Plan))<<20/2 {
			continue
		}
		now, err := client.StatsWithin[observe.Live](time.Second, endpoint(st, name))
		if err != nil {
			continue
		}
		for _, p := range now.Problems {
			r.toldFull[name] = true
			fmt.Fprintf(progress, "%9.3f s  %s: %s: the run is not valid any more\n", seconds(timer.Now()-r.Start), name, p)
		}
	}
}
