package conform

import (
	"slices"

	"softswitch/unit"
)

// Record is what left and what came in one trial. Its judge has nothing else.
type Record struct {
	Case   string  `json:"case"`
	Trial  int     `json:"trial"`
	Script *Script `json:"script"`
	// Streams, Trains and Receivers are what came of those of the script, in its order.
	Streams   []StreamRecord `json:"streams,omitempty"`
	Trains    []TrainRecord  `json:"trains,omitempty"`
	Receivers []TrainRecord  `json:"receivers,omitempty"`
	// Seen is the control frames that came, in order.
	Seen []Seen `json:"seen,omitempty"`
	// Others are frames that are none of the tester's and no control frames, counted by port.
	Others []uint64 `json:"others,omitempty"`
	// Links is what became of links, Readings what was read of the DUT's counters.
	Links    []LinkChange `json:"links,omitempty"`
	Readings []Reading    `json:"readings,omitempty"`
	// Stalls is when a processor of the tester's machine stood still.
	Stalls []Stall `json:"stalls,omitempty"`
	// Uncertain is by how much spans were widened at most, for what the control streams and stalls showed.
	Uncertain unit.Time `json:"uncertain_ns,omitempty"`
	// End is when the trial was over.
	End unit.Time `json:"end_ns"`
	// Void says why the trial proves nothing, "" if it does: frames lost by the tester, a storm that
	// lapsed, a silence of its own.
	Void string `json:"void,omitempty"`
}

// Stall is a time for which a processor did not run what was to run.
type Stall struct {
	From unit.Time `json:"from_ns"`
	To   unit.Time `json:"to_ns"`
}

// StreamRecord is what came of a stream.
type StreamRecord struct {
	Name string `json:"name"`
	Sent uint64 `json:"sent"`
	// Defied is how many of these left while the DUT paused their priority.
	Defied uint64 `json:"defied,omitempty"`
	// Came is how many different ones came to where they should; Twice how many came again, Behind how
	// many came after one with a higher number, Damaged how many with other bytes than were sent.
	Came    uint64 `json:"came"`
	Twice   uint64 `json:"twice,omitempty"`
	Behind  uint64 `json:"behind,omitempty"`
	Damaged uint64 `json:"damaged,omitempty"`
	// Marked is how many came with CE (RFC 3168), Astray how many came to each other port.
	Marked uint64   `json:"marked,omitempty"`
	Astray []uint64 `json:"astray,omitempty"`
	// Left is when each left, by its number; Arrivals those that came, in order. Both are empty of a Tally.
	Left     []Span    `json:"left,omitempty"`
	Arrivals []Arrival `json:"arrivals,omitempty"`

	last uint64 // one above the highest number that came
	have []uint64
}

// Arrival is a frame of a stream that came.
type Arrival struct {
	Seq uint64 `json:"seq"`
	At  Span   `json:"at"`
	CE  bool   `json:"ce,omitempty"`
	// Port is where it came, of a stream that counts Anywhere.
	Port int `json:"port,omitempty"`
}

// TrainRecord is when the frames of a train left, or the pauses of a receiver.
type TrainRecord struct {
	Name string `json:"name"`
	Left []Span `json:"left,omitempty"`
	// Quanta is, of a receiver, those of each frame, and Priority its priority.
	Quanta   []uint16        `json:"quanta,omitempty"`
	Priority []unit.Priority `json:"priority,omitempty"`
}

// Seen is a control frame that came.
type Seen struct {
	Port  int   `json:"port"`
	At    Span  `json:"at"`
	Frame Frame `json:"frame"` // at most its first 128 bytes
	Len   int   `json:"len"`
	// Own says that the tester sent it, by another port: the DUT let it out again.
	Own bool `json:"own,omitempty"`
}

// LinkChange is a link that went down or came up, as the tester saw it.
type LinkChange struct {
	Port int  `json:"port"`
	Up   bool `json:"up"`
	At   Span `json:"at"`
}

// Reading is what was read of the DUT's counters at a time: by their names, in the order of Names.
type Reading struct {
	At     Span     `json:"at"`
	Port   int      `json:"port"`
	Names  []string `json:"names"`
	Values []uint64 `json:"values"`
}

// Stream is what came of the stream called name; nil if there is none.
func (r *Record) Stream(name string) *StreamRecord {
	for i := range r.Streams {
		if r.Streams[i].Name == name {
			return &r.Streams[i]
		}
	}
	return nil
}

// Train is what came of the train called name; nil if there is none.
func (r *Record) Train(name string) *TrainRecord {
	for i := range r.Trains {
		if r.Trains[i].Name == name {
			return &r.Trains[i]
		}
	}
	return nil
}

// Phase is the phase called name.
func (r *Record) Phase(name string) Phase {
	i := slices.IndexFunc(r.Script.Phases, func(p Phase) bool { return p.Name == name })
	if i < 0 {
		panic("conform: " + r.Script.Title + ": no phase " + name)
	}
	return r.Script.Phases[i]
}

