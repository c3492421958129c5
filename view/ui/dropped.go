package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/internal/lists"
	"softswitch/node/observe"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// noteNamed takes note of a cause that the node's last declaration, if it was true, is diagnosed with: of its
// flow, and of the host that it is.
func (m *model) noteNamed(node int, c detect.Cause, flow detect.FlowID) {
	if !m.truly[node] {
		return
	}
	m.namedFlows[flow] = true
	if d, ok := m.w.ports[c.At]; ok && c.Type == detect.CauseHost {
		m.namedHosts[m.w.to(d)] = true
	}
}

// droppedOf is what was dropped on purpose of flows, those with most first: by switches, and by hosts that
// were sent more than they have room for. Frames that belong to no flow of the fabric's hosts are not among
// it. It is what a verdict has in dropped_of once nothing is in flight.
func (m *model) droppedOf() (all []verdict.DroppedOf) {
	frames := map[detect.FlowID]uint64{}
	for i := range m.snaps {
		if s := m.snaps[i].now; s != nil {
			for _, f := range s.Flows {
				frames[detect.FlowID(f.Flow)] += f.Response + f.Policed
			}
		}
	}
	for id, f := range m.w.flows {
		in, n := m.received[f.number], frames[id]
		if m.unheard[f.to] {
			n += in.Overflow
		}
		if n > 0 {
			all = append(all, verdict.DroppedOf{Flow: f.name, Named: m.namedFlows[id] || m.namedHosts[f.to], Frames: int64(n), Of: int64(n + in.Frames)})
		}
	}
	slices.SortFunc(all, func(a, b verdict.DroppedOf) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), cmp.Compare(a.Flow, b.Flow))
	})
	return all
}

// hasDropped reports whether frames were dropped on purpose, as far as switches have told, or hosts may
// have to.
func (m *model) hasDropped() bool {
	return len(m.unheard) > 0 || slices.ContainsFunc(m.snaps, func(p snap) bool {
		return p.now != nil && slices.ContainsFunc(p.now.Flows, func(f observe.FlowDrops) bool { return f.Response+f.Policed > 0 })
	})
}

// droppedText says whom a cure costs how much, "" for nobody.
func droppedText(all []verdict.DroppedOf) string {
	if len(all) == 0 {
		return ""
	}
	parts := lists.Map(all[:min(len(all), verdict.DroppedShown)], func(d verdict.DroppedOf) string {
		whose := ""
		if !d.Named {
			whose = ", which no cause names"
		}
		return fmt.Sprintf("%s of flow %s (%s%s)", unit.Count(d.Frames, "frame"), d.Flow, d.Share(), whose)
	})
	if more := len(all) - verdict.DroppedShown; more > 0 {
		parts = append(parts, fmt.Sprintf("some of %d more flows", more))
	}
	return "Dropped on purpose: " + strings.Join(parts, "; ") + "."
}
