package importer

import (
	"strings"
)

// knownMembers finds the members of PortChannels that PORT does not have.
func (r *sonicReader) knownMembers(c *configDB) {
	for _, key := range c.keys("PORTCHANNEL_MEMBER") {
		if _, port, _ := strings.Cut(key, "|"); !c.has("PORT", port) {
			r.faultf(c, quoted("PORTCHANNEL_MEMBER|"+key), "PORT has no %s; it has %s", quoted(port), sonicSpan(c.keys("PORT")))
		}
	}
}

// lags finds the links between two switches that are all members of one PortChannel at both ends: a link of
// each.
func (r *sonicReader) lags(links []sonicLink) (lags []string) {
	between := map[string][]sonicLink{}
	var pairs []string
	for _, l := range links {
		if l.host != "" {
			continue
		}
		if between[l.names()] == nil {
			pairs = append(pairs, l.names())
		}
		between[l.names()] = append(between[l.names()], l)
	}
	for _, pair := range pairs {
		all := between[pair]
		first := all[0]
		a, b := first.a.at.channels[first.a.port], first.b.at.channels[first.b.port]
		some, whole := false, a != "" && b != ""
		for _, l := range all {
			x, y := l.a.at.channels[l.a.port], l.b.at.channels[l.b.port]
			some = some || x != "" || y != ""
			whole = whole && x == a && y == b && l.speed == first.speed
		}
		switch {
		case len(all) == 1:
		case whole:
			lags = append(lags, pair)
		case some:
			r.tell("The links %s are not all of one PortChannel and one speed at both ends: each is a way of its own", pair)
		}
	}
	r.tellChannels()
	return lags
}

// tellChannels tells of PortChannels that are down unless several members are up: those of a scenario are up
// with one.
func (r *sonicReader) tellChannels() {
	for _, c := range r.configs {
		for _, channel := range c.keys("PORTCHANNEL") {
			if n := c.field("PORTCHANNEL", channel, "min_links"); n != "" && n != "0" && n != "1" {
				r.tellAt(c.name+" "+quoted(channel), "min_links is %s: here it is up with one member", cut(n))
			}
		}
	}
}
