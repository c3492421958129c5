package event

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/unit"
)

// TestThin: of pauses that are repeated often one a second is left, and what ends the pause tells of
// the rest; other queues, the other direction, and pauses without a period keep theirs.
func TestThin(t *testing.T) {
	const every = unit.Second / 10
	var log []Event
	at := unit.Time(0)
	add := func(types ...Type) {
		for _, ty := range types {
			log = append(log, Event{At: at, Type: ty, Port: 2, Priority: 3, Out: 1, OutPriority: 3, Period: 7, HasPeriod: ty == Paused})
		}
	}
	again := func(n int) {
		for range n {
			at += every
			add(Refreshed, RefreshSent)
		}
	}
	add(PauseSent, Paused, XOFF)
	again(25)
	add(Resumed, ResumeSent, PauseSent, Paused)
	again(5)
	add(PauseSent, Paused) // by another period: the resume before it was lost
	plain := Event{At: at, Type: Paused, Out: 1, OutPriority: 3}
	log = append(log, plain)
	add(Refreshed, Refreshed)
	was := slices.Clone(log)
	var r Refreshes
	var got []string
	for batch := range slices.Chunk(log, 4) {
		for _, e := range r.Thin(batch) {
			got = append(got, fmt.Sprintf("%d %v %d", e.At/every, e.Type, e.Bytes))
		}
	}
	want := []string{
		"0 pause_sent 0", "0 paused 0", "0 xoff 0", "10 refreshed 9", "10 refresh_sent 9", "20 refreshed 9", "20 refresh_sent 9",
		"25 resumed 5", "25 resume_sent 5", "25 pause_sent 0", "25 paused 0", "30 pause_sent 5", "30 paused 5",
		"30 paused 0", "30 refreshed 0", "30 refreshed 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("left is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(log, was) {
		t.Error("the events themselves were changed")
	}
	if sent, came := r.LeftOut(); sent != 0 || came != 0 {
		t.Errorf("%d and %d are told of by nothing", sent, came)
	}
}
