package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// egress is what leaves ports, and what watches over them.
type egress struct {
	sched    string         // of most ports, as a scenario has it: {0: {...}, ...}
	own      map[end]string // of the others
	ecn      string         // as a scenario has it, "" for none
	cnp      int            // the priority of CNPs, with ecn
	detector string         // "" for the default
	watchdog string         // its times, as a scenario has them, "" without a watchdog
}

// egress reads the schedulers, the marks and the watchdogs.
func (r *sonicReader) egress(links []sonicLink, q qos) egress {
	e := egress{own: map[end]string{}}
	r.schedulers(links, q, &e)
	r.marks(links, q, &e)
	e.detector, e.watchdog = r.watchdogs(links)
	return e
}

// usual is what most places have.
func usualOf(have *lists.Groups[string, string]) (most string) {
	for _, key := range have.Keys {
		if most == "" || len(have.Of[key]) > len(have.Of[most]) {
			most = key
		}
	}
	return most
}

// schedulers reads QUEUE and SCHEDULER: how priorities share a port.
func (r *sonicReader) schedulers(links []sonicLink, q qos, e *egress) {
	var have lists.Groups[string, string]
	for _, l := range links {
		for _, at := range l.ends() {
			e.own[at] = r.scheduler(at)
			have.Add(e.own[at], at.String())
		}
	}
	e.sched = usualOf(&have)
	var first []int
	for _, c := range q.lossless {
		for above := c + 1; above < unit.Priorities; above++ {
			if strings.Contains(e.sched, fmt.Sprintf("%d: {type: strict}", above)) && !strings.Contains(e.sched, fmt.Sprintf("%d: {type: strict}", c)) {
				first = append(first, above)
			}
		}
	}
	slices.Sort(first)
	if first = slices.Compact(first); len(first) > 0 {
		r.tell("Strict priorities %s go before lossless ones, as SCHEDULER has it: they can starve them", join(first))
	}
}

// scheduler is that of a port, "" if its queues have none.
func (r *sonicReader) scheduler(e end) string {
	c := e.at
	var all []string
	some := false
	for priority := range unit.Priorities {
		all = append(all, fmt.Sprintf("%d: {type: dwrr, weight: 1}", priority))
		key := rowOf(c.queues[e.port], priority)
		name := named(c.field("QUEUE", key, "scheduler"))
		if name == "" {
			continue
		}
		if !c.has("SCHEDULER", name) {
			r.faultf(c, quoted("QUEUE|"+key), "scheduler is %q; SCHEDULER has %s", cut(name), sonicSpan(c.keys("SCHEDULER")))
			continue
		}
		place, kind := quoted("SCHEDULER|"+name), strings.ToUpper(c.field("SCHEDULER", name, "type"))
		switch kind {
		case "STRICT":
			all[priority], some = fmt.Sprintf("%d: {type: strict}", priority), true
			continue
		case "DWRR":
		case "WRR":
			r.tellAt(c.name+" "+place, "it is WRR, which counts packets: here it is dwrr, which counts time")
		case "":
			continue // a bound of the rate alone
		default:
			r.faultf(c, place, "type is %q; want DWRR, WRR or STRICT", cut(kind))
			continue
		}
		weight := 1
		if text := c.field("SCHEDULER", name, "weight"); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > 100 {
				r.faultf(c, place, "weight is %q; want 1 to 100", cut(text))
				continue
			}
			weight = n
		}
		all[priority], some = fmt.Sprintf("%d: {type: dwrr, weight: %d}", priority, weight), true
	}
	if !some {
		return ""
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// marks reads WRED_PROFILE where queues of lossless priorities have one that marks.
func (r *sonicReader) marks(links []sonicLink, q qos, e *egress) {
	var have lists.Groups[string, string]
	for _, l := range links {
		for _, at := range l.ends() {
			for c := range unit.Priorities {
				key := rowOf(at.at.queues[at.port], c)
				name := named(at.at.field("QUEUE", key, "wred_profile"))
				if name == "" {
					continue
				}
				if !at.at.has("WRED_PROFILE", name) {
					r.faultf(at.at, quoted("QUEUE|"+key), "wred_profile is %q; WRED_PROFILE has %s", cut(name), sonicSpan(at.at.keys("WRED_PROFILE")))
					continue
				}
				if !slices.Contains(q.of[at], c) {
					r.tellAt(at.String(), "queue %d is lossy and has WRED_PROFILE %s: a scenario marks lossless priorities, and drops when a queue is full", c, quoted(name))
					at.at.taken["WRED_PROFILE|"+name] = true
					continue
				}
				if marks := r.mark(at.at, name); marks != "" {
					have.Add(marks, at.String())
				}
			}
		}
	}
	e.ecn = usualOf(&have)
	for _, marks := range have.Keys {
		for _, at := range have.Of[marks] {
			if marks != e.ecn {
				r.tellAt(at, "WRED_PROFILE has %s: a scenario has one, here %s", marks, e.ecn)
			}
		}
	}
	if e.ecn == "" {
		return
	}
	everywhere := lists.Once(q.all(links), func(c int) []int { return []int{c} })
	for _, c := range []int{6, 7, 5, 0, 1, 2, 3, 4} {
		if !slices.Contains(everywhere, c) {
			e.cnp = c
			r.tell("WRED_PROFILE marks: see congestion.ecn. The files do not say what senders make of marks: here flows of transport rc lower their rate by dcqcn")
			return
		}
	}
	r.tell("WRED_PROFILE marks, and every priority is lossless somewhere, so that there is none for CNPs: congestion is left out")
	e.ecn = ""
}

// all are the lossless priorities of all ports of links.
func (q *qos) all(links []sonicLink) (all []int) {
	for _, l := range links {
		for _, e := range l.ends() {
			all = append(all, q.of[e]...)
		}
	}
	return all
}

// mark is a WRED_PROFILE as a scenario has it, "" if it does not mark.
func (r *sonicReader) mark(c *configDB, name string) string {
	place := quoted("WRED_PROFILE|" + name)
	if ecn := c.field("WRED_PROFILE", name, "ecn"); ecn != "ecn_all" && !strings.HasPrefix(ecn, "ecn_green") {
		r.tellAt(c.name+" "+place, "ecn is %q: it marks no green frames, and a lossless queue drops none", cut(ecn))
		return ""
	}
	if on := c.field("WRED_PROFILE", name, "wred_green_enable"); !strings.EqualFold(on, "true") {
		r.tellAt(c.name+" "+place, "wred_green_enable is %q: it marks no green frames", cut(on))
		return ""
	}
	number := func(field string, least, most int) int {
		text := c.field("WRED_PROFILE", name, field)
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			r.faultf(c, place, "%s is %q; want %d to %d", field, cut(text), least, most)
		}
		return n
	}
	kmin, kmax := number("green_min_threshold", 0, 1<<30), number("green_max_threshold", 1, 1<<30)
	pmax := 100
	if c.field("WRED_PROFILE", name, "green_drop_probability") != "" { // else SAI's default, 100
		pmax = number("green_drop_probability", 0, 100)
	}
	switch {
	case kmin > kmax:
		r.faultf(c, place, "green_min_threshold is %d, and green_max_threshold %d", kmin, kmax)
	case pmax == 0:
		r.tellAt(c.name+" "+place, "green_drop_probability is 0: here 1 %% is marked up to green_max_threshold")
		pmax = 1
	}
	return fmt.Sprintf("{kmin: %d, kmax: %d, pmax: %d}", kmin, kmax, pmax)
}
