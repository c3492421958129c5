package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// Bounds of what one state tells of events, the last ones, and of actions, the first ones:
// a response that works hard takes thousands.
const (
	entriesMax = 24
	actsMax    = 8
)

// model turns events and counters into states. It reads no clock.
type model struct {
	w *wiring
	// truth is the largest stuck set by all events so far.
	truth  func() *oracle.Stuck
	origin unit.Time // of State.T
	zero   unit.Time // when the hosts started to play the scenario last; 0 before
	now    unit.Time // of the last event

	stuck     *oracle.Stuck
	since     unit.Time         // the onset of stuck, if it is not empty
	opening   unit.Time         // since when something waits that opens by itself
	last      *oracle.Stuck     // the last that was not empty, of a deadlock that is over
	lastFor   unit.Time         // how long that lasted
	lastAt    unit.Time         // when it was over
	again     int               // how often deadlocks formed, each soon after the one before was over
	breaker   string            // the last action on a deadlock that made its loop move, "" for none
	lingers   unit.Time         // how long that is still told of
	paused    []bool            // by direction and priority
	down      []bool            // by direction: the port that it leaves is down
	starving  [][]Starving      // by switch
	silent    []bool            // by node
	storming  []int             // by node: priorities that it pauses without end, of all NICs
	slow      map[nic]unit.Rate // NICs that drain slowly, and how fast
	differs   map[mismatchOf]string
	pgs       []pg                 // by direction and priority: the priority group at its far end, by its events
	waits     map[edge]hold        // what waits where
	actions   map[Action]unit.Time // in effect, since when
	declared  *Declared
	diagnosis diagnosis                // the last
	snaps     []snap                   // by switch
	sending   []Sending                // by host, as it said last; without Flows it is not told
	received  map[uint32]host.Received // by number of the flow
	unheard   map[int]bool             // hosts whose pauses a response ignored at some time
	truly     map[int]bool             // nodes whose last declaration was true
	// What the likeliest causes of true declarations name, and causes named together with them.
	namedFlows map[detect.FlowID]bool
	namedHosts map[int]bool
	problem    string
	with       *With // what the switches run; nil before they have said
	// window is over how long, at least, the load of a direction is taken; 0: since the state
	// before.
	window unit.Time

	tick // what happened since the last state
}

type tick struct {
	labels map[Label]bool
	steps  []Step
	more   int // steps that found no room
	pauses int
	moves  int // pauses of queues that ended
	log    []Entry
	acts   int // entries of actions, those that found no room included
	left   int // entries that found no room
}

// lingers is how long a lab's states tell of a deadlock that is over: most that a response
// breaks are over before anybody has seen them.
const lingers = 2 * unit.Second

// pg is what the events of a priority group say: whether it is XOFF, since when, and how many
// bytes it held then.
type pg struct {
	at    unit.Time
	bytes int
	xoff  bool
}

// edge is that a priority group that is XOFF holds bytes in a paused queue, both by direction and
// priority, the priority group by those of the queue upstream.
type edge struct{ from, to At }

// hold is how many, and the priority group's XON.
type hold struct{ bytes, xon int }

// snap is a switch's counters now, at the beginning of the present window, and at that of
// the window before, with which they are compared.
type snap struct {
	at, mark, before unit.Time
	now, marked, old *observe.Switch
}

// newModel is a model of a fabric in which nothing happened yet; states count their time
// from origin.
func newModel(w *wiring, truth func() *oracle.Stuck, origin unit.Time) *model {
	return &model{
		w: w, truth: truth, origin: origin, stuck: new(oracle.Stuck), lingers: lingers,
		pgs: make([]pg, len(w.far)*unit.Priorities), waits: map[edge]hold{}, actions: map[Action]unit.Time{}, received: map[uint32]host.Received{}, unheard: map[int]bool{},
		truly: map[int]bool{}, namedFlows: map[detect.FlowID]bool{}, namedHosts: map[int]bool{},
		paused: make([]bool, len(w.far)*unit.Priorities), down: make([]bool, len(w.far)),
		silent: make([]bool, len(w.nodes)), storming: make([]int, len(w.nodes)), slow: map[nic]unit.Rate{}, differs: map[mismatchOf]string{}, snaps: make([]snap, len(w.switches)), starving: make([][]Starving, len(w.switches)), sending: make([]Sending, len(w.hosts)),
		tick: tick{labels: map[Label]bool{}},
	}
}

