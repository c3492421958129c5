package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/unit"
)

// end is a port of a switch.
type end struct {
	at   *configDB
	port string
}

func (e end) String() string { return e.at.name + " " + e.port }

// sonicLink is a link between two switches, or between a switch and a host.
type sonicLink struct {
	a, b  end // b.at is nil for a host
	host  string
	speed int // in Mbit/s
	cable int // in metres, 0 if no end says it
}

// switches are the types of devices that are no hosts (sonic-device_neighbor_metadata).
var switches = []string{"ToRRouter", "LeafRouter", "SpineRouter", "UpperSpineRouter", "LowerSpineRouter", "UpperRegionalHub", "FabricSpineRouter", "RegionalHub", "AZNGHub", "CoreRouter", "BackEndToRRouter", "BackEndLeafRouter", "MiniPop", "BmcMgmtToRRouter", "MgmtToRRouter"}

// fabric finds the links that both ends agree about, and the hosts.
func (r *sonicReader) fabric() (links []sonicLink) {
	hosts := map[string]int{} // links, by name
	for _, c := range r.configs {
		for _, port := range c.Neigh.keys() {
			far := c.Neigh.field(port, "name")
			place := "DEVICE_NEIGHBOR|" + port
			if c.Port[port] == nil {
				r.faultf(c, place, "PORT has no %s; it has %s", port, sonicSpan(c.Port.keys()))
				continue
			}
			if !plain(far) || !plain(port) {
				r.faultf(c, place, "name is %q; want 1 to 32 letters, digits, \"-\", \"_\" and \".\", as in the port", far)
				continue
			}
			l := sonicLink{a: end{c, port}, speed: r.speed(c, port)}
			if c.isSet(port, "down") {
				r.notef("%s %s is down by its admin_status: its link to %s is left out", c.name, port, far)
				continue
			}
			if other := r.byName[far]; other != nil {
				if r.agree(&l, other, place) && (compareNames(c.name, far) < 0 || c == other && compareNames(port, l.b.port) < 0) {
					links = append(links, l)
				}
				continue
			}
			if kind := c.About.field(far, "type"); slices.Contains(switches, kind) {
				r.faultf(c, place, "it leads to %s, a %s, and there is no %s.json", far, kind, far)
				continue
			}
			l.host = far
			hosts[far]++
			links = append(links, l)
		}
	}
	r.nameHosts(links, hosts)
	r.tellUnlinked()
	return links
}

// isSet reports whether a port is "up" or "down" by its admin_status, in letters of any case.
func (c *configDB) isSet(port, status string) bool {
	return strings.EqualFold(c.Port.field(port, "admin_status"), status)
}

// tellUnlinked tells of the ports that are up, and of which no table says where they lead.
func (r *sonicReader) tellUnlinked() {
	var unsaid alikes
	for _, c := range r.configs {
		for _, port := range c.Port.keys() {
			if c.Neigh[port] == nil && c.isSet(port, "up") {
				unsaid.Add("", end{c, port}.String())
			}
		}
	}
	for _, key := range unsaid.Keys {
		r.notef("DEVICE_NEIGHBOR has nothing of %s, up by admin_status: they have no link", andMore(unsaid.Of[key]))
	}
}

// known finds the ports that a table's keys name and PORT does not have. A key is ports with commas
// between, and may go on after "|"; "global" is the switch.
func (r *sonicReader) known(c *configDB, table string, keys []string) {
	for _, key := range keys {
		ports, _, _ := strings.Cut(key, "|")
		for _, port := range strings.Split(ports, ",") {
			if port != "global" && c.Port[port] == nil {
				r.faultf(c, table+"|"+key, "PORT has no %s; it has %s", port, sonicSpan(c.Port.keys()))
			}
		}
	}
}

// nameHosts gives a host with several links a name for each: a host of a scenario has one.
func (r *sonicReader) nameHosts(links []sonicLink, count map[string]int) {
	nth := map[string]int{}
	for i := range links {
		l := &links[i]
		if l.host == "" || count[l.host] == 1 {
			continue
		}
		name := l.host
		if nth[name]++; nth[name] == 1 {
			r.notef("%s has %s: it is a host for each, %s-1 and so on", name, unit.Count(count[name], "link"), name)
		}
		l.host = fmt.Sprintf("%s-%d", name, nth[name])
	}
}

// speed is a port's speed in Mbit/s.
func (r *sonicReader) speed(c *configDB, port string) int {
	text := c.Port.field(port, "speed")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 10_000_000 {
		r.faultf(c, "PORT|"+port, "speed is %q; want Mbit/s, such as \"100000\"", text)
	}
	return n
}

// agree finds the far end of l at another switch, which has to say the same of it.
func (r *sonicReader) agree(l *sonicLink, other *configDB, place string) bool {
	c, port := l.a.at, l.a.port
	theirs := c.Neigh.field(port, "port")
	far := end{other, theirs}
	back := end{r.byName[other.Neigh.field(theirs, "name")], other.Neigh.field(theirs, "port")}
	switch {
	case theirs == "":
		r.faultf(c, place, "it leads to %s and has no port", other.name)
	case other.Port[theirs] == nil:
		r.faultf(c, place, "it leads to %s, whose PORT has no %s; it has %s", far, theirs, sonicSpan(other.Port.keys()))
	case other.Neigh[theirs] == nil:
		r.faultf(c, place, "it leads to %s, and %s.json has no DEVICE_NEIGHBOR|%s", far, other.name, theirs)
	case back.at != c || back.port != port:
		r.faultf(c, place, "it leads to %s, which by %s.json leads to %s %s", far, other.name, other.Neigh.field(theirs, "name"), back.port)
	case c == other && port == theirs:
		r.faultf(c, place, "it leads to itself")
	case other.isSet(theirs, "down"):
		return false // told of at the other end
	case other.Port.field(theirs, "speed") != c.Port.field(port, "speed"):
		if compareNames(c.name, other.name) < 0 {
			r.faultf(c, "PORT|"+port, "speed is %q, and that of %s, to which it leads, %q", c.Port.field(port, "speed"), far, other.Port.field(theirs, "speed"))
		}
	default:
		l.b = far
		return true
	}
	return false
}

// sonicSpan lists names, in full up to eight.
func sonicSpan(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "nothing"
	case n > 8:
		return fmt.Sprintf("%s, ..., %s (%d in all)", strings.Join(names[:4], ", "), names[n-1], n)
	}
	return strings.Join(names, ", ")
}
