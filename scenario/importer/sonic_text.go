package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// text is the scenario file.
func (r *sonicReader) text(name string, f sonicFabric, q qos, b buffers, e egress, mtu int, by routes) Imported {
	var s strings.Builder
	fmt.Fprintf(&s, "name: %q\n\ntopology:\n", name)
	list(&s, "switches", lists.Map(r.configs, func(c *configDB) string { return yamlName(c.name) }))
	list(&s, "hosts", lists.Map(f.hosts, yamlName))
	if len(f.shared) > 0 {
		list(&s, "shared_address", lists.Map(f.shared, yamlName))
	}
	list(&s, "links", lists.Map(f.links, func(l sonicLink) string { return l.names() }))
	head := "  lags:\n"
	for _, l := range f.lags {
		fmt.Fprintf(&s, "%s    - {link: %q}\n", head, l)
		head = ""
	}
	by.write(&s)
	if by.kind == RoutingBGP && len(f.as) > 0 {
		s.WriteString("  shared_as:\n")
		for _, as := range f.as {
			fmt.Fprintf(&s, "    - [%s]\n", strings.Join(lists.Map(as, yamlName), ", "))
		}
	}
	if mtu > 0 {
		fmt.Fprintf(&s, "  mtu: %d\n", mtu)
	}
	writeLinks(&s, f.links, e)
	writePorts(&s, f.links, q, b, mtu)
	if b.profile.String() != "{}" {
		fmt.Fprintf(&s, "\n# %q\nbuffer: %s\n", b.profile.name, &b.profile)
	}
	if e.sched != "" {
		fmt.Fprintf(&s, "\nscheduler: %s\n", e.sched)
	}
	fmt.Fprintf(&s, "\npfc: {lossless: [%s]}\n", commas(q.lossless))
	if e.ecn != "" {
		fmt.Fprintf(&s, "congestion: {ecn: %s, cnp_priority: %d}\n", e.ecn, e.cnp)
	}
	if e.detector != "" {
		fmt.Fprintf(&s, "detector: %s\nwatchdog: %s\n", e.detector, e.watchdog)
	}
	s.WriteString("\nduration: 1s\n")
	var codes []string
	for c := range unit.Priorities {
		if points := q.codes[c]; points != nil {
			codes = append(codes, fmt.Sprintf("priority %d is DSCP %s", c, commas(points)))
		}
	}
	if codes != nil {
		r.tell("By the files %s", strings.Join(codes, "; "))
	}
	return r.imported(fmt.Sprintf("Made of the configurations of %s. %s.", unit.Count(len(r.configs), "SONiC switch"), by), []byte(s.String()))
}

// commas lists numbers as YAML and people do.
func commas(numbers []int) string { return strings.ReplaceAll(join(numbers), ",", ", ") }

// yamlName is a name as it can stand in a list of YAML.
func yamlName(name string) string {
	if slices.Contains([]string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(name)) {
		return strconv.Quote(name)
	}
	return name
}

// writeLinks writes the rate and the cable of most links, and what others have.
func writeLinks(b *strings.Builder, links []sonicLink, e egress) {
	speeds, cables := map[int]int{}, map[int]int{}
	usual, usualCable := 0, 0
	for _, l := range links {
		if speeds[l.speed]++; speeds[l.speed] > speeds[usual] {
			usual = l.speed
		}
		if cables[l.cable]++; cables[l.cable] > cables[usualCable] {
			usualCable = l.cable
		}
	}
	fmt.Fprintf(b, "  rate: %s\n", rate(usual))
	if usualCable > 0 {
		fmt.Fprintf(b, "  cable: %s\n", metres(usualCable))
	}
	head := "  overrides:\n"
	ids := linkIDs(links)
	for i, l := range links {
		own := ""
		if l.speed != usual {
			own += ", rate: " + rate(l.speed)
		}
		if l.cable != usualCable {
			own += ", cable: " + metres(l.cable)
		}
		own += e.override(&l)
		if own != "" {
			fmt.Fprintf(b, "%s    - {link: %q%s}\n", head, ids[i], own)
			head = ""
		}
	}
}

