package runner

import (
	"context"
	"os"
	"path/filepath"

	"softswitch/detect/catalog"
	"softswitch/internal/progress"
	"softswitch/sim/fuzz"
	"softswitch/sim/fuzz/naming"
)

// NamesCauses reports whether the mode is about the causes that detectors name.
func (r *Run) NamesCauses() bool {
	return string(r.Mode) == naming.ModeCause || string(r.Mode) == naming.ModeRandom
}

// namingTries is how often a failure is played, at most, to make it smaller. Each time
// takes four runs.
const namingTries = 150

// PlayCauses plays all cases with several detectors, instead of Detector, that name
// causes. Then it writes those in which one did not name what was planted.
func (r *Run) PlayCauses(ctx context.Context, detectors []catalog.Detector) (*naming.Report, error) {
	report := naming.NewReport(string(r.Mode), r.Seed, detectors)
	outcomes := make([]naming.Outcome, r.N)
	cases := make([]*fuzz.Case, r.N)
	err := progress.Each(ctx, r.Progress, "cases", r.N, r.Workers, func(i int) error {
		if r.Mode == fuzz.Mode(naming.ModeRandom) {
			outcomes[i] = naming.PlayRandom(fuzz.New(r.Seed, i, fuzz.Usual), detectors)
			return nil
		}
		p := fuzz.NewPlanted(r.Seed, i)
		outcomes[i], cases[i] = naming.Play(p, detectors), p.Case
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range outcomes {
		report.Add(&outcomes[i])
		r.tellInvalid(i, outcomes[i].Invalid)
	}
	report.Finish()
	report.Failures, err = r.writeNamed(ctx, detectors, cases, outcomes)
	return report, err
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
// made smaller, and returns the names of the files.
func (r *Run) writeNamed(ctx context.Context, detectors []catalog.Detector, cases []*fuzz.Case, outcomes []naming.Outcome) ([]string, error) {
	files := []string{}
	var all []failure
	count := map[string]int{}
	for i := range outcomes {
		o := &outcomes[i]
		for k, d := range detectors {
			if !o.Locked || o.Planting == "" || o.Systems[k].Elsewhere || o.Systems[k].Found {
				continue
			}
			kind := d.Name + "-" + string(o.Planting)
			count[kind]++
			f := failure{cases[i], o.Planting, d, filepath.Join(r.Out, cases[i].Name()+"-"+kind+".yaml"), count[kind] <= r.Shrink}
			all, files = append(all, f), append(files, f.file)
		}
	}
	if len(files) == 0 {
		return files, nil
	}
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return nil, err
	}
	return files, progress.Each(ctx, r.Progress, "failures made smaller", len(all), r.Workers, func(i int) error {
		f := all[i]
		if f.small {
			f.Case = fuzz.Shrink(f.Case, namingTries, func(c *fuzz.Case) bool { return ctx.Err() == nil && naming.Fails(c, f.detector) })
		}
		return os.WriteFile(f.file, f.Text(f.detector.Name, naming.Comment(f.Case, f.detector, f.small)), 0o644)
	})
}
