package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// WireLoss is the reason of lossless frames that receivers miss and no node says it dropped.
const WireLoss = "wire"

// total is what a node dropped of a flow, on purpose or not, that should have gone on.
func total(d observe.FlowDrops) uint64 { return d.Lost + d.Response + d.Policed + d.IncompleteARP }

// dropsByFlow is what switches dropped of each flow, by its hash, and how many frames they
// dropped of which they do not say the flow.
func dropsByFlow(switches []observe.Switch) (by map[uint32]observe.FlowDrops, untold int) {
	by = map[uint32]observe.FlowDrops{}
	for i := range switches {
		for _, f := range switches[i].Flows {
			d := by[f.Flow]
			d.Lost += f.Lost
			d.Response += f.Response
			d.Policed += f.Policed
			d.IncompleteARP += f.IncompleteARP
			d.Unwanted += f.Unwanted
			by[f.Flow] = d
		}
		untold += int(total(switches[i].OtherDrops))
	}
	return by, untold
}

// lostOf is the part of a flow's row that says what was lost and what is on its way. Both are
// exact if both ends reported; else what is in flight is not known, and 0. d is what nodes
// dropped: of a flooded frame each copy, so no more counts than was sent and did not come.
//
// Two counts say what was lost, and neither sees all: the receiver misses numbers below the last that
// came, so what was dropped since then is not among them, and nodes do not see what a wire loses. The
// greater one counts. What was dropped on purpose is a part of it, never more.
//
// Invariant, if known: sent = received + lost + in flight; audit breaks on an in-flight below 0.
func lostOf(out *host.Sent, in *host.Received, d observe.FlowDrops, known bool) (row FlowResult) {
	missing := int64(out.Frames) - int64(in.Frames)
	row.Lost = max(int64(in.Lost), min(int64(total(d)), missing))
	if known {
		row.InFlight = missing - row.Lost
	}
	left := row.Lost
	for _, of := range []struct {
		n    uint64
		into *int64
	}{{d.Response, &row.Response}, {d.Policed, &row.OverRate}, {d.IncompleteARP, &row.IncompleteARP}} {
		*of.into = min(int64(of.n), left)
		left -= *of.into
	}
	return row
}

// lossReasons are those for which nodes lose lossless frames, in a fixed order. A reason that is added to
// the switch is among them by its Fate.
func lossReasons() (names []string) {
	for r := dataplane.NoReason; !r.Odd(); r++ {
		if r.Fate() == dataplane.Lost {
			names = append(names, r.String())
		}
	}
	return append(names, observe.FlowsFull)
}

// countLosses fills in what was lost of lossless frames, where and why. What a host whose pauses
// a system ignored had no room for was dropped on purpose.
func (v *Verdict) countLosses(p *scenario.Plan, switches []observe.Switch, hosts []observe.Host, ignored map[string]bool, wire int) {
	v.LosslessLost, v.LosslessLostBy, v.LosslessLostAt, v.HeadroomShort = 0, nil, nil, nil
	reasons := lossReasons()
	full := dataplane.DropHeadroom.String()
	for i := range switches {
		w := &switches[i]
		for _, reason := range reasons {
			n := uint64(0)
			for k := range w.Ports {
				n += w.Ports[k].LostBy[reason]
			}
			v.lose(w.Name, reason, int(n))
		}
		for k := range w.Ports {
			v.short(p, HeadroomShort{Node: w.Name, Port: w.Ports[k].Name}, unit.Port(k), &w.Ports[k].Loss)
		}
	}
	for i := range hosts {
		h := &hosts[i]
		for _, reason := range reasons {
			if reason != full || !ignored[h.Name] {
				v.lose(h.Name, reason, int(h.LostBy[reason]))
			}
		}
		if !ignored[h.Name] {
			for k := range h.NICs {
				v.short(p, HeadroomShort{Node: h.Name, Port: nicName(k)}, unit.Port(k), &h.NICs[k].Loss)
			}
		}
	}
	v.lose("", WireLoss, wire)
	v.sortLosses()
}

// sortLosses puts the most first. Of equal ones the order of nodes and reasons stays, so that equal
// runs give equal verdicts.
func (v *Verdict) sortLosses() {
	slices.SortStableFunc(v.LosslessLostAt, func(a, b Loss) int { return cmp.Compare(b.Frames, a.Frames) })
}

