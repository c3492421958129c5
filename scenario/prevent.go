package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/topo/tagger"
	"softswitch/unit"
)

// Prevention is what the switches do so that deadlocks do not form.
type Prevention struct {
	// Tags is the number of lossless tags of Tagger, the first of PFC.Lossless: see
	// package tagger. 0 turns Tagger off. Not together with TTLBand.
	Tags int
	// NoFlood keeps lossless frames from being flooded (Guo et al., "RDMA over Commodity
	// Ethernet at Scale", section 4.2).
	NoFlood bool
	// TTLBand is how many TTLs share a lossless priority (Hu et al., "Deadlocks in
	// Datacenter Networks", section 4), 0 if all TTLs do: the last of PFC.Lossless has
	// the lowest TTLs, the first all that remain.
	TTLBand int
	// Limits and Thresholds are from the same paper and section.
	Limits     []Limit
	Thresholds *Thresholds // nil: those of Buffer everywhere
	// GFC is Gentle Flow Control (Qian et al., "Gentle Flow Control: Avoiding Deadlock in Lossless
	// Networks", SIGCOMM 2019) between switches; nil for pauses.
	GFC    *config.GFC
	Bubble *Bubble // nil: what is new to a ring comes in as all else
}

// Limit drops frames that arrive at a port of switch At above Rate: those of Flow, or,
// if that is AnyFlow, all lossless frames of Priority.
type Limit struct {
	At       int
	Port     unit.Port
	Flow     int
	Priority unit.Priority
	Rate     unit.Rate
}

// AnyFlow is the Flow of a Limit for a priority.
const AnyFlow = -1

// preventions are those that Prevent can apply, by name.
var preventions = []struct {
	name string
	put  func(*Scenario) error
}{
	{"tagger", (*Scenario).preventByTags},
	{"no-flood", (*Scenario).preventFlooding},
	{"ttl-bands", (*Scenario).preventByTTL},
	{"limit", (*Scenario).preventByLimit},
	{"thresholds", (*Scenario).preventByThresholds},
	{"gfc", (*Scenario).preventByRates},
	{"bubble-injection", (*Scenario).preventByBubble},
}

// Prevent adds a prevention to s, with suitable values: "tagger", "no-flood",
// "ttl-bands", "limit", "thresholds", "gfc" or "bubble-injection". It may make up to seven priorities lossless,
// and raise thresholds. The
// error says why the prevention does not apply; s is unchanged then.
func (s *Scenario) Prevent(name string) error {
	var names []string
	for _, p := range preventions {
		if p.name == name {
			return p.put(s)
		}
		names = append(names, p.name)
	}
	return fmt.Errorf("prevention %q%s; use %s", name, strictyaml.DidYouMean(name, names), strings.Join(names, ", "))
}

// marks are the lossless priorities that v gives to frames, of these.
func (v *Prevention) marks(lossless []int) []int {
	switch {
	case v.Tags > 0:
		return lossless[:min(v.Tags, len(lossless))]
	case v.TTLBand > 0:
		return lossless
	}
	return nil
}

// lossyForPrevention tells of ports at which a priority is lossy that prevention gives to frames, "" if there
// are none. Whatever the routes, a frame with any tag, or of any band, may take any link, and has to be
// lossless at both of its ends: there it is stopped by pauses, and here it stops the sender.
func (s *Scenario) lossyForPrevention() string {
	if s.Ports == nil || s.Prevention == nil {
		return ""
	}
	key := "prevention.tagger"
	if s.Prevention.TTLBand > 0 {
		key = "prevention.ttl_band"
	}
	use := s.Prevention.marks(s.PFC.Lossless)
	at, more := "", 0
	s.eachEnd(func(e topo.End) {
		have := s.LosslessAt(e)
		lack := lists.Where(use, func(c int) bool { return !slices.Contains(have, c) })
		switch {
		case len(lack) == 0:
		case at == "":
			at = fmt.Sprintf("%s %s has lossless priorities %v, and %s gives frames priorities %v, which may come by any port: add %v", s.Fabric.Nodes[e.Node].Name, s.Fabric.Nodes[e.Node].Ports[e.Port].Name, have, key, use, lack)
		default:
			more++
		}
	})
	if more > 0 {
		at += "; likewise at " + unit.Count(more, "more port")
	}
	return at
}

// prevented returns a copy of s's prevention, to be extended.
func (s *Scenario) prevented() *Prevention {
	if s.Prevention == nil {
		return &Prevention{}
	}
	v := *s.Prevention
	return &v
}

