package compare

// Outcome is the result of a row, in a word that stands for itself without color.
type Outcome string

// Outcomes, from best to worst. A row has the first of them, from Invalid backwards,
// that is true of it.
const (
	Clear   Outcome = "clear"   // no deadlock, and no false alarm
	Gone    Outcome = "gone"    // in every run with a deadlock, it was gone at the end and did not come again
	Alarm   Outcome = "alarm"   // no deadlock, but one was declared
	Recurs  Outcome = "recurs"  // a deadlock was gone and another came
	Found   Outcome = "found"   // a deadlock was declared and is still there
	Missed  Outcome = "missed"  // a deadlock was there to the end, and in some run nobody declared it
	Failed  Outcome = "failed"  // it could not be played
	Invalid Outcome = "invalid" // no run can be trusted
	NA      Outcome = "n/a"     // the system does not apply
)

var outcomes = []struct {
	Outcome
	Meaning string
}{
	{Clear, "no deadlock formed, and none was declared"},
	{Gone, "in every run with a deadlock it was gone at the end and did not come again"},
	{Alarm, "no deadlock formed, but one was declared"},
	{Recurs, "a deadlock was gone, and another came after it"},
	{Found, "a deadlock was declared in each run that had one, and is still there at the end of a run"},
	{Missed, "a deadlock is still there at the end of a run, and in some run nobody declared it"},
	{Invalid, "no run can be trusted: the machine lost frames or starved a process"},
	{Failed, "it could not be played; the table of the scenario says why"},
	{NA, "the system does not apply; the table of the scenario says why"},
}

// Outcome is the row in a word.
func (r *Row) Outcome() Outcome {
	f := r.Figures
	switch {
	case r.NotApplicable != "":
		return NA
	case r.Failed != "":
		return Failed
	case f.Count("invalid") == f.Runs:
		return Invalid
	case f.Count("deadlock") == 0 && f.Count("false_positives") > 0:
		return Alarm
	case f.Count("deadlock") == 0:
		return Clear
	case f.Count("recurrences") > 0:
		return Recurs
	case f.Count("recovered") == f.Count("deadlock"):
		return Gone
	case f.Count("detected") == f.Count("deadlock"):
		return Found
	}
	return Missed
}
