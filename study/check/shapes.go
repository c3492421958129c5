package check

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Shape is cycles that are alike but for which switches, links and hosts of their kind they have: in all
// that a shape says.
type Shape struct {
	// Roles is what the switches are that send into the hops, in their order: the letters with which
	// the names of their level begin, such as "agg", or "tier2". Switches is how many
	// different ones there are.
	Roles    []string `json:"roles"`
	Switches int      `json:"switches"`
	// Rates are those of the links of the hops.
	Rates []unit.Rate `json:"rates_bps"`
	// When and Failed are what has to be down, and which kinds of links and switches that can be:
	// "switch agg", "agg--core and agg--core".
	When   string   `json:"when"`
	Failed []string `json:"failed"`
	// Priorities, RoutingLoop and NeedsBackup are those of each cycle.
	Priorities  []int `json:"priorities"`
	RoutingLoop bool  `json:"routing_loop"`
	NeedsBackup bool  `json:"needs_backup"`
	ByFlows     bool  `json:"by_flows"` // flows of the file close it, not only hosts could
	Flooded     bool  `json:"flooded"`  // frames take some of its turns by flooding
	// Count is how many of the listed cycles have the shape, and Example the number of the likeliest, from 1.
	Count   int `json:"count"`
	Example int `json:"example"`

	first int // hop of the example that is the first of Roles
}

// setShapes puts the cycles of the report into shapes, in the order of their likeliest cycles.
func (k *Checked) setShapes() {
	r := k.Report
	r.Shapes = []Shape{}
	roles := rolesOf(k.plan.Fabric)
	index := map[string]int{}
	for i := range r.Cycles {
		s, key := k.shape(&r.Cycles[i], roles)
		at, met := index[key]
		if !met {
			at = len(r.Shapes)
			index[key] = at
			s.Example = i + 1
			r.Shapes = append(r.Shapes, s)
		}
		r.Shapes[at].Count++
	}
}

// shape is the shape of a cycle, with a key that all cycles of the shape have.
func (k *Checked) shape(cy *Cycle, roles []string) (s Shape, key string) {
	c := k.checker
	n := len(cy.Hops)
	hops := make([]string, n)
	from := make([]int, n)
	for i, e := range cy.merged.edges {
		at := c.portOf(c.tail(e))
		from[i] = int(c.ports[at.peer].sw)
		h := &cy.Hops[i]
		hops[i] = fmt.Sprint(roles[from[i]], " ", k.plan.Links[at.link].Rate, " ", h.Priority, " ", h.Members)
		s.Flooded = s.Flooded || cy.Turns[i].Flooded
	}
	s.first = leastTurn(hops)
	for i := range n {
		j := (s.first + i) % n
		s.Roles = append(s.Roles, roles[from[j]])
		s.Rates = append(s.Rates, k.plan.Links[c.portOf(c.tail(cy.merged.edges[j])).link].Rate)
	}
	slices.Sort(from)
	s.Switches = len(slices.Compact(from))
	s.When, s.Failed, s.Priorities = cy.When, append([]string{}, cy.merged.failed...), cy.Priorities
	s.RoutingLoop, s.NeedsBackup, s.ByFlows = cy.RoutingLoop, cy.NeedsBackup, len(cy.Flows) > 0
	turned := slices.Concat(hops[s.first:], hops[:s.first])
	return s, fmt.Sprint(turned, s.Switches, s.When, s.Failed, s.Priorities, s.RoutingLoop, s.NeedsBackup, s.ByFlows, s.Flooded)
}

// leastTurn is where to begin a ring of words so that it is the least in the order of words.
func leastTurn(ring []string) int {
	least := 0
	for i := range ring {
		if slices.Compare(slices.Concat(ring[i:], ring[:i]), slices.Concat(ring[least:], ring[:least])) < 0 {
			least = i
		}
	}
	return least
}

// name is the roles in a row, with how many switches there are if some are passed twice, and the rates unless
// all links between switches have one rate.
func (s *Shape) name(oneRate bool) string {
	text := strings.Join(s.Roles, "-")
	if s.Switches < len(s.Roles) {
		text += fmt.Sprintf(" of %s", unit.Count(s.Switches, "switch"))
	}
	if oneRate {
		return text
	}
	rates := slices.Compact(slices.Clone(s.Rates))
	return text + " at " + strings.Join(lists.Map(rates, unit.Rate.String), ", ")
}

// why is what the cycles of a shape need, in words.
func (s *Shape) why() string {
	text := s.When
	if len(s.Failed) > 0 {
		text += ": " + strings.Join(s.Failed, " or ")
	}
	return text
}

// closed is how cycle cy, the example of s, closes; mixed says that cycles of other shapes rest on other routes.
func (s *Shape) closed(cy *Cycle, mixed bool) string {
	text := "hosts could close it"
	if s.ByFlows {
		text = "the flows " + some(cy.Flows) + " close it"
		if s.Count > 1 {
			text = "flows of the file close each"
		}
	}
	text += ", in " + inPriorities(s.Priorities)
	if s.RoutingLoop {
		text += "; a routing loop"
	}
	if s.Flooded {
		text += "; by flooding"
	}
	if s.NeedsBackup && mixed {
		text += "; only by backup routes"
	}
	return text
}
