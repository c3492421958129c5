package importer

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/unit"
)

// flow is a flow; stop is 0 if it only ends by its size.
type flow struct {
	from, to, priority, size int
	start, stop              unit.Time
}

// flowLine is a flow as a file has it: its numbers, and where.
type flowLine struct {
	words []float64
	place string // for a fault
	at    string // for the head of the scenario
}

// longestFlows is how many seconds the flows of a file may take, from the first.
const longestFlows = 24 * 3600

// readFlows reads the flows of a file. Simulators write them in three forms, told by their words:
//
//	source, destination, priority group, port, bytes, start          HPCC
//	source, destination, priority group, bytes, start                ConWeave
//	source, destination, priority group, packets, start, stop        ns3-rdma
//
// Packets have so many bytes.
func readFlows(file HPCCFile, f *fabric, packet int, t *tally) (flows []flow, err error) {
	w := newWords(file)
	n := w.number("the number of flows", 0, math.MaxInt32)
	if n > scenario.MaxFlows {
		w.faultf("%d flows: a scenario has at most %d; a lower number there takes the first", n, scenario.MaxFlows)
	}
	lines := w.flowLines(n, len(f.of), t)
	behind, place := w.behind()
	if w.err != nil {
		return nil, w.err
	}
	if behind > 0 {
		t.tellAt(place, "%s behind the %s that the head of the file counts: they are left out, as in that simulator", unit.Count(behind, "line"), unit.Count(n, "flow"))
	}
	packets, why := inPackets(lines)
	if packets {
		t.tell("%s counts packets, of %d bytes each, as ns3-rdma does: %s", quoted(filepath.Base(file.Name)), packet, why)
	}
	for _, l := range lines {
		x, err := l.flow(f, packets, packet)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.place, err)
		}
		if !packets && len(l.words) > 5 {
			t.see("flow", "dst_port", l.at)
		}
		flows = append(flows, x)
	}
	return flows, nil
}

// flowLines reads the words of n flows, as many for each as are in the line of the first.
func (w *words) flowLines(n, nodes int, t *tally) (lines []flowLine) {
	count := 6
	if w.err == nil && len(w.rest) == 0 && w.lines() {
		count = slices.IndexFunc(w.rest, func(word string) bool { _, err := strconv.ParseFloat(word, 64); return err != nil })
		if count < 0 {
			count = len(w.rest)
		}
		if n > 0 && count < 5 {
			w.faultf("%s: a flow has 5 or 6: source, destination, priority group, port (if there are 6), bytes, start in seconds", unit.Count(count, "number"))
		}
	}
	for range n {
		l := flowLine{words: []float64{float64(w.number("a host", 0, nodes-1)), float64(w.number("a host", 0, nodes-1)), float64(w.number("a priority group", 0, 7))}}
		for range count - 3 {
			l.words = append(l.words, w.real("a number of a flow", 1e15))
		}
		if w.err != nil {
			return nil
		}
		l.place, l.at = w.place(), w.at()
		for k := 6; k < count; k++ {
			t.see("flow", "word_"+strconv.Itoa(k+1), l.at)
		}
		l.words = l.words[:min(count, 6)]
		lines = append(lines, l)
	}
	return lines
}

// inPackets reports whether flows are counted in packets and have an end, and how that is seen: what would
// be a port is above those that there are, bytes are no whole number, or all flows are of fewer bytes than
// they have seconds until they begin.
func inPackets(lines []flowLine) (is bool, why string) {
	if len(lines) == 0 || len(lines[0].words) < 6 {
		return false, ""
	}
	ends := 0
	for _, l := range lines {
		switch {
		case l.words[3] > math.MaxUint16:
			return true, fmt.Sprintf("the fourth word of %s, %.0f, is no port", l.at, l.words[3])
		case l.words[4] != math.Trunc(l.words[4]):
			return true, fmt.Sprintf("the fifth word of %s, %g, is no size in bytes", l.at, l.words[4])
		case l.words[5] > l.words[4] && l.words[4] < longestFlows:
			ends++
		}
	}
	return ends == len(lines), "the last two words of each flow can be a start and a stop in seconds, and are no size with a start"
}

