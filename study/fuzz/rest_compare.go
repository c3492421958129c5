package fuzz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/internal/lists"
	"softswitch/internal/stat"
	"softswitch/node/config"
	"softswitch/oracle"
	"softswitch/sim"
	"softswitch/unit"
)

// TruthFault is a way in which the oracle, or a detector, is at odds with what moves.
type TruthFault uint8

// Faults, of the oracle and then of the detector.
const (
	ClaimMoves      TruthFault = iota // S* has a queue at the instant that sends a frame later
	ClaimResumes                      // S* has a queue at the instant whose pause ends later, without a frame
	RestMissed                        // at the end a queue has frames, and S* lacks it
	RestMissedHost                    // at the end a host is paused, and S* lacks it
	RestMissedEmpty                   // at the end a queue without frames is paused, and S* lacks it
	EndNotPaused                      // at the end S* has a queue that is not paused
	TrueCondemned                     // a declaration is true, and the oracle says that it is not
	FalseApproved                     // a declaration is of what dissolves, and the oracle says that it is true
	Dissolves                         // a declaration is of what dissolves
	KnotUndeclared                    // at the end there is a knot that was never declared

	truthFaults = int(iota)
)

// faultTexts is by fault its name, and what it is, for people.
var faultTexts = [truthFaults]struct{ name, text string }{
	{"claim-moves", "queues that S* has at the instant, and that send a frame later"},
	{"claim-resumes", "queues that S* has at the instant, and whose pauses end later"},
	{"missed", "queues with frames that never move, which S* lacks at the end"},
	{"missed-host", "hosts that are paused for ever, which S* lacks at the end"},
	{"missed-empty", "queues without frames that are paused for ever, which S* lacks at the end"},
	{"not-paused", "queues that S* has at the end, and that are not paused"},
	{"true-condemned", "declarations of what never moves of which the oracle does not say so"},
	{"false-approved", "declarations of what dissolves of which the oracle says that they are true"},
	{"dissolves", "declarations of what dissolves"},
	{"knot-undeclared", "knots at the end that were never declared"},
}

func (f TruthFault) String() string { return faultTexts[f].name }

// TruthOutcome is the result of a case.
type TruthOutcome struct {
	// Invalid is why the case says nothing; then nothing else is set. Refused: no scenario has such
	// thresholds. Lost is which switch had no room for a lossless frame.
	Invalid string `json:",omitempty"`
	Refused bool   `json:",omitempty"`
	Lost    string `json:",omitempty"`

	Frames    uint64 // frame-hops of all runs
	Locked    bool   // a queue never moved from some instant on, or S* was not empty at some time
	Instants  int
	AtRest    int // instants at whose end there are frames
	Claims    int // queues in S* at the instants
	Predicted int // queues that rest from an instant on and that S* has only later: no fault

	// Declarations at instants: of what rests; of what rests soon after; of what would have rested
	// if nothing had happened since soon before. The others dissolve.
	Declared, True, Soon, Late int
	// Of the true ones, those that are late for a deadlock that was just over: frames on their way
	// close it again, or the queue waits behind another one, and so does not move either.
	Between        int
	Knots, Unknown int // at the ends; those of which S* lacks a queue
	// Knots that were not declared: those that open when what was declared is flushed, and those that
	// share a pool with it and are declared then.
	Hanging, Next int

	Faults [truthFaults]int
	// Worst is the first fault of those that were found, At the first instant at which it was found,
	// and Why says of what.
	Worst TruthFault `json:",omitempty"`
	At    unit.Time  `json:",omitempty"`
	Why   string     `json:",omitempty"`
	File  string     `json:",omitempty"` // that the case was written to, if something is wrong
}

// Faulty reports whether something is wrong.
func (o *TruthOutcome) Faulty() bool { return o.Why != "" }

func (o *TruthOutcome) fault(f TruthFault, at unit.Time, format string, args ...any) {
	if o.Faults[f]++; !o.Faulty() || f < o.Worst {
		o.Worst, o.At, o.Why = f, at, fmt.Sprintf("%s at %d ns: ", f, at)+fmt.Sprintf(format, args...)
	}
}

// soonHops is for how many hops after a declaration what was declared may still move: a frame that
// has begun to leave closes its loop.
const soonHops = 32

