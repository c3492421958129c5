package ui

import "slices"

// slowMotion chooses the instants of a lab that are shown between two looks at it: those at
// which something is told, and of those at which only a pause or a label moved the last
// ones before and the first ones after. So a deadlock that lasts less than a millisecond
// can be watched for as long as one likes, and a fabric that pauses all the time costs the
// page no more than one that rests.
type slowMotion struct {
	before []State // the last that moved, not published
	after  int     // how many more are published
	room   int     // in this look
}

const (
	// around is how many moves are shown before what is told, and after it.
	around = 40
	// slowMax is how many instants are shown between two looks.
	slowMax = 300
)

// begin begins a look.
func (s *slowMotion) begin() { s.room = slowMax }

// instant is called when an instant of a model has settled.
func (s *slowMotion) instant(m *model, publish func(State)) {
	told, moved := m.happened()
	if !told && !moved || s.room == 0 {
		return
	}
	st := m.state(m.now)
	st.Slow = true
	switch {
	case told:
		for len(s.before) >= s.room {
			s.drop(&st)
		}
		for _, b := range s.before {
			publish(b)
		}
		s.room -= len(s.before)
		s.before, s.after = s.before[:0], around
	case s.after > 0:
		s.after--
	default:
		if len(s.before) == around {
			s.drop(&st)
		}
		s.before = append(s.before, st)
		return
	}
	publish(st)
	s.room--
}

// drop leaves out the first state before, and next is that after all of them.
func (s *slowMotion) drop(next *State) {
	if len(s.before) > 1 {
		next = &s.before[1]
	}
	next.add(&s.before[0])
	s.before = slices.Delete(s.before, 0, 1)
}

// end is the state at the end of a look, with what happened at instants that are not shown.
func (s *slowMotion) end(st State) State {
	for i := len(s.before) - 1; i >= 0; i-- {
		st.add(&s.before[i])
	}
	s.before = s.before[:0]
	return st
}
