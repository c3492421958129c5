// Modes Cause and RandomCause hold what a detector names as the cause of a deadlock against the
// truth: against what was planted, and against the same run with what is named handled
// from the start.
//
//	NewPlanted --> case --detector--> declaration, diagnosis --> Answer --.
//	                      |                                                     |
//	                      |--no detector-> baselines: other Answers ------------|
//	                      |                                                     v
//	                      '--what was planted, study/cause-----------------> Judged --> Report
//
// Read in this order: causes_answer.go (what is named), causes_watch.go (how a run is watched),
// causes_baseline.go (answers that need no detector), causes_truth.go (what was planted), this
// file (a case), causes_report.go and causes_text.go (many).
//
// Words: an answer is *found* if it names what was planted: the host that misbehaves, or
// at least one of the flows, or the switches, that were planted. It is *causal* if there
// is no deadlock at the same place when what it names is handled from the start, and
// *sufficient* if there is none at all (package cause). Its *control* is the same number of
// other hosts or flows at random.
// Its *loop control* is the same number of the hosts, flows and turns that the oracle knows of the
// loop: a guess that sees the loop and no more.
//
// Invariants:
//   - an answer is judged by what it names, no matter who gave it: detectors and baselines
//     go the same way;
//   - no answer is an answer: it counts in every share of what was found;
//   - the same case gives the same outcome, whatever else runs.

package fuzz

import (
	"fmt"
	"slices"

	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/oracle"
	"softswitch/study/cause"
)

// CausesOutcome is the result of a case.
type CausesOutcome struct {
	// Invalid is why the case says nothing; then nothing else is set.
	Invalid string
	// Planting is what was planted, "" in a random case.
	Planting Planting
	Shape    string
	// Locked: it has a deadlock without a detector. Fabrics and Tries are those of
	// fuzz.Planted.
	Locked         bool
	Fabrics, Tries int
	// Single: one host or flow alone prevents the deadlock. It is only known of random
	// cases.
	Single bool
	// Systems are the detectors in the order given, then Baselines.
	Systems []Judged
	// Files are those of the detectors that did not name what was planted.
	Files []string

	planted *Case // the case, where it is played here and not read from a shard
}

func (o CausesOutcome) why() string { return o.Invalid }

// Judged is what a system named as the cause of a case's deadlock, and what is true of
// it.
type Judged struct {
	// Elsewhere: with this detector the case's first deadlock is none or another one.
	// Then nothing else is known.
	Elsewhere bool
	Declared  bool
	// Type is that of the likeliest answer, NoAnswer if there is none.
	Type string
	// Found: the likeliest answer names what was planted. Among3: one of the first three
	// does; Answers is how many there are.
	Found, Among3 bool
	// Two: two plants made the deadlock, and either is needed. Both: each of them is named
	// by one of the first three answers.
	Two, Both bool
	Answers   int
	TypeRight bool
	// Effect is that of all that is named: of the likeliest answer, with what it names
	// together with that.
	cause.Effect
	// Control is what naming the same number of others, drawn at random, does, Loop what naming
	// the same number of the loop does, and Turn what treating the declared turn alone does.
	Control, Loop, Turn Try
	// OnLoop is what is true, Said what the answer says. Known: the former is.
	OnLoop, Said, Known bool
	// Flows are how many are named, Innocents those of them that have no part in
	// what was planted.
	Flows, Innocents int
	// Hops are from the switch that is named to the nearest one of what was planted.
	Hops int
}

// Try is what a treatment does, and whether it names what was planted. Not Done: there is
// no such treatment.
type Try struct{ Done, Causal, Sufficient, Found bool }

// PlayCauses plays a planted case with detectors, and judges what they and the baselines
// name.
func PlayCauses(p *Planted, detectors []catalog.Detector) (o CausesOutcome) {
	defer recovered(&o, &o.Invalid)
	o = CausesOutcome{Planting: p.Planting, Shape: p.Shape, Locked: p.Locked, Fabrics: p.Fabrics, Tries: p.Tries, planted: p.Case}
	switch {
	case p.Locked:
		return o.of(p.Case, detectors)
	case p.Planting == Control:
		return o.control(p.Case, detectors)
	}
	return o
}

