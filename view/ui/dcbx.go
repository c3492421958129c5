package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"softswitch/event"
	"softswitch/internal/lists"
	"softswitch/link/lldp"
	"softswitch/oracle"
	"softswitch/unit"
)

// Mismatch is what the end of a link that Dir leaves hears by LLDP: its far end says something else.
type Mismatch struct {
	Dir  int    `json:"d"`
	What string `json:"w"` // PFC, ETS or APP
	Text string `json:"t"`
}

// mismatchOf names one of them: a port by the direction that leaves it.
type mismatchOf struct {
	dir     int
	feature lldp.Feature
}

// dcbx notes that the two ends of a link say different things, or no longer do.
func (m *model) dcbx(e oracle.Entry) {
	d, ok := m.w.ports[unit.NodePort{Node: e.Node, Port: e.Port}]
	if !ok {
		return
	}
	key, link := mismatchOf{d, e.Feature}, m.w.links[d/2].Name
	if e.Type == event.DCBXAgreed {
		delete(m.differs, key)
		m.tell(e.At, "link", "%s: the ends of %s agree again on %s", m.name(e.Node), link, e.Feature.Says())
		return
	}
	text := fmt.Sprintf("the ends of %s disagree on %s", link, e.Feature.Says())
	if e.Feature.OfPriorities() {
		text += fmt.Sprintf(": %s at %s, %s at %s", unit.PrioritySet(e.Bytes), m.name(e.Node), unit.PrioritySet(e.Limit), m.w.nodes[m.w.to(d)].Name)
	}
	m.differs[key] = text
	m.tell(e.At, "link", "%s", text)
}

// mismatches are those that last, by direction.
func (m *model) mismatches() []Mismatch {
	keys := slices.SortedFunc(maps.Keys(m.differs), func(a, b mismatchOf) int {
		return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.feature, b.feature))
	})
	return lists.Map(keys, func(k mismatchOf) Mismatch {
		return Mismatch{k.dir, strings.ToUpper(k.feature.String()), m.differs[k]}
	})
}