func (o TruthOutcome) why() string {
	if o.Lost != "" {
		return "a lossless frame is lost: " + o.Lost
	}
	return o.Invalid
}

// playTruth plays a case with a detector, and again for some instants. Detector "none" is not judged.
func playTruth(r *Run, i int) TruthOutcome { return r.newCase(i).truth(r.detector(), theOracle) }

// truth is playTruth of a case, with a judge in the place of the oracle.
func (c *Case) truth(d catalog.Detector, judge judge) (o TruthOutcome) {
	defer recovered(&o, &o.Invalid)
	if c.refused() {
		return TruthOutcome{Refused: true}
	}
	first, err := c.playFirst(d)
	if err != nil {
		return TruthOutcome{Invalid: err.Error()}
	}
	random := stat.Rand(stat.Mix(c.Seed ^ stat.Mix(uint64(c.Index))))
	return first.truth(first.instants(c.lastActivity(), &random), judge)
}

// truth holds what the judge and the detector say at some instants against what rests.
func (first *firstRun) truth(instants []unit.Time, judge judge) (o TruthOutcome) {
	o.Frames, o.Lost = first.frames, first.lost
	if o.Lost != "" {
		return o
	}
	o.Locked = len(first.result.Intervals) > 0
	for _, at := range instants {
		r, err := playRest(first.plan, at, first.opt, judge)
		if err == nil && r.past.sum != first.past.until(at) {
			err = fmt.Errorf("up to %d ns the second run is not the first", at)
		}
		if err != nil {
			return TruthOutcome{Invalid: err.Error()}
		}
		o.Frames += r.frames
		if o.Lost = r.lost; o.Lost != "" {
			return o
		}
		o.compare(r)
		if first.plan.Scenario.Detector != "none" {
			if err := errors.Join(o.judge(r, first.result.Findings), o.undeclared(r)); err != nil {
				return TruthOutcome{Invalid: err.Error()}
			}
		}
	}
	return o
}

// refused reports whether no scenario has the case's thresholds: a group would resume before it
// pauses.
func (c *Case) refused() bool {
	d := c.Dynamic
	return d != nil && d.XON >= config.Buffer{Pool: d.Pool, Size: d.Size, DynamicTh: &d.Th}.XOFFThreshold()
}

// lastActivity is when a source has stopped, or something has happened, for the last time.
func (c *Case) lastActivity() (last unit.Time) {
	for _, f := range c.Flows {
		last = max(last, cmp.Or(f.Stop, c.Duration))
	}
	for _, e := range c.Events {
		last = max(last, e.At+e.For)
	}
	return min(last, c.Duration)
}

// instants are those at which a case is held still, in order: three at random while something
// happens, those at, just before and within a time of S*, and those of up to four declarations.
func (f *firstRun) instants(last unit.Time, random *stat.Rand) (all []unit.Time) {
	for range 3 {
		all = append(all, below(random, last))
	}
	if in := f.result.Intervals; len(in) > 0 {
		s := in[random.Below(len(in))]
		to := max(s.From, min(s.To, last))
		all = append(all, s.From, max(0, s.From-1), s.From+below(random, to-s.From+1))
	}
	first := f.result.Findings[:min(4, len(f.result.Findings))]
	all = append(all, lists.Map(first, func(d oracle.Finding) unit.Time { return d.At })...)
	slices.Sort(all)
	return slices.Compact(all)
}

