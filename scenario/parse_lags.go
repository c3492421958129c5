package scenario

import (
	"errors"
	"fmt"

	"softswitch/internal/strictyaml"
	"softswitch/topo"
)

// fileLAG is a link aggregation group (IEEE 802.1AX; SONiC: PortChannel): all links between two switches
// act as one, to routes, ECMP and flooding. A flow takes one of those that are up, by its hash. PFC stays
// with each link. It is static: no LACP is spoken, and a member takes part as long as its link is up.
type fileLAG struct {
	// Link is a link between the two switches; a list makes a LAG of each.
	Link strictyaml.Some[string] `yaml:"link" schema:"link,required"`
	// Members is how many links there are between the two. Those that are missing are added: "s1--s2#2"
	// and so on. A missing key is those that there are.
	Members *int `yaml:"members" schema:"2..64"`
}

// aggregate returns f with its LAGs, or f if they cannot be.
func (p *parser) aggregate(f *topo.Fabric, list []fileLAG) *topo.Fabric {
	var all []topo.Aggregation
	var paths []string
	p.fabric = f
	for i, l := range list {
		path := fmt.Sprintf("topology.lags[%d]", i)
		if p.Faulty(path) {
			return f
		}
		for j, link := range l.Link {
			at := path + ".link"
			if len(l.Link) > 1 {
				at = fmt.Sprintf("%s[%d]", at, j)
			}
			if _, ok := p.link(at, link); !ok {
				return f
			}
			all, paths = append(all, topo.Aggregation{Link: link, Members: or(l.Members, 0)}), append(paths, at)
		}
	}
	g, err := topo.Aggregate(f, all)
	var at *topo.AggregationError
	if errors.As(err, &at) {
		p.Faultf(paths[at.Index], "%s", at.Text)
		return f
	}
	return g
}

// lagRates checks that the members of a LAG have one rate, as IEEE 802.1AX, 6.1.1, has it: a flow would
// fare by its hash.
func (p *parser) lagRates(f *topo.Fabric, links []LinkSpeed) {
	for _, lag := range f.LAGs {
		first := lag.Links[0]
		for _, l := range lag.Links[1:] {
			if links[l].Rate != links[first].Rate {
				p.Faultf("topology.lags", "%s has %s, and %s has %s: the members of a LAG have one rate", f.Links[first].Name, links[first].Rate, f.Links[l].Name, links[l].Rate)
				break
			}
		}
	}
}
