package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"softswitch/unit"
)

// Show is runs of one scenario, and the acts in which a page tells of them.
type Show struct {
	Runs []Recording `json:"runs"`
	Acts []Act       `json:"acts"`
}

// Recording is a run that is over.
type Recording struct {
	Topology Topology `json:"topology"`
	States   []State  `json:"states"`
}

// Act is a part of a run: its states From to To, and what there is to say of it.
type Act struct {
	Run   int    `json:"run"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// WriteHTML is Stream.WriteHTML for a show.
func (s *Show) WriteHTML(w io.Writer) error { return writeHTML(w, encode(s)) }

// Recording is what the stream holds.
func (s *Stream) Recording() (r Recording, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.states) == 0 {
		return r, errNothing
	}
	if err := json.Unmarshal(s.topology, &r.Topology); err != nil {
		return r, err
	}
	r.States = make([]State, len(s.states))
	for i, data := range s.states {
		if err := json.Unmarshal(data, &r.States[i]); err != nil {
			return r, err
		}
	}
	return r, nil
}

// NewShow tells of three runs of a scenario in which links fail and a deadlock forms: one
// without a response, one with a response that breaks the loop and does no more, and one
// with one that cures it. The error names the act that a run has not.
func NewShow(none, breaks, handles Recording) (*Show, error) {
	b := showBuilder{show: &Show{Runs: []Recording{none, breaks, handles}}}
	for _, step := range []func() error{b.traffic, b.failures, b.deadlock, b.stays, b.breaks, b.handled} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.show, nil
}

// showBuilder makes the acts in order; next is the first state of the first run that
// none has shown.
type showBuilder struct {
	show *Show
	next int
}

// How much of a run the first act shows, and what counts as a failure's consequence, in
// milliseconds.
const (
	leadMS   = 600
	settleMS = 50
)

func (b *showBuilder) act(run, from, to int, title, format string, args ...any) {
	b.show.Acts = append(b.show.Acts, Act{run, from, max(from, to), title, fmt.Sprintf(format, args...)})
	b.next = max(from, to) + 1
}

// find is the first state of a run from one on that has an entry of a kind, and the entry.
func (r *Recording) find(from int, kind string) (int, *Entry) {
	for i := from; i < len(r.States); i++ {
		for k := range r.States[i].Log {
			if e := &r.States[i].Log[k]; e.Kind == kind {
				return i, e
			}
		}
	}
	return -1, nil
}

func (b *showBuilder) traffic() error {
	r := &b.show.Runs[0]
	fails, e := r.find(0, "link")
	if fails < 1 {
		return fmt.Errorf("show: no link fails after the run has begun")
	}
	from := slices.IndexFunc(r.States, func(s State) bool { return s.T > e.T-leadMS })
	b.act(0, min(from, fails-1), fails-1, "Traffic", "Traffic crosses the fabric, and %s.", pausedText(&r.States[fails-1]))
	return nil
}

func pausedText(s *State) string {
	switch n := len(s.Paused); n {
	case 0:
		return "no link is paused"
	case 1:
		return "one link is paused"
	default:
		return fmt.Sprintf("%s are paused", unit.Count(n, "link"))
	}
}

// failures is an act for each link that fails before the deadlock, with what follows in the
// first settleMS.
func (b *showBuilder) failures() error {
	r := &b.show.Runs[0]
	onset, _ := r.find(0, "deadlock")
	if onset < 0 {
		return fmt.Errorf("show: there is no deadlock in the run without a response")
	}
	title := "A link fails"
	for {
		i, e := r.find(b.next, "link")
		if i < 0 || i >= onset {
			return nil
		}
		to := i
		for to+1 < onset && r.States[to+1].T < e.T+settleMS {
			to++
		}
		b.act(0, i, to, title, "The %s.", strings.Join(r.texts(i, to, "link"), "; "))
		title = "Another link fails"
	}
}

// texts are those of the entries of a kind in some states.
func (r *Recording) texts(from, to int, kind string) (texts []string) {
	for _, s := range r.States[from : to+1] {
		for _, e := range s.Log {
			if e.Kind == kind {
				texts = append(texts, e.Text)
			}
		}
	}
	return texts
}

// deadlock is how pauses spread, how the loop closes, and how it is detected.
func (b *showBuilder) deadlock() error {
	r := &b.show.Runs[0]
	onset, e := r.find(b.next, "deadlock")
	declared, d := r.find(onset, "declared")
	if onset < 0 || declared < 0 {
		return fmt.Errorf("show: no deadlock is declared after the last link failed")
	}
	b.act(0, b.next, onset-1, "Pauses spread", "Buffers fill, and each switch pauses the one before it: %s.", pausedText(&r.States[onset-1]))
	loop := strings.TrimPrefix(e.Text, "deadlock: ")
	b.act(0, onset, declared-1, "Deadlock", "%s. Each waits for the next, and none can go first. Labels follow the pauses upstream.", loop)
	to := min(declared+10, len(r.States)-1)
	text := d.Text
	if last := r.States[to].Declared; last != nil && last.Cause != "" { // the drawing ends with that, not with the initial trigger
		found, _, _ := strings.Cut(text, "; ")
		text = found + ". Likely cause: " + last.Cause
	}
	b.act(0, declared, to, "Detection", "A label has come home: %s.", text)
	return nil
}

func (b *showBuilder) stays() error {
	r := &b.show.Runs[0]
	last := len(r.States) - 1
	d := r.States[last].Deadlock
	if d == nil || d.Over {
		return fmt.Errorf("show: the deadlock goes away by itself")
	}
	b.act(0, b.next, last, "Without a response it stays", "%s later nothing in the loop has moved.", spanMS(d.For))
	return nil
}

// breaks is the run in which the loop is broken and its trigger is left alone: up to where
// the deadlock comes back.
func (b *showBuilder) breaks() error {
	onset, over, err := b.broken(1)
	if err != nil {
		return err
	}
	r := &b.show.Runs[1]
	to, text := len(r.States)-1, ""
	if again, _ := r.find(over+1, "deadlock"); again >= 0 {
		to, text = min(again+10, to), " What started it goes on."
	}
	b.act(1, max(0, onset-10), to, "The break alone", "%s%s", r.outcome(over), text)
	return nil
}

// handled is the run in which the trigger is handled too.
func (b *showBuilder) handled() error {
	onset, over, err := b.broken(2)
	if err != nil {
		return err
	}
	r := &b.show.Runs[2]
	last := &r.States[len(r.States)-1]
	b.act(2, max(0, onset-10), len(r.States)-1, "Cured", "%s", strings.TrimSpace(r.outcome(over)+" "+droppedText(last.DroppedOf)))
	return nil
}

// broken are the states of a run in which the first deadlock forms and in which it is over.
func (b *showBuilder) broken(run int) (onset, over int, err error) {
	r := &b.show.Runs[run]
	onset, _ = r.find(0, "deadlock")
	if over, _ = r.find(max(0, onset), "over"); onset < 0 || over < 0 {
		return 0, 0, fmt.Errorf("show: the response %s breaks no deadlock", r.Topology.Response)
	}
	return onset, over, nil
}

// outcome says what became of the deadlock that was over in a state.
func (r *Recording) outcome(over int) string {
	_, e := r.find(over, "over")
	text := fmt.Sprintf("With the response %s %s", r.Topology.Response, e.Text)
	switch n := len(r.texts(over+1, len(r.States)-1, "deadlock")); n {
	case 0:
		return text + ", and it does not come back."
	case 1:
		return text + ", and it comes back once."
	default:
		return text + fmt.Sprintf(", and it comes back %d times.", n)
	}
}
