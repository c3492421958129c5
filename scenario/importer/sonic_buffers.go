package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"softswitch/internal/lists"
	"softswitch/node/config"
)

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

// buffers is the buffers of a fabric.
type buffers struct {
	profile profile // of most ports
	own     map[end]profile
	// silent are ports that send no pauses, since no lossless priority has a priority group there.
	silent map[end]bool
}

// null is the profile of a priority group for which SONiC makes one.
const null = "NULL"

// losslessPool is the pool of groups whose profile SONiC computes.
const losslessPool = "ingress_lossless_pool"

// mostBytes limits the sizes of a buffer, as a scenario does.
const mostBytes = 1 << 30

// buffers finds out which profile the ports have for their lossless priorities.
func (r *sonicReader) buffers(links []sonicLink, q qos) buffers {
	b := buffers{own: map[end]profile{}, silent: map[end]bool{}}
	for _, l := range links {
		for _, e := range l.ends() {
			p, ok := r.profileAt(&l, e, q)
			switch {
			case ok:
				b.own[e] = p
			case len(q.of[e]) > 0 && e.at.keepsHeadroom():
				b.silent[e] = true
				if q.asymmetric[e] {
					r.tellAt(e.String(), "pfc_asym is on: here it honours the pauses of its lossless priorities alone, since it sends none")
				}
			}
		}
	}
	var all lists.Groups[profile, string] // the ports that have each
	for _, e := range q.most {
		if p, ok := b.own[e]; ok {
			all.Add(p, e.String())
		}
	}
	for _, p := range all.Keys {
		if len(all.Of[p]) > len(all.Of[b.profile]) {
			b.profile = p
		}
	}
	r.tellProfiles(links, &b)
	return b
}

// tellProfiles tells which ports have another profile than most, and which have none.
func (r *sonicReader) tellProfiles(links []sonicLink, b *buffers) {
	for _, l := range links {
		for _, e := range l.ends() {
			p, ok := b.own[e]
			if !ok || p == b.profile {
				continue
			}
			for _, f := range [][3]string{
				{"pool", p.pool, b.profile.pool},
				{"size", p.size, b.profile.size},
				{"dynamic_th", p.dynamicTh, b.profile.dynamicTh},
				{"xon", p.xon, b.profile.xon},
				{"headroom_pool", p.headroomPool(), b.profile.headroomPool()},
				{"xon_offset", p.offset, b.profile.offset},
			} {
				if f[1] != f[2] && (f[0] != "xon_offset" || !b.profile.static()) {
					r.tellAt(e.String(), "%s of profile %s is %s: a scenario has one, here %s", f[0], quoted(p.name), cmp.Or(f[1], "missing"), cmp.Or(f[2], "none"))
				}
			}
			if p.staticTh != b.profile.staticTh && (p.staticTh == "" || !b.profile.static()) {
				r.tellAt(e.String(), "static_th of profile %s is %s: a scenario has either static or dynamic thresholds, here %s", quoted(p.name), cmp.Or(p.staticTh, "missing"), cmp.Or(b.profile.staticTh, "dynamic ones"))
			}
		}
	}
}

// profileAt is the profile of a port's lossless priorities; false if none of them has one. One that has
// none beside others that have is taken out of q.
func (r *sonicReader) profileAt(l *sonicLink, e end, q qos) (p profile, ok bool) {
	var without []int
	for _, c := range q.of[e] {
		one, has := r.profileOf(l, e, c)
		switch {
		case !has:
			without = append(without, c)
		case !ok:
			p, ok = one, true
		case one != p:
			r.tellAt(e.String(), "priority %d has profile %s, and a port has one in a scenario, here %s", c, quoted(one.name), quoted(p.name))
		}
	}
	if len(without) == 0 {
		return p, ok
	}
	if !e.at.keepsHeadroom() {
		r.tellAt(e.String(), "BUFFER_PG has no lossless priority group of this switch, which SONiC makes when a port comes up: here it has the headroom that its link needs")
		return p, ok
	}
	what := "it sends no pauses there, and drops"
	if ok {
		what = "it is lossy there"
		q.of[e] = lists.Where(q.of[e], func(c int) bool { return !slices.Contains(without, c) })
	}
	r.tellAt(e.String(), "BUFFER_PG has no lossless profile of priority %s, which pfc_enable names, so that SONiC has no headroom for it: %s", join(without), what)
	return p, ok
}

