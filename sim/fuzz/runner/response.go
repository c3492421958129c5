package runner

import (
	"context"

	"softswitch/detect/respond"
	"softswitch/internal/progress"
	"softswitch/sim/fuzz/response"
)

// Responds reports whether the mode is about what responses do.
func (r *Run) Responds() bool { return string(r.Mode) == response.Mode }

// PlayResponses plays all cases without a detector, and those that deadlock with Detector
// and each response.
func (r *Run) PlayResponses(ctx context.Context, responses []respond.Choice) (*response.Report, error) {
	outcomes := make([]response.Outcome, r.N)
	err := progress.Each(ctx, r.Progress, "cases", r.N, r.Workers, func(i int) error {
		outcomes[i] = response.Play(r.Seed, i, r.Detector, responses)
		return nil
	})
	if err != nil {
		return nil, err
	}
	report := response.NewReport(r.Seed, r.Detector.Name, responses)
	for i := range outcomes {
		report.Add(&outcomes[i])
		r.tellInvalid(i, outcomes[i].Invalid)
	}
	report.Finish()
	return report, nil
}
