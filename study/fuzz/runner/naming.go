package runner

import (
	"context"
	"path/filepath"

	"softswitch/detect/catalog"
	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/study/fuzz"
	"softswitch/study/fuzz/naming"
)

// namesCauses reports whether the mode is about the causes that detectors name.
func (r *Run) namesCauses() bool {
	return string(r.Mode) == naming.ModeCause || string(r.Mode) == naming.ModeRandom
}

// namingTries is how often a failure is played, at most, to make it smaller. Each time
// takes four runs.
const namingTries = 150

// named is what came of a case with detectors that name causes, and the files of the
// detectors that did not name what was planted.
type named struct {
	naming.Outcome
	Files []string
}

// playCauses plays all cases of the part, and writes those in which a detector did not name
// what was planted.
func (r *Run) playCauses(ctx context.Context) ([]named, error) {
	all := make([]named, r.count())
	cases := make([]*fuzz.Case, r.count())
	err := r.each(ctx, func(i int) error {
		if r.Mode == fuzz.Mode(naming.ModeRandom) {
			all[i].Outcome = naming.PlayRandom(fuzz.New(r.Seed, r.Part.Item(i), fuzz.Usual), r.Detectors)
			return nil
		}
		p := fuzz.NewPlanted(r.Seed, r.Part.Item(i))
		all[i].Outcome, cases[i] = naming.Play(p, r.Detectors), p.Case
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		r.tellInvalid(i, all[i].Invalid)
	}
	return all, r.writeNamed(ctx, cases, all)
}

// causes is the report of all cases.
func (r *Run) causes(all []named) *naming.Report {
	report := naming.NewReport(string(r.Mode), r.Seed, r.Detectors)
	for i := range all {
		report.Add(&all[i].Outcome)
		report.Failures = append(report.Failures, all[i].Files...)
	}
	report.Finish()
	return report
}

// failure is a case in which a detector did not name what was planted.
type failure struct {
	*fuzz.Case
	planting fuzz.Planting
	detector catalog.Detector
	file     string
	small    bool // it is made smaller
}

// writeNamed writes every failure to its file, the first ones of each planting and detector
// made smaller, and notes its name.
func (r *Run) writeNamed(ctx context.Context, cases []*fuzz.Case, all []named) error {
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
			f := failure{cases[i], o.Planting, d, filepath.Join(r.Out, cases[i].Name()+"-"+kind+".yaml"), count[kind] <= r.Shrink}
			failures, o.Files = append(failures, f), append(o.Files, f.file)
		}
	}
	if len(failures) == 0 {
		return nil
	}
	if err := safefile.MkdirAll(r.Out, 0o755); err != nil {
		return err
	}
	return progress.Each(ctx, r.Progress, "failures made smaller", len(failures), r.Workers, func(i int) error {
		f := failures[i]
		if f.small {
			f.Case = fuzz.Shrink(f.Case, namingTries, func(c *fuzz.Case) bool { return ctx.Err() == nil && naming.Fails(c, f.detector) })
		}
		return safefile.WriteFile(f.file, f.Text(f.detector.Name, naming.Comment(f.Case, f.detector, f.small)), 0o644)
	})
}
