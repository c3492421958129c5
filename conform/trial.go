package conform

import "softswitch/unit"

// Trial sums a Record up, for a report: what was sent and came, and when.
type Trial struct {
	Title     string    `json:"title"`
	Uncertain unit.Time `json:"uncertain_ns"`
	End       unit.Time `json:"end_ns"`
	Void      string    `json:"void,omitempty"`

	Streams []StreamSum `json:"streams,omitempty"`
	// Trains are control frames of the tester, Receivers the pauses of its slow stations, and Pauses those
	// of the DUT.
	Trains    []TrainSum `json:"trains,omitempty"`
	Receivers []TrainSum `json:"receivers,omitempty"`
	Pauses    []PauseSum `json:"pauses,omitempty"`
}

// StreamSum is what came of a stream, and when the first frame came, and the last one.
type StreamSum struct {
	Name    string `json:"name"`
	From    string `json:"from"`
	To      string `json:"to"`
	Sent    uint64 `json:"sent"`
	Came    uint64 `json:"came"`
	Defied  uint64 `json:"defied,omitempty"`
	Twice   uint64 `json:"twice,omitempty"`
	Behind  uint64 `json:"behind,omitempty"`
	Damaged uint64 `json:"damaged,omitempty"`
	Marked  uint64 `json:"marked,omitempty"`
	First   *Span  `json:"first_ns,omitempty"`
	Last    *Span  `json:"last_ns,omitempty"`
}

// TrainSum is how many frames of a train left, and when the first one did, and the last one.
type TrainSum struct {
	Name  string `json:"name"`
	Port  string `json:"port"`
	Sent  uint64 `json:"sent"`
	First *Span  `json:"first_ns,omitempty"`
	Last  *Span  `json:"last_ns,omitempty"`
}

// PauseSum is the pauses of the DUT at a port that name a priority.
type PauseSum struct {
	Port     string        `json:"port"`
	Priority unit.Priority `json:"priority"`
	Pauses   uint64        `json:"pause_frames"`
	Resumes  uint64        `json:"resume_frames"`
	First    *Span         `json:"first_ns"`
	Last     *Span         `json:"last_ns"`
}

// sum sums r up.
func (r *Record) sum() Trial {
	s := r.Script
	port := func(i int) string { return s.task.Profile.Ports[i].Name }
	t := Trial{Title: s.Title, Uncertain: r.Uncertain, End: r.End, Void: r.Void}
	for i := range r.Streams {
		x := &r.Streams[i]
		of := StreamSum{
			Name: x.Name, From: port(s.Streams[i].From), To: port(s.Streams[i].To), Sent: x.Sent, Came: x.Came,
			Defied: x.Defied, Twice: x.Twice, Behind: x.Behind, Damaged: x.Damaged, Marked: x.Marked,
		}
		if n := len(x.Arrivals); n > 0 {
			of.First, of.Last = &x.Arrivals[0].At, &x.Arrivals[n-1].At
		}
		t.Streams = append(t.Streams, of)
	}
	train := func(x *TrainRecord, at int) TrainSum {
		of := TrainSum{Name: x.Name, Port: port(at), Sent: uint64(len(x.Left))}
		if n := len(x.Left); n > 0 {
			of.First, of.Last = &x.Left[0], &x.Left[n-1]
		}
		return of
	}
	for i := range r.Trains {
		t.Trains = append(t.Trains, train(&r.Trains[i], s.Trains[i].Port))
	}
	for i := range r.Receivers {
		t.Receivers = append(t.Receivers, train(&r.Receivers[i], s.Receivers[i].Port))
	}
	for p := range s.task.Profile.Ports {
		for c := range unit.Priority(unit.Priorities) {
			all := r.PausesOf(p, c)
			if len(all) == 0 {
				continue
			}
			of := PauseSum{Port: port(p), Priority: c, First: &all[0].At, Last: &all[len(all)-1].At}
			for _, x := range all {
				if x.Quanta > 0 {
					of.Pauses++
				} else {
					of.Resumes++
				}
			}
			t.Pauses = append(t.Pauses, of)
		}
	}
	return t
}
