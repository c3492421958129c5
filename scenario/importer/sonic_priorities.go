package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/unit"
)

// qos is the priorities of a fabric.
type qos struct {
	lossless []int         // of most ports
	of       map[end][]int // the lossless priorities of each port
	codes    map[int][]int // by priority that is lossless somewhere: the code points that most ports map to it
	maps     map[end]string
	// asymmetric are the ports that honour the pauses of all priorities.
	asymmetric map[end]bool
	most       []end // those that say what most ports have
}

// qos finds out what ports have: most of those between switches; where there are none, those to hosts.
func (r *sonicReader) qos(links []sonicLink) (q qos) {
	var ends, hosts []end
	for _, l := range links {
		if l.b.at == nil {
			hosts = append(hosts, l.a)
			continue
		}
		ends = append(ends, l.a, l.b)
	}
	q.of, q.asymmetric = map[end][]int{}, map[end]bool{}
	for _, e := range slices.Concat(ends, hosts) {
		q.of[e], q.asymmetric[e] = r.pfc(e), r.isAsymmetric(e)
		r.oneNumber(e, q.of[e])
	}
	if q.most = ends; len(ends) == 0 {
		q.most = firstPausing(hosts, q.of)
	}
	q.lossless = most(q.most, q.of)
	r.tellOthers(slices.Concat(ends, hosts), &q)
	r.classes(slices.Concat(ends, hosts), &q)
	return q
}

// most is the lossless priorities that most ports have, of several the first.
func most(ends []end, of map[end][]int) (lossless []int) {
	var have lists.Groups[string, end]
	for _, e := range ends {
		have.Add(join(of[e]), e)
	}
	best := 0
	for _, key := range have.Keys {
		if at := have.Of[key]; len(at) > best {
			lossless, best = of[at[0]], len(at)
		}
	}
	return lossless
}

// firstPausing are the ports of hosts that pause what the first does that pauses at all: without links
// between switches they are all that a configuration says of priorities.
func firstPausing(hosts []end, priorities map[end][]int) (ends []end) {
	for _, e := range hosts {
		if len(priorities[e]) > 0 && (len(ends) == 0 || slices.Equal(priorities[e], priorities[ends[0]])) {
			ends = append(ends, e)
		}
	}
	return ends
}

// tellOthers tells which ports have other lossless priorities than most, and if there are none.
func (r *sonicReader) tellOthers(ends []end, q *qos) {
	none := len(q.lossless) == 0
	for _, e := range ends {
		if !slices.Equal(q.of[e], q.lossless) {
			none = false
			r.tellAt(e.String(), "pfc_enable is %q: see topology.ports; pfc.lossless is %q, that of most others", join(q.of[e]), join(q.lossless))
		}
	}
	if none {
		r.tell("No port has a pfc_enable: no priority is lossless")
	}
}

// pfc is the priorities that a port pauses, ascending.
func (r *sonicReader) pfc(e end) (priorities []int) {
	text := e.at.portQOS(e.port, "pfc_enable")
	for _, s := range strings.Split(text, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 7 {
			r.faultf(e.at, quoted("PORT_QOS_MAP|"+e.at.qos[e.port]), "pfc_enable is %q; want priorities 0 to 7, such as \"3,4\"", cut(text))
			return nil
		}
		priorities = append(priorities, n)
	}
	slices.Sort(priorities)
	return slices.Compact(priorities)
}

// isAsymmetric reports whether a port honours the pauses of all priorities.
func (r *sonicReader) isAsymmetric(e end) bool {
	text := e.at.field("PORT", e.port, "pfc_asym")
	if text != "on" && text != "off" && text != "" {
		r.faultf(e.at, quoted("PORT|"+e.port), "pfc_asym is %q; want on or off", cut(text))
	}
	return text == "on"
}

// named is the name in a reference, which older releases write "[TABLE|NAME]".
func named(ref string) string {
	ref = strings.Trim(ref, "[]")
	return ref[strings.LastIndex(ref, "|")+1:]
}

// oneNumber tells of a port's maps that give a lossless priority another number: a scenario has one for
// the traffic class, the priority group, the queue and the pauses.
func (r *sonicReader) oneNumber(e end, lossless []int) {
	for _, m := range [][2]string{
		{"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"},
		{"tc_to_queue_map", "TC_TO_QUEUE_MAP"},
		{"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"},
		{"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"},
	} {
		ref := named(e.at.portQOS(e.port, m[0]))
		if ref == "" {
			continue
		}
		table := m[1]
		if m[0] == "pfc_to_pg_map" && !e.at.has(table, ref) {
			table = "MAP_PFC_PRIORITY_TO_PRIORITY_GROUP" // of older releases
		}
		if !e.at.has(table, ref) {
			r.tellAt(e.String(), "%s is %q, and %s has %s: here the priority is its number", m[0], cut(ref), m[1], sonicSpan(e.at.keys(m[1])))
			continue
		}
		for _, c := range lossless {
			if to := e.at.field(table, ref, strconv.Itoa(c)); to != strconv.Itoa(c) {
				r.tellAt(e.String(), "%s maps priority %d to %q: a scenario has one number, here %d", m[0], c, cut(to), c)
			}
		}
	}
}

// classMap is how a port tells priorities: by the DSCP, or the priority of a tag.
type classMap struct {
	tagged bool
	to     map[int]int // by code point
}

