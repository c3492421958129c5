package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// Moment is an entry of a run's time line. The words are for people and no interface.
type Moment struct {
	At   unit.Time
	What string
	Kind MomentKind
}

// MomentKind says whether a moment is the beginning or the end of a deadlock. Package verdict counts
// these, to hold the time line against the intervals.
type MomentKind uint8

// Kinds of moments.
const (
	OtherMoment MomentKind = iota
	DeadlockBegins
	DeadlockEnds
)

// Bounds that keep a time line readable. Chosen: a link that flaps or a system that acts in a circle fills
// no more than a screen or two each, and the first of a kind say what happens. Nothing but the time
// line is cut: a Result has all findings, actions and openings. rerouteWindow is far longer than a
// switch takes to move the routes of a port, which it logs at one time, so that several links
// that fail together make one moment for a backup port.
const (
	momentsOfFindings = 32
	momentsOfActions  = 48
	momentsOfLinks    = 64
	momentsOfOpenings = 8
	linksOfOpening    = 8
	rerouteWindow     = 10 * unit.Millisecond
)

// story builds the time line of a run. While events come it notes what they tell by themselves; what
// takes a judgement is added at the end, and all is sorted by time then. Moments are found by index
// until that (reroutes), so none is moved before.
type story struct {
	fabric  *Fabric
	moments []Moment
	down    map[unit.NodePort]bool // ends that are down
	acted   map[Queue]unit.Time    // when something was done to a queue last
	links   int                    // moments of links so far
	changed unit.NodePort          // the end of the link whose change was told last
	acts    int                    // moments of actions and refusals so far
	paused  bool
	resumed bool
	expired bool

	// Reroutes by one node to one port within rerouteWindow make up one moment.
	reroutes map[unit.NodePort]reroute
}

type reroute struct {
	moment int // index in moments
	routes int
}

func newStory(f *Fabric) story {
	return story{fabric: f, down: make(map[unit.NodePort]bool), acted: make(map[Queue]unit.Time), reroutes: make(map[unit.NodePort]reroute)}
}

func (s *story) tell(at unit.Time, format string, args ...any) {
	s.tellOf(OtherMoment, at, format, args...)
}

func (s *story) tellOf(kind MomentKind, at unit.Time, format string, args ...any) {
	s.moments = append(s.moments, Moment{at, fmt.Sprintf(format, args...), kind})
}

func (s *story) add(e Entry) {
	queue := unit.NodePort{Node: e.Node, Port: e.Out}
	switch e.Type {
	case event.LinkDown, event.LinkUp:
		s.link(e)
	case event.Rerouted:
		s.reroute(e, queue)
	case event.Members:
		s.members(e)
	case event.Paused:
		s.first(&s.paused, e, "first pause: %s stops %s, priority %d", queue)
	case event.Resumed:
		// What drops a queue or has it ignore its pause ends the pause, and the far end says nothing.
		if at, acted := s.acted[Queue{queue, e.OutPriority}]; !acted || at != e.At {
			s.first(&s.resumed, e, "first resume: %s lets %s go, priority %d", queue)
		}
	case event.Acted:
		s.acted[Queue{queue, e.OutPriority}] = e.At
		s.act(e)
	case event.Refused:
		s.act(e)
	case event.Expired:
		s.first(&s.expired, e, "first pause that runs out: of %s over %s, priority %d", queue)
	}
}

// link adds a link failure when the first end goes down, and its recovery when the last
// end comes up.
func (s *story) link(e Entry) {
	end := unit.NodePort{Node: e.Node, Port: e.Port}
	far, _ := s.fabric.Far(end)
	was := s.down[end] || s.down[far]
	s.down[end] = e.Type == event.LinkDown
	is := s.down[end] || s.down[far]
	if was == is || s.links == momentsOfLinks {
		return
	}
	s.links++
	s.changed = end
	if is {
		s.tell(e.At, "link %s failed", s.fabric.LinkName(end))
	} else {
		s.tell(e.At, "link %s healed", s.fabric.LinkName(end))
	}
}

// members adds to the moment of a link how many members of its LAG are up.
func (s *story) members(e Entry) {
	if last := len(s.moments) - 1; last >= 0 && s.changed == (unit.NodePort{Node: e.Node, Port: e.Port}) && s.moments[last].At == e.At {
		s.moments[last].What += fmt.Sprintf("; %s of its LAG up", unit.Count(int(e.Bytes), "member"))
		s.changed = unit.NodePort{}
	}
}

