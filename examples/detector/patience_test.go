package patience_test

import (
	"softswitch/detect"
	"softswitch/scenario"
	"softswitch/sim"
	"testing"

	"example.org/patience"
)

// Three flows go two links each round a ring: a deadlock.
const ring = `
name: ring
detector: patience
topology:
  switches: [A, B, C]
  hosts: [a, b, c]
  links: [A--B, B--C, C--A, A--a, B--b, C--c]
  rate: 40Gbit/s
  delay: 1us
routes:
  - {at: A, to: c, ports: [B]}
  - {at: B, to: a, ports: [C]}
  - {at: C, to: b, ports: [A]}
flows:
  - {name: f, from: a, to: c}
  - {name: g, from: b, to: a}
  - {name: h, from: c, to: b}
duration: 5ms
`

func TestRing(t *testing.T) {
	s, err := scenario.Parse("ring.yaml", []byte(ring), scenario.Known{Detectors: []string{"patience"}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"patience": patience.New}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	if !v.Deadlock || v.FalseNegatives != 0 || v.FalsePositives != 0 || len(v.Detections) == 0 {
		t.Errorf("deadlock %t; %d declared, %d missed, %d false", v.Deadlock, len(v.Detections), v.FalseNegatives, v.FalsePositives)
	}
	t.Logf("declared at %v ns, %v ns after the onset", v.Detections[0].At, v.Detections[0].Latency)
}
