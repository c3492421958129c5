package scenario

import (
	"slices"
	"strconv"
	"strings"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/scenario/workload"
	"softswitch/unit"
)

// fileWorkload is messages that are drawn at random, or all those of a collective
// operation. Each becomes a flow, called Name-1, Name-2, ... in order of time, of which
// the size is that of the message; nothing waits for another one to arrive. Each pattern
// has its own keys:
type fileWorkload struct {
	Name    string `yaml:"name" schema:"name,required"`
	Pattern string `yaml:"pattern" schema:"pattern,required"`
	// Hosts that take part, at least two, in this order; all are those of the fabric that
	// are neither dead nor nics.
	Hosts strictyaml.Some[string] `yaml:"hosts" schema:"host,default=all"`
	// Sizes is a distribution that papers use: web search (DCTCP), Hadoop (Facebook) or
	// storage (Alibaba).
	Sizes string `yaml:"sizes" schema:"websearch|hadoop|storage"`
	// Size is one size for all, in bytes; of a reduction, what each host begins with.
	Size *int `yaml:"size" schema:"1..1099511627776"`
	// CDF is a distribution of your own: in each line a size in bytes and its percentile,
	// both rising, up to 100. Between two lines sizes are spread evenly.
	CDF string `yaml:"cdf" schema:"text"`
	// Load is the share of a host's link that its messages take, by their bytes: arrivals
	// are Poisson.
	Load string `yaml:"load" schema:"share"`
	// On and Off make bursts: hosts send for On and are silent for Off, in turn and all at
	// once. Load is that of On.
	On  unit.Time `yaml:"on" schema:"time"`
	Off unit.Time `yaml:"off" schema:"time"`
	// FanIn is how many hosts send to one in a round.
	FanIn *int `yaml:"fan_in" schema:"1..65535"`
	// Period is the time between two rounds; without it there is one round.
	Period unit.Time `yaml:"period" schema:"time"`
	// Chunks is how many messages each host's part is divided into, all in flight at once.
	Chunks *int `yaml:"chunks" schema:"1..64,default=1"`
	// Priority, Transport, RC, Frame and TTL are as those of flows.
	Priority  *int     `yaml:"priority" schema:"0..7,default=3" was:"class"`
	Transport string   `yaml:"transport" schema:"udp|rc,default=udp"`
	RC        *host.RC `yaml:"rc"`
	Frame     *int     `yaml:"frame" schema:"64..9216,default=1000"`
	TTL       *int     `yaml:"ttl" schema:"1..255,default=64"`
	// Start and Stop are between which messages begin. With 1ms±10us each of them begins so much
	// earlier or later, as a run draws it by its seed.
	Start drawnTime `yaml:"start" schema:"drawn time,default=0s"`
	// Stop is later than Start; the end of the scenario if missing.
	Stop unit.Time `yaml:"stop" schema:"time"`
	// Seed of what is drawn: the same one draws the same messages.
	Seed uint32 `yaml:"seed" schema:"0..4294967295,default=0"`
}

// patterns are the keys of each pattern of a workload, in addition to those that all have.
var patterns = []schema.Case{
	{Is: string(workload.Random), Must: []string{"load"}, May: []string{"sizes", "size", "cdf", "on", "off"}, Text: "Each host sends messages to others, each to one that is drawn."},
	{Is: string(workload.Permutation), Must: []string{"load"}, May: []string{"sizes", "size", "cdf", "on", "off"}, Text: "Each host sends messages to one other, which no third one sends to."},
	{Is: string(workload.Incast), Must: []string{"fan_in", "period"}, May: []string{"sizes", "size", "cdf"}, Text: "In each round, several hosts send a message each to one, all at once; which, is drawn."},
	{Is: string(workload.AllToAll), May: []string{"sizes", "size", "cdf", "period"}, Text: "In each round, each host sends a message to every other."},
	{Is: string(workload.Ring), Must: []string{"size"}, May: []string{"chunks", "period"}, Text: "In each round, each of the n hosts sends 2(n-1)/n of `size` to the next in the list, the last one to the first: what an all-reduce over a ring takes."},
	{Is: string(workload.Tree), Must: []string{"size"}, May: []string{"chunks", "period"}, Text: "In each round, `size` goes up and down each link of a binary tree over the list, of which the first is the root: what an all-reduce over a tree takes."},
}

