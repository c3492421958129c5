package sim

import (
	"testing"

	"softswitch/event"
	"softswitch/unit"
)

// A bucket that is XOFF when its link comes up again pauses the far end at once,
// whichever end of the link is told first: nothing of that pause is lost.
func TestHealPausesAtOnce(t *testing.T) {
	for _, link := range []string{"la--t1", "t1--la"} {
		p := plan(t, `
name: heal
topology:
  switches: [t0, t1, la]
  hosts: [a, b]
  links: [t0--a, t1--b, t0--la, `+link+`]
  rate: 1Gbit/s
  delay: 5us
buffer: {xoff: 61440}
flows: [{name: A, from: a, to: b}]
events:
  - {at: 1100us, do: storm, host: b}
  - {at: 1500us, do: fail, link: `+link+`}
  - {at: 2100us, do: heal, link: `+link+`}
duration: 3ms
detector: none
`)
		_, _, log := logged(t, p, 1)
		const heal = 2100 * unit.Microsecond
		var paused unit.Time
		for _, at := range log("la", event.Paused) {
			if at > heal && paused == 0 {
				paused = at
			}
		}
		if paused == 0 || paused > heal+20*unit.Microsecond {
			t.Errorf("%s: after the link was healed at %d ns, la is paused at %d (0: never); want it within 20 us", link, heal, paused)
		}
	}
}
