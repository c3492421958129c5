package fuzz

import (
	"context"
	"path/filepath"

	"softswitch/detect/catalog"
	"softswitch/internal/safefile"
)

// namingTries is how often a failure is played, at most, to make it smaller. Each time
// takes four runs.
const namingTries = 150

// named is the result of a case with detectors that name causes, and the files of the
// detectors that did not name what was planted.
type named struct {
	CausesOutcome
	Files []string

	planted *Case // the case, where it is played here and not read from a shard
}

func playPlanted(r *Run, i int) (named, string) {
	p := NewPlanted(r.Seed, r.Part.Item(i))
	o := PlayCauses(p, r.Detectors)
	return named{CausesOutcome: o, planted: p.Case}, o.Invalid
}

func playRandomCause(r *Run, i int) (named, string) {
	o := PlayRandom(New(r.Seed, r.Part.Item(i), Usual), r.Detectors)
	return named{CausesOutcome: o}, o.Invalid
}

func causesReport(r *Run, all []named) Report {
	report := NewCausesReport(r.Mode, r.Seed, r.Detectors)
	for i := range all {
		report.Add(&all[i].CausesOutcome)
		report.Failures = append(report.Failures, all[i].Files...)
	}
	report.Finish()
	return report
}

// failure is a case in which a detector did not name what was planted.
type failure struct {
	*Case
	planting Planting
	detector catalog.Detector
	file     string
	small    bool // it is made smaller
}

// writeNamed writes every failure to its file, the first ones of each planting and detector
// made smaller, and notes its name.
func writeNamed(ctx context.Context, r *Run, all []named) error {
	var failures []failure
	count := map[string]int{}
	for i := range all {
		o := &all[i]
		for k, d := range r.Detectors {
			if !o.Locked || o.Planting == "" || o.Systems[k].Elsewhere || o.Systems[k].Found {
				continue
			}
			kind := d.Name + "-" + string(o.Planting)
			count[kind]++
			f := failure{o.planted, o.Planting, d, filepath.Join(r.Out, o.planted.Name()+"-"+kind+".yaml"), count[kind] <= r.Shrink}
			failures, o.Files = append(failures, f), append(o.Files, f.file)
		}
	}
	return r.eachFailure(ctx, len(failures), func(i int) error {
		f := failures[i]
		if f.small {
			f.Case = Shrink(f.Case, namingTries, func(c *Case) bool { return ctx.Err() == nil && CausesFail(c, f.detector) })
		}
		return safefile.WriteFile(f.file, f.Text(f.detector.Name, CausesComment(f.Case, f.detector, f.small)), 0o644)
	})
}
