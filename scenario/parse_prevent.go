package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/strictyaml"
	"softswitch/node/config"
	"softswitch/unit"
)

// filePrevention is ways to prevent deadlocks. They can be combined, except tagger and
// ttl_band, which both set a frame's priority.
type filePrevention struct {
	// Tagger changes the priority of a frame where it turns from down to up, so that
	// buffers of one priority cannot wait for each other in a cycle.
	Tagger *fileTagger `yaml:"tagger"`
	// NoFlood keeps lossless frames from being flooded.
	NoFlood bool `yaml:"no_flood" schema:",default=false"`
	// TTLBand is how many TTLs share a lossless priority. These are strict then, unless scheduler names
	// them: what has gone farther leaves first.
	TTLBand *int `yaml:"ttl_band" schema:"1..255"`
	// Limits drop lossless frames above a rate.
	Limits []fileLimit `yaml:"limits"`
	// Thresholds are PFC thresholds by position in a fabric with levels.
	Thresholds *Thresholds `yaml:"thresholds"`
	// GFC is Gentle Flow Control: switches tell one another rates instead of pausing.
	GFC *config.GFC `yaml:"gfc"`
	// Bubble is bubble injection: a ring of switches never fills wholly.
	Bubble *fileBubble `yaml:"bubble"`
}

// fileTagger is the settings of Tagger.
type fileTagger struct {
	// Lossless is the number of lossless tags: the first priorities of pfc.lossless.
	Lossless int `yaml:"lossless" schema:"1..8,required"`
}

// fileBubble is the rings of bubble injection.
type fileBubble struct {
	// Rings are switches in order, each linked to the next, and the last to the first. What is new to
	// a ring waits at a switch while the ring has no room there.
	Rings [][]string `yaml:"rings" schema:"switch,required"`
}

// fileLimit is a limit for a flow or for a priority, one of the two.
type fileLimit struct {
	// At is the switch.
	At string `yaml:"at" schema:"switch,required"`
	// Port is the neighbour from which the frames come.
	Port string `yaml:"port" schema:"node,required"`
	// Flow by its name.
	Flow string `yaml:"flow" schema:"flow"`
	// Priority, which must be lossless.
	Priority *int `yaml:"priority" schema:"0..7" was:"class"`
	// Rate above which frames are dropped.
	Rate unit.Rate `yaml:"rate" schema:"rate,required"`
}

// Thresholds is thresholds that depend on where a port leads. They must be static.
type Thresholds struct {
	// Down is for ports to hosts and to lower switches.
	Down Threshold `yaml:"down"`
	// Up is for ports to higher switches.
	Up Threshold `yaml:"up"`
	// PerLevel is by how many bytes XOFF rises with each level of the switch; XON
	// stays.
	PerLevel int `yaml:"per_level" schema:"0..1073741824,default=0"`
}

// Threshold is a threshold, as in buffer, whose values are the defaults.
type Threshold struct {
	StaticTh  *int `yaml:"static_th" schema:"0..1073741824"`
	XONOffset *int `yaml:"xon_offset" schema:"0..1073741824"`
}

// prevention reads the prevention section. The flows and the buffer profile of s are
// already read.
func (p *parser) prevention(s *Scenario, f filePrevention) *Prevention {
	const path = "prevention"
	v := &Prevention{}
	if f.Tagger != nil && !p.Faulty(path+".tagger") {
		v.Tags = p.within(path+".tagger.lossless", f.Tagger.Lossless, 1, len(p.lossless))
	}
	if f.TTLBand != nil {
		v.TTLBand = *f.TTLBand
		if f.Tagger != nil {
			p.Faultf(path+".ttl_band", "%d, and there is tagger: one of the two gives a frame its priority", *f.TTLBand)
		}
	}
	v.NoFlood = f.NoFlood
	for i, l := range f.Limits {
		v.Limits = append(v.Limits, p.limits(s, fmt.Sprintf("%s.limits[%d]", path, i), l)...)
	}
	if f.Thresholds != nil {
		v.Thresholds = p.thresholds(s, path+".thresholds", f.Thresholds)
	}
	v.GFC = f.GFC
	if f.Bubble != nil {
		v.Bubble = p.bubble(path+".bubble", f.Bubble)
	}
	return v
}

// limits returns one limit per link to the neighbour.
func (p *parser) limits(s *Scenario, path string, f fileLimit) (limits []Limit) {
	limit := Limit{Flow: AnyFlow, Rate: aboveZero(p, path+".rate", f.Rate, exampleRate)}
	switch {
	case (f.Flow == "") == (f.Priority == nil):
		p.Faultf(path, "a limit is for a flow or for a priority: write one of the two")
	case f.Priority != nil:
		limit.Priority = p.losslessPriority(path+".priority", *f.Priority)
	default:
		limit.Flow = p.flowIndex(s, path+".flow", f.Flow)
	}
	at, ok := p.node(path+".at", f.At, "switch")
	if !ok {
		return nil
	}
	var names []string
	for j, port := range p.fabric.Nodes[at].Ports {
		name := p.fabric.Nodes[port.Peer.Node].Name
		names = append(names, name)
		if name == f.Port {
			limit.At, limit.Port = at, unit.Port(j)
			limits = append(limits, limit)
		}
	}
	if limits == nil {
		p.Faultf(path+".port", "%q is not beside %s%s; there are %s", f.Port, f.At, strictyaml.DidYouMean(f.Port, names), strings.Join(names, ", "))
	}
	return limits
}

func (p *parser) flowIndex(s *Scenario, path, name string) int {
	var names []string
	for i, f := range s.Flows {
		if f.Name == name {
			if !slices.Contains(p.lossless, int(f.Priority)) {
				p.Faultf(path, "%q is in priority %d, which is not lossless: only lossless frames are limited", name, f.Priority)
			}
			return i
		}
		names = append(names, f.Name)
	}
	p.Faultf(path, "no flow is called %q%s; there are %s", name, strictyaml.DidYouMean(name, names), span(names))
	return AnyFlow
}

func (p *parser) thresholds(s *Scenario, path string, t *Thresholds) *Thresholds {
	if s.Buffer.DynamicTh != nil {
		p.Faultf(path, "buffer.dynamic_th is %d: thresholds of ports take static_th there", *s.Buffer.DynamicTh)
		return nil
	}
	for i, th := range []*Threshold{&t.Down, &t.Up} {
		key := []string{".down", ".up"}[i]
		th.StaticTh, th.XONOffset = cmp.Or(th.StaticTh, s.Buffer.StaticTh), cmp.Or(th.XONOffset, s.Buffer.XONOffset)
		p.Within(path+key+".static_th", *th.StaticTh, 0, max(0, s.Buffer.Pool))
		p.Within(path+key+".xon_offset", *th.XONOffset, 0, 1<<30)
	}
	p.Within(path+".per_level", t.PerLevel, 0, max(0, s.Buffer.Pool))
	return t
}
