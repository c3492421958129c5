package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// Treatment is what is taken away from the start of a run. Names are those of the scenario.
type Treatment struct {
	// Hosts neither storm nor are slow.
	Hosts []string `json:"hosts,omitempty"`
	// Flows send a 64th of their rate.
	Flows []string `json:"flows,omitempty"`
	// Turns are lossy.
	Turns []Turn `json:"turns,omitempty"`
}

// Turn is what comes in by port In of a switch and leaves by port Out, in a lossless
// priority in which it comes in.
type Turn struct {
	Switch   string        `json:"switch"`
	In       string        `json:"in"`
	Out      string        `json:"out"`
	Priority unit.Priority `json:"priority"`
}

func (t Turn) String() string {
	return fmt.Sprintf("%s %s > %s, priority %d", t.Switch, t.In, t.Out, t.Priority)
}

// Size is how many hosts, flows and turns it treats.
func (t Treatment) Size() int { return len(t.Hosts) + len(t.Flows) + len(t.Turns) }

func (t Treatment) String() string {
	parts := slices.Concat(
		lists.Map(t.Hosts, func(h string) string { return "host " + h }),
		lists.Map(t.Flows, func(f string) string { return "flow " + f }),
		lists.Map(t.Turns, func(x Turn) string { return "turn " + x.String() }))
	return cmp.Or(strings.Join(parts, " + "), "nothing")
}

// slowing is by how much a treated flow is slower.
const slowing = 64

// Apply is the plan of s with what t names treated; s is not changed. The plan has
// neither a detector nor a response. The error names a host, flow, switch, port or priority
// that s does not have, with those that it has, and why a turn cannot be lossy.
func Apply(s *scenario.Scenario, t Treatment) (*scenario.Plan, error) {
	treated := *s
	treated.Detector, treated.Response = "none", "none"
	if err := tame(&treated, t.Hosts); err != nil {
		return nil, err
	}
	if err := slowDown(&treated, t.Flows); err != nil {
		return nil, err
	}
	plan, err := scenario.Compile(&treated)
	if err != nil {
		return nil, err
	}
	for _, turn := range t.Turns {
		if err := makeLossy(plan, turn); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// tame takes the misbehaviour of hosts out of s.
func tame(s *scenario.Scenario, hosts []string) error {
	for _, name := range hosts {
		node, ok := s.Fabric.Node(name)
		if !ok || s.Fabric.Nodes[node].Kind != topo.Host {
			return unknown("host", name, namesOf(s.Fabric, topo.Host))
		}
		s.Events = slices.DeleteFunc(slices.Clone(s.Events), func(e scenario.Event) bool {
			return (e.Do == scenario.Storm || e.Do == scenario.Slow || e.Do == scenario.Normal) && e.Node == node
		})
	}
	return nil
}

// slowDown makes flows of s send less.
func slowDown(s *scenario.Scenario, flows []string) error {
	s.Flows = slices.Clone(s.Flows)
	for _, name := range flows {
		i := slices.IndexFunc(s.Flows, func(f scenario.Flow) bool { return f.Name == name })
		if i < 0 {
			return unknown("flow", name, lists.Map(s.Flows, func(f scenario.Flow) string { return f.Name }))
		}
		f := &s.Flows[i]
		if f.Rate == 0 {
			f.Rate = unit.FlowRate(s.Links[s.Fabric.Nodes[f.From].Ports[0].Link].Rate)
		}
		f.Rate = max(1, f.Rate/slowing)
	}
	return nil
}

// makeLossy makes what takes a turn go on in a lossy priority.
func makeLossy(p *scenario.Plan, t Turn) error {
	s := p.Scenario
	node, ok := p.Fabric.Node(t.Switch)
	if !ok || p.Fabric.Nodes[node].Kind != topo.Switch {
		return unknown("switch", t.Switch, namesOf(p.Fabric, topo.Switch))
	}
	in, err := portOf(p.Fabric, node, t.In)
	if err != nil {
		return err
	}
	out, err := portOf(p.Fabric, node, t.Out)
	if err != nil {
		return err
	}
	priority := int(t.Priority)
	if !slices.Contains(s.Lossless(), priority) {
		return fmt.Errorf("turn %v: priority %d is not lossless; valid: %v", t, priority, s.Lossless())
	}
	lossy := 0
	for slices.Contains(s.Lossless(), lossy) {
		lossy++
	}
	c := &p.Switches[node]
	switch {
	case lossy == unit.Priorities:
		return fmt.Errorf("turn %v: it cannot be lossy, for all priorities are lossless", t)
	case c.TTLBand != 0:
		return fmt.Errorf("turn %v: it cannot be lossy, for frames have the priority of their TTL", t)
	}
	c.Rewrite = append(exceptTurn(c.Rewrite, priority, in, out), config.Rewrite{Priority: priority, In: []int{in}, Out: []int{out}, To: lossy})
	return nil
}

// exceptTurn is rules that do the same but say nothing of priority from port in to out.
func exceptTurn(rules []config.Rewrite, priority, in, out int) (rest []config.Rewrite) {
	without := func(ports []int, p int) []int {
		return slices.DeleteFunc(slices.Clone(ports), func(q int) bool { return q == p })
	}
	for _, r := range rules {
		if r.Priority != priority || !slices.Contains(r.In, in) || !slices.Contains(r.Out, out) {
			rest = append(rest, r)
			continue
		}
		for _, part := range []config.Rewrite{
			{Priority: priority, In: without(r.In, in), Out: r.Out, To: r.To},
			{Priority: priority, In: []int{in}, Out: without(r.Out, out), To: r.To},
		} {
			if len(part.In) > 0 && len(part.Out) > 0 {
				rest = append(rest, part)
			}
		}
	}
	return rest
}

func portOf(f *topo.Fabric, node int, name string) (int, error) {
	ports := f.Nodes[node].Ports
	i := slices.IndexFunc(ports, func(p topo.Port) bool { return p.Name == name })
	if i < 0 {
		return 0, unknown("port of "+f.Nodes[node].Name, name, lists.Map(ports, func(p topo.Port) string { return p.Name }))
	}
	return i, nil
}

func namesOf(f *topo.Fabric, kind topo.Kind) []string {
	of := lists.Where(f.Nodes, func(n topo.Node) bool { return n.Kind == kind })
	return lists.Map(of, func(n topo.Node) string { return n.Name })
}

// unknown says that there is no such thing, and which there are: all up to eight.
func unknown(what, name string, names []string) error {
	all := strings.Join(names, ", ")
	if n := len(names); n > 8 {
		all = fmt.Sprintf("%s, ..., %s (%d in all)", strings.Join(names[:4], ", "), strings.Join(names[n-2:], ", "), n)
	}
	return fmt.Errorf("no %s is called %q%s; there are %s", what, name, strictyaml.DidYouMean(name, names), all)
}
