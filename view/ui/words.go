package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/unit"
)

// namedMax is the most links that a sentence names.
const namedMax = 4

// Statuses of a fabric, the first that applies.
const (
	statusDeadlock = "deadlock"
	statusStorm    = "storm"   // a host pauses without end, or did and is contained
	statusCured    = "cured"   // by a response, not longer than curedFor ago
	statusStarved  = "starved" // others keep a lossless queue from sending
	statusPaused   = "paused"
	statusFlowing  = "flowing"
	statusIdle     = "idle"
)

// curedFor is how long a fabric counts as cured: long enough to be read and said aloud.
const curedFor = 10 * unit.Second

func (m *model) status(s *State, at unit.Time) string {
	switch {
	case s.Deadlock != nil && !s.Deadlock.Over:
		return statusDeadlock
	case len(s.Storms) > 0 || slices.ContainsFunc(s.Actions, func(a Action) bool { return a.What == contained }):
		return statusStorm
	case m.last != nil && m.breaker != "" && at-m.lastAt <= curedFor:
		return statusCured
	case len(s.Starving) > 0:
		return statusStarved
	case len(s.Paused) > 0:
		return statusPaused
	case slices.ContainsFunc(s.Load, func(percent int) bool { return percent > 0 }):
		return statusFlowing
	}
	return statusIdle
}

// words say what a state shows, for a reader who sees nothing else.
func (m *model) words(s *State) string {
	var parts []string
	tell := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	d := s.Deadlock
	switch {
	case d != nil && !d.Over:
		tell("DEADLOCK of %s for %s: %s wait for one another.", m.priorities(d.Core), spanMS(d.For), m.loopText(d.Loops))
		parts = append(parts, m.declaredText(s.Declared))
		if len(d.Victims) > 0 {
			tell("Stuck behind it: %s.", m.list(d.Victims))
		}
	case len(m.stuck.Opening) > 0:
		tell("No deadlock: %s wait until others have left the pool.", m.list(m.w.queues(m.stuck.Opening)))
	case m.last != nil:
		parts = append(parts, m.overText())
	default:
		tell("No deadlock.")
	}
	if d == nil && s.Declared != nil {
		parts = append(parts, m.declaredText(s.Declared))
	}
	if free := m.passing(s); len(free) > 0 {
		tell("Paused: %s.", m.list(free))
	} else if s.Status == statusIdle {
		tell("Nothing flows.")
	} else if d == nil {
		tell("No link is paused.")
	}
	for _, i := range s.Storms {
		tell("%s storms: it pauses without end.", m.w.nodes[i].Name)
	}
	for _, a := range s.Actions {
		if a.What == contained {
			parts = append(parts, m.containedText(a))
		}
	}
	for _, i := range s.SlowHosts {
		tell("%s.", m.slowText(i))
	}
	if len(s.Down) > 0 {
		names := lists.Map(s.Down, m.w.linkText)
		tell("Down: %s.", strings.Join(names, ", "))
	}
	for _, x := range s.Mismatches {
		tell("%s.", capital(x.Text))
	}
	if text := droppedText(s.DroppedOf); text != "" {
		parts = append(parts, text)
	}
	for i := range s.Starving {
		tell("%s, for %s so far, which is no deadlock.", capital(m.starvingText(&s.Starving[i])), spanMS(s.Starving[i].For))
	}
	if len(s.Starving) == 0 {
		for _, q := range s.Starved {
			tell("Starved while others sent, and no deadlock: %s.", q)
		}
	}
	if s.Lost > 0 {
		tell("Lost: %s.", unit.Count(s.Lost, "lossless frame"))
	}
	return strings.Join(parts, " ")
}

