package runner

import (
	"context"

	"softswitch/study/fuzz/clocked"
)

// byClocks reports whether the mode is about logs by several clocks.
func (r *Run) byClocks() bool { return string(r.Mode) == clocked.Mode }

// playClocks plays all cases of the part.
func (r *Run) playClocks(ctx context.Context) ([]clocked.Outcome, error) {
	outcomes := make([]clocked.Outcome, r.count())
	err := r.each(ctx, func(i int) error {
		outcomes[i] = clocked.Play(r.Seed, r.Part.Item(i), r.detector())
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range outcomes {
		r.tellInvalid(i, outcomes[i].Invalid)
	}
	return outcomes, nil
}

// clocks is the report of all cases, the first of which is number 0.
func (r *Run) clocks(outcomes []clocked.Outcome) *clocked.Report {
	report := clocked.NewReport(r.Seed, r.detector().Name)
	for i := range outcomes {
		report.Add(r.Part.Item(i), &outcomes[i])
	}
	report.Finish()
	return report
}
