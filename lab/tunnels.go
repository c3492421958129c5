package lab

import (
	"context"

	"softswitch/internal/control"
	netnslab "softswitch/netns-lab"
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
	for i, l := range r.Plan.Links {
		between := r.Plan.Fabric.Nodes[l.A.Node].Kind == topo.Switch && r.Plan.Fabric.Nodes[l.B.Node].Kind == topo.Switch
		if !between || spared[i] || r.spared(l.A.Name) || r.spared(l.B.Name) {
			continue
		}
		r.doubtTunnel(st, l.A, l.B)
		r.doubtTunnel(st, l.B, l.A)
	}
}

func (r *Run) spared(node string) bool { return r.Killed[node] || r.Stopped[node] }

// doubtTunnel checks one direction of a link. What was sent before the receiver was counted,
// and has not come, is lost.
func (r *Run) doubtTunnel(st *netnslab.State, from, to scenario.LinkEnd) {
	var most uint64
	for range countings {
		before, okBefore := frames(st, from, observe.Port.Sent)
		came, okCame := frames(st, to, observe.Port.Came)
		after, okAfter := frames(st, from, observe.Port.Sent)
		if !okBefore || !okCame || !okAfter { // collect has said so
			return
		}
		if before > came {
			most = max(most, before-came)
		}
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
	var now observe.Switch
	if err := control.Call(controlPath(st, end.Name), "stats", nil, &now); err != nil {
		return 0, false
	}
	for _, p := range now.Ports {
		if p.Name == end.Iface {
			return count(p), true
		}
	}
	return 0, false
}
