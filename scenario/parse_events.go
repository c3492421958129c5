package scenario

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/ether"
	"softswitch/internal/lists"
	"softswitch/internal/schema"
	"softswitch/link/impair"
	"softswitch/node/config"
	"softswitch/unit"
)

// eventCases are the kinds of events, with the keys that each must have in addition to at and do, and
// those that it may have.
var eventCases = []schema.Case{
	{Is: string(Fail), Must: []string{"link"}, Text: "The link goes down."},
	{Is: string(Heal), Must: []string{"link"}, Text: "The link comes up."},
	{Is: string(Flap), Must: []string{"link", "for"}, Text: "The link goes down, and up again after `for`."},
	{Is: string(Kill), Must: []string{"switch"}, Text: "The switch dies and does not come back."},
	{Is: string(Stop), Must: []string{"switch"}, Text: "The switch freezes: its links stay up, and it reads and sends nothing."},
	{Is: string(Continue), Must: []string{"switch"}, Text: "The switch goes on from where it stopped."},
	{Is: string(Storm), Must: []string{"host"}, May: []string{"nic", "priority", "for"}, Text: "The host pauses the priority without end, whatever its buffer holds."},
	{Is: string(Slow), Must: []string{"host", "rate"}, May: []string{"nic", "for"}, Text: "The host's receiver drains at `rate`."},
	{Is: string(Normal), Must: []string{"host"}, May: []string{"nic"}, Text: "The host behaves again."},
	{Is: string(Lose), Must: []string{"link", "from", "nth"}, Text: "The nth control frame (PFC, a message of a detector) from then on is lost on the link."},
	{Is: string(Forge), Must: []string{"link", "from", "frame"}, Text: "A frame appears on the link as if that node had sent it."},
	{Is: string(Replay), Must: []string{"link", "from", "nth"}, May: []string{"back", "flip"}, Text: "A control frame that the node sent into the link before, one of the last 64, appears there again, or comes back to it."},
}

// names are what cases are called.
func names(cases []schema.Case) []string {
	return lists.Map(cases, func(c schema.Case) string { return c.Is })
}

