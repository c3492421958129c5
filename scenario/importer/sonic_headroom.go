package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/unit"
)

// sonicMTU is the mtu of a port whose PORT has none (sonic-net/sonic-swss, cfgmgr/portmgr.cpp).
const sonicMTU = 9100

// losslessPool is the pool of groups whose profile SONiC computes.
const losslessPool = "ingress_lossless_pool"

// alikes is places by what they have in common, in words.
type alikes = lists.Groups[string, string]

// andMore is the first of some places, and how many more there are.
func andMore(places []string) string {
	if n := len(places) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", places[0], n)
	}
	return places[0]
}

// ends are the ports of a link that are those of a switch.
func (l *sonicLink) ends() []end {
	if l.b.at == nil {
		return []end{l.a}
	}
	return []end{l.a, l.b}
}

// rate and delay of a link are those of the scenario.
func (l *sonicLink) rate() unit.Rate { return unit.Rate(l.speed) * 1_000_000 }

func (l *sonicLink) delay() unit.Time {
	var c config.Cable
	_ = c.UnmarshalText([]byte(metres(l.cable))) // cable has found it good
	return unit.Time(c)
}

// String is the speed and the cable of a link.
func (l *sonicLink) String() string {
	if l.cable == 0 {
		return rate(l.speed)
	}
	return rate(l.speed) + " over " + metres(l.cable)
}

func metres(n int) string { return strconv.Itoa(n) + "m" }

// cables gives links the lengths of their cables: where the two ends differ, the longer.
func (r *sonicReader) cables(links []sonicLink) {
	var differ, none alikes
	least, most := 0, 0
	for i := range links {
		l := &links[i]
		for _, e := range l.ends() {
			l.cable = max(l.cable, r.cable(e))
		}
		if l.cable == 0 {
			none.Add("", l.names())
			continue
		}
		if l.b.at != nil {
			if a, b := r.cable(l.a), r.cable(l.b); a != b && a > 0 && b > 0 {
				differ.Add(fmt.Sprintf("%s, and at the far end %s: the longer counts", metres(a), metres(b)), l.a.String())
			}
		}
		if most = max(most, l.cable); least == 0 || l.cable < least {
			least = l.cable
		}
	}
	switch {
	case most == 0:
		return
	case least == most:
		r.notef("Cables are as long as CABLE_LENGTH says: %s", metres(most))
	default:
		r.notef("Cables are as long as CABLE_LENGTH says: %s to %s", metres(least), metres(most))
	}
	for _, key := range differ.Keys {
		r.notef("CABLE_LENGTH at %s is %s", andMore(differ.Of[key]), key)
	}
	for _, key := range none.Keys {
		r.notef("CABLE_LENGTH has no length of %s: no delay", andMore(none.Of[key]))
	}
}

// cable is the length of the cable at a port in metres, 0 if its switch does not say it. An unused
// port has 0m.
func (r *sonicReader) cable(e end) (most int) {
	for _, key := range e.at.cables {
		text := e.at.Cable.field(key, e.port)
		if text == "" {
			continue
		}
		number, inMetres := strings.CutSuffix(text, "m")
		n, err := strconv.Atoi(number)
		if err != nil || !inMetres || new(config.Cable).UnmarshalText([]byte(text)) != nil {
			r.faultf(e.at, "CABLE_LENGTH|"+key, "%s is %q; want metres, such as \"300m\"", e.port, text)
			continue
		}
		most = max(most, n)
	}
	return most
}

// mtu is the largest of the ports of links, 0 if it is none of a scenario: an IP packet, as that of
// a scenario. p is the profile of the scenario.
func (r *sonicReader) mtu(links []sonicLink, p profile) (most int) {
	var alike, unsaid alikes
	for _, l := range links {
		for _, e := range l.ends() {
			text := e.at.Port.field(e.port, "mtu")
			n, err := strconv.Atoi(cmp.Or(text, strconv.Itoa(sonicMTU)))
			if err != nil || n < 68 || n > config.MaxMTU {
				r.faultf(e.at, "PORT|"+e.port, "mtu is %q; want 68 to %d", text, config.MaxMTU)
				continue
			}
			if most = max(most, n); text == "" {
				unsaid.Add("", e.String())
			}
			alike.Add(fmt.Sprintf("%d", n), e.String())
		}
	}
	for _, key := range unsaid.Keys {
		r.notef("PORT has no mtu of %s: %d, as SONiC has it", andMore(unsaid.Of[key]), sonicMTU)
	}
	for _, key := range alike.Keys {
		if key != strconv.Itoa(most) {
			r.notef("mtu is %s at %s: a scenario has one, and the largest is %d", key, andMore(alike.Of[key]), most)
		}
	}
	xoff, err := strconv.Atoi(p.xoff)
	switch needs := config.MaxFrame(config.DefaultMTU) + config.MaxFrame(most); {
	case most == 0:
		return 0
	case most < config.DefaultMTU:
		r.notef("mtu is %d: a scenario has %d or more", most, config.DefaultMTU)
		return 0
	case most > config.DefaultMTU && err == nil && xoff < needs:
		r.notef("mtu is %d, for which a scenario has an xoff of %d or more, and it is %d: mtu is left out", most, needs, xoff)
		return 0
	}
	return most
}

