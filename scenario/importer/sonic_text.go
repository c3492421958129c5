package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// text is the scenario file.
func (r *sonicReader) text(name string, links []sonicLink, lags []string, q qos) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Made of the configurations of %s. Routes are shortest paths, those\n# that fail fall back as routes of a scenario do.\n", unit.Count(len(r.configs), "SONiC switch"))
	for priority := range unit.Priorities {
		if points := q.dscp[priority]; points != nil {
			fmt.Fprintf(&b, "# Priority %d: DSCP %s.\n", priority, strings.ReplaceAll(join(points), ",", ", "))
		}
	}
	for _, n := range r.notes {
		fmt.Fprintf(&b, "# %s.\n", n)
	}
	fmt.Fprintf(&b, "name: %q\n\ntopology:\n", name)
	var hosts, all []string
	speeds, cables := map[int]int{}, map[int]int{}
	usual, usualCable := 0, 0
	for _, l := range links {
		if l.host != "" {
			hosts = append(hosts, l.host)
		}
		all = append(all, l.names())
		if speeds[l.speed]++; speeds[l.speed] > speeds[usual] {
			usual = l.speed
		}
		if cables[l.cable]++; cables[l.cable] > cables[usualCable] {
			usualCable = l.cable
		}
	}
	list(&b, "switches", lists.Map(r.configs, func(c *configDB) string { return c.name }))
	list(&b, "hosts", hosts)
	list(&b, "links", all)
	head := "  lags:\n"
	for _, l := range lags {
		fmt.Fprintf(&b, "%s    - {link: %q}\n", head, l)
		head = ""
	}
	if q.mtu > 0 {
		fmt.Fprintf(&b, "  mtu: %d\n", q.mtu)
	}
	fmt.Fprintf(&b, "  rate: %s\n", rate(usual))
	if usualCable > 0 {
		fmt.Fprintf(&b, "  cable: %s\n", metres(usualCable))
	}
	head = "  overrides:\n"
	ids := linkIDs(links)
	for i, l := range links {
		id := ids[i]
		own := ""
		if l.speed != usual {
			own += ", rate: " + rate(l.speed)
		}
		if l.cable != usualCable {
			own += ", cable: " + metres(l.cable)
		}
		if own != "" {
			fmt.Fprintf(&b, "%s    - {link: %q%s}\n", head, id, own)
			head = ""
		}
	}
	q.writePorts(&b, links)
	q.profile.write(&b)
	fmt.Fprintf(&b, "\npfc: {lossless: [%s]}\n\nduration: 1s\n", strings.ReplaceAll(join(q.lossless), ",", ", "))
	return []byte(b.String())
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

// writePorts writes the ports with other lossless priorities than most, and those with asymmetric PFC. A
// host's port has the lossless priorities of the switch's.
func (q *qos) writePorts(b *strings.Builder, links []sonicLink) {
	var ports lists.Groups[string, string] // by the rest of an entry, the links
	for i, id := range linkIDs(links) {
		l := &links[i]
		write := func(at string, e end) {
			if !slices.Equal(q.of[e], q.lossless) {
				ports.Add(fmt.Sprintf("%s, lossless: [%s]", at, strings.ReplaceAll(join(q.of[e]), ",", ", ")), strconv.Quote(id))
			}
		}
		if l.b.at == nil || slices.Equal(q.of[l.a], q.of[l.b]) {
			write("", l.a)
		} else {
			write(fmt.Sprintf(", at: %q", l.a.at.name), l.a)
			write(fmt.Sprintf(", at: %q", l.b.at.name), l.b)
		}
		for _, e := range []end{l.a, l.b} {
			if q.asymmetric[e] {
				ports.Add(fmt.Sprintf(", at: %q, pfc: asymmetric", e.at.name), strconv.Quote(id))
			}
		}
	}
	if len(ports.Keys) > 0 {
		b.WriteString("  ports:\n")
	}
	for _, own := range ports.Keys {
		names := strings.Join(ports.Of[own], ", ")
		if len(ports.Of[own]) > 1 {
			names = "[" + names + "]"
		}
		fmt.Fprintf(b, "    - {link: %s%s}\n", names, own)
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

// width is how long lines of lists are.
const width = 100

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

// write writes the profile as the buffer of a scenario.
func (p *profile) write(b *strings.Builder) {
	if text := p.text(); text != "{}" {
		fmt.Fprintf(b, "\n# %q\nbuffer: %s\n", p.name, text)
	}
}

// text is the profile as a scenario has it.
func (p *profile) text() string {
	size := p.size
	if n, err := strconv.Atoi(size); err == nil && n < 1 {
		size = "1"
	}
	var all []string
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
			all = append(all, f[0]+": "+f[1])
		}
	}
	return "{" + strings.Join(all, ", ") + "}"
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