// settle ends the present instant: its truth is final.
func (m *model) settle() {
	s := m.truth()
	if s == m.stuck {
		return
	}
	was := m.stuck
	m.stuck = s
	switch {
	case was.Empty() && !s.Empty():
		m.since = m.now
		m.declared, m.breaker = nil, ""
		m.again++
		if m.last == nil || m.now-m.lastAt > curedFor {
			m.again = 0
		}
		m.tell(m.now, "deadlock", "deadlock: %s wait for one another", m.loopText(m.loops(s)))
	case !was.Empty() && s.Empty():
		m.tell(m.now, "over", "the deadlock is over, after %s", span(m.now-m.since))
		m.last, m.lastFor, m.lastAt = was, m.now-m.since, m.now
	}
	switch {
	case len(was.Opening) == 0 && len(s.Opening) > 0:
		m.opening = m.now
		m.tell(m.now, "note", "a wait that opens by itself: %s, until others have left the pool", m.list(m.w.queues(s.Opening)))
	case len(was.Opening) > 0 && len(s.Opening) == 0:
		m.tell(m.now, "note", "the wait has opened by itself, after %s", span(m.now-m.opening))
	}
}

// add takes an event, of which truth knows already, unless it is the first of its
// instant: settle has been called for the instant before.
func (m *model) add(e oracle.Entry) {
	m.now = e.At
	switch e.Type {
	case event.Paused:
		if at, ok := m.out(e); ok {
			m.paused[at.index()] = true
			m.pauses++
		}
	case event.Resumed, event.Expired:
		if at, ok := m.out(e); ok {
			m.paused[at.index()] = false
			m.moves++
			maps.DeleteFunc(m.waits, func(w edge, _ hold) bool { return w.to == at })
		}
	case event.XOFF, event.XON:
		m.crossed(e)
	case event.Held:
		m.held(e)
	case event.LinkUp, event.LinkDown:
		m.link(e)
	case event.DCBXMismatch, event.DCBXAgreed:
		m.dcbx(e)
	case event.Rerouted:
		if at, ok := m.out(e); ok {
			m.tell(e.At, "link", "%s sends by its backup %s", m.name(e.Node), m.w.arrow(at.Dir))
		}
	case event.HostStorm:
		m.storming[m.w.index[e.Node]]++
		m.tell(e.At, "storm", "%s storms%s: it pauses priority %d without end", m.name(e.Node), m.atNIC(m.nicOf(e)), e.Priority)
	case event.HostStormOver:
		m.storming[m.w.index[e.Node]]--
		m.tell(e.At, "storm", "the storm of %s%s in priority %d is over", m.name(e.Node), m.atNIC(m.nicOf(e)), e.Priority)
	case event.HostSlow:
		m.slow[m.nicOf(e)] = unit.Rate(e.Bytes) * 1000
		m.tell(e.At, "storm", "%s", m.slowNIC(m.nicOf(e)))
	case event.HostSlowOver:
		delete(m.slow, m.nicOf(e))
		m.tell(e.At, "storm", "%s is slow no more%s", m.name(e.Node), m.atNIC(m.nicOf(e)))
	case event.Trace:
		m.label(e)
		m.step(e)
	case event.Deadlock:
		m.declare(e)
	case event.Cause:
		m.cause(e)
	case event.Acted, event.Refused:
		m.act(e)
	}
}

