package importer

import (
	"strings"
)

// channels are the PortChannels of a switch's ports, by PORTCHANNEL_MEMBER, whose keys are
// "PortChannel1|Ethernet0".
func (r *sonicReader) channels(c *configDB) map[string]string {
	of := map[string]string{}
	for _, key := range c.Member.keys() {
		channel, port, _ := strings.Cut(key, "|")
		if c.Port[port] == nil {
			r.faultf(c, "PORTCHANNEL_MEMBER|"+key, "PORT has no %s; it has %s", port, sonicSpan(c.Port.keys()))
		}
		of[port] = channel
	}
	return of
}

// lags finds the links between two switches that are all members of one PortChannel at both ends: a link of
// each.
func (r *sonicReader) lags(links []sonicLink) (lags []string) {
	channels := map[*configDB]map[string]string{}
	for _, c := range r.configs {
		channels[c] = r.channels(c)
	}
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
		a, b := channels[first.a.at][first.a.port], channels[first.b.at][first.b.port]
		some, whole := false, a != "" && b != ""
		for _, l := range all {
			x, y := channels[l.a.at][l.a.port], channels[l.b.at][l.b.port]
			some = some || x != "" || y != ""
			whole = whole && x == a && y == b && l.speed == first.speed
		}
		switch {
		case len(all) == 1:
		case whole:
			lags = append(lags, pair)
		case some:
			r.notef("The links %s are not all of one PortChannel and one speed at both ends: each is a way of its own", pair)
		}
	}
	r.tellMinLinks()
	return lags
}

// tellMinLinks tells of PortChannels that are down unless several members are up: those of a scenario are up
// with one.
func (r *sonicReader) tellMinLinks() {
	for _, c := range r.configs {
		for _, channel := range c.Channel.keys() {
			if n := c.Channel.field(channel, "min_links"); n != "" && n != "0" && n != "1" {
				r.notef("%s %s has min_links %s: here it is up with one member", c.name, channel, n)
			}
		}
	}
}
