package conform

import (
	"encoding/json"
	"fmt"
	"strconv"

	"softswitch/unit"
)

// Span is when something happened, at the earliest and at the latest, in ns from the beginning of a
// script. Lo <= Hi.
type Span struct{ Lo, Hi unit.Time }

// MarshalJSON writes s as a list of two times in ns.
func (s Span) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt([]byte{'['}, int64(s.Lo), 10)
	b = strconv.AppendInt(append(b, ','), int64(s.Hi), 10)
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Span) UnmarshalJSON(data []byte) error {
	var both [2]unit.Time
	if err := json.Unmarshal(data, &both); err != nil {
		return err
	}
	s.Lo, s.Hi = both[0], both[1]
	return nil
}

// Plus is the span moved by d.
func (s Span) Plus(d unit.Time) Span { return Span{s.Lo + d, s.Hi + d} }

// Minus is how long before s the other was.
func (s Span) Minus(o Span) Span { return Span{s.Lo - o.Hi, s.Hi - o.Lo} }

// Width is how uncertain s is.
func (s Span) Width() unit.Time { return s.Hi - s.Lo }

func (s Span) String() string {
	if s.Width() < s.Hi/1000 || s.Width() == 0 {
		return s.Hi.String()
	}
	return fmt.Sprintf("%v to %v", s.Lo, s.Hi)
}

// Window is a part of a script, whose ends may be uncertain.
type Window struct{ From, To Span }

// Exactly is the window from one time to another.
func Exactly(from, to unit.Time) Window { return Window{Span{from, from}, Span{to, to}} }

// Least is how long it is at least.
func (w Window) Least() unit.Time { return max(0, w.To.Lo-w.From.Hi) }

// surely reports whether s is in w whatever the uncertainty.
func (w Window) surely(s Span) bool { return s.Lo >= w.From.Hi && s.Hi <= w.To.Lo }

// maybe reports whether s can be in w.
func (w Window) maybe(s Span) bool { return s.Hi >= w.From.Lo && s.Lo <= w.To.Hi }

// Count is a number of things that is at least Lo and at most Hi.
type Count struct{ Lo, Hi uint64 }

// Only is a count that is certain.
func Only(n uint64) Count { return Count{n, n} }

func (c Count) String() string {
	if c.Lo == c.Hi {
		return fmt.Sprint(c.Lo)
	}
	return fmt.Sprintf("%d to %d", c.Lo, c.Hi)
}

// Truth is whether something holds.
type Truth int8

// Unsure says that the uncertainty of what was measured is too large to tell.
const (
	No Truth = iota - 1
	Unsure
	Yes
)

// within tells whether a value of lo to hi lies between the bounds.
func within[T int64 | uint64 | float64 | unit.Time](lo, hi, least, most T) Truth {
	switch {
	case lo >= least && hi <= most:
		return Yes
	case lo > most || hi < least:
		return No
	}
	return Unsure
}
