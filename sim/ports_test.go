package sim_test

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// TestLosslessOnAPartOfTheWay: what a port drops of a priority that is lossy there is no lossless loss, and
// the verdict is warned of it; what a port loses that sends no pauses is one, and the verdict says that no
// headroom helps.
func TestLosslessOnAPartOfTheWay(t *testing.T) {
	const incast = `name: incast
topology:
  switches: [s1]
  hosts: [h1, h2, h3]
  links: [s1--h1, s1--h2, s1--h3]
  rate: 10Gbit/s
  delay: 1us
  ports:
    - `
	const flows = `
flows: [{name: a, from: [h1, h2], to: h3}]
duration: 2ms
detector: none
`
	for _, tc := range []struct {
		port                string
		lost, drops, warned bool
		unstopped           string
	}{
		{"{link: s1--h1, lossless: [3, 4]}", false, false, false, ""},
		{"{link: s1--h1, at: s1, lossless: [4]}", false, true, true, ""},
		{"{link: s1--h1, at: s1, dscp_map: {26: 1}}", false, true, true, ""},
		{"{link: s1--h1, at: s1, pfc: rx}", true, true, true, "to-h1"},
		{"{link: s1--h1, at: h1, pfc: tx}", true, true, true, "to-h1"},
		{"{link: s1--h1, at: s1, pfc: tx}", false, false, true, ""},
		{"{link: s1--h1, pfc: asymmetric}", false, false, false, ""},
		{"{link: s1--h1, at: s1, pfc: asymmetric, lossless: [4]}", false, true, true, ""},
	} {
		s := simtest.Parse(t, "incast.yaml", incast+tc.port+flows, "none")
		v, _ := simtest.Run(t, s, sim.Options{Detectors: map[string]detect.Factory{"none": detect.NewNone}})
		if v.Invalid != "" {
			t.Errorf("%s: %s", tc.port, v.Invalid)
		}
		if got := v.LosslessLost > 0; got != tc.lost {
			t.Errorf("%s: %d lossless frames lost", tc.port, v.LosslessLost)
		}
		if got := v.Flows[0].Lost > 0; got != tc.drops {
			t.Errorf("%s: %d frames of the flow lost", tc.port, v.Flows[0].Lost)
		}
		if got := len(v.Warnings) > 0; got != tc.warned {
			t.Errorf("%s: warnings %q", tc.port, v.Warnings)
		}
		at := ""
		for _, h := range v.HeadroomShort {
			if h.Unstopped {
				at += h.Port
			}
		}
		if at != tc.unstopped {
			t.Errorf("%s: no headroom helps at %q, want %q", tc.port, at, tc.unstopped)
		}
		if flows := v.Flows; slices.ContainsFunc(flows[1:], func(f verdict.FlowResult) bool { return f.Lost > 0 }) {
			t.Errorf("%s: a flow of another port loses frames: %+v", tc.port, flows[1])
		}
	}
}

// TestLosslessByAMap: frames of a priority that is lossy everywhere else are lossless at a port whose map
// makes them so, and the verdict adds up.
func TestLosslessByAMap(t *testing.T) {
	s := simtest.Parse(t, "map.yaml", `name: map
topology:
  switches: [s1]
  hosts: [h1, h2, h3]
  links: [s1--h1, s1--h2, s1--h3]
  rate: 10Gbit/s
  ports: [{link: [s1--h1, s1--h2], at: s1, dscp_map: {8: 3}, pfc: rx}]
flows: [{name: a, from: [h1, h2], to: h3, priority: 1}]
duration: 2ms
detector: none
`, "none")
	v, _ := simtest.Run(t, s, sim.Options{Detectors: map[string]detect.Factory{"none": detect.NewNone}})
	if v.Invalid != "" || v.LosslessLost == 0 {
		t.Errorf("%d lossless frames lost; %s", v.LosslessLost, v.Invalid)
	}
}

// TestAsymmetricRing: three flows turn round in a ring. Where priority 3 is lossy at s1's end of the link to
// s2, s1 ignores the pauses of s2, which loses frames, and nothing locks. With asymmetric it honours them,
// and what came to s1 lossless waits: a deadlock. Where s2's end is lossy, frames that s1 holds are dropped
// at s2, which never pauses. Where all of a link is lossy its queues are paused by nobody, and where one of
// its ends pauses all the same they fill, drop, and hold nobody up.
func TestAsymmetricRing(t *testing.T) {
	const ring = `name: ring
topology:
  switches: [s1, s2, s3]
  hosts: [h1, h2, h3]
  links: [s1--s2, s2--s3, s3--s1, s1--h1, s2--h2, s3--h3]
  rate: 10Gbit/s
  delay: 1us
  ports:
    - `
	const flows = `
routes:
  - {at: s1, to: s3, ports: [s2]}
  - {at: s2, to: s1, ports: [s3]}
  - {at: s3, to: s2, ports: [s1]}
flows:
  - {name: a, from: h1, to: h3}
  - {name: b, from: h2, to: h1}
  - {name: c, from: h3, to: h2}
events: [{at: 500us, do: slow, host: h3, rate: 1Gbit/s}]
duration: 3ms
detector: none
`
	for port, want := range map[string]struct{ deadlock, lost bool }{
		"{link: s1--s2}":                                                  {true, false},
		"{link: s1--s2, at: s1, lossless: [4]}":                           {false, true},
		"{link: s1--s2, at: s1, lossless: [4], pfc: asymmetric}":          {true, false},
		"{link: s1--s2, at: s2, lossless: [4]}":                           {false, false},
		"{link: s1--s2, at: s2, lossless: [4], pfc: asymmetric}":          {false, false},
		"{link: [s1--s2, s2--s3], lossless: [4], pfc: asymmetric}":        {false, false},
		"{link: [s1--s2, s2--s3], at: s2, lossless: [], pfc: asymmetric}": {false, false},
	} {
		s := simtest.Parse(t, "ring.yaml", ring+port+flows, "none")
		v, _ := simtest.Run(t, s, sim.Options{Detectors: map[string]detect.Factory{"none": detect.NewNone}})
		if v.Invalid != "" {
			t.Errorf("%s: %s", port, v.Invalid)
		}
		if got := v.Deadlock; got != want.deadlock {
			t.Errorf("%s: deadlock %v", port, got)
		}
		if got := v.LosslessLost > 0; got != want.lost {
			t.Errorf("%s: %d lossless frames lost", port, v.LosslessLost)
		}
	}
}