// evenly is the scheduler of a port whose queues have none.
var evenly = func() string {
	var all []string
	for c := range unit.Priorities {
		all = append(all, fmt.Sprintf("%d: {type: dwrr, weight: 1}", c))
	}
	return "{" + strings.Join(all, ", ") + "}"
}()

// override is the scheduler of a link's ports, if it is not that of most.
func (e *egress) override(l *sonicLink) string {
	if l.b.at == nil {
		if e.own[l.a] == e.sched {
			return ""
		}
		return ", scheduler: " + cmp.Or(e.own[l.a], evenly)
	}
	if e.own[l.a] == e.sched && e.own[l.b] == e.sched {
		return ""
	}
	a, b := cmp.Or(e.own[l.a], evenly), cmp.Or(e.own[l.b], evenly)
	if a == b {
		return ", scheduler: " + a
	}
	return fmt.Sprintf(", scheduler: [%s, %s]", a, b)
}

// linkIDs are the names of links, which tell those between the same two nodes apart.
func linkIDs(links []sonicLink) (ids []string) {
	nth := map[string]int{}
	for _, l := range links {
		id := l.names()
		if nth[id]++; nth[id] > 1 {
			id = fmt.Sprintf("%s#%d", id, nth[id])
		}
		ids = append(ids, id)
	}
	return ids
}

// writePorts writes what ports have of their own. A host's port has the lossless priorities of the
// switch's.
func writePorts(s *strings.Builder, links []sonicLink, q qos, b buffers, mtu int) {
	var ports lists.Groups[string, string] // by the rest of an entry, the links
	for i, id := range linkIDs(links) {
		l := &links[i]
		own := func(e end) (text string) {
			if !slices.Equal(q.of[e], q.lossless) {
				text += fmt.Sprintf(", lossless: [%s]", commas(q.of[e]))
			}
			return text
		}
		rest := func(e end) (text string) {
			if m := q.maps[e]; m != "" {
				text = fmt.Sprintf(", dscp_map: {%s}", m)
			}
			if q.asymmetric[e] && !b.silent[e] {
				text += ", pfc: asymmetric"
			}
			return text + b.keys(l, e, q.of[e], mtu)
		}
		add := func(at, text string) {
			if text != "" {
				ports.Add(at+text, strconv.Quote(id))
			}
		}
		if l.b.at == nil {
			add("", own(l.a))
			add(fmt.Sprintf(", at: %q", l.a.at.name), rest(l.a))
			continue
		}
		one, two := own(l.a)+rest(l.a), own(l.b)+rest(l.b)
		if one == two {
			add("", one)
			continue
		}
		add(fmt.Sprintf(", at: %q", l.a.at.name), one)
		add(fmt.Sprintf(", at: %q", l.b.at.name), two)
	}
	if len(ports.Keys) > 0 {
		s.WriteString("  ports:\n")
	}
	for _, own := range ports.Keys {
		names := strings.Join(ports.Of[own], ", ")
		if len(ports.Of[own]) > 1 {
			names = "[" + names + "]"
		}
		fmt.Fprintf(s, "    - {link: %s%s}\n", names, own)
	}
}

// names is a link as a scenario names it.
func (l *sonicLink) names() string {
	if l.host != "" {
		return l.a.at.name + "--" + l.host
	}
	return l.a.at.name + "--" + l.b.at.name
}

func rate(mbit int) string {
	if mbit%1000 == 0 {
		return strconv.Itoa(mbit/1000) + "Gbit/s"
	}
	return strconv.Itoa(mbit) + "Mbit/s"
}

// list writes a list of names over several lines.
func list(b *strings.Builder, key string, names []string) {
	line := "  " + key + ": ["
	indent := strings.Repeat(" ", len(line))
	for i, n := range names {
		if i > 0 {
			line += ","
			if len(line)+len(n) > width {
				b.WriteString(line + "\n")
				line = indent
			} else {
				line += " "
			}
		}
		line += n
	}
	b.WriteString(line + "]\n")
}
