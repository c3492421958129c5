package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/study/cause"
	"softswitch/topo"
	"softswitch/unit"
)

// Types of answers in addition to those of detect.CauseTypes.
const (
	Switch   = "switch"    // a port of a switch is named, and not why
	NoAnswer = "no answer" // nothing is named
)

// Types are all types of answers, in the order of reports.
func Types() []string {
	return append(lists.Map(detect.CauseTypes[:], detect.CauseType.String), Switch, NoAnswer)
}

// typeOf is the type of an answer that is right about a disturbance.
func typeOf(d Disturbance) string {
	switch d {
	case Incast, Hog:
		return detect.CauseContention.String()
	case RoutingLoop:
		return detect.CauseRouting.String()
	case Flooding:
		return detect.CauseFlooding.String()
	case LinkFailure:
		return detect.CauseLink.String()
	}
	return detect.CauseHost.String()
}

// Answer is something that is named as the cause of a deadlock: a host, or flows.
type Answer struct {
	Type   string // one of Types
	At     unit.NodePort
	Host   string   // of detect.CauseHost
	Flows  []string // of other types
	OnLoop bool
	Turn   *cause.Turn      // what is named is this turn of the loop; Flows wait there
	Set    *cause.Treatment // what is named is all of this; Host or Flows are of it
	// Together: it is named together with the one before it.
	Together bool
}

// together is the likeliest of answers, and those that are named together with it: their
// flows, and what handles them all.
func together(answers []Answer) (flows []string, all cause.Treatment) {
	for i, a := range answers {
		if i > 0 && !a.Together {
			break
		}
		flows = withAll(flows, a.Flows)
		t := a.treatment()
		all.Hosts = withAll(all.Hosts, t.Hosts)
		all.Flows = withAll(all.Flows, t.Flows)
		all.Turns = withAll(all.Turns, t.Turns)
	}
	return flows, all
}

// withAll is all with those of more that it does not have.
func withAll[T comparable](all, more []T) []T {
	for _, x := range more {
		if !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

// treatment handles what the answer names.
func (a *Answer) treatment() cause.Treatment {
	if a.Set != nil {
		return *a.Set
	}
	if a.Host != "" {
		return cause.Treatment{Hosts: []string{a.Host}}
	}
	if a.Turn != nil {
		return cause.Treatment{Turns: []cause.Turn{*a.Turn}}
	}
	return cause.Treatment{Flows: a.Flows}
}

// text names it for people.
func (a *Answer) text(p *scenario.Plan) string {
	if a.Host != "" {
		return "host " + a.Host
	}
	port := ""
	if i := slices.IndexFunc(p.Fabric.Nodes, func(n topo.Node) bool { return n.ID == a.At.Node }); i >= 0 {
		port = p.Fabric.Nodes[i].Name + ":" + p.Fabric.Nodes[i].Ports[a.At.Port].Name
	}
	return fmt.Sprintf("%s %s, flows %s", a.Type, port, strings.Join(a.Flows, ", "))
}

// named is what a finding names, and the diagnosis after it: the likeliest first. If
// there is no diagnosis it is the initial trigger, with the flows that waited in the
// queue in which the priority group of the trigger had most bytes when it went XOFF.
func (h *watch) named(r *oracle.Result, f oracle.Finding) (all []Answer) {
	if d := r.Diagnosis(f); d != nil {
		for _, c := range d.Causes {
			a := Answer{Type: c.Type.String(), At: c.At, OnLoop: c.OnLoop, Together: c.Together}
			if c.Type == detect.CauseHost {
				a.Host = hostAt(r.Fabric, c.At)
			} else {
				a.Flows = h.flowNames(c.Flows[:])
				if c.In != unit.NoPort {
					a.Turn = &cause.Turn{Switch: r.Fabric.Name(c.At.Node), In: r.Fabric.Port(unit.NodePort{Node: c.At.Node, Port: c.In}), Out: r.Fabric.Port(c.At), Priority: f.PG.Priority}
				}
			}
			all = append(all, a)
		}
		return all
	}
	if f.Trigger.IsZero() {
		return nil
	}
	a := Answer{Type: Switch, At: f.Trigger, OnLoop: f.OnLoop}
	if r.Fabric.FacesHost(f.Trigger) {
		a.Type, a.Host = detect.CauseHost.String(), hostAt(r.Fabric, f.Trigger)
	} else {
		a.Flows = h.waiting(oracle.PG{NodePort: f.Trigger, Priority: f.PG.Priority}, f.At)
	}
	return []Answer{a}
}

// hostAt is the host that a port of a switch faces, "" if it faces none.
func hostAt(f *oracle.Fabric, at unit.NodePort) string {
	if far, wired := f.Far(at); wired && f.FacesHost(at) {
		return f.Name(far.Node)
	}
	return ""
}

// flowNames are the names of flows, in the order of the scenario.
func (h *watch) flowNames(ids []detect.FlowID) (names []string) {
	for i, f := range h.plan.Scenario.Flows {
		if slices.Contains(ids, detect.FlowID(h.plan.Hash(i))) {
			names = append(names, f.Name)
		}
	}
	return names
}
