package ui

import (
	"fmt"
	"strings"

	"softswitch/internal/lists"
)

// namedMax is the most links that a sentence names.
const namedMax = 4

// words say what a state shows, for a reader who sees nothing else.
func (m *model) words(s *State) string {
	var parts []string
	switch d := s.Deadlock; {
	case d == nil && len(m.stuck.Opening) > 0:
		parts = append(parts, fmt.Sprintf("No deadlock: %s wait until others have left the pool.", m.list(m.w.queues(m.stuck.Opening))))
	case d == nil:
		parts = append(parts, "No deadlock.")
	case d.Over:
		parts = append(parts, fmt.Sprintf("A deadlock of %s formed and is resolved: %s.", m.classes(d.Core), m.loopText(d.Loops)))
	default:
		parts = append(parts, fmt.Sprintf("DEADLOCK of %s for %s: %s wait for one another for ever.", m.classes(d.Core), spanMS(d.For), m.loopText(d.Loops)))
	}
	if d := s.Deadlock; d != nil {
		parts = append(parts, m.declaredText(s.Declared))
		if len(d.Victims) > 0 && !d.Over {
			parts = append(parts, fmt.Sprintf("Stuck behind it: %s.", m.list(d.Victims)))
		}
	} else if s.Declared != nil {
		parts = append(parts, m.declaredText(s.Declared))
	}
	if free := m.passing(s); len(free) > 0 {
		parts = append(parts, fmt.Sprintf("Paused: %s.", m.list(free)))
	} else if s.Deadlock == nil {
		parts = append(parts, "No link is paused.")
	}
	parts = append(parts, lists.Map(s.Storms, func(i int) string { return m.w.nodes[i].Name + " storms: it pauses without end." })...)
	parts = append(parts, lists.Map(s.SlowHosts, func(i int) string { return m.w.nodes[i].Name + " is slow." })...)
	if len(s.Down) > 0 {
		names := lists.Map(s.Down, func(l int) string { return m.w.links[l].Name })
		parts = append(parts, "Down: "+strings.Join(names, ", ")+".")
	}
	if text := droppedText(s.DroppedOf); text != "" {
		parts = append(parts, text)
	}
	if s.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d lossless frames were lost.", s.Lost))
	}
	return strings.Join(parts, " ")
}

func (m *model) declaredText(d *Declared) string {
	switch {
	case d == nil:
		return "No detector has declared it."
	case !d.True:
		return fmt.Sprintf("%s declared %s, which is not on the loop.", m.w.nodes[d.Node].Name, m.w.arrow(d.Queue.Dir))
	}
	text := fmt.Sprintf("%s declared it %s after it formed%s.", m.w.nodes[d.Node].Name, spanMS(d.After), m.triggerText(d))
	if d.Cause != "" {
		text += fmt.Sprintf(" The cause, by its diagnosis: %s.", d.Cause)
	}
	return text
}

func (m *model) triggerText(d *Declared) string {
	if d.Trigger < 0 {
		return ""
	}
	where := "not on the loop"
	if d.OnLoop {
		where = "on the loop"
	}
	n := m.w.nodes[d.Trigger]
	return fmt.Sprintf("; the initial trigger is %s %s, %s", n.Kind, n.Name, where)
}

// passing are the paused queues that are not stuck.
func (m *model) passing(s *State) []At {
	stuck := map[At]bool{}
	if d := s.Deadlock; d != nil && !d.Over {
		for _, q := range d.Core {
			stuck[q] = true
		}
		for _, q := range d.Victims {
			stuck[q] = true
		}
	}
	return lists.Where(s.Paused, func(q At) bool { return !stuck[q] })
}

// list names queues and their classes.
func (m *model) list(all []At) string {
	names := lists.Map(all, func(q At) string { return m.w.arrow(q.Dir) })
	if n := len(names) - namedMax; n > 0 {
		names = append(names[:namedMax], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ") + " (" + m.classes(all) + ")"
}

// classes are the classes of queues: "class 3", "classes 3, 4".
func (m *model) classes(all []At) string {
	var seen [8]bool
	for _, q := range all {
		seen[q.Class] = true
	}
	var names []string
	for c, on := range seen {
		if on {
			names = append(names, fmt.Sprint(c))
		}
	}
	if len(names) == 1 {
		return "class " + names[0]
	}
	return "classes " + strings.Join(names, ", ")
}

func spanMS(ms float64) string {
	switch {
	case ms < 1:
		return fmt.Sprintf("%.0f µs", 1000*ms)
	case ms < 1000:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}