// keepsHeadroom reports whether a priority group of some port has headroom.
func (c *configDB) keepsHeadroom() bool {
	return slices.ContainsFunc(c.keys("BUFFER_PG"), func(key string) bool {
		name := named(c.tables["BUFFER_PG"][key]["profile"])
		p := c.tables["BUFFER_PROFILE"][name]
		return name == null || p["xoff"] != "" || p["headroom_type"] == "dynamic"
	})
}

// profileOf is the profile of a port for a priority; false if it has none with headroom.
func (r *sonicReader) profileOf(l *sonicLink, e end, priority int) (p profile, ok bool) {
	c := e.at
	key := rowOf(c.groups[e.port], priority)
	name := named(c.field("BUFFER_PG", key, "profile"))
	switch {
	case name == "":
		return p, false
	case name == null:
		p = profile{name: name, dynamicTh: r.parameter(c, "default_dynamic_th"), dynamic: true}
		r.pools(c, losslessPool, &p)
		r.compute(l, e, &p)
		return p, true
	case !c.has("BUFFER_PROFILE", name):
		r.faultf(c, quoted("BUFFER_PG|"+key), "profile is %q; BUFFER_PROFILE has %s", cut(name), sonicSpan(c.keys("BUFFER_PROFILE")))
		return p, false
	}
	field := func(of string) string {
		text := c.field("BUFFER_PROFILE", name, of)
		n, whole := r.whole(c, "BUFFER_PROFILE|"+name, of, text)
		switch {
		case !whole:
		case of == "dynamic_th" && (n < -8 || n > 8): // a power of two
			r.faultf(c, quoted("BUFFER_PROFILE|"+name), "%s is %q; want -8 to 8", of, text)
		case of != "dynamic_th" && (n < 0 || n > mostBytes):
			r.faultf(c, quoted("BUFFER_PROFILE|"+name), "%s is %q; want a whole number, 0 or above, and at most %d", of, text, mostBytes)
		}
		return text
	}
	p = profile{
		name: name, size: field("size"), staticTh: field("static_th"), dynamicTh: field("dynamic_th"),
		xon: field("xon"), offset: field("xon_offset"), xoff: field("xoff"),
	}
	p.dynamic = p.xoff == "" && c.field("BUFFER_PROFILE", name, "headroom_type") == "dynamic"
	if p.xoff == "" && !p.dynamic {
		return p, false
	}
	pool := named(c.field("BUFFER_PROFILE", name, "pool"))
	r.pools(c, pool, &p)
	if p.staticTh != "" && p.dynamicTh != "" {
		if c.field("BUFFER_POOL", pool, "mode") == "static" {
			p.dynamicTh = ""
		} else {
			p.staticTh = ""
		}
		r.tellAt(c.name+" "+quoted("BUFFER_PROFILE|"+name), "it has static_th and dynamic_th, of which the mode of its pool chooses one")
	}
	if p.dynamic {
		r.compute(l, e, &p)
	}
	return p, true
}

// pools gives p what BUFFER_POOL has: its size, and the pool of headroom.
func (r *sonicReader) pools(c *configDB, name string, p *profile) {
	if name == "" {
		return
	}
	number := func(of string) string {
		text := c.field("BUFFER_POOL", name, of)
		if n, err := strconv.Atoi(text); text != "" && (err != nil || n < 0 || n > mostBytes) {
			r.faultf(c, quoted("BUFFER_POOL|"+name), "%s is %q; want a whole number, 0 to %d", of, cut(text), mostBytes)
		}
		return text
	}
	if p.pool = number("size"); p.pool == "0" {
		p.pool = ""
	}
	if p.shared = number("xoff"); p.shared == "0" {
		p.shared = ""
	}
	if p.dynamic && p.shared == "" {
		if p.ratio = r.parameter(c, "over_subscribe_ratio"); p.ratio == "0" {
			p.ratio = ""
		}
	}
	p.ownPart = nvidia(c)
}