// forget takes it that a node restarted: its priority groups are empty, its queues not paused, and no
// action is in effect at it.
func (m *model) forget(e oracle.Entry) {
	m.now = e.At
	node := m.w.index[e.Node]
	m.storming[node] = 0
	maps.DeleteFunc(m.slow, func(n nic, _ unit.Rate) bool { return n.node == node })
	away := lists.Where(m.w.nodes[node].Ports, func(d int) bool { return d >= 0 }) // directions that leave it
	for _, d := range away {
		m.down[d] = false
		clear(m.paused[d*unit.Priorities : (d+1)*unit.Priorities])
		clear(m.pgs[(d^1)*unit.Priorities : ((d^1)+1)*unit.Priorities])
	}
	maps.DeleteFunc(m.waits, func(w edge, _ hold) bool {
		return slices.Contains(away, w.from.Dir^1) || slices.Contains(away, w.to.Dir)
	})
	maps.DeleteFunc(m.actions, func(k Action, _ unit.Time) bool {
		if k.What == "policed" { // what comes in
			return slices.Contains(away, k.Dir^1)
		}
		return slices.Contains(away, k.Dir)
	})
	maps.DeleteFunc(m.differs, func(k mismatchOf, _ string) bool { return slices.Contains(away, k.dir) })
	m.tell(e.At, "restart", "%s restarted", m.name(e.Node))
}

func (m *model) name(id unit.NodeID) string { return m.w.fabric.Name(id) }

func (m *model) link(e oracle.Entry) {
	d, ok := m.w.ports[unit.NodePort{Node: e.Node, Port: e.Port}]
	if !ok {
		return
	}
	was := m.down[d] || m.down[d^1]
	m.down[d] = e.Type == event.LinkDown
	switch is := m.down[d] || m.down[d^1]; {
	case is && !was:
		m.tell(e.At, "link", "link %s failed", m.w.linkText(d/2))
	case was && !is:
		m.tell(e.At, "link", "link %s is up again", m.w.linkText(d/2))
	}
}

// out is the queue that an event names; ok is false if its port has no link.
func (m *model) out(e oracle.Entry) (at At, ok bool) {
	return m.w.queue(oracle.Queue{NodePort: unit.NodePort{Node: e.Node, Port: e.Out}, Priority: e.OutPriority})
}

// upstream is a priority group as the page has it: the queue that transmits to it.
func (m *model) upstream(e oracle.Entry) (at At, ok bool) {
	d, ok := m.w.ports[unit.NodePort{Node: e.Node, Port: e.Port}]
	return At{d ^ 1, int(e.Priority)}, ok
}

// crossed notes that a priority group went XOFF or XON.
func (m *model) crossed(e oracle.Entry) {
	at, ok := m.upstream(e)
	if !ok {
		return
	}
	m.pgs[at.index()] = pg{e.At, int(e.Bytes), e.Type == event.XOFF}
	if e.Type == event.XON {
		maps.DeleteFunc(m.waits, func(w edge, _ hold) bool { return w.from == at })
	}
}

// held notes how many bytes of a priority group wait in a paused queue.
func (m *model) held(e oracle.Entry) {
	from, wired := m.upstream(e)
	to, ok := m.out(e)
	if !wired || !ok {
		return
	}
	if w := (edge{from, to}); e.Bytes > 0 {
		m.waits[w] = hold{int(e.Bytes), int(e.Limit)}
	} else {
		delete(m.waits, w)
	}
}