// compare holds what the judge says against what rests.
func (o *TruthOutcome) compare(r *restRun) {
	o.Instants++
	o.Claims += len(r.stuckAt)
	o.Locked = o.Locked || len(r.left) > 0
	count(&o.AtRest, len(r.left) > 0)
	for _, q := range r.stuckAt {
		switch of := restQueue(q); {
		case r.sent[of] > 0:
			o.fault(ClaimMoves, r.at, "queue %v sends a frame at %d ns, %d ns later", q, r.sent[of], r.sent[of]-r.at)
		case !r.isPaused(of):
			o.fault(ClaimResumes, r.at, "queue %v is not paused at the end", q)
		}
	}
	for _, q := range r.stuckEnd {
		if !r.isPaused(restQueue(q)) {
			o.fault(EndNotPaused, r.at, "queue %v", q)
		}
	}
	for _, q := range r.paused {
		q, stuck := oracle.Queue(q), slices.Contains(r.stuckEnd, oracle.Queue(q))
		switch {
		case stuck && r.rests(restQueue(q), 0) && !slices.Contains(r.stuckAt, q):
			o.Predicted++
		case stuck:
		case r.isHost(q.Node):
			o.fault(RestMissedHost, r.at, "host %v", q)
		case r.isLeft(restQueue(q)):
			o.fault(RestMissed, r.at, "queue %v, of %d at rest and %d in S*", q, len(r.left), len(r.stuckEnd))
		default:
			o.fault(RestMissedEmpty, r.at, "queue %v", q)
		}
	}
}

// judge compares what the detector declared at the instant, and what the oracle says of that, with
// what rests.
func (o *TruthOutcome) judge(r *restRun, findings []oracle.Finding) error {
	for _, f := range findings {
		if f.At != r.at {
			continue
		}
		q, b := restQueue(f.Queue), restQueue(f.PG)
		soon := soonHops * r.hop
		o.Declared++
		switch {
		case r.rests(q, 0) && r.groupRests(b, 0):
			switch o.True++; {
			case f.Outcome == oracle.TruePositive:
			case f.Outcome == oracle.Late && !slices.Contains(r.coreAt, f.Queue):
				o.Between++ // its deadlock was over: frames on their way close it again, or it waits behind another
			default:
				o.fault(TrueCondemned, r.at, "queue %v is said to be %v", f.Queue, f.Outcome)
			}
		case r.rests(q, soon) && r.groupRests(b, soon):
			o.Soon++
		default:
			late, err := o.wasTrue(r, q, b, soon)
			if err != nil {
				return err
			}
			if late {
				o.Late++
			} else {
				o.fault(Dissolves, r.at, "queue %v, group %v", f.Queue, f.PG)
			}
			if f.Outcome == oracle.TruePositive {
				o.fault(FalseApproved, r.at, "queue %v, group %v", f.Queue, f.PG)
			}
		}
	}
	return nil
}

// wasTrue reports whether a queue and a group would have rested if nothing had happened since a time
// before the instant, or since just before what happened last by then.
func (o *TruthOutcome) wasTrue(r *restRun, q, b restQueue, soon unit.Time) (bool, error) {
	times := []unit.Time{max(0, r.at-soon)}
	for _, e := range r.plan.Events {
		if e.At > times[0] && e.At <= r.at {
			times = append(times, e.At-1)
		}
	}
	for _, at := range times {
		before, err := playRest(r.plan, at, r.opt, r.judge)
		if err != nil {
			return false, err
		}
		if o.Frames += before.frames; before.rests(q, 0) && before.groupRests(b, 0) {
			return true, nil
		}
	}
	return false, nil
}

// undeclared counts knots that the detector has never declared: those that go on hanging on nothing
// but themselves when what it has declared is flushed.
func (o *TruthOutcome) undeclared(r *restRun) error {
	var opened *restRun
	for _, knot := range r.knots() {
		o.Knots++
		known := !slices.ContainsFunc(knot, func(q restQueue) bool { return !slices.Contains(r.stuckEnd, oracle.Queue(q)) })
		count(&o.Unknown, !known)
		if slices.ContainsFunc(knot, func(q restQueue) bool { return r.declared[q] }) {
			continue
		}
		if opened == nil {
			var err error
			if opened, err = r.playOpened(); err != nil {
				return err
			}
			o.Frames += opened.frames
		}
		switch {
		case r.sharesPool(knot) && slices.ContainsFunc(knot, func(q restQueue) bool { return opened.declared[q] }):
			o.Next++
		case r.opens(opened, knot):
			o.Hanging++
		default:
			o.fault(KnotUndeclared, r.at, "%v, known to the oracle: %v", knot, known)
		}
	}
	return nil
}

// options are those of a run of the case with a detector.
func (c *Case) options(d catalog.Detector) sim.Options {
	return sim.Options{Seed: c.Wires, Detectors: map[string]detect.Factory{d.Name: d.New}, Slots: c.slots()}
}