// control plays a case without a deadlock: nothing must be declared, unless there is one with the
// detector's own frames.
func (o CausesOutcome) control(c *Case, detectors []catalog.Detector) CausesOutcome {
	for _, d := range detectors {
		h, r, err := playNamed(c, d.Name, d.New, false)
		if err != nil {
			return CausesOutcome{Invalid: err.Error()}
		}
		j := Judged{Type: NoAnswer, Declared: len(r.Findings) > 0, Elsewhere: h.onset > 0}
		if j.Declared {
			if all := h.named(r, r.Findings[0]); len(all) > 0 {
				j.Type = all[0].Type
			}
		}
		o.Systems = append(o.Systems, j)
	}
	return o
}

// of plays a case and judges every system.
func (o CausesOutcome) of(c *Case, detectors []catalog.Detector) CausesOutcome {
	h, r, err := playNamed(c, catalog.None, detect.NewNone, true)
	switch {
	case err != nil:
		return CausesOutcome{Invalid: err.Error()}
	case h.onset == 0:
		return o
	}
	o.Locked = true
	judge, err := newJudge(c, h, r)
	if err != nil {
		return CausesOutcome{Invalid: err.Error()}
	}
	for _, d := range detectors {
		j, err := judge.detector(d)
		if err != nil {
			return CausesOutcome{Invalid: err.Error()}
		}
		o.Systems = append(o.Systems, j)
	}
	for _, name := range Baselines {
		said, err := h.baseline(name, r, judge)
		if err != nil {
			return CausesOutcome{Invalid: err.Error()}
		}
		j, err := judge.answers(said)
		if err != nil {
			return CausesOutcome{Invalid: err.Error()}
		}
		o.Systems = append(o.Systems, j)
	}
	if o.Planting == "" {
		o.Single, err = judge.single()
		if err != nil {
			return CausesOutcome{Invalid: err.Error()}
		}
	}
	return o
}

// judgeNamed judges answers about one deadlock.
type judgeNamed struct {
	c     *Case
	truth *causesTruth
	cause *cause.Case
	tried map[string]cause.Effect // by treatment
}

func newJudge(c *Case, h *watch, r *oracle.Result) (*judgeNamed, error) {
	t, err := truthOf(c, h, r)
	if err != nil {
		return nil, err
	}
	k, err := cause.New(h.plan.Scenario, c.Wires, nil)
	return &judgeNamed{c: c, truth: t, cause: k, tried: map[string]cause.Effect{}}, err
}

// detector plays the case with a detector and judges what it names.
func (j *judgeNamed) detector(d catalog.Detector) (Judged, error) {
	said, err := j.listen(d)
	if err != nil || said.elsewhere {
		return Judged{Elsewhere: said.elsewhere}, err
	}
	what, err := j.answers(said.answers)
	if err != nil || said.turn == nil {
		return what, err
	}
	what.Declared = true
	e, err := j.try(cause.Treatment{Turns: []cause.Turn{*said.turn}})
	what.Turn = Try{Done: true, Causal: e.Causal, Sufficient: e.Sufficient}
	return what, err
}

// said is what a detector says of the deadlock.
type said struct {
	elsewhere bool // its run has another deadlock, or none
	answers   []Answer
	turn      *cause.Turn // that was declared, nil if nothing was
}

// listen plays the case with a detector.
func (j *judgeNamed) listen(d catalog.Detector) (said, error) {
	h, r, err := playNamed(j.c, d.Name, d.New, false)
	if err != nil {
		return said{}, err
	}
	if !meet(h.loop, j.cause.Deadlock.Queues) {
		return said{elsewhere: true}, nil
	}
	f := h.finding(r)
	if f == nil {
		return said{}, nil
	}
	turn := cause.Turn{
		Switch: r.Fabric.Name(f.PG.Node), In: r.Fabric.Port(f.PG.NodePort), Out: r.Fabric.Port(f.Queue.NodePort), Priority: f.PG.Priority,
	}
	return said{answers: h.named(r, *f), turn: &turn}, nil
}

