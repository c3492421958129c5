package scenario

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"softswitch/internal/schema"
)

// expect reads an expectation, the value of the key at path.
func (p *parser) expect(path string, f fileExpect) Expect {
	e := Expect{Deadlock: f.Deadlock, Opens: f.Opens, FalseAlarm: f.FalseAlarm, Missed: f.Missed, MinXOFF: f.MinXOFF, SimOnly: f.SimOnly}
	if f.LosslessLost != "" {
		e.LosslessLost = p.loss(path+".lossless_lost", f.LosslessLost)
	}
	if f.Detected == "true" || f.Detected == "false" {
		e.Detected = new(bool)
		*e.Detected = f.Detected == "true"
	}
	if p.Given(path + ".max_latency") {
		e.MaxLatency = aboveZero(p, path+".max_latency", f.MaxLatency, exampleTime)
	}
	if f.Trigger != nil {
		e.Trigger = p.trigger(path+".trigger", *f.Trigger)
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
		if !p.choice(path, detector, append([]string{"none"}, known.Detectors...)) {
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
	if o.Deadlock != nil {
		e.Deadlock = o.Deadlock
	}
	if o.Opens != nil {
		e.Opens = o.Opens
	}
	if detected {
		e.Detected = o.Detected
	}
	if o.FalseAlarm != nil {
		e.FalseAlarm = o.FalseAlarm
	}
	if o.Missed != nil {
		e.Missed = o.Missed
	}
	if o.Trigger != nil {
		e.Trigger = o.Trigger
	}
	if o.LosslessLost != nil {
		e.LosslessLost = o.LosslessLost
	}
	if o.MaxLatency != 0 {
		e.MaxLatency = o.MaxLatency
	}
	if o.MinXOFF != 0 {
		e.MinXOFF = o.MinXOFF
	}
	if o.SimOnly != "" {
		e.SimOnly = o.SimOnly
	}
	return e
}

func (p *parser) trigger(path string, f fileTrigger) *Trigger {
	n, ok := p.node(path+".node", f.Node, "node")
	if ok && f.Kind != "" && p.fabric.Nodes[n].Kind.String() != f.Kind {
		p.Faultf(path+".kind", "%q: %s is a %v", f.Kind, f.Node, p.fabric.Nodes[n].Kind)
	}
	return &Trigger{Node: n, OnLoop: f.OnLoop}
}
