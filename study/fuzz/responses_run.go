package fuzz

func playResponses(r *Run, i int) (ResponsesOutcome, string) {
	o := PlayResponses(r.Seed, r.Part.Item(i), r.detector(), r.Responses)
	return o, o.Invalid
}

func responsesReport(r *Run, outcomes []ResponsesOutcome) Report {
	report := NewResponsesReport(r.Seed, r.detector().Name, r.Responses)
	for i := range outcomes {
		report.Add(&outcomes[i])
	}
	report.Finish()
	return report
}