// parameter is one of DEFAULT_LOSSLESS_BUFFER_PARAMETER, by which SONiC computes profiles; "" for
// none.
func (r *sonicReader) parameter(c *configDB, name string) string {
	return r.first(c, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", name)
}

// first is a field of the first row of a table that has it, a whole number; "" for none.
func (r *sonicReader) first(c *configDB, table, name string) string {
	for _, key := range c.keys(table) {
		if text := c.field(table, key, name); text != "" {
			r.whole(c, table+"|"+key, name, text)
			return text
		}
	}
	return ""
}

// whole reads a field of a place, and reports whether it is a whole number; "" is 0.
func (r *sonicReader) whole(c *configDB, place, field, text string) (n int, ok bool) {
	n, err := strconv.Atoi(cmp.Or(text, "0"))
	if err != nil {
		r.faultf(c, quoted(place), "%s is %q; want a whole number", field, cut(text))
	}
	return n, err == nil
}

// leastXOFF is the least xoff of any port, false if no port has one.
func (b *buffers) leastXOFF(links []sonicLink) (least int, ok bool) {
	for _, l := range links {
		for _, e := range l.ends() {
			if n, err := strconv.Atoi(b.own[e].xoff); err == nil && (!ok || n < least) {
				least, ok = n, true
			}
		}
	}
	return least, ok
}

// keys are what a port with these lossless priorities has of its own for topology.ports.
func (b *buffers) keys(l *sonicLink, e end, lossless []int, mtu int) (text string) {
	if b.silent[e] {
		return ", pfc: rx"
	}
	p := b.own[e]
	xoff := p.xoff
	if xoff == "" && b.profile.xoff != "" && len(lossless) > 0 {
		xoff = strconv.Itoa(l.needs(mtu))
	}
	for _, f := range [][3]string{{"xoff", xoff, b.profile.xoff}, {"static_th", p.staticTh, b.profile.staticTh}, {"xon_offset", p.offset, b.profile.offset}} {
		if f[1] == f[2] || f[1] == "" || f[0] != "xoff" && !b.profile.static() {
			continue
		}
		text += ", " + f[0] + ": " + f[1]
	}
	return text
}

// static reports whether a priority group pauses at a fixed number of bytes, as one of a scenario does that
// has nothing else.
func (p *profile) static() bool { return p.dynamicTh == "" }

// needs is the headroom that a scenario gives to a link by itself.
func (l *sonicLink) needs(mtu int) int {
	return max(config.DefaultXOFF, config.RoundHeadroom(config.PFC{}.NeedsHeadroom(l.rate(), l.delay(), cmp.Or(mtu, config.DefaultMTU), 0)))
}

// headroomPool is the pool of headroom as a scenario has it, "" for none.
func (p *profile) headroomPool() string {
	port := ", port: 0"
	if p.ownPart {
		port = "" // the default
	}
	switch {
	case p.shared != "":
		return "{size: " + p.shared + port + "}"
	case p.ratio != "":
		return "{ratio: " + p.ratio + port + "}"
	}
	return ""
}

// String is the profile as a scenario has it.
func (p *profile) String() string {
	size := p.size
	if n, err := strconv.Atoi(size); err == nil && n < 1 {
		size = "1"
	}
	all := ""
	for _, f := range [][2]string{
		{"pool", p.pool},
		{"size", size},
		{"static_th", p.staticTh},
		{"dynamic_th", p.dynamicTh},
		{"xon", p.xon},
		{"xon_offset", p.offset},
		{"xoff", p.xoff},
		{"headroom_pool", p.headroomPool()},
	} {
		if f[1] != "" {
			all += fmt.Sprintf(", %s: %s", f[0], f[1])
		}
	}
	if all == "" {
		return "{}"
	}
	return "{" + all[2:] + "}"
}
