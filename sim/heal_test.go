package sim

import (
	"testing"

	"softswitch/event"
	"softswitch/unit"
)

// A priority group that is XOFF when its link comes up again pauses the far end at once,
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

// A link that is up and is healed once more loses nothing of what is on it.
func TestHealOfALinkThatIsUp(t *testing.T) {
	const text = `
name: heal
topology:
  switches: [t0, t1]
  hosts: [a, b]
  links: [t0--a, t1--b, t0--t1]
  rate: 1Gbit/s
  delay: 5us
flows: [{name: A, from: a, to: b}]
events:
`
	counts := func(events string) int64 {
		_, v, _ := logged(t, plan(t, text+events+"duration: 3ms\ndetector: none\n"), 1)
		return v.Flows[0].Received
	}
	once := counts("  - {at: 1ms, do: fail, link: t0--t1}\n  - {at: 2ms, do: heal, link: t0--t1}\n")
	if twice := counts("  - {at: 1ms, do: fail, link: t0--t1}\n  - {at: 2ms, do: heal, link: t0--t1}\n  - {at: 2500us, do: heal, link: t0--t1}\n"); twice != once {
		t.Errorf("%d frames received with a second heal, want %d", twice, once)
	}
}
