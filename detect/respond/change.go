package respond

import (
	"softswitch/detect"
	"softswitch/unit"
)

// Change replaces the policy of a detector that NewChangeable made. With standing, it acts on
// deadlocks that were declared before and whose priority group has not resumed since: like any other they
// are confirmed by a claim first, which only gets round where every switch of the loop has a policy.
// The zero policy ends what is being done: the detector goes on as if it were alone. All of it happens
// in the next Tick, which is due at once. It reports false for a detector of another kind.
func Change(d detect.Detector, p Policy, standing bool) bool {
	r, ok := d.(interface{ order(to change) })
	if ok {
		r.order(change{p, standing})
	}
	return ok
}

// change is another policy, and whether to act on what stands.
type change struct {
	policy   Policy
	standing bool
}

func (r *responder) order(to change) { r.ordered, r.deadline = &to, 0 }

// off reports whether nothing is done about deadlocks.
func (r *responder) off() bool { return r.policy == Policy{} }

// obey changes the policy as ordered.
func (r *responder) obey(now unit.Time, to change) {
	r.ordered, r.policy = nil, to.policy
	if r.off() {
		r.endAll(now)
	} else if to.standing {
		r.takeUp()
	}
}

// takeUp has what stands acted on, where nothing is being done about it yet.
func (r *responder) takeUp() {
	for _, c := range r.priorities {
		if c == nil {
			continue
		}
		for i := range c.in {
			if a := &c.in[i].attempt; c.in[i].stands && (a.phase == idle || a.phase == held) {
				a.declared = true
			}
		}
	}
}

// endAll takes back whatever is being done.
func (r *responder) endAll(now unit.Time) {
	for i := range r.cures {
		if r.cures[i].active {
			r.end(now, &r.cures[i])
		}
	}
	for _, c := range r.priorities {
		if c == nil {
			continue
		}
		c.watched, c.look = 0, unit.Never
		for i := range c.in {
			b := &c.in[i]
			if b.attempt.phase == asking {
				r.forceNoMore(c, unit.Port(i))
			}
			if b.isolation.active {
				r.takeBack(now, c, unit.Port(i))
			}
			b.attempt = attempt{finding: b.attempt.finding}
		}
	}
}
