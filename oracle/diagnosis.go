package oracle

import (
	"softswitch/detect"
	"softswitch/unit"
)

// Diagnosis is why the deadlock that a detector declared at PG and Queue formed, as that
// detector said. The causes are as it ranked them, the likeliest first. It is not judged
// here: the truth about causes takes other runs of the same scenario.
type Diagnosis struct {
	At     unit.Time
	PG     PG
	Queue  Queue
	Causes []detect.Cause
}

// diagnose takes an event that names a cause, or one more flow of it. A diagnosis is logged at one time,
// by one priority group, its causes by rank from 1 and each flow of a cause in an event of its own. So an
// event of another time or priority group begins a diagnosis, and so does a rank below the last one's; a rank
// that is not there yet begins a cause, and one that is there adds a flow.
func (r *Replay) diagnose(e Entry, b PG, q Queue) {
	n := len(r.res.Diagnoses)
	if n == 0 || r.res.Diagnoses[n-1].At != e.At || r.res.Diagnoses[n-1].PG != b || len(r.res.Diagnoses[n-1].Causes) > int(e.Rank) {
		r.res.Diagnoses = append(r.res.Diagnoses, Diagnosis{At: e.At, PG: b, Queue: q})
		n++
	}
	d := &r.res.Diagnoses[n-1]
	if len(d.Causes) < int(e.Rank) {
		d.Causes = append(d.Causes, detect.Cause{Type: e.Cause, At: e.Trigger, In: e.In, OnLoop: e.OnLoop, Together: e.Together, Confidence: e.Confidence})
	}
	flows := &d.Causes[len(d.Causes)-1].Flows
	for i := range flows {
		if e.Flow != 0 && flows[i] == 0 {
			flows[i] = e.Flow
			break
		}
	}
}

// Diagnosis is the first diagnosis of finding f, nil if there is none. With several clocks f.At is the
// earliest of possible times, while a diagnosis has one: that of the time line.
func (r *Result) Diagnosis(f Finding) *Diagnosis {
	for i := range r.Diagnoses {
		if d := &r.Diagnoses[i]; d.At >= f.told && d.PG == f.PG {
			return d
		}
	}
	return nil
}