// label notes that a label went on: by a pause of the priority group, to its upstream, or by a
// message to the node that the queue transmits to.
func (m *model) label(e oracle.Entry) {
	switch e.Step {
	case detect.StepAsk:
		if at, ok := m.out(e); ok {
			m.labels[Label{Dir: at.Dir, Origin: m.origins(e), Seq: int(e.Label.Seq), Down: true}] = true
		}
		return
	case detect.StepMint, detect.StepForward, detect.StepCheck, detect.StepMiddle:
	default:
		return
	}
	far, wired := m.w.fabric.Far(unit.NodePort{Node: e.Node, Port: e.Port})
	if e.Port == unit.NoPort || !wired {
		return
	}
	m.labels[Label{Dir: m.w.ports[far], Origin: m.origins(e), Seq: int(e.Label.Seq), New: e.Step == detect.StepMint}] = true
}

// origins is the node that made an event's label, by index.
func (m *model) origins(e oracle.Entry) int {
	if i, known := m.w.index[e.Label.Initiator.Node]; known {
		return i
	}
	return m.w.index[e.Node]
}

func (m *model) declare(e oracle.Entry) {
	q := oracle.Queue{NodePort: unit.NodePort{Node: e.Node, Port: e.Out}, Priority: e.OutPriority}
	at, ok := m.w.queue(q)
	if !ok {
		return
	}
	d := &Declared{Node: m.w.index[e.Node], Queue: at, Trigger: -1, Port: -1, OnLoop: e.OnLoop, CauseHost: -1, CauseDir: -1}
	d.True = m.stuck.InCore(q) || m.truth().InCore(q)
	m.truly[d.Node] = d.True
	t := (&oracle.Result{Fabric: m.w.fabric}).Trigger(oracle.Finding{Trigger: e.Trigger, OnLoop: e.OnLoop})
	if i := slices.IndexFunc(m.w.nodes, func(n Node) bool { return n.Name == t.Node }); t.Kind != "" && i >= 0 {
		d.Trigger = i
		if t.Kind == "switch" {
			d.Port = m.w.nodes[i].Ports[e.Trigger.Port]
		}
	}
	kind, how := "false", "though it is not stuck"
	if d.True {
		from := e.At // a deadlock of this very instant
		if !m.stuck.Empty() {
			from = m.since
		}
		d.After = ms(e.At - from)
		kind, how = "declared", span(e.At-from)+" after it formed"
	}
	m.tell(e.At, kind, "%s declares %s deadlocked, %s%s", m.name(e.Node), m.w.arrow(at.Dir), how, m.triggerText(d))
	if m.declared == nil || d.True {
		m.declared = d
	}
}

// tell notes an event for people, unless it is what was told last.
func (m *model) tell(at unit.Time, kind, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n := len(m.log); n > 0 && m.log[n-1].Text == text {
		return
	}
	if kind == "act" {
		if m.acts++; m.acts > actsMax {
			m.left++
			return
		}
	}
	if len(m.log) == entriesMax {
		m.log = m.log[1:]
		m.left++
	}
	m.log = append(m.log, Entry{ms(at - m.origin), kind, text})
}

// count takes a switch's counters, as they were at a time.
func (m *model) count(node int, at unit.Time, s *observe.Switch) {
	p := &m.snaps[node]
	if p.marked == nil || at-p.mark >= m.window {
		p.before, p.old = p.mark, p.marked
		p.mark, p.marked = at, s
	}
	p.at, p.now = at, s
	m.starve(node, at)
	m.runs(at)
}

// sent takes a host's counters; node is an index of nodes.
func (m *model) sent(node int, h *observe.Host) {
	for _, f := range h.Received {
		m.received[f.Number] = f
	}
	m.zero = max(m.zero, h.Start)
	s := Sending{Node: node}
	for _, f := range h.Sent {
		k := f.Messages
		if k == nil {
			continue
		}
		s.Flows++
		if k.Failed {
			s.GaveUp++
		} else if k.Completion > 0 {
			s.Done++
		}
		s.Messages += k.Done
		s.Sum += ms(k.TimeSum)
		s.Longest = max(s.Longest, ms(k.TimeMax))
		s.Again += k.Again
		s.CNPs += k.CNPs
	}
	m.sending[node-len(m.w.switches)] = s
}