// brief is the one sentence that the back of a room reads.
func (m *model) brief(s *State) string {
	switch s.Status {
	case statusDeadlock:
		d := s.Deadlock
		text := m.shortLoop(d.Loops[0]) + " wait for one another"
		switch {
		case s.Declared == nil || !s.Declared.True:
			return text + "." + m.againText()
		case s.Declared.Cause != "":
			return text + ". Likely cause: " + s.Declared.Cause + "."
		}
		return fmt.Sprintf("%s, as %s declared after %s.", text, m.w.nodes[s.Declared.Node].Name, spanMS(s.Declared.After))
	case statusStorm:
		if i := slices.IndexFunc(s.Actions, func(a Action) bool { return a.What == contained }); i >= 0 {
			return m.containedText(s.Actions[i])
		}
		return fmt.Sprintf("%s pauses without end: %s.", m.w.nodes[s.Storms[0]].Name, pausedText(s))
	case statusCured:
		text := fmt.Sprintf("Cured %s after it formed, by %s.%s", span(m.lastFor), m.breaker, m.againText())
		if len(s.DroppedOf) > 0 {
			text += " " + droppedText(s.DroppedOf[:1])
		}
		return text
	case statusStarved:
		text := capital(m.starvingText(&s.Starving[0]))
		if n := len(s.Starving); n > 1 {
			text += fmt.Sprintf(", one of %s that starve", unit.Count(n, "queue"))
		}
		return fmt.Sprintf("%s: no deadlock, and %s.%s", text, pausedText(s), m.underneath(s))
	case statusPaused:
		return m.slowFirst(s, pausedText(s)) + m.underneath(s)
	case statusFlowing:
		return m.slowFirst(s, "traffic flows, and no link is paused") + m.underneath(s)
	}
	return "Nothing flows." + m.underneath(s)
}

// capital is a sentence with a capital at its beginning.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// slowFirst is a sentence that begins with the hosts that are slow, if any.
func (m *model) slowFirst(s *State, text string) string {
	switch len(s.SlowHosts) {
	case 0:
		return capital(text) + "."
	case 1:
		return m.slowText(s.SlowHosts[0]) + ": " + text + "."
	}
	return fmt.Sprintf("%s are slow: %s.", unit.Count(len(s.SlowHosts), "host"), text)
}

// nic is a NIC of a host.
type nic struct {
	node int
	port unit.Port
}

// nicOf is the NIC of an event.
func (m *model) nicOf(e oracle.Entry) nic { return nic{m.w.index[e.Node], e.Port} }

// atNIC is where a host with several NICs does something.
func (m *model) atNIC(n nic) string {
	i := n.node - len(m.w.switches)
	if i < 0 || int(n.port) >= len(m.w.hosts[i].NICs) {
		return ""
	}
	return " at " + m.w.hosts[i].NICs[n.port].Name
}