// flow makes a flow of a line.
func (l *flowLine) flow(f *fabric, packets bool, packet int) (x flow, err error) {
	x = flow{from: int(l.words[0]), to: int(l.words[1]), priority: int(l.words[2])}
	for _, i := range []int{x.from, x.to} {
		switch {
		case f.isSwitch[i]:
			return x, fmt.Errorf("a flow of switch %d: flows are between hosts", i)
		case len(f.of[i]) == 0:
			return x, fmt.Errorf("a flow of host %d, which has no link", i)
		}
	}
	if x.from == x.to {
		return x, fmt.Errorf("a flow from host %d to itself", x.from)
	}
	size, start, stop := l.words[len(l.words)-2], l.words[len(l.words)-1], 0.0
	if packets {
		size, start, stop = l.words[3]*float64(packet), l.words[4], l.words[5]
		if stop <= start {
			return x, fmt.Errorf("a flow that stops at %g s and starts at %g s", stop, start)
		}
	}
	if !(size >= 1 && size <= config.MaxSize) || size != math.Trunc(size) {
		return x, fmt.Errorf("%g is not a size in bytes: write 1 to %d", size, config.MaxSize)
	}
	for _, seconds := range []float64{start, stop} {
		if seconds > longestFlows {
			return x, fmt.Errorf("%g is not a time in seconds: write 0 to %d", seconds, longestFlows)
		}
	}
	x.size, x.start, x.stop = int(size), seconds(start), seconds(stop)
	return x, nil
}

// seconds is a time in nanoseconds, rounded.
func seconds(s float64) unit.Time { return unit.Time(math.Round(s * float64(unit.Second))) }

// writeFlows writes flows, of which the first begins at 0, and the scenario ends at end.
func writeFlows(b *strings.Builder, f *fabric, flows []flow, first, end unit.Time, pathMTU int) {
	if len(flows) > 0 {
		b.WriteString("\nflows:\n")
	}
	for i, x := range flows {
		fmt.Fprintf(b, "  - {name: f%d, from: %s, to: %s, priority: %d, transport: rc, size: %d, start: %s", i+1, f.name(x.from), f.name(x.to), x.priority, x.size, x.start-first)
		if x.stop > 0 && x.stop-first < end {
			fmt.Fprintf(b, ", stop: %s", x.stop-first)
		}
		if pathMTU != defaultPathMTU {
			fmt.Fprintf(b, ", rc: {path_mtu: %d}", pathMTU)
		}
		b.WriteString("}\n")
	}
}

// lossless are the priorities that have PFC: those that have it by default, and those of the flows.
func lossless(flows []flow) []int {
	priorities := []int{3, 4}
	for _, x := range flows {
		if !slices.Contains(priorities, x.priority) {
			priorities = append(priorities, x.priority)
		}
	}
	slices.Sort(priorities)
	return priorities
}

// hpccSpan is when the first flow begins, and how long a scenario takes in which each host has
// twice the time that its link needs for all that it sends or gets, after the last flow
// has begun, and what a hundred ways over the longest link take: at least 1 ms, at most a day.
func hpccSpan(f *fabric, flows []flow) (first, end unit.Time) {
	if len(flows) == 0 {
		return 0, unit.Second
	}
	first, last := flows[0].start, flows[0].start
	sent, got := make([]float64, len(f.of)), make([]float64, len(f.of))
	for _, x := range flows {
		first, last = min(first, x.start), max(last, x.start)
		sent[x.from] += float64(x.size)
		got[x.to] += float64(x.size)
	}
	longest, ways := 0.0, unit.Time(0)
	for _, l := range f.links {
		ways = max(ways, 100*l.delay)
	}
	for i, of := range f.of {
		if len(of) > 0 {
			longest = max(longest, 2*8*max(sent[i], got[i])/float64(f.links[of[0]].rate))
		}
	}
	const day = 24 * 3600 * unit.Second
	return first, min(day, last-first+ways+max(unit.Millisecond, unit.Time(min(longest, 24*3600)*1000+1)*unit.Millisecond))
}
