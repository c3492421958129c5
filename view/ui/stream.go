package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Bounds of the history: ten minutes of a lab at five states a second, and as many states
// of instants at which something happened.
const (
	historyMax   = 6000
	historyBytes = 32 << 20
	batchMax     = 200 // states in one message
)

// Stream is the states of a fabric, as far back as its history goes, for any number of
// pages. The zero value has no topology yet. It is safe for concurrent use.
type Stream struct {
	mu       sync.Mutex
	epoch    int             // grows with each topology
	topology json.RawMessage // nil: none yet
	states   []json.RawMessage
	first    int // number of states[0] in its epoch
	bytes    int
	gone     string // why no more states come; "" if they do
	changed  chan struct{}
	pages    int
	recorded bool // counts as watched though no page is open
}

// Begin begins a new stream: what was before is forgotten.
func (s *Stream) Begin(t Topology) {
	data := encode(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.topology, s.states, s.first, s.bytes, s.gone = data, nil, 0, 0, ""
	s.wake()
}

// Publish adds a state, and drops the oldest where the history is full.
func (s *Stream) Publish(st State) {
	data := encode(st)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states = append(s.states, data)
	s.bytes += len(data)
	for len(s.states) > historyMax || s.bytes > historyBytes {
		s.bytes -= len(s.states[0])
		s.states[0] = nil
		s.states = s.states[1:]
		s.first++
	}
	s.gone = ""
	s.wake()
}

// Gone tells the pages why no more states come. It holds until the next Begin or Publish.
func (s *Stream) Gone(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != why {
		s.gone = why
		s.wake()
	}
}

// Watched reports whether a page is open.
func (s *Stream) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages > 0 || s.recorded
}

// AwaitPage returns when a page is open, or with ctx's error.
func (s *Stream) AwaitPage(ctx context.Context) error {
	return s.await(ctx, func() bool { return s.pages > 0 })
}

// await returns when the stream is as asked, or with ctx's error. is is called with mu
// held.
func (s *Stream) await(ctx context.Context, is func() bool) error {
	for {
		s.mu.Lock()
		done, changed := is(), s.change()
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// join counts a page in, unless there are most already.
func (s *Stream) join(most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages >= most {
		return false
	}
	s.pages++
	s.wake()
	return true
}

// record counts as a page that is open.
func (s *Stream) record() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorded = true
}

func (s *Stream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages--
	s.wake()
}

// change is closed when something is new. The caller holds mu.
func (s *Stream) change() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// wake tells all who wait that something is new. The caller holds mu.
func (s *Stream) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// place is how far a page has come.
type place struct {
	epoch, next int
	gone        string
}

// String is the place as an event's id, and parsePlace reads it; what is none is the
// beginning.
func (p place) String() string { return fmt.Sprintf("%d.%d", p.epoch, p.next) }

func parsePlace(s string) (p place) {
	if n, err := fmt.Sscanf(s, "%d.%d", &p.epoch, &p.next); n != 2 || err != nil {
		return place{}
	}
	return p
}

// news is what a page has not seen yet.
type news struct {
	topology json.RawMessage // nil: as before
	states   []json.RawMessage
	gone     string
	isGone   bool // gone has changed
}

// after is what follows a place, at most batchMax states, and the place behind it. If
// there is nothing yet, more is closed when there is.
func (s *Stream) after(p place) (n news, next place, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topology != nil && (p.epoch != s.epoch || p.next < 0 || p.next > s.first+len(s.states)) {
		n.topology = s.topology
		p.epoch, p.next = s.epoch, 0
	}
	p.next = max(p.next, s.first)
	if at := p.next - s.first; at < len(s.states) {
		n.states = slices.Clone(s.states[at:min(len(s.states), at+batchMax)]) // the history moves on
		p.next += len(n.states)
	}
	if p.gone != s.gone && p.next == s.first+len(s.states) {
		p.gone, n.gone, n.isGone = s.gone, s.gone, true
	}
	if n.topology == nil && len(n.states) == 0 && !n.isGone {
		more = s.change()
	}
	return n, p, more
}

// encode is v as JSON; the types of this package have no value that has none.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("ui: %T has no JSON: %v", v, err))
	}
	return data
}
