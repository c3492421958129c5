package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/node/observe"
)

// names takes note of what the diagnosis of a true declaration names. It may grow by a flow at a time,
// so that what it named before is among what it names now.
func (m *model) names(d *diagnosis) {
	if m.declared != nil && m.declared.True && m.declared.Node == m.w.index[d.node] {
		m.named = append(m.named, d.causes...)
	}
}

// isNamed reports whether a cause that was named names a flow, or the host that it goes to.
func (m *model) isNamed(id detect.FlowID) bool {
	return slices.ContainsFunc(m.named, func(c detect.Cause) bool {
		d, ok := m.w.ports[c.At]
		return slices.Contains(c.Flows[:c.Flows.Len()], id) || ok && c.Type == detect.CauseHost && m.w.to(d) == m.w.flows[id].to
	})
}

// droppedOf is what was dropped on purpose of flows, those with most first: by switches, and by hosts that
// were sent more than they have room for. What is not of a flow that the fabric's hosts send is not among
// it. It is what a verdict has in dropped_of once nothing is in flight.
func (m *model) droppedOf() (all []DroppedOf) {
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
			all = append(all, DroppedOf{f.name, m.isNamed(id), n, n + in.Frames})
		}
	}
	slices.SortFunc(all, func(a, b DroppedOf) int {
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

// droppedShown is how many flows a sentence has. Chosen: as many as a line of a verdict.
const droppedShown = 4

// droppedText says which flows a cure costs how much, "" for none.
func droppedText(all []DroppedOf) string {
	if len(all) == 0 {
		return ""
	}
	var parts []string
	for _, d := range all[:min(len(all), droppedShown)] {
		whose := ""
		if !d.Named {
			whose = ", which no cause names"
		}
		parts = append(parts, fmt.Sprintf("%d frames of flow %s (%s%s)", d.Frames, d.Flow, share(d.Frames, d.Of), whose))
	}
	if more := len(all) - droppedShown; more > 0 {
		parts = append(parts, fmt.Sprintf("some of %d more flows", more))
	}
	return "Dropped on purpose: " + strings.Join(parts, "; ") + "."
}

// share is the part n has of all, of which there is at least one.
func share(n, of uint64) string {
	if 1000*n < of {
		return "<0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}