// act adds what a system does to its switch, or why it does not.
func (s *story) act(e Entry) {
	if s.acts++; s.acts > momentsOfActions {
		return
	}
	text := s.fabric.Name(e.Node) + ": "
	if e.Type == event.Refused {
		text += "no action taken: " + e.Refusal.String()
	} else {
		text += e.Action.String()
	}
	if e.Bytes > 0 {
		text += fmt.Sprintf(" %d", e.Bytes)
		if e.Action == detect.ActionPolice {
			text += " kbit/s"
		} else {
			text += " bytes"
		}
	}
	if e.Port != unit.NoPort {
		if from, ok := s.fabric.Far(unit.NodePort{Node: e.Node, Port: e.Port}); ok {
			text += fmt.Sprintf(" from %s", s.fabric.Name(from.Node))
		}
	}
	if e.Out != unit.NoPort {
		text += fmt.Sprintf(" at %s, priority %d", s.fabric.LinkName(unit.NodePort{Node: e.Node, Port: e.Out}), e.OutPriority)
	}
	s.tell(e.At, "%s", text)
}

// reroute counts a route that falls back on port out, in the moment of the last such reroute if
// that is not long ago.
func (s *story) reroute(e Entry, out unit.NodePort) {
	r, known := s.reroutes[out]
	if !known || e.At-s.moments[r.moment].At > rerouteWindow {
		if s.links == momentsOfLinks {
			return
		}
		s.links++
		r = reroute{moment: len(s.moments)}
		s.tell(e.At, "")
	}
	r.routes++
	s.reroutes[out] = r
	s.moments[r.moment].What = fmt.Sprintf("%s rerouted by %s", unit.Count(r.routes, "route"), s.fabric.LinkName(out))
}

// first tells of the first event of a kind; queue is at the end that honours the pause, and the far end
// is named as the one that sent it.
func (s *story) first(done *bool, e Entry, format string, queue unit.NodePort) {
	if *done {
		return
	}
	*done = true
	far, _ := s.fabric.Far(queue)
	s.tell(e.At, format, s.fabric.Name(far.Node), s.fabric.Name(queue.Node), e.OutPriority)
}

// finish adds the deadlocks and the findings and sorts everything by time. The sort is stable: of one time
// what events tell comes first, then deadlocks, openings and findings, so that a declaration in the
// instant of the onset follows it.
func (s *story) finish(r *Result) []Moment {
	for _, d := range r.Deadlocks {
		what := "deadlock"
		if !d.Knot {
			what += " behind another"
		}
		first := r.History.At(d.From)
		s.tellOf(DeadlockBegins, d.From, "%s: %s wait for one another", what, strings.Join(s.fabric.LinkNames(first.Cycle(d.firstQueue(first))), ", "))
		if !d.Open {
			s.tellOf(DeadlockEnds, d.To, "this deadlock is over: %s", s.fabric.LinkName(d.Queues[0].NodePort))
		}
	}
	s.openings(r)
	for i, f := range r.Findings {
		if i == momentsOfFindings {
			s.tell(f.told, "then %s", unit.Count(len(r.Findings)-i, "more declaration"))
			break
		}
		s.tell(f.told, "%s", s.finding(r, f))
	}
	slices.SortStableFunc(s.moments, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	return s.moments
}

// openings adds the waits that open by themselves.
func (s *story) openings(r *Result) {
	for i, in := range r.Openings {
		if i == momentsOfOpenings {
			s.tell(in.From, "then %s in a circle that opened by themselves", unit.Count(len(r.Openings)-i, "more wait"))
			return
		}
		links := s.fabric.LinkNames(r.History.At(in.From).Opening)
		if len(links) > linksOfOpening {
			links = append(links[:linksOfOpening], "...")
		}
		s.tell(in.From, "a wait that opens by itself, after %s ms, when others have left the pool: %s", ms(in.To-in.From), strings.Join(links, ", "))
	}
}

// firstQueue is the first queue of d that is in the core of its first S*. There is one: d began with a
// component of that.
func (d *Deadlock) firstQueue(s *Stuck) Queue {
	return d.Queues[slices.IndexFunc(d.Queues, s.InCore)]
}

// finding is a declaration and what it was judged, with between what its latency is if clocks differ.
func (s *story) finding(r *Result, f Finding) string {
	text := fmt.Sprintf("%s declares %s deadlocked, priority %d: %v", s.fabric.Name(f.Queue.Node), s.fabric.LinkName(f.Queue.NodePort), f.Queue.Priority, f.Outcome)
	if f.Outcome == TruePositive {
		text += ", " + ms(f.Latency)
		switch {
		case f.LatencyMost == unit.Never:
			text += " or more"
		case f.LatencyMost != f.Latency:
			text += " to " + ms(f.LatencyMost)
		}
		text += " ms after onset"
	}
	return text
}

// ms is a time in milliseconds, to the microsecond, cut off and not rounded.
func ms(t unit.Time) string {
	return fmt.Sprintf("%d.%03d", t/unit.Millisecond, t%unit.Millisecond/unit.Microsecond)
}
