package ui

import (
	"fmt"
	"slices"
	"strconv"

	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// Starving is a lossless queue that others keep from sending.
type Starving struct {
	At
	// For is how long they have done so, in milliseconds.
	For float64 `json:"for_ms"`
	// Behind are the strict priorities that send before it.
	Behind []int `json:"behind"`
}

// starve notes which queues of a switch starve by its counters.
func (m *model) starve(node int, now unit.Time) {
	c, s := &m.w.switches[node], m.snaps[node].now
	was := m.starving[node]
	m.starving[node] = nil
	for _, q := range verdict.StarvingAt(c, s) {
		port := slices.IndexFunc(c.Ports, func(p config.Port) bool { return p.Name == q.Port })
		dir := m.w.nodes[node].Ports[port]
		if dir < 0 {
			continue
		}
		one := Starving{At{dir, q.Priority}, ms(q.For), m.before(node, port, q.Priority)}
		m.starving[node] = append(m.starving[node], one)
		if !slices.ContainsFunc(was, func(w Starving) bool { return w.At == one.At }) {
			m.tell(now, "note", "%s", m.starvingText(&one))
		}
	}
	for _, w := range was {
		if !slices.ContainsFunc(m.starving[node], func(s Starving) bool { return s.At == w.At }) {
			m.tell(now, "note", "priority %d of %s starves no more", w.Priority, m.w.arrow(w.Dir))
		}
	}
}

// before are the strict priorities of a port that go before a priority and have sent since the state before.
func (m *model) before(node, port, priority int) (strict []int) {
	p, weights := &m.snaps[node], m.w.switches[node].WeightsAt(port)
	for c, weight := range weights {
		if weight == 0 && (c > priority || weights[priority] > 0) && p.sent(port, c) {
			strict = append(strict, c)
		}
	}
	return strict
}

// sent reports whether a queue has sent since the counters with which those of the present are compared.
func (p *snap) sent(port, priority int) bool {
	n := p.now.Ports[port].TxFrames[priority]
	if p.old != nil && len(p.old.Ports) == len(p.now.Ports) {
		n -= p.old.Ports[port].TxFrames[priority]
	}
	return n > 0
}

// starvingText says what starves, and behind what.
func (m *model) starvingText(s *Starving) string {
	behind := "others"
	if len(s.Behind) > 0 {
		behind = "strict " + oneOrMore("priority", "priorities", lists.Map(s.Behind, strconv.Itoa))
	}
	return fmt.Sprintf("priority %d of %s starves behind %s", s.Priority, m.w.arrow(s.Dir), behind)
}
