package topo

import (
	"fmt"
	"slices"

	"softswitch/internal/stat"
)

// Limits of a jellyfish.
const (
	maxJellyfish = 1000
	redraws      = 100 // of a graph that cannot be completed
)

// Jellyfish makes a random regular graph of switches (Singla et al., "Jellyfish:
// Networking Data Centers Randomly", NSDI 2012, section 3): s1, s2, ..., each linked to
// degree others, no two twice, with hosts h<i>-0, h<i>-1, ... at s<i>. The ports to the
// hosts come first, then those to switches, in the order of these.
//
// The graph depends on switches, degree and seed alone. It is drawn as in the paper: free
// ports of two random switches that are not linked yet are joined while there are any;
// what is left over is put in the middle of a random link. So all graphs can come out, but
// not all equally often.
//
// switches must be 3 to 1000, degree 2 to switches-1 with an even number of ports in all,
// hosts at least 1, and degree and hosts together at most unit.MaxPorts. The error is
// also for a graph that is not connected: with degree 2 that is usual, from 3 on rare.
func Jellyfish(switches, degree, hosts int, seed uint64) (*Fabric, error) {
	if switches < 3 || switches > maxJellyfish {
		return nil, fmt.Errorf("%d switches: a jellyfish has 3 to %d", switches, maxJellyfish)
	}
	if degree < 2 || degree >= switches {
		return nil, fmt.Errorf("degree %d: each of %d switches is linked to 2 to %d others", degree, switches, switches-1)
	}
	if switches*degree%2 != 0 {
		return nil, fmt.Errorf("%d switches of degree %d: an odd number of ports, which cannot be joined in pairs; change one of them", switches, degree)
	}
	if err := checkPorts("a switch", part{degree, "links to others"}, part{hosts, "hosts"}); err != nil {
		return nil, err
	}
	d := drawing{n: switches, rand: stat.Rand(stat.Mix(seed))}
	for tries := 0; !d.draw(degree); tries++ {
		if tries == redraws {
			return nil, fmt.Errorf("no graph of %d switches of degree %d comes of seed %d: take another seed", switches, degree, seed)
		}
	}
	if s := d.apart(); s >= 0 {
		return nil, fmt.Errorf("seed %d draws a graph in pieces, s%d is not connected to s1: take another seed or a degree above %d", seed, s+1, degree)
	}
	b := newBuilder()
	b.withHosts("s%d", switches, 1, hosts)
	for x := range switches {
		for y := x + 1; y < switches; y++ {
			if d.linked(x, y) {
				b.link(x, y)
			}
		}
	}
	return b.done(inOrder), nil
}

// drawing is a graph of n switches while it is drawn.
type drawing struct {
	n     int
	rand  stat.Rand
	joint []bool // by two switches, x*n+y: they are linked
	free  []int  // a switch for each of its ports that is free
}

// draw makes a graph in which each switch has degree links. It returns false if it ends
// with ports that nothing can be done with.
func (d *drawing) draw(degree int) bool {
	d.joint, d.free = make([]bool, d.n*d.n), d.free[:0]
	for x := range d.n {
		for range degree {
			d.free = append(d.free, x)
		}
	}
	for len(d.free) > 0 {
		if !d.join() && !d.insert() {
			return false
		}
	}
	return true
}

func (d *drawing) linked(x, y int) bool { return x == y || d.joint[x*d.n+y] }

func (d *drawing) set(x, y int, linked bool) {
	d.joint[x*d.n+y], d.joint[y*d.n+x] = linked, linked
}

// join links two random switches with free ports. It returns false if none can be.
func (d *drawing) join() bool {
	for range 10 * len(d.free) {
		i, j := d.rand.Below(len(d.free)), d.rand.Below(len(d.free))
		if x, y := d.free[i], d.free[j]; !d.linked(x, y) {
			d.set(x, y, true)
			d.take(max(i, j))
			d.take(min(i, j))
			return true
		}
	}
	for i, x := range d.free { // rarely are there any that luck did not find
		for j, y := range d.free[:i] {
			if !d.linked(x, y) {
				d.set(x, y, true)
				d.take(i)
				d.take(j)
				return true
			}
		}
	}
	return false
}

// take removes free port i.
func (d *drawing) take(i int) { d.free = slices.Delete(d.free, i, i+1) }

// insert puts two free ports in the middle of a random link, whose ends are linked to them
// instead of to each other. It returns false if no link will do.
func (d *drawing) insert() bool {
	u, v := d.free[0], d.free[1]
	var links [][2]int
	for x := range d.n {
		for y := range d.n {
			if x != y && d.linked(x, y) && !d.linked(u, x) && !d.linked(v, y) {
				links = append(links, [2]int{x, y})
			}
		}
	}
	if len(links) == 0 {
		return false
	}
	l := links[d.rand.Below(len(links))]
	d.set(l[0], l[1], false)
	d.set(u, l[0], true)
	d.set(v, l[1], true)
	d.take(1)
	d.take(0)
	return true
}

// apart is a switch without a path to the first one, -1 if there is none.
func (d *drawing) apart() int {
	at := make([][]int, d.n)
	for x := range d.n {
		for y := range d.n {
			if x != y && d.linked(x, y) {
				at[x] = append(at[x], y)
			}
		}
	}
	return firstApart(at)
}
