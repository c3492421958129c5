package dataplane

import (
	"fmt"
	"testing"

	"softswitch/event"
	"softswitch/unit"
)

// silenced is a switch whose port 0, of 1 Gbit/s, is to be silent 100 us after a pause.
type silenced struct {
	*testSwitch
	t *testing.T
}

func newSilenced(t *testing.T, change func(c *Config)) silenced {
	return silenced{newTestSwitch(t, 2, func(c *Config) {
		c.Ports[0].Rate = 1_000_000_000
		c.Ports[0].HeedBytes = 12_480 // with what a wire adds to a frame
		if change != nil {
			change(c)
		}
	}), t}
}

// comes is the arrival of a frame of priority 3.
func (h silenced) comes() { h.receive(0, between(0, 1, 3, 0)) }

// passes lets time pass, in which port 0 sends what it has to.
func (h silenced) passes(d unit.Time) {
	for range d / (10 * unit.Microsecond) {
		h.advance(10 * unit.Microsecond)
		h.transmit(0, 8)
	}
}

// wantInVain wants these counts, and takes which far ends were named since the last call.
func (h silenced) wantInVain(pauses, frames, lost uint64, named ...string) {
	h.t.Helper()
	k := h.Counters(0)
	if k.PausesInVain[3] != pauses || k.RxUnheeded[3] != frames || k.UnheededLost[3] != lost {
		h.t.Errorf("%d pauses in vain, %d frames after them, %d lost; want %d, %d, %d", k.PausesInVain[3], k.RxUnheeded[3], k.UnheededLost[3], pauses, frames, lost)
	}
	var got []string
	for _, e := range h.log {
		if e.Type == event.PauseUnheeded {
			got = append(got, fmt.Sprintf("%d.%d %d pauses %d lost", e.Port, e.Priority, e.Bytes, e.Limit))
		}
	}
	if h.log = nil; fmt.Sprint(got) != fmt.Sprint(named) {
		h.t.Errorf("named %q, want %q", got, named)
	}
}

// A frame that comes soon after the pause is one that headroom is for; one that comes later is in vain, with
// the pause before it. The second pause in vain names the far end, and no other does until it has been silent for a
// second.
func TestNamesWhoIgnoresPauses(t *testing.T) {
	h := newSilenced(t, nil)
	for range 4 {
		h.comes()
	}
	h.transmit(0, 8) // the pause
	h.passes(90 * unit.Microsecond)
	h.comes()
	h.wantInVain(0, 0, 0)
	h.passes(20 * unit.Microsecond)
	h.comes()
	h.comes() // the seventh is lost
	h.wantInVain(1, 2, 1)
	h.passes(20 * unit.Microsecond)
	h.comes()
	h.wantInVain(2, 3, 2, "0.3 2 pauses 1 lost") // the frame that names it is lost after that
	h.passes(40 * unit.Microsecond)
	h.comes()
	h.wantInVain(3, 4, 3)

	h.transmit(1, 8) // a resume
	h.transmit(0, 8)
	for range 4 {
		h.comes()
	}
	h.transmit(0, 8)
	h.passes(90 * unit.Microsecond)
	h.wantInVain(3, 4, 3) // of the next period nothing is late yet
	h.advance(unit.Second)
	h.transmit(0, 8)
	h.comes()
	h.passes(20 * unit.Microsecond)
	h.comes()
	h.wantInVain(5, 6, 3, "0.3 2 pauses 0 lost")
	h.transmit(1, 8)
}

// A far end that is not judged, or of which nobody knows how fast it sends, is not named; and a resume ends it.
func TestWhoIsNotJudged(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"not judged": func(c *Config) { c.Ports[0].HeedBytes = 0 },
		"no rate":    func(c *Config) { c.Ports[0].Rate = 0 },
	} {
		h := newSilenced(t, change)
		for range 4 {
			h.comes()
		}
		h.transmit(0, 8)
		h.passes(200 * unit.Microsecond)
		for range 5 {
			h.comes()
			h.passes(20 * unit.Microsecond)
		}
		if k := h.Counters(0); k.RxUnheeded[3] > 0 {
			t.Errorf("%s: %d frames are late", name, k.RxUnheeded[3])
		}
		h.transmit(1, 8)
	}
}
