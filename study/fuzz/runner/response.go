package runner

import (
	"context"

	"softswitch/study/fuzz/response"
)

// responds reports whether the mode is about what responses do.
func (r *Run) responds() bool { return string(r.Mode) == response.Mode }

// playResponses plays all cases of the part without a detector, and those that deadlock with
// it and each response.
func (r *Run) playResponses(ctx context.Context) ([]response.Outcome, error) {
	outcomes := make([]response.Outcome, r.count())
	err := r.each(ctx, func(i int) error {
		outcomes[i] = response.Play(r.Seed, r.Part.Item(i), r.detector(), r.Responses)
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

// responses is the report of all cases.
func (r *Run) responses(outcomes []response.Outcome) *response.Report {
	report := response.NewReport(r.Seed, r.detector().Name, r.Responses)
	for i := range outcomes {
		report.Add(&outcomes[i])
	}
	report.Finish()
	return report
}
