package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/oracle"
	"softswitch/unit"
)

// diagnosis is the likeliest cause that a detector named, and those that are named together
// with it, as far as its events have told them.
type diagnosis struct {
	at     unit.Time
	node   unit.NodeID
	causes []detect.Cause
}

// cause notes the likeliest cause that a detector names, and what it names together with that;
// an event tells one flow of one.
func (m *model) cause(e oracle.Entry) {
	d := &m.diagnosis
	more := d.at == e.At && d.node == e.Node
	switch {
	case e.Rank > 1 && !(more && e.Together && int(e.Rank) <= len(d.causes)+1):
		return
	case !more:
		*d = diagnosis{at: e.At, node: e.Node}
	}
	if int(e.Rank) > len(d.causes) {
		d.causes = append(d.causes, detect.Cause{Type: e.Cause, At: e.Trigger, In: e.In, OnLoop: e.OnLoop, Confidence: e.Confidence})
	}
	last := &d.causes[len(d.causes)-1]
	last.Flows.Add(e.Flow)
	m.noteNamed(m.w.index[e.Node], *last, e.Flow)
	var texts, named []string
	for i := range d.causes {
		named = append(named, m.causeText(&d.causes[i]))
		texts = append(texts, fmt.Sprintf("%s (%d %%)", named[i], d.causes[i].Confidence))
	}
	text, said := strings.Join(texts, "; and "), m.name(e.Node)+" names the cause: "
	if n := len(m.log); n > 0 && more && strings.HasPrefix(m.log[n-1].Text, said) {
		m.log = m.log[:n-1] // that without this
	}
	m.tell(e.At, "cause", "%s", said+text)
	if m.declared != nil && m.declared.Node == m.w.index[e.Node] {
		declared := *m.declared // states have the one without
		declared.Cause = strings.Join(named, "; and ") + m.rightText(d.causes[0].Type)
		declared.CauseHost, declared.CauseDir = m.causePlace(&d.causes[0])
		m.declared = &declared
	}
}

// causeWords are the words for causes that are at a queue.
var causeWords = map[detect.CauseType]string{
	detect.CauseContention: "contention", detect.CauseRouting: "a loop in the routes", detect.CauseFlooding: "flooded frames",
}

// causeText is a cause in words, with its confidence.
func (m *model) causeText(c *detect.Cause) string {
	host, dir := m.causePlace(c)
	what, where := cmp.Or(causeWords[c.Type], "no single one, flows that are there together"), ""
	switch {
	case host >= 0:
		what = "host " + m.w.nodes[host].Name
		if slices.Contains(m.slowHosts(), host) {
			what = m.slowText(host)
		}
	case c.Type == detect.CauseLink && dir >= 0: // the loop is the way round it
		what = "link " + m.w.links[dir/2].Name + ", which went down"
	case dir >= 0:
		what += " at " + m.w.arrow(dir)
		switch {
		case c.Type == detect.CauseRouting: // is a loop
		case c.OnLoop:
			where = ", on the loop"
		default:
			where = ", off the loop"
		}
	}
	if flows := m.flowNames(c); flows != "" {
		what += ", " + flows
	}
	return what + where
}

// causePlace is where a cause is: the host that it is, or the direction at which it is; -1 for none.
func (m *model) causePlace(c *detect.Cause) (host, dir int) {
	d, ok := m.w.ports[c.At]
	if c.Type == detect.CauseHost {
		named := (&oracle.Result{Fabric: m.w.fabric}).Trigger(oracle.Finding{Trigger: c.At, OnLoop: c.OnLoop})
		return slices.IndexFunc(m.w.nodes, func(n Node) bool { return n.Name == named.Node }), -1
	}
	if !ok || c.Type == detect.CauseSeveral {
		return -1, -1
	}
	return -1, d
}

// rightIn is in how many of a hundred deadlocks with a planted cause the diagnosis of itsy named it, or
// something that belongs to it, by the type that it named first: docs/figures/causes-planted.txt, "found".
var rightIn = map[detect.CauseType]int{
	detect.CauseHost: 96, detect.CauseContention: 74, detect.CauseRouting: 100, detect.CauseFlooding: 86, detect.CauseLink: 86, detect.CauseSeveral: 68,
}

// rightText says how often such an answer is right, where that was measured.
func (m *model) rightText(c detect.CauseType) string {
	detector := ""
	switch {
	case m.with != nil:
		detector = m.with.Detector
	case len(m.w.switches) > 0:
		detector = m.w.switches[0].Detector
	}
	if n, ok := rightIn[c]; ok && detector == "itsy" {
		return fmt.Sprintf(" (right in %d of 100 such cases)", n)
	}
	return ""
}

// flowNames are the flows of a cause, "" for none.
func (m *model) flowNames(c *detect.Cause) string {
	var names []string
	for _, f := range c.Flows[:c.Flows.Len()] {
		if known, ok := m.w.flows[f]; ok {
			names = append(names, known.name)
		} else {
			names = append(names, f.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return oneOrMore("flow", "flows", names)
}