// leastTags is the k of the paper's example: one lossless turn.
const leastTags = 2

// preventByTags uses one tag more than the most turns on the path of a flow.
func (s *Scenario) preventByTags() error {
	p, err := Compile(s)
	if err != nil {
		return err
	}
	levels, err := tagger.Levels(s.Fabric)
	if err != nil {
		return err
	}
	k := leastTags
	for _, path := range p.Flows {
		if path.Err == nil {
			k = max(k, 1+turns(levels, path.Hops))
		}
	}
	v := s.prevented()
	if v.TTLBand > 0 {
		return errors.New("a frame has the priority of its TTL already")
	}
	lossless, err := s.moreLossless(k)
	if err != nil {
		return err
	}
	v.Tags = k
	s.PFC.Lossless, s.Prevention = lossless, v
	return nil
}

// turns counts how often a path goes up after it went down.
func turns(levels []int, hops []topo.Hop) (n int) {
	for i := 1; i+1 < len(hops); i++ {
		at := levels[hops[i].Node]
		if levels[hops[i-1].Node] > at && levels[hops[i+1].Node] > at {
			n++
		}
	}
	return n
}

// moreLossless returns s's lossless priorities, extended to n by the highest priorities that no flow uses and
// that are lossless at each port with lossless priorities of its own.
func (s *Scenario) moreLossless(n int) ([]int, error) {
	lossless := slices.Clone(s.PFC.Lossless)
	lossy := ""
	for c := unit.Priorities - 1; c > 0 && len(lossless) < n; c-- {
		used := slices.ContainsFunc(s.Flows, func(f Flow) bool { return int(f.Priority) == c })
		if used || slices.Contains(lossless, c) {
			continue
		}
		if e, ok := s.ownWithout(c); ok {
			if lossy == "" {
				lossy = fmt.Sprintf("; %s %s has lossless priorities %v", s.Fabric.Nodes[e.Node].Name, s.Fabric.Nodes[e.Node].Ports[e.Port].Name, s.LosslessAt(e))
			}
			continue
		}
		lossless = append(lossless, c)
	}
	if len(lossless) < n {
		return nil, fmt.Errorf("it takes %d lossless priorities, and with those of flows that are lossy there are only %d%s", n, len(lossless), lossy)
	}
	return lossless, nil
}

// ownWithout is the first port with lossless priorities of its own of which priority c is none.
func (s *Scenario) ownWithout(c int) (e topo.End, ok bool) {
	s.eachEnd(func(at topo.End) {
		if own := s.port(at).Lossless; !ok && own != nil && !slices.Contains(*own, c) {
			e, ok = at, true
		}
	})
	return e, ok
}

// eachEnd calls fn for both ends of every link.
func (s *Scenario) eachEnd(fn func(topo.End)) {
	for _, l := range s.Fabric.Links {
		fn(l.A)
		fn(l.B)
	}
}

func (s *Scenario) preventFlooding() error {
	if len(s.Dead) == 0 {
		return errors.New("nothing is flooded: no host is dead")
	}
	v := s.prevented()
	v.NoFlood = true
	s.Prevention = v
	return nil
}

// preventByTTL gives the routing loop that the flows are caught in bands so narrow that
// no frame goes round more than once in one priority.
func (s *Scenario) preventByTTL() error {
	p, err := Compile(s)
	if err != nil {
		return err
	}
	v := s.prevented()
	if v.Tags > 0 {
		return errors.New("a frame has the priority of its tag already")
	}
	ttl := 0
	for i, f := range s.Flows {
		if _, caught := p.caught(i); caught {
			ttl = max(ttl, f.TTL)
		}
	}
	if ttl == 0 {
		return errors.New("no flow is caught in a routing loop: its frames keep so much of their TTL that one band has them all")
	}
	lossless, err := s.moreLossless(maxLossless)
	if err != nil {
		return err
	}
	slices.Sort(lossless) // frames that have gone farthest leave first
	v.TTLBand = (ttl + len(lossless) - 1) / len(lossless)
	s.PFC.Lossless, s.Prevention = lossless, v
	return nil
}

// maxLossless leaves one priority for lossy traffic.
const maxLossless = unit.Priorities - 1

func (p *Plan) lossless(flow int) bool {
	return slices.Contains(p.Scenario.Lossless(), int(p.Scenario.Flows[flow].Priority))
}

// routingLoop is a loop that catches a flow.
type routingLoop struct {
	enters   int // hops before the loop
	switches int
	rate     unit.Rate // of its slowest link
}

