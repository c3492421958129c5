package fuzz

import (
	"context"
	"fmt"
	"path/filepath"

	"softswitch/detect/respond"
	"softswitch/internal/safefile"
	"softswitch/link/auth"
)

// attackResponse is the response of the cases: that which does most.
const attackResponse = "cure"

func attackPolicy() respond.Policy {
	p, err := respond.Parse(attackResponse)
	if err != nil {
		panic(err)
	}
	return p
}

func playAttack(r *Run, i int) (AttackOutcome, string) {
	o := PlayAttack(r.Seed, r.Part.Item(i), r.detector(), attackPolicy())
	return o, o.Invalid
}

func attackReport(r *Run, outcomes []AttackOutcome) Report {
	report := NewAttackReport(r.Seed, r.detector().Name, attackResponse)
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
	return filepath.Join(r.Out, NewAttack(r.Seed, r.Part.Item(i)).Name()+".yaml")
}

// writeAttacks writes the cases in which something went wrong on strict links, the first ones made
// smaller.
func writeAttacks(ctx context.Context, r *Run, outcomes []AttackOutcome) error {
	var failed []int
	for i := range outcomes {
		if outcomes[i].Strict.Faults() != "" {
			failed = append(failed, i)
		}
	}
	return r.eachFailure(ctx, len(failed), func(n int) error {
		i := failed[n]
		c, fault := NewAttack(r.Seed, r.Part.Item(i)), outcomes[i].Strict.Faults()
		if n < r.Shrink {
			c = Shrink(c, shrinkTries, func(c *Case) bool {
				if ctx.Err() != nil {
					return false
				}
				run, err := PlayAttackWith(c, auth.Strict, r.detector(), attackPolicy())
				return err == nil && run.Faults() == fault
			})
		}
		c.Auth = auth.Strict.String()
		comment := fmt.Sprintf("%s: with strict links, seed %d of the wires and response %s, %s.\n", c.Name(), c.Wires, attackResponse, fault)
		return safefile.WriteFile(r.attackFile(i), c.Text(r.detector().Name, comment), 0o644)
	})
}