// workloads adds the flows of workloads to those of s. nics are the hosts with programs of
// their own.
func (p *parser) workloads(s *Scenario, list []fileWorkload, nics []string) {
	taken := map[string]bool{}
	for _, f := range s.Flows {
		taken[f.Name] = true
	}
	for i, f := range list {
		path := p.element("workload", i)
		flows := p.workload(s, path, f, nics)
		if len(flows) == 0 && p.end > 0 && p.fabric != nil && !p.Faulty(path) {
			s.Warnings = append(s.Warnings, p.At(path, "no message begins between start and stop; more time or a higher load brings some").String())
		}
		for _, flow := range flows {
			if taken[flow.Name] {
				p.Faultf(path+".name", "%q is a flow already", flow.Name)
			}
			taken[flow.Name] = true
		}
		s.Flows = append(s.Flows, flows...)
	}
}

// workload returns the flows of one workload.
func (p *parser) workload(s *Scenario, path string, f fileWorkload, nics []string) (flows []Flow) {
	if f.Name == "" {
		p.Faultf(path+".name", "missing: a workload has a name")
	}
	common := p.flow(path, fileFlow{Name: f.Name, Priority: f.Priority, Stream: host.Stream{Transport: f.Transport, RC: f.RC, Frame: or(f.Frame, 0), TTL: or(f.TTL, 0)}})
	p.patternKeys(path, f.Pattern)
	w := workload.Spec{
		Pattern: workload.Pattern(f.Pattern), Sizes: p.sizes(path, f), Load: p.share(path+".load", f.Load),
		On: f.On, Off: f.Off, Period: f.Period,
		FanIn:  or(f.FanIn, 1),
		Chunks: or(f.Chunks, 1),
		Stop:   p.end, Seed: uint64(f.Seed),
	}
	for _, t := range []struct {
		key string
		is  unit.Time
	}{{".on", f.On}, {".off", f.Off}, {".period", f.Period}} {
		if p.Given(path + t.key) {
			aboveZero(p, path+t.key, t.is, exampleTime)
		}
	}
	p.checkStart(path+".start", f.Start)
	if w.Start = f.Start.at; p.Given(path + ".stop") {
		w.Stop = p.withinEnd(path+".stop", f.Stop)
	}
	if p.end > 0 && w.Stop <= w.Start {
		p.Faultf(path+".stop", "%s is not after start, %s", w.Stop, w.Start)
	}
	if (f.On == 0) != (f.Off == 0) {
		p.Faultf(path, "on and off go together: write both for bursts, or none")
	}
	if p.fabric == nil {
		return nil
	}
	hosts := p.workers(s, path+".hosts", f.Hosts, nics)
	w.Rates = lists.Map(hosts, func(h int) unit.Rate { return s.Links[p.fabric.Nodes[h].Ports[0].Link].Rate })
	if n := len(hosts); n < 2 {
		p.Faultf(path+".hosts", "%d hosts: a workload has at least 2", n)
	} else if w.FanIn >= n {
		p.Faultf(path+".fan_in", "%d: at most %d, as one of %d hosts gets what the others send", w.FanIn, n-1, n)
	}
	if p.Faulty(path) || p.end == 0 {
		return nil
	}
	messages, err := w.Messages(MaxFlows - len(s.Flows))
	if err != nil {
		p.Faultf(path, "%v, and %d flows before them: a scenario has at most %d flows; less time from start to stop, a lower load or larger sizes make fewer", err, len(s.Flows), MaxFlows)
		return nil
	}
	for i, m := range messages {
		one := common
		one.Name = f.Name + "-" + strconv.Itoa(i+1)
		one.From, one.To, one.Size, one.Start = hosts[m.From], hosts[m.To], m.Size, m.Start
		one.Jitter = min(f.Start.spread, max(0, p.end-m.Start)) // none begins after the end
		flows = append(flows, one)
	}
	return flows
}