// classes finds out how ports tell priorities. Frames of a host have the code points of a scenario, which stand
// for those that most ports map to a priority; ports that map these otherwise have a dscp_map.
func (r *sonicReader) classes(ends []end, q *qos) {
	type ref struct {
		at     *configDB
		table  string
		name   string
		tagged bool
	}
	maps, of, count := map[ref]*classMap{}, map[end]*classMap{}, map[*classMap]int{}
	for _, e := range ends {
		dscp := named(cmp.Or(e.at.portQOS(e.port, "dscp_to_tc_map"), e.at.field("PORT_QOS_MAP", "global", "dscp_to_tc_map")))
		tag := named(cmp.Or(e.at.portQOS(e.port, "dot1p_to_tc_map"), e.at.field("PORT_QOS_MAP", "global", "dot1p_to_tc_map")))
		at := ref{e.at, "DSCP_TO_TC_MAP", dscp, false}
		switch {
		case dscp == "" && tag == "":
			if len(q.of[e]) > 0 {
				r.tellAt(e.String(), "it has neither dscp_to_tc_map nor dot1p_to_tc_map: here it tells priorities as the other ports do")
			}
			continue
		case dscp == "":
			at = ref{e.at, "DOT1P_TO_TC_MAP", tag, true}
			r.tellAt(e.String(), "dot1p_to_tc_map: priorities are told by the tag; hosts of a scenario send no tags, and their DSCP stands for it")
		case tag != "":
			r.tellAt(e.String(), "dot1p_to_tc_map: what comes without IP is told by the tag, and a scenario has none")
			e.at.taken["DOT1P_TO_TC_MAP|"+tag] = true
		}
		if maps[at] == nil {
			maps[at] = r.classMap(e, at.table, at.name, at.tagged)
		}
		of[e] = maps[at]
		count[of[e]]++
	}
	var all []int
	for _, e := range ends {
		all = append(all, q.of[e]...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	usual := r.usual(ends, of, count, all, q)
	q.maps = map[end]string{}
	for _, e := range ends {
		if of[e] != nil {
			r.ownClasses(e, of[e], usual, q)
		}
	}
}

// classMap reads a map of code points.
func (r *sonicReader) classMap(e end, table, name string, tagged bool) *classMap {
	m := &classMap{tagged, map[int]int{}}
	most, what := 63, "DSCP"
	if tagged {
		most, what = 7, "priority of a tag"
	}
	if !e.at.has(table, name) {
		key := "dscp_to_tc_map"
		if tagged {
			key = "dot1p_to_tc_map"
		}
		r.faultf(e.at, quoted("PORT_QOS_MAP|"+e.at.qos[e.port]), "%s is %q; %s has %s", key, cut(name), table, sonicSpan(e.at.keys(table)))
		return m
	}
	for _, key := range e.at.fieldsOf(table, name) {
		code, err1 := strconv.Atoi(key)
		tc, err2 := strconv.Atoi(e.at.field(table, name, key))
		if err1 != nil || err2 != nil || code < 0 || code > most || tc < 0 || tc > 7 {
			r.faultf(e.at, quoted(table+"|"+name), "%q: %q; want a %s of 0 to %d and a priority of 0 to 7", cut(key), cut(e.at.field(table, name, key)), what, most)
			continue
		}
		m.to[code] = tc
	}
	return m
}

// usual is the code point that stands for each lossless priority, of DSCPs and of tags: that which most
// ports map to it.
func (r *sonicReader) usual(ends []end, of map[end]*classMap, count map[*classMap]int, lossless []int, q *qos) (usual [2]map[int]int) {
	var votes [2][64][unit.Priorities]int
	done := map[*classMap]bool{}
	for _, e := range ends {
		m := of[e]
		if m == nil || done[m] {
			continue
		}
		done[m] = true
		for code := range 64 {
			if c, ok := m.to[code]; ok {
				votes[b2i(m.tagged)][code][c] += count[m]
			}
		}
	}
	q.codes = map[int][]int{}
	for kind := range votes {
		usual[kind] = map[int]int{}
		for _, c := range lossless {
			best := 0
			for code := range 64 {
				n := votes[kind][code][c]
				if n > best {
					usual[kind][c], best = code, n
				}
				if kind == 0 && n > 0 && n == slices.Max(votes[kind][code][:]) {
					q.codes[c] = append(q.codes[c], code)
				}
			}
		}
	}
	return usual
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ownClasses finds out where a port maps code points otherwise than most.
func (r *sonicReader) ownClasses(e end, m *classMap, usual [2]map[int]int, q *qos) {
	var own []string
	for c := range unit.Priorities {
		code, ok := usual[b2i(m.tagged)][c]
		if to := m.to[code]; ok && to != c { // what a map does not have is priority 0
			own = append(own, fmt.Sprintf("%d: %d", host.DSCP(unit.Priority(c)), to))
			r.tellAt(e.String(), "%d is mapped to priority %d, and at most ports to %d: see dscp_map in topology.ports", code, to, c)
		}
		for _, other := range q.codes[c] {
			if to, known := m.to[other]; !m.tagged && other != code && (!known || to != c) {
				r.tellAt(e.String(), "DSCP %d is mapped to priority %d, and at most ports to %d (here DSCP %d)", other, to, c, code)
			}
		}
	}
	if own != nil {
		q.maps[e] = strings.Join(own, ", ")
	}
}

func join(priorities []int) string {
	return strings.Join(lists.Map(priorities, strconv.Itoa), ",")
}