// lose counts n lossless frames that a node lost. Invariant: LosslessLost is the sum of LosslessLostBy, and
// that of LosslessLostAt, as all three are written here only.
func (v *Verdict) lose(node, reason string, n int) {
	if n == 0 {
		return
	}
	if v.LosslessLostBy == nil {
		v.LosslessLostBy = map[string]int{}
	}
	v.LosslessLost += n
	v.LosslessLostBy[reason] += n
	v.LosslessLostAt = append(v.LosslessLostAt, Loss{node, reason, n})
}

// short notes the groups of a port that lost frames for want of headroom, all like of.
func (v *Verdict) short(p *scenario.Plan, of HeadroomShort, port unit.Port, l *observe.Loss) {
	if l.HeadroomLost == [unit.Priorities]uint64{} {
		return
	}
	of.reckon(p, port)
	for c, n := range l.HeadroomLost {
		if n > 0 {
			of.Priority, of.Lost = c, int(n)
			of.Unstopped = unstopped(p, of.Node, port, unit.Priority(c))
			v.HeadroomShort = append(v.HeadroomShort, of)
		}
	}
}

// reckon fills in what each group of a port has, and what it needs, in bytes. A host pauses at three
// quarters of its receive buffer, so its headroom is the last quarter.
func (h *HeadroomShort) reckon(p *scenario.Plan, port unit.Port) {
	at := slices.IndexFunc(p.Fabric.Nodes, func(n topo.Node) bool { return n.Name == h.Node })
	switch {
	case at < 0:
		return
	case at < len(p.Switches):
		b := p.Switches[at].BuildBuffer()
		h.Headroom = b.XOFF(port) + b.Profile.Slack
		if b.HeadroomPool != nil {
			h.Pool = b.HeadroomPool.Bytes
		}
	case at-len(p.Switches) >= len(p.Hosts):
		return // of an own kind
	default:
		of := &p.Hosts[at-len(p.Switches)]
		h.Headroom = of.RxBuffer/4 + of.RxSlack
	}
	h.Need = p.Scenario.NeedsHeadroom(topo.End{Node: at, Port: port})
}

// unstopped reports whether pauses of a group stop nobody.
func unstopped(p *scenario.Plan, node string, port unit.Port, c unit.Priority) bool {
	at, ok := p.Fabric.Node(node)
	return ok && p.Scenario.Ports != nil && !p.Scenario.Pauses(topo.End{Node: at, Port: port}, c)
}

// lossShown is how many reasons of a loss a line has. Chosen: with node names that is a line or two of
// the table; the JSON has all.
const lossShown = 3

// lossText is the loss for people, the biggest reasons first: "36 headroom_full at h2, 3 wire".
func (v *Verdict) lossText() string {
	var parts []string
	for _, l := range v.LosslessLostAt[:min(len(v.LosslessLostAt), lossShown)] {
		parts = append(parts, fmt.Sprintf("%d %s%s", l.Frames, l.Reason, or("", l.Node != "", " at "+l.Node)))
	}
	if more := len(v.LosslessLostAt) - lossShown; more > 0 {
		rest := lists.Sum(v.LosslessLostAt[lossShown:], func(l Loss) int { return l.Frames })
		parts = append(parts, fmt.Sprintf("%d elsewhere", rest))
	}
	return strings.Join(parts, ", ")
}

// whyText is lossText, and what may be the reason.
func (v *Verdict) whyText() string {
	text := v.lossText()
	if all := v.disagree(); len(all) > 0 {
		text += "; " + all[0].String()
	}
	return text
}

// writeLoss writes where lossless frames were lost and why.
func (v *Verdict) writeLoss(t *table) {
	if v.LosslessLost == 0 {
		return
	}
	t.wrap("lost        ", v.lossText())
	for _, h := range v.HeadroomShort[:min(len(v.HeadroomShort), lossShown)] {
		need, what := "", fmt.Sprintf("%d bytes", h.Headroom)
		if h.Unstopped {
			need = "; its pauses stop nobody (topology.ports)"
		} else if h.Need > 0 {
			need = fmt.Sprintf("; its link needs %d", h.Need)
		}
		if h.Pool > 0 {
			what += fmt.Sprintf(", or the pool of %d,", h.Pool)
		}
		t.wrap("headroom    ", fmt.Sprintf("%s %s, priority %d: %s found the %s full%s", h.Node, h.Port, h.Priority, unit.Count(h.Lost, "frame"), what, need))
	}
	if n := len(v.HeadroomShort) - lossShown; n > 0 {
		t.line("            and %s whose headroom was short", unit.Count(n, "more priority group"))
	}
}
