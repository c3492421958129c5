package export

import (
	"slices"

	"softswitch/internal/stat"
	netnslab "softswitch/netns-lab"
)

// starts is from how many ways to divide a lab a better one is sought.
const starts = 200

// Place divides the nodes of a lab among this number of machines, and returns the machine of each.
//
// A switch and its hosts stay together. All machines get about the same number of nodes: at most
// an equal share and one more switch with its hosts. The switches, in the order of the lab and
// then in others, are cut into one run for each machine. Moving a switch or exchanging two
// improves the runs, as long as that cuts fewer links (after Kernighan and Lin, "An Efficient
// Heuristic Procedure for Partitioning Graphs", 1970). The division that cuts the fewest links is
// taken; among equals the one whose largest part is smallest, then the one that keeps most
// neighbours in the order of the lab together, such as a pod's. The machines are numbered in
// that order too.
func Place(l netnslab.Lab, machines int) []int {
	p := newPlaces(l, machines)
	order := make([]int, len(p.weight))
	for i := range order {
		order[i] = i
	}
	var best []int
	var least [3]int
	random := stat.Rand(1)
	for range starts {
		at := p.runs(order)
		p.improve(at)
		costs := [3]int{p.cut(at), p.largest(at), changes(at)}
		if best == nil || slices.Compare(costs[:], least[:]) < 0 {
			best, least = at, costs
		}
		for i := range order {
			k := i + random.Below(len(order)-i)
			order[i], order[k] = order[k], order[i]
		}
	}
	number := make([]int, machines) // as met first, from 1
	at, met := make([]int, len(l.Nodes)), 0
	for i := range at {
		m := best[p.group[i]]
		if number[m] == 0 {
			met++
			number[m] = met
		}
		at[i] = number[m] - 1
	}
	return at
}

// changes is how often one group is on another machine than the one before it.
func changes(at []int) (n int) {
	for i := range at[1:] {
		if at[i] != at[i+1] {
			n++
		}
	}
	return n
}

// places is a lab as groups, of a switch and its hosts each.
type places struct {
	machines int
	group    []int   // by node
	weight   []int   // nodes, by group
	all      int     // nodes of all groups
	links    [][]int // between groups
	most     int     // nodes of a machine
}

func newPlaces(l netnslab.Lab, machines int) *places {
	p := &places{machines: machines, group: make([]int, len(l.Nodes))}
	number := map[string]int{}
	for i, n := range l.Nodes {
		number[n.Name] = i
		p.group[i] = -1
		if n.Kind == "switch" {
			p.group[i] = len(p.weight)
			p.weight = append(p.weight, 1)
		}
	}
	for _, k := range l.Links {
		a, b := number[k.A.Node], number[k.B.Node]
		if p.group[a] < 0 {
			a, b = b, a
		}
		if p.group[b] < 0 { // a host, at its first switch
			p.group[b] = p.group[a]
			p.weight[p.group[a]]++
		}
	}
	p.links = make([][]int, len(p.weight))
	for i := range p.links {
		p.links[i] = make([]int, len(p.weight))
	}
	for _, k := range l.Links {
		a, b := p.group[number[k.A.Node]], p.group[number[k.B.Node]]
		p.links[a][b]++
		p.links[b][a]++
	}
	heaviest := 0
	for _, w := range p.weight {
		heaviest, p.all = max(heaviest, w), p.all+w
	}
	p.most = (p.all+machines-1)/machines + heaviest
	return p
}

// runs gives each machine a run of groups of about the same weight.
func (p *places) runs(order []int) []int {
	at := make([]int, len(p.weight))
	before := 0
	for _, g := range order {
		at[g] = min((2*before+p.weight[g])*p.machines/(2*p.all), p.machines-1)
		before += p.weight[g]
	}
	return at
}

// cut is how many links lead from a machine to another.
func (p *places) cut(at []int) (n int) {
	for a := range at {
		for b := range a {
			if at[a] != at[b] {
				n += p.links[a][b]
			}
		}
	}
	return n
}

// largest is the number of nodes of the machine that has most.
func (p *places) largest(at []int) int {
	load := make([]int, p.machines)
	for g, m := range at {
		load[m] += p.weight[g]
	}
	return slices.Max(load)
}

// improve moves and exchanges groups as long as that cuts fewer links.
func (p *places) improve(at []int) {
	load := make([]int, p.machines)
	toward := make([][]int, len(at)) // links of a group to a machine
	for g, m := range at {
		load[m] += p.weight[g]
		toward[g] = make([]int, p.machines)
		for other, n := range p.links[g] {
			if other != g {
				toward[g][at[other]] += n
			}
		}
	}
	move := func(g, to int) {
		from := at[g]
		for other, n := range p.links[g] {
			if other != g {
				toward[other][from], toward[other][to] = toward[other][from]-n, toward[other][to]+n
			}
		}
		load[from], load[to] = load[from]-p.weight[g], load[to]+p.weight[g]
		at[g] = to
	}
	for better := true; better; {
		better = false
		for a := range at {
			for m := range p.machines {
				if m != at[a] && load[m]+p.weight[a] <= p.most && load[at[a]] > p.weight[a] && toward[a][m] > toward[a][at[a]] {
					move(a, m)
					better = true
				}
			}
			for b := range a {
				from, to, more := at[a], at[b], p.weight[b]-p.weight[a]
				if from == to || load[from]+more > p.most || load[to]-more > p.most {
					continue
				}
				if toward[a][to]+toward[b][from]-2*p.links[a][b] > toward[a][from]+toward[b][to] {
					move(a, to)
					move(b, from)
					better = true
				}
			}
		}
	}
}
