package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
)

// qos is the priorities and the buffers of a fabric.
type qos struct {
	lossless []int         // of most ports
	of       map[end][]int // the lossless priorities of each port
	// asymmetric are the ports that honour the pauses of all priorities.
	asymmetric map[end]bool
	dscp       map[int][]int // by priority that is lossless somewhere: the code points that switches map to it
	profile    profile
	mtu        int // 0 for none
}

// profile is a buffer profile, with the values as a scenario has them; "" for none.
type profile struct {
	name                                               string
	pool, size, staticTh, dynamicTh, xon, offset, xoff string
	// shared is the size of the pool of headroom, or ratio its over-subscription; ownPart is
	// whether each port has a part of its own in addition.
	shared, ratio string
	ownPart       bool
	// dynamic is whether SONiC computes xoff of the port's speed, cable and mtu.
	dynamic bool
}

// null is the profile of a priority group for which SONiC makes one.
const null = "NULL"

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
	var all []int // lossless somewhere
	for _, e := range slices.Concat(ends, hosts) {
		q.of[e], q.asymmetric[e] = r.pfc(e), r.isAsymmetric(e)
		all = append(all, q.of[e]...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(ends) == 0 {
		ends = firstPausing(hosts, q.of)
	}
	q.lossless = most(ends, q.of)
	r.tellOthers(slices.Concat(ends, hosts), &q)
	q.dscp = r.dscp(ends, all)
	q.profile = r.profile(ends, q.of)
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
	var others alikes
	for _, e := range ends {
		if !slices.Equal(q.of[e], q.lossless) {
			others.Add(fmt.Sprintf("%q", join(q.of[e])), e.String())
		}
	}
	for _, key := range others.Keys {
		r.notef("pfc_enable is %s at %s: see topology.ports; pfc.lossless is %q, that of most others", key, andMore(others.Of[key]), join(q.lossless))
	}
	if len(q.lossless) == 0 && len(others.Keys) == 0 {
		r.notef("No port has a pfc_enable: no priority is lossless")
	}
}

// pfc is the priorities that a port pauses, ascending.
func (r *sonicReader) pfc(e end) (priorities []int) {
	text := e.at.QOS.of(e.port)["pfc_enable"]
	for _, s := range strings.Split(text, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 7 {
			r.faultf(e.at, "PORT_QOS_MAP|"+e.port, "pfc_enable is %q; want priorities 0 to 7, such as \"3,4\"", text)
			return nil
		}
		priorities = append(priorities, n)
	}
	slices.Sort(priorities)
	return slices.Compact(priorities)
}

// isAsymmetric reports whether a port honours the pauses of all priorities.
func (r *sonicReader) isAsymmetric(e end) bool {
	text := e.at.Port.field(e.port, "pfc_asym")
	if text != "on" && text != "off" && text != "" {
		r.faultf(e.at, "PORT|"+e.port, "pfc_asym is %q; want on or off", text)
	}
	return text == "on"
}

// of is the fields of the entry for a port, whose key may name several.
func (t table) of(port string) map[string]string {
	for _, key := range t.keys() {
		if !slices.Contains(strings.Split(key, ","), port) {
			continue
		}
		fields := map[string]string{}
		for _, name := range t.keysOf(key) {
			fields[name] = t.field(key, name)
		}
		return fields
	}
	return nil
}

// named is the name in a reference, which older releases write "[TABLE|NAME]".
func named(ref string) string {
	ref = strings.Trim(ref, "[]")
	return ref[strings.LastIndex(ref, "|")+1:]
}

// dscp is the code points of each lossless priority. Switches have to agree about them.
func (r *sonicReader) dscp(ends []end, lossless []int) map[int][]int {
	var first *configDB
	var have map[int]int // by code point, of lossless priorities
	var done []*configDB
	for _, e := range ends {
		ref := named(cmp.Or(e.at.QOS.of(e.port)["dscp_to_tc_map"], e.at.QOS.field("global", "dscp_to_tc_map")))
		if ref == "" || slices.Contains(done, e.at) {
			continue
		}
		done = append(done, e.at)
		if e.at.DSCP[ref] == nil {
			r.faultf(e.at, "PORT_QOS_MAP|"+e.port, "dscp_to_tc_map is %q; DSCP_TO_TC_MAP has %s", ref, sonicSpan(e.at.DSCP.keys()))
			continue
		}
		m := r.codePoints(e.at, ref, lossless)
		if first == nil {
			first, have = e.at, m
			continue
		}
		for dscp := range 64 {
			a, inA := have[dscp]
			b, inB := m[dscp]
			if inA != inB || a != b {
				r.faultf(e.at, "DSCP_TO_TC_MAP|"+ref, "DSCP %d is %s, and at %s %s", dscp, priority(b, inB), first.name, priority(a, inA))
				break
			}
		}
	}
	by := map[int][]int{}
	for dscp := range 64 {
		if c, ok := have[dscp]; ok {
			by[c] = append(by[c], dscp)
		}
	}
	return by
}

func priority(c int, lossless bool) string {
	if lossless {
		return fmt.Sprintf("priority %d", c)
	}
	return "lossy"
}

// codePoints are those of a map that lead to a lossless priority.
func (r *sonicReader) codePoints(c *configDB, ref string, lossless []int) map[int]int {
	m := map[int]int{}
	for _, key := range c.DSCP.keysOf(ref) {
		dscp, err1 := strconv.Atoi(key)
		tc, err2 := strconv.Atoi(c.DSCP.field(ref, key))
		if err1 != nil || err2 != nil || dscp < 0 || dscp > 63 || tc < 0 || tc > 7 {
			r.faultf(c, "DSCP_TO_TC_MAP|"+ref, "%q: %q; want a DSCP of 0 to 63 and a priority of 0 to 7", key, c.DSCP.field(ref, key))
			continue
		}
		if slices.Contains(lossless, tc) {
			m[dscp] = tc
		}
	}
	return m
}

// keysOf are the names of an entry's fields, in order.
func (t table) keysOf(key string) []string { return keysOf(t[key]) }

// profile is the one that most ports have for their lossless priorities.
func (r *sonicReader) profile(ends []end, lossless map[end][]int) profile {
	var all lists.Groups[profile, string] // the ports that have each
	paused := false
	for _, e := range ends {
		for _, c := range lossless[e] {
			paused = true
			p, ok := r.profileOf(e, c)
			if at := all.Of[p]; ok && !slices.Contains(at[max(0, len(at)-1):], e.String()) { // once for all its priorities
				all.Add(p, e.String())
			}
		}
	}
	if len(all.Keys) == 0 {
		if paused {
			r.notef("no port has a BUFFER_PG with a lossless profile: buffers have their defaults, and BUFFER_POOL is not used")
		}
		return profile{}
	}
	best := slices.MaxFunc(all.Keys, func(a, b profile) int { return len(all.Of[a]) - len(all.Of[b]) })
	for _, p := range all.Keys {
		switch at := andMore(all.Of[p]); {
		case p == best:
		case p.name == best.name:
			r.notef("%q at %s has %s: a scenario has one profile, here %s", p.name, at, p.text(), best.text())
		default:
			r.notef("%q at %s: a scenario has one profile, here %q", p.name, at, best.name)
		}
	}
	return best
}

// profileOf is the profile of a port for a priority; false if it has none of its own.
func (r *sonicReader) profileOf(e end, priority int) (p profile, ok bool) {
	key := e.at.group(e.port, priority)
	name := named(e.at.PG.field(key, "profile"))
	switch {
	case name == "":
		return p, false
	case name == null:
		p = profile{name: name, dynamicTh: r.parameter(e.at, "default_dynamic_th"), dynamic: true}
		r.pools(e.at, losslessPool, &p)
		return p, true
	case e.at.Profile[name] == nil:
		r.faultf(e.at, "BUFFER_PG|"+key, "profile is %q; BUFFER_PROFILE has %s", name, sonicSpan(e.at.Profile.keys()))
		return p, false
	}
	field := func(of string) string {
		text := e.at.Profile.field(name, of)
		n, whole := r.whole(e.at, "BUFFER_PROFILE|"+name, of, text)
		if whole && n < 0 && of != "dynamic_th" { // a power of two
			r.faultf(e.at, "BUFFER_PROFILE|"+name, "%s is %q; want a whole number, 0 or above", of, text)
		}
		return text
	}
	p = profile{
		name: name, size: field("size"), staticTh: field("static_th"), dynamicTh: field("dynamic_th"),
		xon: field("xon"), offset: field("xon_offset"), xoff: field("xoff"),
	}
	p.dynamic = p.xoff == "" && e.at.Profile.field(name, "headroom_type") == "dynamic"
	if p.xoff == "" && !p.dynamic {
		r.faultf(e.at, "BUFFER_PG|"+key, "profile %q has no xoff, so priority %d, which pfc_enable names, has no headroom", name, priority)
	}
	if pool := named(e.at.Profile.field(name, "pool")); pool != "" {
		r.pools(e.at, pool, &p)
	}
	return p, true
}

// whole reads a field of a place, and reports whether it is a whole number; "" is 0.
func (r *sonicReader) whole(c *configDB, place, field, text string) (n int, ok bool) {
	n, err := strconv.Atoi(cmp.Or(text, "0"))
	if err != nil {
		r.faultf(c, place, "%s is %q; want a whole number", field, text)
	}
	return n, err == nil
}

// inRange reports whether a priority is in "3-4" or "3".
func inRange(priorities string, priority int) bool {
	from, to, two := strings.Cut(priorities, "-")
	if !two {
		to = from
	}
	a, err1 := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	return err1 == nil && err2 == nil && a <= priority && priority <= b
}

func join(priorities []int) string {
	return strings.Join(lists.Map(priorities, strconv.Itoa), ",")
}
