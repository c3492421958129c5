package compare

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/internal/stat"
)

// result is the outcome of a comparison in words: what is said first of all, and then what is
// true of which systems.
type result struct {
	First      string
	Statements []statement
}

// statement is something that is true of some systems, each with its counts in brackets.
type statement struct {
	What    string
	Systems []string
}

func (s statement) List() string { return strings.Join(s.Systems, ", ") }

// result is made of the totals and of the rows alone.
func (c *Comparison) result() result {
	without := "without a system"
	if !slices.Contains(c.systems(), catalog.None) {
		without = "with any of the systems"
	}
	r := result{First: fmt.Sprintf("Scenarios that deadlock %s: %d of %d. A system is counted where it could be played.", without, len(c.deadlocking()), len(c.scenarios()))}
	if failed := len(c.Failed()); failed > 0 {
		r.First += fmt.Sprintf(" Pairs that could not be played though they should have been: %d of %d.", failed, len(c.Rows))
	}
	never := statement{What: "No deadlock formed (scenarios)"}
	gone := statement{What: "Every deadlock was gone at the end, and none came back (scenarios)"}
	left := statement{What: "A deadlock was left at the end, or came back (scenarios)"}
	declared := statement{What: "Every deadlock was declared while it lived (runs with one, and the share of all seeds in per cent)"}
	missed := statement{What: "A deadlock was not declared while it lived (runs, of those with a deadlock, and the share of all seeds in per cent)"}
	silent := statement{What: "No alarm was false or early, in any scenario"}
	alarms := statement{What: "Alarms were false or early, in any scenario (how many)"}
	cost := statement{What: "Price of the systems that broke or prevented deadlocks, beside no system (frames lost, dropped to break a deadlock, policed)"}
	add := func(s *statement, system, format string, counts ...any) {
		s.Systems = append(s.Systems, system+" ("+fmt.Sprintf(format, counts...)+")")
	}
	totals := c.totals()
	for i := range totals {
		t := &totals[i]
		ended := t.Outcomes[Clear] + t.Outcomes[Alarm] + t.Outcomes[Gone]
		switch {
		case t.Scenarios == 0:
		case t.quiet():
			add(&never, t.System, "%d of %d", ended, t.Scenarios)
		case ended == t.Scenarios:
			add(&gone, t.System, "%d of %d", ended, t.Scenarios)
		default:
			add(&left, t.System, "%d of %d", t.Scenarios-ended, t.Scenarios)
		}
		if t.Scenarios > 0 && (ended == t.Scenarios || t.System == catalog.None) {
			add(&cost, t.System, "%d, %d, %d", t.Lost, t.Count("response_dropped"), t.Count("policed"))
		}
		if !c.declares(t.System) {
			continue
		}
		deadlocks, unseen := c.declared(t.System)
		switch {
		case deadlocks == 0:
		case unseen == 0:
			add(&declared, t.System, "%s", ofRuns(deadlocks, deadlocks))
		default:
			add(&missed, t.System, "%s", ofRuns(unseen, deadlocks))
		}
		if n := t.alarms(); n == 0 {
			silent.Systems = append(silent.Systems, t.System)
		} else {
			add(&alarms, t.System, "%d", n)
		}
	}
	for _, s := range []statement{gone, never, left, declared, missed, silent, alarms, cost} {
		if len(s.Systems) > 0 {
			r.Statements = append(r.Statements, s)
		}
	}
	return r
}

// declares reports whether a system has a detector and was played.
func (c *Comparison) declares(system string) bool {
	return len(c.played(system)) > 0 && slices.ContainsFunc(Systems(), func(s System) bool {
		return s.Name == system && s.Detector != "" && s.Detector != catalog.None
	})
}

// ofRuns is n of some runs, and the share with its 95 % interval in per cent: "57 of 187: 30 (24-37)".
// It is an interval over seeds, for these scenarios.
func ofRuns(n, of int) string {
	return fmt.Sprintf("%d of %d: %s", n, of, stat.Share{N: n, Of: of})
}

// declared is in how many runs with a system there was a deadlock, and in how many of those
// one that it did not declare while it lived. Runs that are equal are one.
func (c *Comparison) declared(system string) (deadlocks, unseen int) {
	for _, r := range c.played(system) {
		each := 1
		if r.Equal {
			each = r.Runs
		}
		deadlocks += r.Count("deadlock") / each
		unseen += r.Count("false_negatives") / each
	}
	return deadlocks, unseen
}
