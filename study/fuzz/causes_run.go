package fuzz

import "context"

// namingTries is how often a failure is played, at most, to make it smaller. Each time
// takes four runs.
const namingTries = 150

func playPlanted(r *Run, i int) CausesOutcome {
	return PlayCauses(NewPlanted(r.Seed, r.Part.Item(i)), r.Detectors)
}

// playRandomCause plays a random case of mode Usual in the same way. Nothing was planted in it;
// whether there is a single cause is found out by trying.
func playRandomCause(r *Run, i int) (o CausesOutcome) {
	defer recovered(&o, &o.Invalid)
	c := New(r.Seed, r.Part.Item(i), Usual)
	return CausesOutcome{Shape: c.Shape}.of(c, r.Detectors)
}

// writeNamed writes every failure to its file, the first ones of each planting and detector
// made smaller, and notes its name.
func writeNamed(ctx context.Context, r *Run, all []CausesOutcome) error {
	n := len(r.Detectors)
	failures := r.failures(len(all)*n, func(i int) (string, bool) {
		o, k := &all[i/n], i%n
		missed := o.Locked && o.Planting != "" && !o.Systems[k].Elsewhere && !o.Systems[k].Found
		return "-" + r.Detectors[k].Name + "-" + string(o.Planting), missed
	})
	for _, f := range failures {
		o := &all[f.i/n]
		o.Files = append(o.Files, f.File)
	}
	return r.write(ctx, failures, func(f failure) (*Case, string) {
		c, d := all[f.i/n].planted, r.Detectors[f.i%n]
		if f.small {
			c = Shrink(ctx, c, namingTries, func(c *Case) bool { return CausesFail(c, d) })
		}
		return c, CausesComment(c, d, f.small)
	})
}