// slowHosts are the hosts that have a slow NIC, in order.
func (m *model) slowHosts() []int {
	var hosts []int
	for n := range m.slow {
		hosts = append(hosts, n.node)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// slowText says how slow a host is.
func (m *model) slowText(host int) string {
	var parts []string
	for p := range unit.Port(len(m.w.nodes[host].Ports)) {
		if _, is := m.slow[nic{host, p}]; is {
			parts = append(parts, m.slowNIC(nic{host, p}))
		}
	}
	return strings.Join(parts, ", ")
}

// slowNIC says how slow a NIC is.
func (m *model) slowNIC(n nic) string {
	text := fmt.Sprintf("%s takes only %v", m.w.nodes[n.node].Name, m.slow[n])
	if d, ok := m.w.ports[unit.NodePort{Node: m.w.ids[n.node], Port: n.port}]; ok && m.w.rates[d^1] > 0 {
		text += fmt.Sprintf(" of its %v", m.w.rates[d^1])
	}
	return text + m.atNIC(n)
}

// underneath says what is not as it should be, though traffic flows: links that are down, or whose ends
// disagree, and what responses do.
func (m *model) underneath(s *State) (text string) {
	switch n := len(s.Down); n {
	case 0:
	case 1:
		text = fmt.Sprintf(" Link %s is down.", m.w.linkText(s.Down[0]))
	default:
		text = fmt.Sprintf(" %s are down.", unit.Count(n, "link"))
	}
	links := map[int]bool{}
	for _, x := range s.Mismatches {
		links[x.Dir/2] = true
	}
	switch n := len(links); n {
	case 0:
	case 1:
		text += " " + capital(s.Mismatches[0].Text) + "."
	default:
		text += fmt.Sprintf(" The ends of %s disagree, by DCBX.", unit.Count(n, "link"))
	}
	var what []string
	for _, a := range s.Actions {
		if !slices.Contains(what, a.What) {
			what = append(what, a.What)
		}
	}
	switch n := len(s.Actions); n {
	case 0:
	case 1:
		text += fmt.Sprintf(" A response acts on %s: %s.", m.w.arrow(s.Actions[0].Dir), what[0])
	default:
		text += fmt.Sprintf(" Responses act at %d places: %s.", n, strings.Join(what, ", "))
	}
	return text
}

// againText says how often the deadlock has come back.
func (m *model) againText() string {
	switch m.again {
	case 0:
		return ""
	case 1:
		return " It has come back once."
	}
	return fmt.Sprintf(" It has come back %d times.", m.again)
}

// loopMax is the most nodes of a loop that the brief sentence names.
const loopMax = 6

func (m *model) shortLoop(loop []At) string {
	if n := len(loop) - loopMax; n > 0 {
		return m.w.loopText(loop[:loopMax]) + fmt.Sprintf(" and %d more", n)
	}
	return m.w.loopText(loop)
}

func (m *model) containedText(a Action) string {
	host, how := m.w.to(a.Dir), "stormed"
	if m.storming[host] > 0 {
		how = "storms"
	}
	return fmt.Sprintf("%s has ignored the pauses of %s since %s: it %s.", m.w.nodes[m.w.from(a.Dir)].Name, m.w.nodes[host].Name, m.clock(m.actions[a]), how)
}

// overText says how the last deadlock ended.
func (m *model) overText() string {
	what, how := "ended", ", without a response"
	if m.breaker != "" {
		what, how = "was cured", ", by "+m.breaker
	}
	return fmt.Sprintf("The deadlock %s at %s, %s after it formed%s.", what, m.clock(m.lastAt), span(m.lastFor), how)
}

// clock is a point of time as the page shows it, from the start of the scenario on.
func (m *model) clock(at unit.Time) string {
	return fmt.Sprintf("%.3f s", float64(at-max(m.zero, m.origin))/float64(unit.Second))
}

func (m *model) declaredText(d *Declared) string {
	switch {
	case d == nil:
		return "No detector has declared it."
	case !d.True:
		return fmt.Sprintf("%s declared %s, which is not on the loop.", m.w.nodes[d.Node].Name, m.w.arrow(d.Queue.Dir))
	}
	text := fmt.Sprintf("%s declared it %s after it formed", m.w.nodes[d.Node].Name, spanMS(d.After))
	if d.Cause != "" {
		return text + ". Likely cause: " + d.Cause + "."
	}
	return text + m.triggerText(d) + "."
}

// triggerText names what the first pause of the deadlock came from: a host, or a port of a switch.
func (m *model) triggerText(d *Declared) string {
	if d.Trigger < 0 {
		return ""
	}
	what := "host " + m.w.nodes[d.Trigger].Name
	if d.Port >= 0 {
		what = fmt.Sprintf("the port of %s to %s", m.w.nodes[d.Trigger].Name, m.w.nodes[m.w.to(d.Port)].Name)
	}
	where := "beside the loop"
	if d.OnLoop {
		where = "on the loop"
	}
	return fmt.Sprintf("; the initial trigger is %s, %s", what, where)
}

// passing are the paused queues that are not stuck.
func (m *model) passing(s *State) []At {
	d := s.Deadlock
	return lists.Where(s.Paused, func(q At) bool {
		return d == nil || d.Over || !slices.Contains(d.Core, q) && !slices.Contains(d.Victims, q)
	})
}

// list names queues and their priorities.
func (m *model) list(all []At) string {
	names := lists.Map(all, func(q At) string { return m.w.arrow(q.Dir) })
	if n := len(names) - namedMax; n > 0 {
		names = append(names[:namedMax], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ") + " (" + m.priorities(all) + ")"
}

// priorities are the priorities of queues: "priority 3", "priorities 3, 4".
func (m *model) priorities(all []At) string {
	named := below(unit.Priorities, func(c int) bool {
		return slices.ContainsFunc(all, func(q At) bool { return q.Priority == c })
	})
	return oneOrMore("priority", "priorities", lists.Map(named, strconv.Itoa))
}

// oneOrMore are names after the word for one of them, or for several.
func oneOrMore(one, several string, names []string) string {
	if len(names) == 1 {
		several = one
	}
	return several + " " + strings.Join(names, ", ")
}

// spanMS is a time of a state, which is in whole microseconds, for people.
func spanMS(ms float64) string { return span(unit.Time(math.Round(1000*ms)) * unit.Microsecond) }
