package ui

import (
	"softswitch/event"
	"softswitch/oracle"
	"softswitch/unit"
)

// slowMotion chooses the instants of a lab that are shown between two looks at it: those at
// which something is told, and of those at which only a pause or a label moved the last
// ones before and the first ones after. So a deadlock that lasts less than a millisecond
// can be watched for as long as one likes. Its model follows the events by as many instants
// as may yet be shown, and makes a state of none but those that are: a fabric that pauses all
// the time costs the page little more than one that rests.
type slowMotion struct {
	m       *model
	truth   *oracle.Stuck // of what the model is played
	now     unit.Time     // of the last event
	open    instant       // the present one
	last    *oracle.Stuck // of the instant before it
	waiting []instant     // that the model was not played yet
	before  int           // how many of these moved
	after   int           // how many more are published
	room    int           // in this look
}

// instant is what happened at one time, and the truth at its end.
type instant struct {
	moments     []moment
	truth       *oracle.Stuck
	told, moved bool
}

// moment is an event, with the truth at that moment if the event declares a deadlock.
type moment struct {
	oracle.Entry
	truth *oracle.Stuck
}

const (
	// around is how many moves are shown before what is told, and after it.
	around = 40
	// slowMax is how many instants are shown between two looks.
	slowMax = 300
)

// newSlowMotion is one of a model in which nothing happened yet. States count their time from
// origin.
func newSlowMotion(w *wiring, origin unit.Time) *slowMotion {
	s := &slowMotion{truth: new(oracle.Stuck), last: new(oracle.Stuck)}
	s.m = newModel(w, func() *oracle.Stuck { return s.truth }, origin)
	return s
}

// begin begins a look.
func (s *slowMotion) begin() { s.room = slowMax }

// add takes an event, which truth knows already. Its time is the present one or later; then
// end has been called before truth learned of it.
func (s *slowMotion) add(e oracle.Entry, truth *oracle.State) {
	s.now = e.At
	m := moment{Entry: e}
	if e.Type == event.Deadlock {
		m.truth = truth.Stuck()
	}
	s.open.moments = append(s.open.moments, m)
	s.open.told = s.open.told || tells(e.Type)
	s.open.moved = s.open.moved || moves(e.Type)
}

// tells reports whether the model may tell people of an event of a type.
func tells(t event.Type) bool {
	switch t {
	case beganAnew, event.LinkUp, event.LinkDown, event.Rerouted, event.HostStorm, event.HostStormOver, event.HostSlow, event.HostSlowOver,
		event.Deadlock, event.Cause, event.Acted, event.Refused, event.DCBXMismatch, event.DCBXAgreed:
		return true
	}
	return false
}

// moves reports whether at an event of a type a pause or a label moves.
func moves(t event.Type) bool {
	return t == event.Paused || t == event.Resumed || t == event.Expired || t == event.Trace
}

// end ends the present instant, with the truth at its end.
func (s *slowMotion) end(truth *oracle.Stuck, publish func(State)) {
	i := s.open
	if len(i.moments) == 0 {
		return
	}
	s.open = instant{}
	i.truth, i.told = truth, i.told || turns(s.last, truth)
	s.last = truth
	switch {
	case s.room == 0 || !i.told && !i.moved && len(s.waiting) == 0:
		s.catchUp(0, nil)
		s.play(i)
	case i.told:
		shown := min(s.before, s.room-1)
		s.catchUp(shown, publish)
		s.play(i)
		s.show(publish)
		s.after = around
	case i.moved && s.after > 0:
		s.catchUp(0, nil)
		s.play(i)
		s.show(publish)
		s.after--
	default:
		s.waiting = append(s.waiting, i)
		if i.moved {
			s.before++
		}
		if s.before > around {
			s.forgo()
		}
	}
}

// turns reports whether settle tells something where the truth turns from one to another.
func turns(was, is *oracle.Stuck) bool {
	return was.Empty() != is.Empty() || (len(was.Opening) == 0) != (len(is.Opening) == 0)
}

// catchUp plays all that wait, and shows the last few of those that moved.
func (s *slowMotion) catchUp(shown int, publish func(State)) {
	for _, i := range s.waiting {
		s.play(i)
		if i.moved {
			if s.before <= shown {
				s.show(publish)
			}
			s.before--
		}
	}
	clear(s.waiting)
	s.waiting = s.waiting[:0]
}

// forgo plays those that wait up to the first one that moved: it is not shown by itself.
func (s *slowMotion) forgo() {
	n := 0
	for moved := false; !moved; n++ {
		s.play(s.waiting[n])
		moved = s.waiting[n].moved
	}
	s.waiting = append(s.waiting[:0], s.waiting[n:]...)
	s.before--
}

// play gives the model an instant.
func (s *slowMotion) play(i instant) {
	for _, e := range i.moments {
		if e.truth != nil {
			s.truth = e.truth
		}
		if e.Type == beganAnew {
			s.m.forget(e.Entry)
		} else {
			s.m.add(e.Entry)
		}
	}
	s.truth = i.truth
	s.m.settle()
}

func (s *slowMotion) show(publish func(State)) {
	st := s.m.state(s.m.now)
	st.Slow = true
	publish(st)
	s.room--
}

// rest ends the present instant and gives the model all that it was not given yet: its next state
// is that at the end of a look, with what happened at instants that are not shown.
func (s *slowMotion) rest(truth *oracle.Stuck, publish func(State)) {
	s.end(truth, publish)
	s.catchUp(0, nil)
}