// caught finds the routing loop of a flow that never arrives.
func (p *Plan) caught(flow int) (routingLoop, bool) {
	path := p.Flows[flow]
	if path.Err == nil || !p.lossless(flow) {
		return routingLoop{}, false
	}
	for j, again := range path.Hops {
		crosses := func(h topo.Hop) bool { return h.Node == again.Node && h.Out == again.Out }
		if i := slices.IndexFunc(path.Hops[:j], crosses); i >= 0 {
			l := routingLoop{enters: i, switches: j - i}
			for _, h := range path.Hops[i:j] {
				rate := p.Links[p.Fabric.Nodes[h.Node].Ports[h.Out].Link].Rate
				if l.rate == 0 || rate < l.rate {
					l.rate = rate
				}
			}
			return l, true
		}
	}
	return routingLoop{}, false
}

// bears is the rate of frames with this initial TTL that the loop can take for ever: n
// B / TTL (Hu et al., Eq. 3), or, where n does not divide TTL, B over the number of
// times that a frame crosses the first link, if that is less.
func (l routingLoop) bears(ttl int) unit.Rate {
	ttl -= l.enters
	crossings := max(1, (ttl-1+l.switches-1)/l.switches)
	return min(l.rate*unit.Rate(l.switches)/unit.Rate(ttl), l.rate/unit.Rate(crossings))
}

// closing is the divisor of the link rate that gives the limit of Hu et al. for the
// flow that closes a cycle: 2 of 40 Gbit/s.
const closing = 20

// preventByLimit limits the flows in routing loops to what the loops can take, or if
// there are none, the flow that closes a cycle of buffers.
func (s *Scenario) preventByLimit() error {
	p, err := Compile(s)
	if err != nil {
		return err
	}
	limits := p.loopLimits()
	if limits == nil {
		flow, rate, ok := p.closer()
		if !ok {
			return errors.New("the ways of the flows close no cycle of buffers: there is no flow to limit")
		}
		limits = []Limit{p.atSource(flow, rate/closing)}
	}
	v := s.prevented()
	v.Limits = append(slices.Clone(v.Limits), limits...)
	s.Prevention = v
	return nil
}

// loopLimits returns limits for the flows caught in loops; they share what their loops
// can take.
func (p *Plan) loopLimits() (limits []Limit) {
	for i, f := range p.Scenario.Flows {
		if l, caught := p.caught(i); caught {
			limits = append(limits, p.atSource(i, l.bears(f.TTL)))
		}
	}
	for i := range limits {
		limits[i].Rate /= unit.Rate(len(limits))
	}
	return limits
}

// atSource limits a flow where it enters the fabric.
func (p *Plan) atSource(flow int, rate unit.Rate) Limit {
	first := p.Flows[flow].Hops[0]
	return Limit{At: first.Node, Port: first.In, Flow: flow, Rate: rate}
}

// closer is the flow that contributes to a cycle of buffers while using least of it: of
// the flows that cross links of the cycle, the one that crosses fewest, and of several
// the last. rate is that of the cycle's slowest link.
func (p *Plan) closer() (flow int, rate unit.Rate, ok bool) {
	cycle := p.cycle()
	fewest := 0
	for i, path := range p.Flows {
		n := 0
		for _, h := range path.Hops {
			if !p.lossless(i) || !cycle[topo.End{Node: h.Node, Port: h.In}] {
				continue
			}
			n++
			if r := p.Links[p.Fabric.Nodes[h.Node].Ports[h.In].Link].Rate; rate == 0 || r < rate {
				rate = r
			}
		}
		if n > 0 && (fewest == 0 || n <= fewest) {
			flow, fewest = i, n
		}
	}
	return flow, rate, fewest > 0
}

// cycle is the ingresses whose frames, following the paths of the lossless flows, can
// end up waiting for themselves.
func (p *Plan) cycle() map[topo.End]bool {
	next := map[topo.End][]topo.End{}
	for flow, path := range p.Flows {
		for i := 1; i < len(path.Hops) && p.lossless(flow); i++ {
			a, b := path.Hops[i-1], path.Hops[i]
			from := topo.End{Node: a.Node, Port: a.In}
			next[from] = append(next[from], topo.End{Node: b.Node, Port: b.In})
		}
	}
	on := map[topo.End]bool{}
	for _, path := range p.Flows {
		for _, h := range path.Hops {
			e := topo.End{Node: h.Node, Port: h.In}
			on[e] = reaches(next, e, e)
		}
	}
	return on
}

