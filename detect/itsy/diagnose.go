package itsy

import (
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// The diagnosis comes after the declaration, and no declaration depends on it: a lap goes
// round the loop and collects evidence, then the trigger that most of it points to is
// asked what is queued there (quest.go).

// Chosen: lapMax bounds what a lap costs that never comes home; strayHops is longer than most loops, so
// that a lap leaves the likeliest way only where that has led it into another loop; askHops is the way of a
// quest there and back.
const (
	lapMax    = 64           // the longest loop that a lap goes round
	strayHops = 16           // how far it goes before it takes any way: it is in another loop
	askHops   = 2 * questMax // for an answer; then another priority group may ask
)

// diagnose sends a lap round the loop of priority group i, which has been declared at queue p.
func (d *detector) diagnose(now unit.Time, c *priority, i, p unit.Port) {
	n := &c.in[i]
	n.lap = n.own
	if c.asking == i {
		c.asking = unit.NoPort
	}
	// The other switches tell the loop's queues by the label that came home, which need not be the newest.
	if m := c.lab[p]; m.owner() == d.at(i) {
		n.lap = m.rank()
	}
	l := lap{priority: c.id, owner: d.at(i), rank: n.lap}
	d.testify(now, c, i, p, &l)
	c.undiagnosed.Add(i)
	d.act.SendFrame(p, l.append(d.frame[:0]))
}

// Frame takes a lap or a quest that comes in by port p. What a host sends is not believed, though it is
// well-formed: ok false is for the switch's counter of what is not (detect.Peer).
func (d *detector) Frame(now unit.Time, p unit.Port, payload []byte) (ok bool) {
	if q, ok := parseQuest(payload); ok {
		if c := d.priorities[q.priority]; c != nil && !d.view.FacesHost(p) {
			d.takeQuest(now, c, p, &q)
		}
		return true
	}
	l, ok := parseLap(payload)
	if !ok {
		return false
	}
	if c := d.priorities[l.priority]; c != nil && !d.view.FacesHost(p) {
		d.takeLap(now, c, p, &l)
	}
	return true
}

// takeLap takes a lap that reaches priority group i: it adds to it and sends it on, or it is home.
func (d *detector) takeLap(now unit.Time, c *priority, i unit.Port, l *lap) {
	if l.owner == d.at(i) {
		if c.undiagnosed.Has(i) && c.asking != i && c.in[i].lap == l.rank {
			d.lapHome(now, c, i, l)
		}
		return
	}
	p := d.onward(c, i, newLabel(l.rank, l.owner), l.hops)
	if p == unit.NoPort || l.hops >= lapMax {
		return
	}
	l.hops++
	d.testify(now, c, i, p, l)
	d.act.SendFrame(p, l.append(d.frame[:0]))
}

// lapHome: the lap of priority group i is home. If the likeliest cause are its newcomers, where they
// meet is asked, unless another priority group is asking.
func (d *detector) lapHome(now unit.Time, c *priority, i unit.Port, l *lap) {
	var seen answers
	l.seen(&seen)
	last, stands := l.cameLast(nil)
	if seen.n > 0 || !stands || last.Type != detect.CauseContention || c.asking != unit.NoPort && now < c.askUntil {
		d.explain(c, i, l, nil)
		return
	}
	c.asking, c.askUntil, c.found = i, now+askHops*d.hop, *l
	d.passOn(now, c, i, &quest{priority: c.id, owner: d.at(i), rank: c.in[i].lap, about: last.Flows[0], eldest: l.eldest})
}

// diagnosisDue ends a diagnosis of priority group i whose messages were lost, with what is known.
func (d *detector) diagnosisDue(now unit.Time, c *priority, i unit.Port) {
	if !c.undiagnosed.Has(i) {
		return
	}
	l := lap{priority: c.id, owner: d.at(i), rank: c.in[i].lap}
	if c.asking == i {
		l = c.found
	} else {
		d.testify(now, c, i, c.in[i].declared, &l)
	}
	d.explain(c, i, &l, nil)
}

// onward is the queue by which a loop goes on from priority group i: of those that brought the label
// of the priority group that declared it the one with most of i's bytes, else the one of all that
// are paused.
func (d *detector) onward(c *priority, i unit.Port, id label, hops uint8) unit.Port {
	most, at, byLabel := 0, unit.NoPort, false
	for set := c.paused; !set.Empty(); set.Pop() {
		p := set.First()
		held := d.view.Held(c.pg(i), c.queue(p))
		if held > 0 && hops > strayHops {
			held = 1 + d.stray.Below(held)
		}
		is := c.lab[p].id() == id.id()
		if held > 0 && (is && !byLabel || is == byLabel && held > most) {
			most, at, byLabel = held, p, is
		}
	}
	return at
}

// testify adds what this switch knows of priority group i of the loop, which goes on by queue p.
func (d *detector) testify(now unit.Time, c *priority, i, p unit.Port, l *lap) {
	b, q := c.pg(i), c.queue(p)
	first := l.hops == 0
	here, flows := d.turn(c, i, p)
	if first || here.count > 0 && here.count < l.least.count {
		l.least = here
	}
	if first || here.count > l.most.count {
		l.most = here
	}
	if first {
		l.through = here.flows
	} else {
		l.through = among(l.through, flows)
	}
	d.testifyFlooded(b, q, here, flows, l)
	if bytes, down, since := d.view.Detour(b, q); bytes > 0 {
		if age := micros(now - since); l.detour.at.IsZero() || age < l.detour.age {
			l.detour.at, l.detour.age, l.detour.flows = d.at(down), age, here.flows
		}
	}
	l.eldest = max(l.eldest, micros(c.out[p].eldest(now)))
	for _, f := range flows {
		if age, ok := c.out[p].age(now, f.ID); ok {
			bytes := uint32(min(f.Bytes, 1<<32-1))
			l.addYoung(young{flow: f.ID, age: micros(age), bytes: bytes, at: here.at, in: i, most: bytes})
		}
	}
	if n := &c.in[i]; n.trigger.isHost() {
		l.addHost(n.trigger, n.strength)
	}
}

// testifyFlooded adds whether flooded frames alone hold the turn here of priority group b.
func (d *detector) testifyFlooded(b detect.PG, q detect.Queue, here turn, flows []detect.Flow, l *lap) {
	flooded := 0
	for _, f := range flows {
		flooded += f.Flooded
	}
	if flooded == 0 || d.view.Held(b, q)-flooded > d.view.XON(b) {
		return
	}
	if l.flooded.turns == 0 {
		l.flooded.turn = here
		l.flooded.flows = detect.CauseFlows{}
	}
	l.flooded.turns++
	for _, f := range flows {
		if f.Flooded > 0 && !l.flooded.flows.Has(f.ID) {
			l.flooded.flows.Add(f.ID)
		}
	}
}

// among are those of s that are among flows.
func among(s detect.CauseFlows, flows []detect.Flow) (both detect.CauseFlows) {
	for _, id := range s[:s.Len()] {
		if slices.ContainsFunc(flows, func(f detect.Flow) bool { return f.ID == id }) {
			both.Add(id)
		}
	}
	return both
}

// turn is the way from priority group i to queue p, and the flows that wait there, the heaviest
// first. The flows are scratch.
func (d *detector) turn(c *priority, i, p unit.Port) (turn, []detect.Flow) {
	t := turn{at: d.at(p), in: i}
	d.flows = d.view.Flows(d.flows[:0], c.queue(p))
	flows := d.flows[:0]
	for _, f := range d.flows {
		if f.In == i {
			flows = append(flows, f)
			t.flows.Add(f.ID)
		}
	}
	t.count = uint8(min(len(flows), 255))
	return t, flows
}

// micros is t in microseconds, as far as a message can say.
func micros(t unit.Time) uint32 { return uint32(min(max(t, 0)/unit.Microsecond, 1<<32-1)) }

// When a root counts as the cause, from planted causes and random deadlocks (docs/cause.md).
// A host whose pauses reached the loop only weakened is named after the others: of deadlocks
// by overload it is seldom the cause.
const (
	hostMost = 128 // of a priority group's bytes, in 255ths, that waited for the host
	hostMean = 60  // of all priority groups', where half of them name it
)

// isCause reports whether the host is named first, in a loop of this many turns.
func (h hostPart) isCause(turns int) bool {
	return h.most >= hostMost || 2*int(h.pgs) >= turns && int(h.sum) >= hostMean*turns
}

// confidence is how often the first answer of a type named what was planted, in per cent,
// and of no single cause how often the turn was causal in random deadlocks; and
// laterConfidence how often a later answer named what the first had missed
// (docs/figures/causes-planted.txt, causes-random.txt).
var confidence = [...]uint8{
	detect.CauseHost: 95, detect.CauseContention: 70, detect.CauseRouting: 95, detect.CauseFlooding: 80, detect.CauseLink: 90, detect.CauseSeveral: 85,
}

const laterConfidence = 10

// explain names the causes of what priority group i has declared, from the lap that is home and
// the answer to where its newcomers meet, nil if there is none. First what is seen where it
// is: a host, flooded frames, a loop in the routes. Then what came last, if that stands out.
// Else a flow that holds a turn of the loop alone; and where several flows hold every turn,
// no single one is the cause, but those of the turn that most take, together with those of the
// turn that fewest take.
func (d *detector) explain(c *priority, i unit.Port, l *lap, q *quest) {
	c.undiagnosed.Remove(i)
	if c.asking == i {
		c.asking = unit.NoPort
	}
	var all answers
	l.seen(&all)
	last, stands := l.cameLast(q)
	if stands {
		all.add(last)
	}
	if l.least.count == 1 {
		all.add(l.least.cause(detect.CauseContention))
	}
	if all.n == 0 {
		all.add(l.most.cause(detect.CauseSeveral))
		if l.least.at != l.most.at || l.least.in != l.most.in {
			all.add(l.least.cause(detect.CauseSeveral))
		}
	}
	if last.Type != 0 && !stands {
		all.add(last)
	}
	for _, h := range l.hosts {
		if h.trigger != 0 && !h.isCause(l.turns()) {
			all.add(detect.Cause{Type: detect.CauseHost, At: h.trigger.at(), In: unit.NoPort})
		}
	}
	d.act.Diagnose(c.pg(i), c.queue(c.in[i].declared), all.causes[:all.n])
}

// turns is how many turns the lap has seen.
func (l *lap) turns() int { return int(l.hops) + 1 }

// seen adds the causes that are seen where they are.
func (l *lap) seen(all *answers) {
	for _, h := range l.hosts {
		if h.trigger != 0 && h.isCause(l.turns()) {
			all.add(detect.Cause{Type: detect.CauseHost, At: h.trigger.at(), In: unit.NoPort})
		}
	}
	if l.flooded.turns > 0 {
		all.add(l.flooded.cause(detect.CauseFlooding))
	}
	if l.through[0] != 0 {
		round := l.least
		round.flows = l.through
		all.add(round.cause(detect.CauseRouting))
	}
}

// cameLast names the newcomers of the loop: as the detour round a link if they came when it
// went down; else as flows that contend, with those that they meet and that came with them, at
// the turn of the loop that the first of them holds most. stands says that they stand out, so
// that they are likely the cause; its type is 0 if there are none.
func (l *lap) cameLast(q *quest) (cause detect.Cause, stands bool) {
	flows, stand := l.newcomers()
	if len(flows) == 0 {
		return detect.Cause{}, false
	}
	detour := false
	cause = detect.Cause{Type: detect.CauseContention, At: flows[0].at, In: flows[0].in, OnLoop: true}
	for _, y := range flows {
		cause.Flows.Add(y.flow)
		detour = detour || l.detour.flows.Has(y.flow)
	}
	if detour && 8*uint64(flows[0].age) >= 7*uint64(l.detour.age) {
		return detect.Cause{Type: detect.CauseLink, At: l.detour.at, In: unit.NoPort, OnLoop: true, Flows: l.detour.flows}, true
	}
	if q != nil && q.flows.Len() > 1 {
		cause.OnLoop = q.onLoop
		for _, f := range q.flows[:q.flows.Len()] {
			if !cause.Flows.Has(f) {
				cause.Flows.Add(f)
			}
		}
	}
	return cause, stand
}

func (t *turn) cause(kind detect.CauseType) detect.Cause {
	return detect.Cause{Type: kind, At: t.at, In: t.in, OnLoop: true, Flows: t.flows}
}

// answers are causes, the likeliest first.
type answers struct {
	causes [detect.CausesMax]detect.Cause
	n      int
}

// add adds a cause. It is Together with the one before it as long as all causes so far need
// another one: a host's pauses and flooded frames join a loop that flows hold, and several
// flows meet at more than one turn.
func (a *answers) add(k detect.Cause) {
	if a.n == len(a.causes) {
		return
	}
	if a.n > 0 {
		switch before := a.causes[a.n-1]; before.Type {
		case detect.CauseHost, detect.CauseFlooding:
			k.Together = a.n == 1 || before.Together
		case detect.CauseSeveral:
			k.Together = k.Type == detect.CauseSeveral
		}
	}
	k.Confidence = confidence[k.Type]
	if a.n > 0 {
		k.Confidence = min(k.Confidence, laterConfidence)
	}
	a.causes[a.n] = k
	a.n++
}