// patternKeys checks that a workload has the keys of its pattern and no others.
func (p *parser) patternKeys(path, is string) {
	if is == "" {
		p.Faultf(path+".pattern", "missing; use %s", strings.Join(names(patterns), ", "))
		return
	}
	if !p.Choice(path+".pattern", is, names(patterns)) {
		return
	}
	i := slices.IndexFunc(patterns, func(k schema.Case) bool { return k.Is == is })
	own := slices.Concat(patterns[i].Must, patterns[i].May)
	for _, k := range patterns {
		for _, key := range slices.Concat(k.Must, k.May) {
			if p.Has(path+"."+key) && !slices.Contains(own, key) {
				p.Faultf(path+"."+key, "%s has no such key; its own are %s", is, strings.Join(own, ", "))
			}
		}
	}
	for _, key := range patterns[i].Must {
		if !p.Has(path + "." + key) {
			p.Faultf(path+"."+key, "missing: %s has %s", is, strings.Join(own, ", "))
		}
	}
}

// sizes returns the distribution of a workload's sizes.
func (p *parser) sizes(path string, f fileWorkload) *workload.Sizes {
	given := 0
	for _, key := range []string{"sizes", "size", "cdf"} {
		if p.Has(path + "." + key) {
			given++
		}
	}
	if given != 1 {
		p.Faultf(path, "%d distributions of sizes: write one of sizes: websearch, size: 65536, or cdf with points of your own", given)
		return nil
	}
	switch {
	case f.Sizes != "":
		if !p.Faulty(path + ".sizes") {
			return workload.Named(f.Sizes)
		}
	case f.Size != nil:
		return workload.Fixed(*f.Size)
	default:
		s, err := workload.ParseSizes(f.CDF)
		p.Fault(path+".cdf", err)
		return s
	}
	return nil
}

// share parses a number above 0, at most 1; "" is 0.
func (p *parser) share(path, text string) float64 {
	if text == "" {
		return 0
	}
	share, err := strconv.ParseFloat(text, 64)
	if err != nil || !(share > 0 && share <= 1) {
		p.Faultf(path, "%q is not a share: write a number above 0, at most 1, such as 0.6", text)
	}
	return share
}

// workers returns the hosts of a workload: those of these names, or all that can send.
func (p *parser) workers(s *Scenario, path string, names, nics []string) (hosts []int) {
	_, named := p.fabric.Node("all")
	if len(names) == 0 && !p.Has(path) || len(names) == 1 && names[0] == "all" && !named {
		for i := p.fabric.Switches(); i < len(p.fabric.Nodes); i++ {
			if !slices.Contains(s.Dead, i) && !slices.Contains(nics, p.fabric.Nodes[i].Name) {
				hosts = append(hosts, i)
			}
		}
		return hosts
	}
	seen := map[string]bool{}
	for i, name := range names {
		key := p.element(path, i)
		h, ok := p.node(key, name, "host")
		switch {
		case !ok:
			continue
		case seen[name]:
			p.Faultf(key, "%q is in the list already", name)
		case slices.Contains(s.Dead, h):
			p.Faultf(key, "%q is dead: its switch would learn where it is, and flood no longer; use another host or take it out of dead", name)
		case slices.Contains(nics, name):
			p.Faultf(key, "%q is of nics, which have programs instead of flows; use another host", name)
		}
		seen[name] = true
		hosts = append(hosts, h)
	}
	return hosts
}
