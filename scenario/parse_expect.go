package scenario

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"softswitch/internal/schema"
)

// expect reads an expectation, the value of the key at path.
func (p *parser) expect(path string, f fileExpect) Expect {
	e := f.Expect
	if f.LosslessLost != "" {
		e.LosslessLost = p.loss(path+".lossless_lost", f.LosslessLost)
	}
	if f.Detected == "true" || f.Detected == "false" {
		e.Detected = new(bool)
		*e.Detected = f.Detected == "true"
	}
	if p.Given(path + ".max_latency") {
		aboveZero(p, path+".max_latency", f.MaxLatency, exampleTime)
	}
	if f.Trigger != nil {
		p.trigger(path+".trigger", f.Trigger)
	}
	undetected := e.Detected != nil && !*e.Detected
	if undetected && (e.Trigger != nil || e.MaxLatency != 0) {
		p.Faultf(path+".detected", "false, so there is no trigger and no latency to expect; remove them or write true or either")
	}
	if undetected && e.FalseAlarm != nil && *e.FalseAlarm {
		p.Faultf(path+".detected", "false, so there is no declaration at all, and no false_alarm to expect; write either")
	}
	if e.Missed != nil && *e.Missed && e.Detected != nil && *e.Detected {
		p.Faultf(path+".missed", "true, but detected: true wants every deadlock declared; write one of the two")
	}
	return e
}

// AnyLoss is an expectation of lossless frames that are lost that any number meets.
const AnyLoss = math.MaxInt

// MayLose is how many lossless frames may be lost at most.
func (e Expect) MayLose() int {
	if e.LosslessLost == nil {
		return 0
	}
	return *e.LosslessLost
}

// loss reads how many frames may be lost, the value of the key at path.
func (p *parser) loss(path, text string) *int {
	most := AnyLoss
	if text != "any" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1<<30 {
			p.Faultf(path, "%q: use 0 to %d, or any", text, 1<<30)
		}
		most = n
	}
	return &most
}

// expectFor reads the expectations for single detectors; what they leave out is as in
// all.
func (p *parser) expectFor(all Expect, f map[string]fileExpect, known Known) map[string]Expect {
	var expects map[string]Expect
	for _, detector := range slices.Sorted(maps.Keys(f)) {
		path := "expect_for." + detector
		if !p.Choice(path, detector, append([]string{"none"}, known.Detectors...)) {
			continue
		}
		if expects == nil {
			expects = make(map[string]Expect)
		}
		each := f[detector]
		schema.CheckAt(p.Doc, path, &each)
		expects[detector] = all.with(p.expect(path, f[detector]), p.Has(path+".detected"))
	}
	return expects
}

// with is e overridden by o. detected reports whether o sets Detected, because "either"
// leaves it nil.
func (e Expect) with(o Expect, detected bool) Expect {
	to, from := reflect.ValueOf(&e).Elem(), reflect.ValueOf(o)
	for i := range from.NumField() {
		if f := from.Field(i); !f.IsZero() {
			to.Field(i).Set(f)
		}
	}
	if detected {
		e.Detected = o.Detected
	}
	return e
}

func (p *parser) trigger(path string, t *Trigger) {
	n, ok := p.node(path+".node", t.Node, "node")
	if ok && t.Kind != "" && p.fabric.Nodes[n].Kind.String() != t.Kind {
		p.Faultf(path+".kind", "%q: %s is a %v", t.Kind, t.Node, p.fabric.Nodes[n].Kind)
	}
}