// Deaf reports whether nothing came for the last time, at least, for which streams were sending: as if the
// DUT had died.
func (r *Record) Deaf(quiet unit.Time) bool {
	var until, last unit.Time
	for i, f := range r.Script.Streams {
		if n := len(r.Streams[i].Left); n > 0 {
			until = max(until, r.Streams[i].Left[n-1].Lo)
		}
		if n := len(r.Streams[i].Arrivals); n > 0 {
			last = max(last, r.Streams[i].Arrivals[n-1].At.Hi)
		}
		if f.Tally {
			return false
		}
	}
	return until-last > quiet
}

// Lost is how many frames of the stream did not come.
func (s *StreamRecord) Lost() uint64 { return s.Sent - s.Came }

// In is how many frames came in a window.
func (s *StreamRecord) In(w Window) (n Count) {
	for _, a := range s.Arrivals {
		if w.surely(a.At) {
			n.Lo++
		}
		if w.maybe(a.At) {
			n.Hi++
		}
	}
	return n
}

// LeftIn is how many frames left in a window.
func (s *StreamRecord) LeftIn(w Window) (n Count) {
	for _, at := range s.Left {
		if w.surely(at) {
			n.Lo++
		}
		if w.maybe(at) {
			n.Hi++
		}
	}
	return n
}

// First is the first frame that came surely after a time; ok is false if none did.
func (s *StreamRecord) First(after unit.Time) (a Arrival, ok bool) {
	i := slices.IndexFunc(s.Arrivals, func(a Arrival) bool { return a.At.Lo > after })
	if i < 0 {
		return a, false
	}
	return s.Arrivals[i], true
}

// Silence is the longest time within a window in which no frame came.
func (s *StreamRecord) Silence(w Window) (longest unit.Time) {
	last := w.From.Hi
	for _, a := range s.Arrivals {
		if a.At.Lo < w.From.Hi {
			continue
		}
		if a.At.Lo > w.To.Lo {
			break
		}
		longest = max(longest, a.At.Lo-last)
		last = max(last, a.At.Hi)
	}
	return max(longest, w.To.Lo-last)
}

// Delays are how long the frames that left in a window were under way, at most, ascending.
func (s *StreamRecord) Delays(w Window) (d []unit.Time) {
	for _, a := range s.Arrivals {
		if a.Seq < uint64(len(s.Left)) && w.surely(s.Left[a.Seq]) {
			d = append(d, a.At.Hi-s.Left[a.Seq].Lo)
		}
	}
	slices.Sort(d)
	return d
}

// Median is the middle one of ascending times; 0 if there are none.
func Median(d []unit.Time) unit.Time { return Quantile(d, 50) }

// Quantile is that of ascending times, percent of which are no longer; 0 if there are none.
func Quantile(d []unit.Time, percent int) unit.Time {
	if len(d) == 0 {
		return 0
	}
	return d[min(len(d)-1, len(d)*percent/100)]
}

// Paused is for how long a storm was in force at the DUT: from the end of the allowance after its first
// frame, as uncertain as that is, to before its last pause can have run out or been taken back, whichever
// came first. What comes then surely, is wrong; what comes so near to its end that nobody can tell, is not in
// it.
func (r *Record) Paused(t *Task, name string) (w Window, ok bool) {
	i := slices.IndexFunc(r.Script.Trains, func(f *Train) bool { return f.Name == name })
	if i < 0 || len(r.Trains[i].Left) == 0 {
		return w, false
	}
	f, left := r.Script.Trains[i], r.Trains[i].Left
	w.From = left[0].Plus(t.Allowance(f.Port))
	last := left[len(left)-1]
	to := last.Lo + f.Pause
	if f.Last != nil && len(left) > 1 {
		to = min(last.Lo, left[len(left)-2].Lo+f.Pause)
	}
	to -= r.Uncertain + 1
	w.To = Span{to, to}
	return w, true
}

// lapsed reports whether a storm had a gap: a pause may have run out before the next left.
func (f *Train) lapsed(left []Span) bool {
	if f.Pause == 0 {
		return false
	}
	for i := 1; i < len(left); i++ {
		if left[i].Hi-left[i-1].Lo > f.Pause {
			return true
		}
	}
	return false
}

// PausesOf are the pauses and resumes of the DUT at a port that name a priority, in order, with the
// quanta of each.
func (r *Record) PausesOf(port int, c unit.Priority) (all []PauseSeen) {
	for i := range r.Seen {
		if s := &r.Seen[i]; s.Port == port && !s.Own {
			if f, ok := s.PFC(); ok && f.Enable.Has(c) {
				all = append(all, PauseSeen{s.At, f.Quanta[c]})
			}
		}
	}
	return all
}

// PauseSeen is a pause of the DUT, or a resume if Quanta is 0.
type PauseSeen struct {
	At     Span
	Quanta uint16
}