// happened reports whether something was told since the last state, and whether a pause or
// a label moved.
func (m *model) happened() (told, moved bool) {
	return len(m.log) > 0, m.pauses > 0 || m.moves > 0 || len(m.labels) > 0 || len(m.steps) > 0
}

// state is the fabric at a time, after all events up to it and settle. It ends the tick.
func (m *model) state(at unit.Time) State {
	s := State{T: ms(at - m.origin), Load: make([]int, len(m.w.far)), Pauses: m.pauses, Log: m.log, Problem: m.problem, Declared: m.declared, With: m.with}
	s.Down = below(len(m.w.links), func(i int) bool { return m.isDown(2*i) || m.isDown(2*i+1) })
	s.Silent = below(len(m.silent), func(i int) bool { return m.silent[i] })
	s.Storms = below(len(m.storming), func(i int) bool { return m.storming[i] > 0 })
	s.Mismatches = m.mismatches()
	s.SlowHosts = m.slowHosts()
	paused := below(len(m.paused), func(i int) bool { return m.paused[i] })
	s.Paused = lists.Map(paused, func(i int) At { return At{i / unit.Priorities, i % unit.Priorities} })
	for i := range m.snaps {
		m.counted(&s, i)
	}
	s.DroppedOf = m.droppedOf()
	s.Sending = lists.Where(m.sending, func(h Sending) bool { return h.Flows > 0 })
	s.Labels = slices.SortedFunc(maps.Keys(m.labels), Label.compare)
	s.Waits = m.waiting()
	s.Actions = slices.SortedFunc(maps.Keys(m.actions), Action.compare)
	s.Steps, s.StepsLeft = m.steps, m.more
	if s.Deadlock = m.deadlock(at); s.Deadlock == nil {
		if s.Declared != nil && s.Declared.True { // of the deadlock that was told of before
			s.Declared = nil
		}
		m.declared = nil
	}
	if m.left > 0 {
		s.Log = append(s.Log, Entry{s.T, "note", fmt.Sprintf("and %s", unit.Count(m.left, "more event"))})
	}
	if m.zero > m.origin {
		s.Zero = ms(m.zero - m.origin)
	}
	s.Status = m.status(&s, at)
	s.Brief, s.Words = m.brief(&s), m.words(&s)
	m.tick = tick{labels: map[Label]bool{}}
	return s
}

// below are the numbers below n that is is true of.
func below(n int, is func(int) bool) (all []int) {
	for i := range n {
		if is(i) {
			all = append(all, i)
		}
	}
	return all
}

// isDown reports whether the port that a direction leaves is down, by its events or, for
// what was so before they began, by its switch's counters.
func (m *model) isDown(dir int) bool {
	if m.down[dir] {
		return true
	}
	from := m.w.far[dir^1]
	node := m.w.index[from.Node]
	return node < len(m.snaps) && m.snaps[node].now != nil && int(from.Port) < len(m.snaps[node].now.Ports) && !m.snaps[node].now.Ports[from.Port].Up
}

// counted adds what a switch's counters tell.
func (m *model) counted(s *State, node int) {
	p := &m.snaps[node]
	if p.now == nil || len(p.now.Ports) != len(m.w.nodes[node].Ports) {
		return
	}
	s.Lost += p.now.LosslessLost
	s.Starving = append(s.Starving, m.starving[node]...)
	s.Starved = append(s.Starved, verdict.StarvedAt(&m.w.switches[node], p.now)...)
	for i := range p.now.Ports {
		port := &p.now.Ports[i]
		out := m.w.nodes[node].Ports[i]
		if out < 0 {
			continue
		}
		s.Dropped += port.Drops["response"]
		if p.old != nil && len(p.old.Ports) == len(p.now.Ports) {
			old := &p.old.Ports[i]
			took := p.at - p.before
			s.Load[out] = percent(carried(port.TxBytes, port.TxFrames, old.TxBytes, old.TxFrames), m.w.rates[out], took)
			if m.w.from(out^1) >= len(m.w.switches) { // a host is not asked what it sends
				s.Load[out^1] = percent(carried(port.RxBytes, port.RxFrames, old.RxBytes, old.RxFrames), m.w.rates[out^1], took)
			}
		}
		m.groups(s, node, i, port, p.now.SharedBytes)
	}
}

