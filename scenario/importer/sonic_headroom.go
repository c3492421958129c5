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
	least, most := 0, 0
	var none []string
	for i := range links {
		l := &links[i]
		for _, e := range l.ends() {
			l.cable = max(l.cable, r.cable(e))
		}
		if l.cable == 0 {
			none = append(none, l.names())
			continue
		}
		if l.b.at != nil {
			if a, b := r.cable(l.a), r.cable(l.b); a != b && a > 0 && b > 0 {
				r.tellAt(l.a.String(), "CABLE_LENGTH is %s, and at the far end %s: the longer counts", metres(a), metres(b))
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
		r.tell("Cables are as long as CABLE_LENGTH says: %s", metres(most))
	default:
		r.tell("Cables are as long as CABLE_LENGTH says: %s to %s", metres(least), metres(most))
	}
	for _, names := range none {
		r.tellAt(names, "CABLE_LENGTH has no length of it: no delay")
	}
}

// cable is the length of the cable at a port in metres, 0 if its switch does not say it. An unused
// port has 0m.
func (r *sonicReader) cable(e end) int {
	key := e.at.cables[e.port]
	text := e.at.field("CABLE_LENGTH", key, e.port)
	if text == "" {
		return 0
	}
	number, inMetres := strings.CutSuffix(text, "m")
	n, err := strconv.Atoi(number)
	if err != nil || !inMetres || new(config.Cable).UnmarshalText([]byte(text)) != nil {
		r.faultf(e.at, quoted("CABLE_LENGTH|"+key), "%s is %q; want metres, such as \"300m\"", quoted(e.port), cut(text))
		return 0
	}
	return n
}

// mtu is the largest of the ports of links, 0 if it is none of a scenario: an IP packet, as that of
// a scenario. b is the buffers, which have to hold it.
func (r *sonicReader) mtu(links []sonicLink, b buffers) (most int) {
	var alike sightings
	for _, l := range links {
		for _, e := range l.ends() {
			text := e.at.field("PORT", e.port, "mtu")
			n, err := strconv.Atoi(cmp.Or(text, strconv.Itoa(sonicMTU)))
			if err != nil || n < 68 || n > config.MaxMTU {
				r.faultf(e.at, quoted("PORT|"+e.port), "mtu is %q; want 68 to %d", cut(text), config.MaxMTU)
				continue
			}
			if most = max(most, n); text == "" {
				r.tellAt(e.String(), "PORT has no mtu: %d, as SONiC has it", sonicMTU)
			}
			alike.add(strconv.Itoa(n), e.String())
		}
	}
	for _, key := range alike.keys {
		if key != strconv.Itoa(most) {
			r.tell("%s: mtu is %s: a scenario has one, and the largest is %d", alike.of[key], key, most)
		}
	}
	xoff, ok := b.leastXOFF(links)
	switch needs := config.MaxFrame(config.DefaultMTU) + config.MaxFrame(most); {
	case most == 0:
		return 0
	case most < config.DefaultMTU:
		r.tell("mtu is %d: a scenario has %d or more", most, config.DefaultMTU)
		return 0
	case most > config.DefaultMTU && ok && xoff < needs:
		r.tell("mtu is %d, for which a scenario has an xoff of %d or more, and it is %d: mtu is left out", most, needs, xoff)
		return 0
	}
	return most
}

// nvidia reports whether a switch is one of Nvidia's, whose ports have headroom of their own beside
// the pool (config.HeadroomPool).
func nvidia(c *configDB) bool {
	what := strings.ToLower(c.field("DEVICE_METADATA", "localhost", "platform") + " " + c.field("DEVICE_METADATA", "localhost", "hwsku"))
	return slices.ContainsFunc([]string{"mlnx", "mellanox", "nvidia", "acs-msn"}, func(s string) bool { return strings.Contains(what, s) })
}

// headroom tells what the links need, where the scenario has no xoff, and which ports have an xoff
// below it.
func (r *sonicReader) headroom(links []sonicLink, q qos, b buffers, mtu int) {
	if len(q.codes) == 0 && len(q.lossless) == 0 {
		return
	}
	mtu = cmp.Or(mtu, config.DefaultMTU)
	needs := map[string]int{} // by kind of link
	computed := ""
	for _, l := range links {
		n := config.PFC{}.NeedsHeadroom(l.rate(), l.delay(), mtu, 0)
		for _, e := range l.ends() {
			p := b.own[e]
			xoff, err := strconv.Atoi(p.xoff)
			switch {
			case b.silent[e] || len(q.of[e]) == 0:
			case err == nil && xoff < n:
				r.tellAt(e.String(), "xoff is %d, and %s with an mtu of %d needs %d: lossless frames can be lost", xoff, &l, mtu, n)
			case err != nil:
				needs[l.String()] = l.needs(mtu)
				if p.dynamic {
					computed = p.name
				}
			}
		}
	}
	if b.profile != (profile{}) && b.profile.pool == "" {
		r.tell("BUFFER_POOL has no size of the pool: it is the default of a scenario")
	}
	if len(needs) == 0 {
		return
	}
	kinds := slices.Sorted(maps.Keys(needs))
	slices.SortStableFunc(kinds, func(a, b string) int { return needs[b] - needs[a] })
	kinds = lists.Map(kinds, func(k string) string { return fmt.Sprintf("xoff: %d (%s)", needs[k], k) })
	why := ""
	if computed != "" {
		why = fmt.Sprintf("SONiC computes the headroom of profile %s, for a platform that is not known here. ", quoted(computed))
	}
	r.tell("%sEach port without an xoff has what its link needs, %s", why, span(kinds))
}

// span lists words, in full up to eight.
func span(words []string) string {
	switch n := len(words); {
	case n == 0:
		return "nothing"
	case n > 8:
		return fmt.Sprintf("%s, ..., %s (%d in all)", strings.Join(words[:4], ", "), words[n-1], n)
	}
	return strings.Join(words, ", ")
}
