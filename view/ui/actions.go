package ui

import (
	"fmt"
	"slices"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/oracle"
	"softswitch/unit"
)

// contained is the word for a host whose pauses its switch ignores because it stormed.
const contained = "contained"

// breaks are the actions by which a response makes a loop move.
var breaks = []detect.Action{detect.ActionDrop, detect.ActionForce, detect.ActionExtra, detect.ActionFlush, detect.ActionIgnore, detect.ActionLossy, detect.ActionLossyTurn, detect.ActionDiscard}

// begins are the words for what actions begin.
var begins = map[detect.Action]string{
	detect.ActionRestrict: "restricted", detect.ActionPolice: "policed", detect.ActionIgnore: "ignores pauses",
	detect.ActionLossy: "lossy", detect.ActionLossyTurn: "lossy", detect.ActionContain: contained, detect.ActionDiscard: "discards", detect.ActionFlush: "discards",
}

// acted notes that an action begins or ends: at a queue, or for what comes in by a
// priority group's port.
func (m *model) acted(e oracle.Entry) {
	at, ok := m.out(e)
	if e.Action == detect.ActionPolice || e.Action == detect.ActionUnpolice {
		at, ok = m.upstream(e)
	}
	if !ok {
		return
	}
	switch e.Action {
	case detect.ActionIgnore, detect.ActionLossy, detect.ActionContain:
		if to := m.w.to(at.Dir); to >= len(m.w.switches) {
			m.unheard[to] = true
		}
	}
	if what := begins[e.Action]; what != "" {
		m.actions[Action{at, what}] = e.At
	}
	for _, ended := range e.Action.Ends() {
		delete(m.actions, Action{at, begins[ended]})
	}
}

// act tells what a system does to its switch, or why it does not.
func (m *model) act(e oracle.Entry) {
	if e.Type == event.Acted {
		m.acted(e)
	}
	text := "refuses: " + e.Refusal.String()
	if e.Type == event.Acted {
		if text = e.Action.String(); e.Bytes > 0 {
			unitName := "bytes"
			if e.Action == detect.ActionPolice {
				unitName = "kbit/s"
			}
			text += fmt.Sprintf(" %d %s", e.Bytes, unitName)
		}
	}
	if at, ok := m.out(e); ok && e.Out != unit.NoPort {
		text += " at " + m.w.arrow(at.Dir)
	}
	if first := m.breaker == "" || e.Action == detect.ActionDrop; first && e.Type == event.Acted && slices.Contains(breaks, e.Action) && !m.stuck.Empty() {
		m.breaker = m.name(e.Node) + ": " + text
	}
	if e.Type == event.Acted && e.Action.Lasts() {
		text += fmt.Sprintf(" (%s; until: %s)", e.Action.Why(), e.Action.Until())
	}
	m.tell(e.At, "act", "%s: %s", m.name(e.Node), text)
}
