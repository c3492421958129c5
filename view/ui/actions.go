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

// stepsMax bounds the steps of one state, the first ones.
const stepsMax = 40

// step notes a step of a detector.
func (m *model) step(e oracle.Entry) {
	if len(m.steps) == stepsMax {
		m.more++
		return
	}
	s := Step{T: ms(e.At - m.origin), Kind: e.Step.String(), Node: m.w.index[e.Node]}
	if at, ok := m.out(e); ok && e.Out != unit.NoPort {
		s.Queue = &at
	}
	if at, ok := m.upstream(e); ok && e.Port != unit.NoPort {
		s.PG = &at
	}
	s.Text = m.stepText(e, &s)
	m.steps = append(m.steps, s)
}

// stepText says what a switch did with a label.
func (m *model) stepText(e oracle.Entry, s *Step) string {
	self := m.name(e.Node)
	label := fmt.Sprintf("label %s#%d", m.name(e.Label.Initiator.Node), e.Label.Seq)
	from, to, next := "", "", ""
	if s.PG != nil {
		from = m.w.nodes[m.w.from(s.PG.Dir)].Name
	}
	if s.Queue != nil {
		to, next = m.w.arrow(s.Queue.Dir), m.w.nodes[m.w.to(s.Queue.Dir)].Name
	}
	came := ""
	if to != "" {
		came = " from " + next
	}
	switch e.Step {
	case detect.StepMint:
		text := fmt.Sprintf("%s makes %s", self, label)
		if from != "" {
			text += fmt.Sprintf(" for what comes from %s, and pauses it with that", from)
		}
		if to != "" {
			text += fmt.Sprintf(": it began to wait for %s", to)
		}
		return text
	case detect.StepForward:
		return fmt.Sprintf("%s: %s came%s and goes on to %s, which waits for %s", self, label, came, from, to)
	case detect.StepDrop:
		text := fmt.Sprintf("%s: %s came%s and goes no further", self, label, came)
		if from != "" {
			text += fmt.Sprintf(": what comes from %s has a newer one", from)
		}
		return text
	case detect.StepLoop:
		return fmt.Sprintf("%s: %s is home again, by %s: a loop", self, label, to)
	case detect.StepCheck:
		return fmt.Sprintf("%s: the check of %s came%s and goes on to %s", self, label, came, from)
	case detect.StepAsk:
		return fmt.Sprintf("%s asks %s: does all still wait that %s went by?", self, next, label)
	case detect.StepFail:
		return fmt.Sprintf("%s: the check of %s failed", self, label)
	case detect.StepMiddle:
		return fmt.Sprintf("%s takes %s over as a middle switch, and pauses %s with that", self, label, from)
	case detect.StepVerify:
		return fmt.Sprintf("%s begins to verify that what comes from %s is stuck", self, from)
	}
	return fmt.Sprintf("%s: %v of %s", self, e.Step, label)
}
