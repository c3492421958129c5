package topo

import "slices"

// Protocol is what the switches of a fabric know their routes from.
type Protocol uint8

// Protocols.
const (
	// Backups is shortest paths and, at each switch, ports that serve while all ports of a route are
	// down: a repair by the switch alone, as fast reroute and static backups are. Nobody is told, and
	// such a way can lead down and up again.
	Backups Protocol = iota
	// IGP is shortest paths, and nothing else: those of what is left, once a failure is known to
	// all.
	IGP
	// BGP is an AS number for each switch or for several, as RFC 7938 has it. A switch takes an announcement that
	// has not its own number, and the shortest of those; it passes on one of the shortest, the one of the
	// nearest owner's side that comes first (RFC 4271, sections 9.1.2 and 9.1.2.2). All of one length are in
	// its group (RFC 7938, section 6.1). Where the top tier has one number, no way leads down and up again.
	BGP
)

// Protocols are the names of protocols in files, by Protocol.
var Protocols = []string{Backups: "backups", IGP: "igp", BGP: "bgp"}

func (p Protocol) String() string { return Protocols[p] }

// Routing is how the switches of a fabric know their routes.
type Routing struct {
	Protocol Protocol
	// SharedAS are the switches of one AS number each, of BGP. Every other switch has a number of its own. If
	// it is nil, the numbers are those of RFC 7938, section 5.2.
	SharedAS [][]int
}

// numbers are the AS numbers of switches.
func (r *Routing) numbers(f *Fabric) []int32 {
	shared := r.SharedAS
	if shared == nil {
		shared = SharedAS(f)
	}
	as := make([]int32, f.Switches())
	for s := range as {
		as[s] = int32(s)
	}
	for _, group := range shared {
		for _, s := range group {
			as[s] = int32(group[0])
		}
	}
	return as
}

// SharedAS are the switches of one AS number each, as RFC 7938, section 5.2, assigns them. A switch's tier is how
// many links it is from hosts. Those of the highest tier share a number. Without these switches the fabric
// falls apart into clusters, in each of which those of a tier share one; at tier 0, with hosts, each has a
// number of its own.
func SharedAS(f *Fabric) (shared [][]int) {
	tier := tiers(f)
	top := slices.Max(tier)
	if top <= 0 {
		return nil
	}
	share := func(group []int) {
		if len(group) > 1 {
			shared = append(shared, group)
		}
	}
	seen := make([]bool, len(tier))
	for s := range tier {
		if tier[s] == top || seen[s] {
			continue
		}
		cluster := []int{s}
		seen[s] = true
		for i := 0; i < len(cluster); i++ {
			for _, p := range f.Nodes[cluster[i]].Ports {
				if n := p.Peer.Node; n < len(tier) && tier[n] != top && !seen[n] {
					seen[n] = true
					cluster = append(cluster, n)
				}
			}
		}
		slices.Sort(cluster)
		for t := 1; t < top; t++ {
			share(inTier(cluster, tier, t))
		}
	}
	all := make([]int, len(tier))
	for s := range all {
		all[s] = s
	}
	share(inTier(all, tier, top))
	return shared
}

func inTier(switches, tier []int, t int) (in []int) {
	for _, s := range switches {
		if tier[s] == t {
			in = append(in, s)
		}
	}
	return in
}

// tiers are how many links each switch is from the nearest host, less one: 0 has hosts. A switch that
// reaches none has -1.
func tiers(f *Fabric) []int {
	tier := slices.Repeat([]int{-1}, f.Switches())
	var queue []int
	for s := range tier {
		if slices.ContainsFunc(f.Nodes[s].Ports, func(p Port) bool { return f.Nodes[p.Peer.Node].Kind == Host }) {
			tier[s] = 0
			queue = append(queue, s)
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, p := range f.Nodes[queue[i]].Ports {
			if n := p.Peer.Node; n < len(tier) && tier[n] < 0 {
				tier[n] = tier[queue[i]] + 1
				queue = append(queue, n)
			}
		}
	}
	return tier
}
