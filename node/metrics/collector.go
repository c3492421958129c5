package metrics

import (
	"maps"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"softswitch/host"
	"softswitch/internal/stat"
	"softswitch/link"
	"softswitch/node/observe"
	"softswitch/unit"
)

// Sample is the answers of nodes at one time.
type Sample struct {
	Switches []observe.Sample
	Hosts    []observe.Host
	// Down are the nodes that did not answer.
	Down []Node
}

// Node is a node by name; Kind is "switch" or "host".
type Node struct{ Name, Kind string }

// collector makes metrics of the samples from take.
type collector struct{ take func() Sample }

func (collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range all {
		ch <- m.desc
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	s, out := c.take(), sink(ch)
	for i := range s.Switches {
		out.sample(&s.Switches[i])
	}
	for i := range s.Hosts {
		out.host(&s.Hosts[i])
	}
	for _, n := range s.Down {
		out.put(up, 0, n.Name, n.Kind)
	}
}

// sink is where metrics are sent.
type sink chan<- prometheus.Metric

func (out sink) put(m *metric, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(m.desc, m.kind, v, labels...)
}

func (out sink) count(m *metric, n uint64, labels ...string) { out.put(m, float64(n), labels...) }

// by sends a counter for each of the counts, in the order of their names, which are its last label.
func (out sink) by(m *metric, counts map[string]uint64, labels ...string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out.count(m, counts[name], append(slices.Clip(labels), name)...)
	}
}

// link sends what the link of a node's port counts.
func (out sink) link(s link.Stats, node, port string) {
	out.count(ringDrops, s.Drops, node, port)
	out.count(truncated, s.Truncated, node, port)
	out.count(offloaded, s.Offloaded, node, port)
	out.count(linkBusy, s.Busy, node, port)
	out.count(linkLost, s.Lost, node, port)
	out.count(linkReopened, s.Reopened, node, port)
}

func (out sink) flag(m *metric, on bool, labels ...string) {
	if on {
		out.put(m, 1, labels...)
	} else {
		out.put(m, 0, labels...)
	}
}

func seconds(t unit.Time) float64 { return float64(t) / float64(unit.Second) }

func (out sink) sample(s *observe.Sample) {
	w := &s.Switch
	out.put(up, 1, w.Name, "switch")
	out.put(info, 1, w.Name, s.Version, w.Detector, w.Response)
	out.live(w.Name, w.Live)
	out.put(shared, float64(w.SharedBytes), w.Name)
	out.put(headroomPool, float64(w.HeadroomPoolBytes), w.Name)
	out.count(lossless, w.LosslessLost, w.Name)
	out.put(detectorBytes, float64(w.DetectorBytes), w.Name, w.Detector)
	for i := range w.Ports {
		out.port(w, &w.Ports[i])
	}
	out.deadlocked(w, &s.History)
	out.history(w.Name, &s.History)
	if s.Watchdog != nil {
		out.watchdog(w.Name, s.Watchdog)
	}
}

func (out sink) live(node string, l observe.Live) {
	out.count(eventsLost, l.EventsLost, node)
	out.put(lateness, seconds(l.Lateness), node)
	out.put(goroutines, float64(l.Goroutines), node)
	out.put(heapBytes, float64(l.HeapBytes), node)
}

func (out sink) port(w *observe.Switch, p *observe.Port) {
	out.flag(portUp, p.Up, w.Name, p.Name)
	out.link(p.Link, w.Name, p.Name)
	out.count(pauseFrames, p.RxPause8023, w.Name, p.Name)
	out.count(messages, p.Messages[0], w.Name, p.Name, "rx")
	out.count(messages, p.Messages[1], w.Name, p.Name, "tx")
	out.by(dropped, p.Drops, w.Name, p.Name)
	out.by(odd, p.Odd, w.Name, p.Name)
	for c := range unit.Priorities {
		if !slices.Contains(w.LosslessOf(p), c) && p.RxFrames[c]+p.TxFrames[c] == 0 && p.Queue[c].Watermark == 0 {
			continue // an unused lossy priority
		}
		priority := strconv.Itoa(c)
		out.count(packets, p.RxFrames[c], w.Name, p.Name, priority, "rx")
		out.count(packets, p.TxFrames[c], w.Name, p.Name, priority, "tx")
		out.count(bytes, p.RxBytes[c], w.Name, p.Name, priority, "rx")
		out.count(bytes, p.TxBytes[c], w.Name, p.Name, priority, "tx")
		out.count(marked, p.Marked[c], w.Name, p.Name, priority)
		out.put(queueBytes, float64(p.Queue[c].Bytes), w.Name, p.Name, priority)
		out.put(queueMark, float64(p.Queue[c].Watermark), w.Name, p.Name, priority)
		out.put(queueStarved, seconds(p.Starved[c]), w.Name, p.Name, priority)
	}
	for _, c := range w.LosslessOf(p) {
		out.priority(w, p, c)
	}
}

