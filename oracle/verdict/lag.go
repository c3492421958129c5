package verdict

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/node/observe"
	"softswitch/scenario"
)

// LAG is one direction of links that act as one.
type LAG struct {
	Switch  string      `json:"switch"` // that sends
	Name    string      `json:"name"`   // of the LAG there: "PortChannel1"
	To      string      `json:"to"`
	Members []LAGMember `json:"members"`
}

// LAGMember is what a member of a LAG carried.
type LAGMember struct {
	Link  string `json:"link"`
	Bytes uint64 `json:"bytes"` // of data frames that left
	Up    bool   `json:"up"`    // at the end
}

// countLAGs fills in what members of LAGs carried.
func (v *Verdict) countLAGs(p *scenario.Plan, switches []observe.Switch) {
	v.LAGs = nil
	for _, s := range switches {
		at, ok := p.Fabric.Node(s.Name)
		if !ok {
			continue
		}
		n := &p.Fabric.Nodes[at]
		for i := range n.LAGs {
			lag := LAG{Switch: s.Name, Name: p.Switches[at].LAGs[i].Name}
			for _, j := range p.Switches[at].LAGs[i].Ports {
				port := &s.Ports[j]
				lag.To = p.Fabric.Nodes[n.Ports[j].Peer.Node].Name
				lag.Members = append(lag.Members, LAGMember{
					Link: p.Fabric.Links[n.Ports[j].Link].Name, Up: port.Up,
					Bytes: lists.Sum(port.TxBytes[:], func(n uint64) uint64 { return n }),
				})
			}
			v.LAGs = append(v.LAGs, lag)
		}
	}
}

// String is the LAG for people: "s1 to s2: 35.0, 40.0, 25.0 % of 3000 bytes; down: s1--s2#3".
func (l LAG) String() string {
	all := lists.Sum(l.Members, func(m LAGMember) uint64 { return m.Bytes })
	text := fmt.Sprintf("%s to %s: nothing", l.Switch, l.To)
	if all > 0 {
		shares := lists.Map(l.Members, func(m LAGMember) string { return fmt.Sprintf("%.1f", 100*float64(m.Bytes)/float64(all)) })
		text = fmt.Sprintf("%s to %s: %s %% of %d bytes", l.Switch, l.To, strings.Join(shares, ", "), all)
	}
	if down := lists.Where(slices.Clone(l.Members), func(m LAGMember) bool { return !m.Up }); len(down) > 0 {
		text += "; down: " + strings.Join(lists.Map(down, func(m LAGMember) string { return m.Link }), ", ")
	}
	return text
}

// tableLAGs is how many LAGs the table has.
const tableLAGs = 16

func (v *Verdict) writeLAGs(t *table) {
	for i, l := range v.LAGs[:min(len(v.LAGs), tableLAGs)] {
		t.wrap(or("            ", i == 0, "members     "), l.String())
	}
	t.more("            and of %d more", len(v.LAGs)-tableLAGs)
}
