package respond

import (
	"softswitch/detect"
	"softswitch/unit"
)

// Times in hops (detect.View.Hop), and counts.
const (
	hopsMax       = 64     // the longest loop, and the farthest trigger
	triesMax      = 3      // of what may be lost on its way
	lapHops       = 2 * 64 // the longest loop, and as much in vain
	passHops      = 4 * 64 // the way of a claim is kept: for its lap, the search and two laps more
	seekHops      = 32     // to the trigger and back
	askHops       = 8      // to the next hop and back
	pauseHops     = 8      // from a claim that failed to the next
	isolatingHops = 2 * 64 // round the loop
	isolationHops = 2 * 64 // the longest that a loop is isolated, or has extra thresholds
	roundsMax     = 8      // of making a loop move that stays closed
	toldMax       = 16     // times isolationHops that it takes to leave a priority group alone again; see passSeal
	holdHops      = 64     // the hold-down, if that is less than holdMax
	holdMax       = 10 * unit.Millisecond
)

// phase is the step at which an attempt is.
type phase uint8

const (
	idle      phase = iota
	held            // the hold-down after the last attempt
	retrying        // a claim is due to be sent
	claiming        // a claim is on its way round
	seeking         // a trigger is on its way to its switch
	asking          // the next hop is asked for a reserve
	isolating       // a seal is on its way round
	moving          // the loop has been made to move
)

// attempt is what a priority group does about a deadlock that was declared there.
type attempt struct {
	phase    phase
	finding  detect.Finding
	declared bool // and not begun with yet
	refused  bool // as held, since
	seq      uint16
	tries    int   // of this phase
	rounds   int   // of making the loop move
	ask      uint8 // the number of the newest message to the next hop; see ask
	due      unit.Time
}

// next is when the attempt has something to do.
func (a *attempt) next() unit.Time {
	switch {
	case a.phase == idle && a.declared, a.phase == held && a.declared && !a.refused:
		return 0
	case a.phase == idle:
		return unit.Never
	}
	return a.due
}

// attemptDue takes the next step of priority group i's attempt, if it is due.
func (r *responder) attemptDue(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	if a.phase != idle && a.declared && !a.refused {
		a.refused = true
		r.refuse(detect.RefusedHeld, c, i)
	}
	if a.next() > now {
		return
	}
	switch a.phase {
	case idle:
		r.begin(now, c, i)
	case held:
		a.phase = idle
		if a.declared {
			r.begin(now, c, i)
		}
	case retrying:
		r.startClaim(now, c, i)
	case claiming:
		r.claimFailed(now, c, i)
	case seeking:
		r.seek(now, c, i)
	case asking:
		r.askAgain(now, c, i)
	case isolating:
		r.isolated(now, c, i)
	case moving:
		r.nextRound(now, c, i)
	}
}

// begin begins with what was declared.
func (r *responder) begin(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	*a = attempt{finding: a.finding}
	if !r.view.LinkUp(i) || !r.view.LinkUp(a.finding.Queue.Port) {
		r.refuse(detect.RefusedPortDown, c, i)
		r.hold(now, c, i)
		return
	}
	r.startClaim(now, c, i)
}

// hold ends the attempt of priority group i with the hold-down.
func (r *responder) hold(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	a.phase, a.due = held, now+min(r.hop*holdHops, holdMax)
}

// refuse logs why no action is taken for what priority group i has declared.
func (r *responder) refuse(why detect.Refusal, c *priority, i unit.Port) {
	r.act.Refuse(why, c.pg(i), c.in[i].attempt.finding.Queue)
}

// confirmed: the claim of priority group i came home.
func (r *responder) confirmed(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	if r.policy.Trigger && a.rounds == 0 && !a.finding.Trigger.IsZero() {
		a.phase, a.tries = seeking, 0
		r.seek(now, c, i)
		return
	}
	r.breakIt(now, c, i)
}

// waits reports whether priority group i still waits as it did when the claim passed.
func (r *responder) waits(now unit.Time, c *priority, i unit.Port) bool {
	s := &c.in[i].pass
	on, _ := r.view.XOFF(c.pg(i))
	return on && s.isLive(now) && r.isWay(c, i, s.via)
}