// groups adds what the priority groups of a port hold: by the switch's counters, or by the events
// since these were read.
func (m *model) groups(s *State, node, i int, port *observe.Port, shared int) {
	in := m.w.nodes[node].Ports[i] ^ 1
	for c := range port.Group {
		g := Group{At: At{in, c}, Bytes: port.Group[c].Bytes, XOFF: port.XOFF[c]}
		if b := m.pgs[in*unit.Priorities+c]; b.at > m.snaps[node].at {
			g.Bytes, g.XOFF = b.bytes, b.xoff
		}
		if g.Bytes > 0 {
			g.Limit, g.Most = m.w.limits(node, unit.Port(i), shared)
			s.Groups = append(s.Groups, g)
		}
	}
}

// waiting is what waits where, in order.
func (m *model) waiting() (all []Wait) {
	for w, h := range m.waits {
		all = append(all, Wait{w.from, w.to, h.bytes, h.xon})
	}
	slices.SortFunc(all, func(a, b Wait) int { return cmp.Or(a.From.compare(b.From), a.To.compare(b.To)) })
	return all
}

// carried is what frames occupied on the wire between two counts, in bytes.
func carried(bytes, frames, oldBytes, oldFrames [unit.Priorities]uint64) (n int64) {
	for c := range bytes {
		n += int64(bytes[c]-oldBytes[c]) + unit.WireOverhead*int64(frames[c]-oldFrames[c])
	}
	return n
}

func percent(bytes int64, rate unit.Rate, took unit.Time) int {
	if rate == 0 {
		rate = unit.NominalRate
	}
	if took <= 0 || bytes <= 0 {
		return 0
	}
	return int(max(1, min(100, 100*float64(bytes)*8*float64(unit.Second)/float64(rate)/float64(took))))
}

// deadlock is the truth, or what it was lately.
func (m *model) deadlock(at unit.Time) *Deadlock {
	s, lasted := m.stuck, at-m.since
	over := s.Empty()
	if over {
		if m.last == nil || at-m.lastAt > m.lingers {
			return nil
		}
		s, lasted = m.last, m.lastFor
	}
	d := &Deadlock{Loops: m.loops(s), Victims: m.w.queues(s.Victims()), For: ms(lasted), Over: over}
	for _, c := range s.Components {
		d.Core = append(d.Core, m.w.queues(c.Queues)...)
	}
	return d
}

// loops is a cycle of each component.
func (m *model) loops(s *oracle.Stuck) [][]At {
	return lists.Map(s.Components, func(c oracle.Component) []At { return m.w.queues(s.Cycle(c.Queues[0])) })
}

func (m *model) loopText(loops [][]At) string {
	return strings.Join(lists.Map(loops, m.w.loopText), "; and ")
}

// loopText is a loop in words: "a → b → c → a".
func (w *wiring) loopText(loop []At) string {
	names := lists.Map(loop, func(q At) string { return w.nodes[w.from(q.Dir)].Name })
	return strings.Join(append(names, names[0]), " → ")
}

func ms(t unit.Time) float64 { return float64(t/unit.Microsecond) / 1000 }

// span is a span of time for people.
func span(t unit.Time) string {
	switch {
	case t < unit.Millisecond:
		return fmt.Sprintf("%d µs", t/unit.Microsecond)
	case t < unit.Second:
		return fmt.Sprintf("%.1f ms", float64(t)/float64(unit.Millisecond))
	}
	return fmt.Sprintf("%.1f s", float64(t)/float64(unit.Second))
}
