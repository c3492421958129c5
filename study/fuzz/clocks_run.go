package fuzz

func playClocks(r *Run, i int) (ClocksOutcome, string) {
	o := PlayClocks(r.Seed, r.Part.Item(i), r.detector())
	return o, o.Invalid
}

func clocksReport(r *Run, outcomes []ClocksOutcome) Report {
	report := NewClocksReport(r.Seed, r.detector().Name)
	for i := range outcomes {
		report.Add(r.Part.Item(i), &outcomes[i])
	}
	report.Finish()
	return report
}
