package runner

import (
	"context"
	"fmt"
	"path/filepath"

	"softswitch/detect/respond"
	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/link/auth"
	"softswitch/study/fuzz"
	"softswitch/study/fuzz/attack"
)

// attacks reports whether the mode is about strangers' and hosts' control frames.
func (r *Run) attacks() bool { return r.Mode == fuzz.Attack }

// attackResponse is the response of the cases: that which does most.
const attackResponse = "cure"

func attackPolicy() respond.Policy {
	p, err := respond.Parse(attackResponse)
	if err != nil {
		panic(err)
	}
	return p
}

// playAttacks plays all cases of the part.
func (r *Run) playAttacks(ctx context.Context) ([]attack.Outcome, error) {
	outcomes := make([]attack.Outcome, r.count())
	err := r.each(ctx, func(i int) error {
		outcomes[i] = attack.Play(r.Seed, r.Part.Item(i), r.detector(), attackPolicy())
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range outcomes {
		r.tellInvalid(i, outcomes[i].Invalid)
	}
	return outcomes, r.writeAttacks(ctx, outcomes)
}

// attackReport is the report of all cases.
func (r *Run) attackReport(outcomes []attack.Outcome) *attack.Report {
	report := attack.NewReport(r.Seed, r.detector().Name, attackResponse)
	for i := range outcomes {
		report.Add(&outcomes[i])
		if outcomes[i].Strict.Faults() != "" {
			report.Failures = append(report.Failures, r.attackFile(i))
		}
	}
	return report
}

// attackFile is the file of a case that failed.
func (r *Run) attackFile(i int) string {
	return filepath.Join(r.Out, attack.New(r.Seed, r.Part.Item(i)).Name()+".yaml")
}

// writeAttacks writes the cases in which something went wrong on strict links, the first ones made
// smaller.
func (r *Run) writeAttacks(ctx context.Context, outcomes []attack.Outcome) error {
	var failed []int
	for i := range outcomes {
		if outcomes[i].Strict.Faults() != "" {
			failed = append(failed, i)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	if err := safefile.MkdirAll(r.Out, 0o755); err != nil {
		return err
	}
	return progress.Each(ctx, r.Progress, "failures made smaller", len(failed), r.Workers, func(n int) error {
		i := failed[n]
		c, fault := attack.New(r.Seed, r.Part.Item(i)), outcomes[i].Strict.Faults()
		if n < r.Shrink {
			c = fuzz.Shrink(c, shrinkTries, func(c *fuzz.Case) bool {
				if ctx.Err() != nil {
					return false
				}
				run, err := attack.PlayWith(c, auth.Strict, r.detector(), attackPolicy())
				return err == nil && run.Faults() == fault
			})
		}
		c.Auth = auth.Strict.String()
		comment := fmt.Sprintf("%s: with strict links, seed %d of the wires and response %s, %s.\n", c.Name(), c.Wires, attackResponse, fault)
		return safefile.WriteFile(r.attackFile(i), c.Text(r.detector().Name, comment), 0o644)
	})
}
