package lab

import (
	"context"

	"softswitch/internal/control"
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
	for _, i := range r.tunnels() {
		l := r.Plan.Links[i]
		if spared[i] || r.spared(l.A.Name) || r.spared(l.B.Name) {
			continue
		}
		r.doubtTunnel(st, l.A, l.B)
		r.doubtTunnel(st, l.B, l.A)
	}
}

// tunnels are the links between switches, by index.
func (r *Run) tunnels() (links []int) {
	for i, l := range r.Plan.Links {
		if r.Plan.Fabric.Nodes[l.A.Node].Kind == topo.Switch && r.Plan.Fabric.Nodes[l.B.Node].Kind == topo.Switch {
			links = append(links, i)
		}
	}
	return links
}

func (r *Run) spared(node string) bool { return r.Killed[node] || r.Stopped[node] }

// countTunnels notes what the links between switches have lost before the run: nodes begin one after
// the other, and what the first say, nobody hears.
func (r *Run) countTunnels(st *netnslab.State) {
	r.lostBefore = map[scenario.LinkEnd]int64{}
	for _, i := range r.tunnels() {
		l := r.Plan.Links[i]
		r.countTunnel(st, l.A, l.B)
		r.countTunnel(st, l.B, l.A)
	}
}

// countTunnel is countTunnels for one direction of a link. Frames under way when the ends are counted are not
// lost: so the lowest difference counts, until it is the same twice while nothing is sent. It is negative if
// the receiver has counted for longer than the sender, which restarted.
func (r *Run) countTunnel(st *netnslab.State, from, to scenario.LinkEnd) {
	for i := range countings {
		before, okBefore := frames(st, from, observe.Port.Sent)
		came, okCame := frames(st, to, observe.Port.Came)
		after, okAfter := frames(st, from, observe.Port.Sent)
		if !okBefore || !okCame || !okAfter { // collect will say so
			return
		}
		least, lost := r.lostBefore[from], int64(before)-int64(came)
		if i == 0 || lost < least {
			r.lostBefore[from] = lost
		} else if lost == least && before == after {
			return
		}
	}
}

// doubtTunnel checks one direction of a link. What was sent before the receiver was counted,
// and has not come, is lost.
func (r *Run) doubtTunnel(st *netnslab.State, from, to scenario.LinkEnd) {
	var most int64
	for range countings {
		before, okBefore := frames(st, from, observe.Port.Sent)
		came, okCame := frames(st, to, observe.Port.Came)
		after, okAfter := frames(st, from, observe.Port.Sent)
		if !okBefore || !okCame || !okAfter { // collect has said so
			return
		}
		most = max(most, int64(before)-int64(came)-r.lostBefore[from])
		if before == after {
			break
		}
	}
	if most > 0 {
		r.doubt("%d frames from %s to %s were lost between them", most, from.Name, to.Name)
	}
}

// frames counts frames of a switch's port.
func frames(st *netnslab.State, end scenario.LinkEnd, count func(observe.Port) uint64) (n uint64, ok bool) {
	now, err := client.Stats[observe.Switch](control.Endpoint{Path: controlPath(st, end.Name)})
	if err != nil {
		return 0, false
	}
	for _, p := range now.Ports {
		if p.Name == end.Iface {
			return count(p), true
		}
	}
	return 0, false
}