// answers judges what is named, the likeliest first.
func (j *judgeNamed) answers(all []Answer) (what Judged, err error) {
	if len(all) == 0 {
		return Judged{Type: NoAnswer, Hops: -1}, nil
	}
	a := all[0]
	flows, treated := together(all)
	what = Judged{
		Type: a.Type, Found: j.truth.found(a), Answers: len(all), TypeRight: j.truth.typeRight(a),
		Said: a.OnLoop, Flows: len(flows), Innocents: j.truth.innocents(flows), Hops: j.truth.hops(a),
	}
	first := all[:min(3, len(all))]
	what.Among3 = slices.ContainsFunc(first, j.truth.found)
	what.Two, what.Both = len(j.truth.plants) == 2, j.truth.foundAll(first)
	what.OnLoop, what.Known = j.truth.onLoop()
	if what.Effect, err = j.try(treated); err != nil {
		return what, err
	}
	if t, ok := j.cause.Control(treated, j.c.Wires); ok && t.Size() > 0 {
		e, err := j.try(t)
		if err != nil {
			return what, err
		}
		other := Answer{Flows: t.Flows}
		if len(t.Hosts) > 0 {
			other.Host = t.Hosts[0]
		}
		what.Control = Try{true, e.Causal, e.Sufficient, j.truth.found(other)}
	}
	e, err := j.try(j.cause.LoopControl(treated, j.c.Wires))
	if err != nil {
		return what, err
	}
	guess := j.guess(a.Type, j.cause.LoopControl(a.treatment(), j.c.Wires))
	what.Loop = Try{true, e.Causal, e.Sufficient, slices.ContainsFunc(guess, j.truth.found)}
	return what, nil
}

// guess is what names all that t treats, which is of the loop, as answers of a type.
func (j *judgeNamed) guess(kind string, t cause.Treatment) (all []Answer) {
	for _, h := range t.Hosts {
		all = append(all, Answer{Type: kind, Host: h})
	}
	if len(t.Flows) > 0 {
		all = append(all, Answer{Type: kind, Flows: t.Flows})
	}
	for _, x := range t.Turns {
		a := Answer{Type: kind, Flows: j.cause.Deadlock.Waiting[slices.Index(j.cause.Deadlock.Turns, x)]}
		if i, ok := j.truth.plan.Fabric.Node(x.Switch); ok {
			a.At.Node = j.truth.plan.Fabric.Nodes[i].ID
		}
		all = append(all, a)
	}
	return all
}

// try tries a treatment, once.
func (j *judgeNamed) try(t cause.Treatment) (cause.Effect, error) {
	key := t.String()
	if e, known := j.tried[key]; known {
		return e, nil
	}
	e, err := j.cause.Try(t)
	j.tried[key] = e
	return e, err
}

// singles tries each host and flow alone.
func (j *judgeNamed) singles() (all []cause.Trial, err error) {
	for _, t := range j.cause.Singles() {
		e, err := j.try(t)
		if err != nil {
			return nil, err
		}
		all = append(all, cause.Trial{Treatment: t, Effect: e})
	}
	return all, nil
}

// single reports whether one host or flow alone prevents the deadlock.
func (j *judgeNamed) single() (bool, error) {
	all, err := j.singles()
	return slices.ContainsFunc(all, func(t cause.Trial) bool { return t.Causal }), err
}

// CausesFail reports whether a planted case is one still (fuzz.Case.Sound), and detector d
// does not name what was planted.
func CausesFail(c *Case, d catalog.Detector) bool {
	if !c.Sound() {
		return false
	}
	answers, t, err := listen(c, d)
	return err == nil && t != nil && (len(answers) == 0 || !t.found(answers[0]))
}

// CausesComment is the text at the head of the file of a case in which detector d does not
// name what was planted; shrunk says that it has been made smaller.
func CausesComment(c *Case, d catalog.Detector, shrunk bool) string {
	how := ""
	if shrunk {
		how = " It was made smaller while it was so."
	}
	names := "nothing"
	if answers, t, err := listen(c, d); err == nil && len(answers) > 0 {
		names = answers[0].text(t.plan)
	}
	return fmt.Sprintf("%s (%s): what was planted is not what %s names.%s\nIt names %s.\n\n  softswitch sim run FILE --seed %d\n\n",
		c.Name(), c.Shape, d.Name, how, names, c.Wires)
}

// listen is what a detector names in a planted case, and the truth about it, nil if with
// that detector it has another deadlock.
func listen(c *Case, d catalog.Detector) (answers []Answer, t *causesTruth, err error) {
	defer noPanic(&err)
	h, r, err := playNamed(c, catalog.None, detect.NewNone, true)
	if err != nil {
		return nil, nil, err
	}
	j, err := newJudge(c, h, r)
	if err != nil {
		return nil, nil, err
	}
	what, err := j.listen(d)
	if err != nil || what.elsewhere {
		return nil, nil, err
	}
	return what.answers, j.truth, nil
}