func reaches(next map[topo.End][]topo.End, from, to topo.End) bool {
	seen := map[topo.End]bool{}
	for work := []topo.End{from}; len(work) > 0; work = work[1:] {
		for _, n := range next[work[0]] {
			if n == to {
				return true
			}
			if !seen[n] {
				seen[n] = true
				work = append(work, n)
			}
		}
	}
	return false
}

// preventByThresholds halves the static threshold on ports to lower switches and hosts,
// raises it by half on ports to higher ones, and raises it further with each level. XON
// stays, unless it would no longer be below XOFF.
func (s *Scenario) preventByThresholds() error {
	if s.Buffer.StaticTh == nil {
		return errors.New("its thresholds are dynamic")
	}
	if _, err := tagger.Levels(s.Fabric); err != nil {
		return err
	}
	th, offset := *s.Buffer.StaticTh, *s.Buffer.XONOffset
	v := s.prevented()
	v.Thresholds = &Thresholds{
		Down:     Threshold{StaticTh: new(th / 2), XONOffset: new(max(0, offset-th/2))},
		Up:       Threshold{StaticTh: new(th + th/2), XONOffset: new(offset + th/2)},
		PerLevel: th / 2,
	}
	s.Prevention = v
	return nil
}

// preventByRates uses Gentle Flow Control as its paper has it.
func (s *Scenario) preventByRates() error {
	if s.Fabric.Switches() < 2 {
		return errors.New("there is one switch: no switch pauses another")
	}
	v := s.prevented()
	v.GFC = &config.GFC{}
	schema.Fill(v.GFC)
	t := *s
	t.Prevention, t.doc = v, nil
	if _, err := Compile(&t); err != nil {
		return err
	}
	s.Prevention = v
	return nil
}

// tag computes the rules of Tagger, if the scenario uses it, and the levels of
// switches, if they are needed.
func (p *Plan) tag(doc *strictyaml.Doc) {
	s := p.Scenario
	if s.Prevention == nil {
		return
	}
	if why := s.lossyForPrevention(); why != "" {
		doc.Faultf("topology.ports", "%s", why)
		return
	}
	if k := s.Prevention.Tags; k > 0 {
		lossless := lists.Map(s.Lossless(), func(c int) unit.Priority { return unit.Priority(c) })
		var err error
		if p.Tagging, err = tagger.New(s.Fabric, lossless, k); err != nil {
			doc.Faultf("prevention.tagger", "%v", err)
		}
	}
	if s.Prevention.Thresholds != nil {
		var err error
		if p.levels, err = tagger.Levels(s.Fabric); err != nil {
			doc.Faultf("prevention.thresholds", "%v", err)
		}
	}
}

// prevent adds the scenario's prevention to the configuration of switch i.
func (p *Plan) prevent(c *config.Switch, i int) {
	v := p.Scenario.Prevention
	if v == nil {
		return
	}
	c.TTLBand, c.NoFlood, c.GFC = v.TTLBand, v.NoFlood, v.GFC
	if p.Tagging != nil {
		for _, r := range p.Tagging.Rules[i] {
			if !c.Lossless().Has(r.Priority) { // nothing comes in lossless in it
				continue
			}
			c.Rewrite = append(c.Rewrite, config.Rewrite{Priority: int(r.Priority), In: list(r.In), Out: list(r.Out), To: int(r.To)})
		}
	}
	c.Limits = lists.Map(lists.Where(v.Limits, func(l Limit) bool { return l.At == i }), p.limit)
	if v.Thresholds != nil {
		p.thresholds(c, i)
	}
}

func (p *Plan) limit(l Limit) config.Limit {
	c := config.Limit{Port: int(l.Port), Rate: l.Rate}
	if l.Flow == AnyFlow {
		priority := int(l.Priority)
		c.Priority = &priority
		return c
	}
	f := p.Scenario.Flows[l.Flow]
	from, to := p.Scenario.Addresses(&f)
	c.Flow = &config.LimitFlow{
		From: from, To: to, SrcPort: p.Flows[l.Flow].SrcPort,
	}
	return c
}

func (p *Plan) thresholds(c *config.Switch, i int) {
	t := p.Scenario.Prevention.Thresholds
	for j, port := range p.Fabric.Nodes[i].Ports {
		th := t.Down
		if n := port.Peer.Node; n < len(p.levels) && p.levels[n] > p.levels[i] {
			th = t.Up
		}
		more := t.PerLevel * p.levels[i]
		c.Ports[j].StaticTh, c.Ports[j].XONOffset = new(*th.StaticTh+more), new(*th.XONOffset+more)
	}
}
