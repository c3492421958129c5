package importer

import (
	"fmt"
	"slices"
	"strings"
)

// Routing is how routes of a scenario come about: its key topology.routing.
type Routing string

// The kinds of routing.
const (
	RoutingBGP     Routing = "bgp"     // shortest paths on which no AS number comes twice
	RoutingIGP     Routing = "igp"     // shortest paths
	RoutingBackups Routing = "backups" // shortest paths, and other ports at once where these are down
)

// Routings are all kinds.
var Routings = []Routing{RoutingBGP, RoutingIGP, RoutingBackups}

// ParseRouting reads a kind of routing; "" is what the files suggest. The error has the valid ones.
func ParseRouting(text string) (Routing, error) {
	if text == "" || slices.Contains(Routings, Routing(text)) {
		return Routing(text), nil
	}
	return "", fmt.Errorf("%q is no routing; valid: bgp, igp, backups", text)
}

// routes is a kind of routing, and why it is that one.
type routes struct {
	kind Routing
	why  string
}

// since gives a kind the reason for it.
func (r Routing) since(why string) routes { return routes{r, why} }

// or is the kind that a user says, or else one for a reason.
func (r Routing) or(usual Routing, why string) routes {
	if r != "" {
		return r.since("--routing says so")
	}
	return usual.since(why)
}

// String is the sentence for the head of a scenario.
func (r routes) String() string {
	what := map[Routing]string{
		RoutingBGP:     "shortest paths on which no AS number comes twice, without local repair",
		RoutingIGP:     "shortest paths, without local repair",
		RoutingBackups: "shortest paths, and others at once where these fail",
	}[r.kind]
	return fmt.Sprintf("Routing is %s, %s: %s", r.kind, what, r.why)
}

// write writes the key of topology.
func (r routes) write(b *strings.Builder) {
	fmt.Fprintf(b, "  routing: %s\n", r.kind)
}
