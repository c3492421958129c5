package play

import (
	"context"
	"fmt"
	"io"

	"softswitch/conform"
	"softswitch/internal/progress"
	"softswitch/live"
	"softswitch/unit"
)

// ConformProbeSim finds out about softswitch's own switch, made as truth promises it, in virtual time, what
// base does not say, and returns the text of a profile.
func ConformProbeSim(ctx context.Context, base *conform.Profile, truth ConformOptions, out io.Writer) ([]byte, error) {
	task := &conform.Task{Profile: base, Seed: truth.Seed, Tiny: true}
	work := progress.New(ctx, out, "steps", probeSteps)
	defer work.Close()
	var played int64
	w, err := newConformWorld(task, truth, func(unit.Time) error { return work.Set(played) })
	if err != nil {
		return nil, err
	}
	for _, stage := range probeStages {
		session := conform.NewSession(task, stage())
		for script := session.Next(); script != nil; script = session.Next() {
			switch r, err := w.play(script); {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				session.Fault(err)
			default:
				session.Add(r)
			}
		}
		if err := learn(task, session); err != nil {
			return nil, err
		}
		played++
	}
	return task.Probed(), nil
}

// ConformProbeLive finds out about a DUT, through the interfaces of base, what base does not say, and returns
// the text of a profile.
func ConformProbeLive(ctx context.Context, base *conform.Profile, seed uint64, out io.Writer) ([]byte, error) {
	task := &conform.Task{Profile: base, Seed: seed, Live: true, Uncertain: conformUncertain, Grain: conformGrain}
	_, tiny, err := conformInterfaces(base)
	if err != nil {
		return nil, err
	}
	task.Tiny = tiny
	if err := live.Realtime(); err != nil {
		fmt.Fprintf(out, "no %v: the tester waits for a processor like everybody else\n", err)
	}
	w, err := openConform(task, false)
	if err != nil {
		return nil, err
	}
	defer w.close()
	work := progress.New(ctx, out, "steps", probeSteps)
	defer work.Close()
	for i, stage := range probeStages {
		if i == 1 { // the speed is known
			if _, err := w.calibrate(ctx, out); err != nil {
				return nil, err
			}
		}
		session := conform.NewSession(task, stage())
		cut, err := w.session(ctx, session, func() error { return work.Set(int64(i)) })
		if err != nil {
			return nil, err
		}
		if cut != "" {
			return nil, fmt.Errorf("conform: %s", cut)
		}
		if err := learn(task, session); err != nil {
			return nil, err
		}
	}
	return task.Probed(), nil
}

// probeStages are the sessions of a probe, in their order; probeSteps is how many there are.
var probeStages = []func() []*conform.Case{conform.ProbeSpeed, conform.ProbePriorities, conform.ProbeBuffer}

const probeSteps = 3

// learn puts what a session has found into its task. It fails if the session found nothing for want of frames
// that come, or of a tester that is fast enough.
func learn(task *conform.Task, s *conform.Session) error {
	for _, o := range s.Outcomes() {
		if o.Result != conform.Pass && o.Result != conform.Skipped {
			return fmt.Errorf("conform: %s: %s: %s", o.Title, o.Result, o.Reason)
		}
	}
	task.Learn()
	return nil
}
