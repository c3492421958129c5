package decode

import (
	"fmt"
	"regexp"

	"softswitch/unit"
)

// PortName is the name of a port, NODE:PORT, with what frames call the port.
type PortName struct {
	Number unit.NodePort // in labels and messages; all zero for a host's
	MAC    unit.MAC      // of the frames that it sends
	Name   string
}

// names are the names of ports that the user has given; all has them by number, senders by address.
type names struct {
	all     map[unit.NodePort]string
	senders map[string]string
}

func newNames(list []PortName) names {
	n := names{all: map[unit.NodePort]string{}, senders: map[string]string{}}
	for _, p := range list {
		n.senders[p.MAC.String()] = p.Name
		if p.Number.Node != 0 {
			n.all[p.Number] = p.Name
		}
	}
	return n
}

// name gives the ports of rec their names. What the capture says of its interfaces, known, comes before
// what the user has said.
func (n names) name(rec *Record, known map[unit.NodePort]string) {
	rec.nameOf = func(at unit.NodePort) string {
		if name := known[at]; name != "" {
			return name
		}
		return n.all[at]
	}
	rec.SrcName = n.senders[rec.Src]
	if t := rec.ITSY; t != nil {
		t.Initiator.name(rec.nameOf)
		t.Trigger.name(rec.nameOf)
	}
	if d := rec.Diagnosis; d != nil {
		d.Owner.name(rec.nameOf)
	}
}

func (p *NodePort) name(of func(unit.NodePort) string) {
	p.Name = of(unit.NodePort{Node: p.Node, Port: p.Port})
}

// aPort is a port in the text of a TLV: its switch and its number there.
var aPort = regexp.MustCompile(`\b(from|trigger) (\d+)\.(\d+)\b`)

// named puts the names of ports before their numbers, as far as they are known.
func (rec Record) named(text string) string {
	if rec.nameOf == nil {
		return text
	}
	return aPort.ReplaceAllStringFunc(text, func(said string) string {
		m := aPort.FindStringSubmatch(said)
		var at unit.NodePort
		fmt.Sscan(m[2]+" "+m[3], &at.Node, &at.Port)
		name := rec.nameOf(at)
		if name == "" {
			return said
		}
		return fmt.Sprintf("%s %s (%s.%s)", m[1], printable(name), m[2], m[3])
	})
}