func (p *parser) events(s *Scenario, events []fileEvent) (out []Event) {
	kinds, asked := names(eventCases), lives{}
	for i, e := range events {
		path := fmt.Sprintf("events[%d]", i)
		at := p.withinEnd(path+".at", e.At)
		if !p.Choice(path+".do", e.Do, kinds) {
			continue
		}
		k := eventCases[slices.Index(kinds, e.Do)]
		if !p.keys(path, e.Do, k.Must, k.May) {
			continue
		}
		ev := p.event(path, e)
		ev.At, ev.Do = at, Do(e.Do)
		if p.Faulty(path) || p.fabric == nil {
			continue
		}
		if ev.Do == Slow {
			p.warnFast(s, path+".rate", ev.Node, ev.NIC, ev.Rate)
		}
		if ev.Do == Storm {
			p.checkStorm(s, path, ev)
		}
		asked.add(p, path, ev)
		out = append(out, ev)
	}
	slices.SortStableFunc(out, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return out
}

// lives are, by node, when a switch is killed first, and the last time that it has to do something.
type lives map[int]*struct{ killed, last unit.Time }

// add takes the next event of the file, and checks that it asks nothing of a switch that another
// event, which may stand before or after it in the file, has killed by then.
func (l lives) add(p *parser, path string, ev Event) {
	if !ev.asks() {
		return
	}
	of := l[ev.Node]
	switch {
	case of == nil:
		of = &struct{ killed, last unit.Time }{unit.Never, ev.At}
		l[ev.Node] = of
	case of.killed <= ev.At:
		p.Faultf(path, "%s is dead by then: it is killed at %s", p.fabric.Nodes[ev.Node].Name, of.killed)
	case ev.Do == Kill && ev.At < of.last:
		p.Faultf(path, "%s dies at %s, before it has to do something at %s", p.fabric.Nodes[ev.Node].Name, ev.At, of.last)
	}
	of.last = max(of.last, ev.At)
	if ev.Do == Kill {
		of.killed = min(of.killed, ev.At)
	}
}

// asks reports whether Node, a live one, has to do something for the event.
func (e *Event) asks() bool {
	switch e.Do {
	case Kill, Stop, Continue, Lose, Forge, Replay:
		return true
	}
	return false
}

// keys checks that an event has the keys that it must have and no unknown ones.
func (p *parser) keys(path, do string, must, may []string) bool {
	ok := true
	for _, key := range must {
		if !p.Has(path + "." + key) {
			p.Faultf(path+"."+key, "missing: %s has %s", do, strings.Join(append([]string{"at", "do"}, must...), ", "))
			ok = false
		}
	}
	for _, key := range []string{"link", "switch", "host", "nic", "from", "priority", "rate", "for", "nth", "frame", "back", "flip"} {
		if p.Has(path+"."+key) && !slices.Contains(must, key) && !slices.Contains(may, key) {
			p.Faultf(path+"."+key, "%s has no such key; its keys are %s", do, strings.Join(append(append([]string{"at", "do"}, must...), may...), ", "))
			ok = false
		}
	}
	return ok
}

// event reads the event's keys, which keys has checked.
func (p *parser) event(path string, e fileEvent) (ev Event) {
	linked := false
	if p.Has(path + ".link") {
		ev.Link, linked = p.link(path+".link", e.Link)
	}
	if p.Has(path + ".switch") {
		ev.Node, _ = p.node(path+".switch", e.Switch, "switch")
	}
	if p.Has(path + ".host") {
		known := false
		ev.Node, known = p.node(path+".host", e.Host, "host")
		if ev.NIC = named(e.NIC); known {
			p.namedNIC(path+".nic", ev.NIC, &p.fabric.Nodes[ev.Node])
		}
	}
	if p.Has(path+".from") && linked {
		ev.Node = p.linkEnd(path+".from", e.From, ev.Link)
	}
	if Do(e.Do) == Storm {
		ev.Priority = p.losslessPriority(path+".priority", or(e.Priority, defaultPriority))
	}
	if p.Has(path + ".rate") {
		ev.Rate = aboveZero(p, path+".rate", e.Rate, exampleRate)
	}
	if p.Has(path + ".for") {
		ev.For = aboveZero(p, path+".for", p.withinEnd(path+".for", e.For), exampleTime)
	}
	if p.Has(path + ".nth") {
		most := 1_000_000
		if Do(e.Do) == Replay {
			most = impair.TapeMax
		}
		ev.Nth = p.within(path+".nth", e.Nth, 1, most)
	}
	ev.Back = e.Back
	if p.Has(path + ".flip") {
		ev.Flip = p.within(path+".flip", e.Flip, 0, 4096)
	}
	if p.Has(path + ".frame") {
		ev.Frame = p.frame(path+".frame", e.Frame)
	}
	return ev
}

func (p *parser) linkEnd(path, name string, link int) int {
	l := p.fabric.Links[link]
	a, b := p.fabric.Nodes[l.A.Node].Name, p.fabric.Nodes[l.B.Node].Name
	if p.Choice(path, name, []string{a, b}) && name == b {
		return l.B.Node
	}
	return l.A.Node
}

func (p *parser) losslessPriority(path string, c int) unit.Priority {
	if !slices.Contains(p.lossless, c) {
		p.Faultf(path, "priority %d is not lossless; use one of %v, or add it to pfc.lossless", c, p.lossless)
	}
	return unit.Priority(c)
}

// frame reads a frame in hex; spaces and colons may stand between the bytes.
func (p *parser) frame(path, s string) []byte {
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", ":", "", "\n", "").Replace(s))
	if longest := config.MaxFrame(p.mtu); err != nil || len(b) < ether.HeaderLen || len(b) > longest {
		p.Faultf(path, "not a frame of %d to %d bytes in hex, such as 0180c2000001 020000010000 8808 0101; the mtu is %d", ether.HeaderLen, longest, p.mtu)
	}
	return b
}