// pools gives p what BUFFER_POOL has: its size, and the pool of headroom.
func (r *sonicReader) pools(c *configDB, name string, p *profile) {
	number := func(of string) string {
		text := c.Pool.field(name, of)
		if n, err := strconv.Atoi(text); text != "" && (err != nil || n < 0) {
			r.faultf(c, "BUFFER_POOL|"+name, "%s is %q; want a whole number", of, text)
		}
		return text
	}
	p.pool = number("size")
	p.shared = number("xoff")
	if p.shared == "0" {
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
	for _, key := range c.Parameter.keys() {
		text := c.Parameter.field(key, name)
		if text == "" {
			continue
		}
		r.whole(c, "DEFAULT_LOSSLESS_BUFFER_PARAMETER|"+key, name, text)
		return text
	}
	return ""
}

// nvidia reports whether a switch is one of Nvidia's, whose ports have headroom of their own beside
// the pool (config.HeadroomPool).
func nvidia(c *configDB) bool {
	what := strings.ToLower(c.Metadata.field("localhost", "platform") + " " + c.Metadata.field("localhost", "hwsku"))
	return slices.ContainsFunc([]string{"mlnx", "mellanox", "nvidia", "acs-msn"}, func(s string) bool { return strings.Contains(what, s) })
}

// headroom tells what the links need, where the scenario has no xoff, and which ports have an xoff
// below it.
func (r *sonicReader) headroom(links []sonicLink, q qos) {
	if len(q.dscp) == 0 && len(q.lossless) == 0 {
		return
	}
	mtu := cmp.Or(q.mtu, config.DefaultMTU)
	needs := map[string]int{} // by kind of link
	var short alikes
	for _, l := range links {
		n := config.PFC{}.NeedsHeadroom(l.rate(), l.delay(), mtu, 0)
		needs[l.String()] = max(config.DefaultXOFF, config.RoundHeadroom(n))
		for _, e := range l.ends() {
			if xoff, ok := e.xoff(q.of[e]); ok && xoff < n {
				short.Add(fmt.Sprintf("xoff is %d, and %s with an mtu of %d needs %d: lossless frames can be lost", xoff, &l, mtu, n), e.String())
			}
		}
	}
	for _, key := range short.Keys {
		r.notef("%s: %s", andMore(short.Of[key]), key)
	}
	if q.profile != (profile{}) && q.profile.pool == "" {
		r.notef("BUFFER_POOL has no size of the pool: it is the default of a scenario")
	}
	if q.profile.xoff != "" {
		return
	}
	kinds := slices.Sorted(maps.Keys(needs))
	slices.SortStableFunc(kinds, func(a, b string) int { return needs[b] - needs[a] })
	kinds = lists.Map(kinds, func(k string) string { return fmt.Sprintf("xoff: %d (%s)", needs[k], k) })
	why := ""
	if q.profile.dynamic {
		why = fmt.Sprintf("SONiC computes the headroom of profile %q. ", q.profile.name)
	}
	r.notef("%sEach port has what its link needs, %s", why, sonicSpan(kinds))
}

// xoff is the least that a port's profiles have for these priorities; false if they have none.
func (e end) xoff(priorities []int) (least int, ok bool) {
	for _, c := range priorities {
		profile := named(e.at.PG.field(e.at.group(e.port, c), "profile"))
		if n, err := strconv.Atoi(e.at.Profile.field(profile, "xoff")); err == nil && (!ok || n < least) {
			least, ok = n, true
		}
	}
	return least, ok
}

// group is the key of a port's priority group in BUFFER_PG, "" if it has none.
func (c *configDB) group(port string, priority int) string {
	for _, key := range c.groups {
		ports, priorities, found := strings.Cut(key, "|")
		if found && slices.Contains(strings.Split(ports, ","), port) && inRange(priorities, priority) {
			return key
		}
	}
	return ""
}

// unused tells of the tables of which a scenario with profile p has nothing.
func (r *sonicReader) unused(p profile) {
	all := map[string]bool{}
	for _, c := range r.configs {
		if len(c.Parameter) > 0 && !p.dynamic {
			all["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = true
		}
		for _, name := range slices.Sorted(maps.Keys(c.Rest)) {
			rows := c.Rest[name]
			if fields, ok := rows.(map[string]any); ok && len(fields) == 0 || rows == nil || rows == "" {
				continue
			}
			if !plain(name) {
				name = strconv.QuoteToASCII(name)
			}
			all[name] = true
		}
	}
	if len(all) == 0 {
		return
	}
	line := "Not used:"
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i > 0 {
			line += ","
		}
		if len(line)+len(name) >= width {
			b.WriteString(line + "\n#")
			line = ""
		}
		line += " " + name
	}
	r.notef("%s", b.String()+line)
}
