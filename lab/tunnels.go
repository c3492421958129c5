package lab

import (
	"context"
	"slices"

	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/topo"
)

// countings is how often both ends of a link are counted, at most, until nothing is sent
// between two countings of the sender.
const countings = 5

// doubtTunnels checks for frames that were lost between two switches of an attached lab: what
// carries their link is not of this machine. The hosts are stopped first. A link that the
// scenario failed, or whose switch it stopped or killed, loses frames by right.
func (r *Run) doubtTunnels(st *netnslab.State) {
	stopAll(context.Background(), ends(st, hosts(r.Plan))) // one that is gone sends nothing
	spared := map[int]bool{}
	for _, e := range r.Plan.Events {
		if e.Do == scenario.Fail {
			spared[e.Link] = true
		}
	}
	r.eachTunnel(func(i int, from, to scenario.LinkEnd) {
		if !spared[i] && !r.spared(from.Name) && !r.spared(to.Name) {
			r.doubtTunnel(st, from, to)
		}
	})
}

// eachTunnel calls do for both directions of each link between switches, with its index.
func (r *Run) eachTunnel(do func(i int, from, to scenario.LinkEnd)) {
	for i, l := range r.Plan.Links {
		if r.Plan.Fabric.Nodes[l.A.Node].Kind == topo.Switch && r.Plan.Fabric.Nodes[l.B.Node].Kind == topo.Switch {
			do(i, l.A, l.B)
			do(i, l.B, l.A)
		}
	}
}

func (r *Run) spared(node string) bool { return r.Killed[node] || r.Stopped[node] }

// countTunnels notes what the links between switches have lost before the run: nodes begin one after
// the other, and what the first say, nobody hears.
func (r *Run) countTunnels(st *netnslab.State) {
	r.lostBefore = map[scenario.LinkEnd]int64{}
	r.eachTunnel(func(_ int, from, to scenario.LinkEnd) { r.countTunnel(st, from, to) })
}

// countTunnel is countTunnels for one direction of a link. Frames under way when the ends are counted are not
// lost: so the lowest difference counts, until it is the same twice while nothing is sent. It is negative if
// the receiver has counted for longer than the sender, which restarted.
func (r *Run) countTunnel(st *netnslab.State, from, to scenario.LinkEnd) {
	for i := range countings {
		lost, still, ok := missing(st, from, to)
		if !ok { // collect will say so
			return
		}
		least := r.lostBefore[from]
		if i == 0 || lost < least {
			r.lostBefore[from] = lost
		} else if lost == least && still {
			return
		}
	}
}

// doubtTunnel checks one direction of a link. What was sent before the receiver was counted,
// and has not come, is lost.
func (r *Run) doubtTunnel(st *netnslab.State, from, to scenario.LinkEnd) {
	var most int64
	for range countings {
		lost, still, ok := missing(st, from, to)
		if !ok { // collect has said so
			return
		}
		if most = max(most, lost-r.lostBefore[from]); still {
			break
		}
	}
	if most > 0 {
		r.doubt("%d frames from %s to %s were lost between them", most, from.Name, to.Name)
	}
}

// missing is how many of the frames that were sent before the receiver was counted had not come by then, and
// whether the sender was still meanwhile; ok is false if one of the two does not answer.
func missing(st *netnslab.State, from, to scenario.LinkEnd) (lost int64, still, ok bool) {
	before, okBefore := frames(st, from, observe.Port.Sent)
	came, okCame := frames(st, to, observe.Port.Came)
	after, okAfter := frames(st, from, observe.Port.Sent)
	return int64(before) - int64(came), before == after, okBefore && okCame && okAfter
}

// frames counts frames of a switch's port.
func frames(st *netnslab.State, end scenario.LinkEnd, count func(observe.Port) uint64) (n uint64, ok bool) {
	now, err := client.Stats[observe.Switch](endpoint(st, end.Name))
	i := slices.IndexFunc(now.Ports, func(p observe.Port) bool { return p.Name == end.Iface })
	if err != nil || i < 0 {
		return 0, false
	}
	return count(now.Ports[i]), true
}
