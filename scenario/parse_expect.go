package scenario

func (p *parser) expect(f fileExpect) Expect {
	e := Expect{Deadlock: f.Deadlock, LosslessLost: f.LosslessLost, MinXOFF: f.MinXOFF}
	if f.LosslessLost != nil {
		p.within("expect.lossless_lost", "frames", *f.LosslessLost, 0, 1<<30)
	}
	p.within("expect.pfc_xoff_min", "XOFF", f.MinXOFF, 0, 1<<30)
	if f.Detected != "" && p.choice("expect.detected", f.Detected, []string{"true", "false", "either"}) && f.Detected != "either" {
		e.Detected = new(bool)
		*e.Detected = f.Detected == "true"
	}
	if f.MaxLatency != "" {
		t, ok := p.time("expect.max_latency", f.MaxLatency)
		if ok && t == 0 {
			p.Faultf("expect.max_latency", "%q: write a time above zero", f.MaxLatency)
		}
		e.MaxLatency = t
	}
	if f.Trigger != nil {
		e.Trigger = p.trigger(*f.Trigger)
	}
	undetected := e.Detected != nil && !*e.Detected
	if undetected && (e.Trigger != nil || e.MaxLatency != 0) {
		p.Faultf("expect.detected", "false, so there is no trigger and no latency to expect; remove them or write true or either")
	}
	return e
}

func (p *parser) trigger(f fileTrigger) *Trigger {
	if f.Kind != "" {
		p.choice("expect.trigger.kind", f.Kind, []string{"switch", "host"})
	}
	n, ok := p.node("expect.trigger.node", f.Node, "node")
	if kind := p.fabric.Nodes[n].Kind.String(); ok && f.Kind != "" && kind != f.Kind {
		p.Faultf("expect.trigger.kind", "%q: %s is a %s", f.Kind, f.Node, kind)
	}
	return &Trigger{Node: n, OnLoop: f.OnLoop}
}