// priority sends the metrics of a port's lossless priority.
func (out sink) priority(w *observe.Switch, p *observe.Port, c int) {
	labels := []string{w.Name, p.Name, strconv.Itoa(c)}
	with := func(more ...string) []string { return append(slices.Clip(labels), more...) }
	out.count(pfcFrames, p.RxPause[c], with("rx", "pause")...)
	out.count(pfcFrames, p.RxResume[c], with("rx", "resume")...)
	out.count(pfcFrames, p.TxPause[c], with("tx", "pause")...)
	out.count(pfcFrames, p.TxResume[c], with("tx", "resume")...)
	out.count(pfcFrames, p.TxRefresh[c], with("tx", "refresh")...)
	out.count(pausesInVain, p.PausesInVain[c], labels...)
	out.count(unheeded, p.RxUnheeded[c], labels...)
	out.count(unheededLost, p.UnheededLost[c], labels...)
	out.put(pauseSeconds, seconds(p.Pause[c].Total(p.Paused[c], w.At)), labels...)
	out.count(pauses, p.Pause[c].Count, labels...)
	out.flag(queuePaused, p.Paused[c], labels...)
	out.flag(groupXOFF, p.XOFF[c], labels...)
	g := p.Group[c]
	out.put(groupBytes, float64(g.Bytes-g.Headroom), with("shared")...)
	out.put(groupBytes, float64(g.Headroom), with("headroom")...)
	out.put(groupMark, float64(g.Watermark), with("all")...)
	out.put(groupMark, float64(g.HeadroomWatermark), with("headroom")...)
}

// deadlocked sends, for every lossless queue, whether a deadlock is active there.
func (out sink) deadlocked(w *observe.Switch, h *observe.History) {
	for i := range w.Ports {
		for _, c := range w.LosslessOf(&w.Ports[i]) {
			p := observe.Place{Port: w.Ports[i].Name, Priority: c}
			out.flag(deadlocked, slices.Contains(h.InForce, p), w.Name, p.Port, strconv.Itoa(c))
		}
	}
}

func (out sink) history(name string, h *observe.History) {
	out.count(detections, h.Deadlocks, name)
	out.count(reroutes, h.Rerouted, name)
	out.by(actions, h.Actions, name)
	out.by(refusals, h.Refusals, name)
	out.by(linkDowns, h.LinkDowns, name)
	buckets, sum := map[float64]uint64{}, uint64(0)
	for i, n := range h.Detection.Counts {
		if sum += n; i < len(observe.DetectionBounds) {
			buckets[observe.DetectionBounds[i]] = sum
		}
	}
	out <- prometheus.MustNewConstHistogram(detection.desc, sum, h.Detection.Sum, buckets, name)
}

func (out sink) watchdog(name string, w *observe.Watchdog) {
	for _, q := range w.Queues {
		priority := strconv.Itoa(q.Priority)
		out.count(storms, q.Detected, name, q.Port, priority, "detected")
		out.count(storms, q.Restored, name, q.Port, priority, "restored")
		out.flag(stormed, q.Stormed, name, q.Port, priority)
	}
}

func (out sink) host(h *observe.Host) {
	out.put(up, 1, h.Name, "host")
	out.live(h.Name, h.Live)
	out.link(h.Link, h.Name, "")
	out.count(hostPause, h.Counters.RxPause8023, h.Name)
	for c := range unit.Priorities {
		priority := strconv.Itoa(c)
		k := &h.Counters
		if k.RxPause[c]+k.RxResume[c]+k.TxPause[c]+k.TxResume[c] == 0 {
			continue
		}
		out.count(hostPFC, k.RxPause[c], h.Name, priority, "rx", "pause")
		out.count(hostPFC, k.RxResume[c], h.Name, priority, "rx", "resume")
		out.count(hostPFC, k.TxPause[c], h.Name, priority, "tx", "pause")
		out.count(hostPFC, k.TxResume[c], h.Name, priority, "tx", "resume")
		out.count(hostPFC, k.TxRefresh[c], h.Name, priority, "tx", "refresh")
	}
	for _, f := range h.Sent {
		out.count(hostSent, f.Frames, h.Name, f.Name)
	}
	lost := uint64(0)
	for _, f := range h.Received {
		flow := strconv.FormatUint(uint64(f.Number), 10)
		out.count(hostReceived, f.Frames, h.Name, flow)
		out.count(hostBytes, f.Bytes, h.Name, flow)
		lost += f.Lost
	}
	out.count(hostLoss, lost, h.Name, "fabric")
	out.count(hostLoss, h.Counters.Overflow, h.Name, "host")
	out.connections(h)
}

// connections sends the metrics of a host's reliable connections, if it has any or something
// came that should be of one.
func (out sink) connections(h *observe.Host) {
	var sum host.Messages
	var noted, came uint64 // CNPs sent, and packets that came marked
	some := h.Counters.RC != host.BadPackets{}
	for _, f := range h.Sent {
		m := f.Messages
		if m == nil {
			continue
		}
		some = true
		stat.Add(&sum, m)
	}
	for _, f := range h.Received {
		some = some || f.Packets != nil
		noted += f.CNPs
		came += f.Marked
	}
	if !some {
		return
	}
	out.count(hostMessages, sum.Done, h.Name)
	out.put(hostTime, seconds(sum.TimeSum), h.Name)
	out.count(hostAgain, sum.Again, h.Name)
	out.count(hostNaks, sum.Naks, h.Name)
	out.count(hostTimeouts, sum.Timeouts, h.Name)
	out.count(hostCNPs, sum.CNPs, h.Name, "rx")
	out.count(hostCNPs, noted, h.Name, "tx")
	out.count(hostMarked, came, h.Name)
	bad := &h.Counters.RC
	out.count(hostBadPacket, bad.Malformed, h.Name, "malformed")
	out.count(hostBadPacket, bad.ICRC, h.Name, "icrc")
	out.count(hostBadPacket, bad.UnknownQP, h.Name, "unknown_qp")
}
