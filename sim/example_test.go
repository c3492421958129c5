package sim_test

import (
	"fmt"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/scenario"
	"softswitch/sim"
)

// Three flows round a ring of three switches: parse, compile, simulate, judge.
func Example() {
	s, err := scenario.Parse("ring.yaml", []byte(`
name: ring
topology:
  {switches: [A, B, C], hosts: [a, b, c], links: [A--B, B--C, C--A, A--a, B--b, C--c], rate: 40Gbit/s, delay: 1us}
routes: [{at: A, to: c, ports: [B]}, {at: B, to: a, ports: [C]}, {at: C, to: b, ports: [A]}]
flows: [{name: f, from: a, to: c}, {name: g, from: b, to: a}, {name: h, from: c, to: b}]
duration: 5ms
`), scenario.Known{Detectors: []string{"itsy"}})
	if err != nil {
		panic(err)
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		panic(err)
	}
	world, err := sim.New(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}})
	if err != nil {
		panic(err)
	}
	v, err := world.Run()
	if err != nil {
		panic(err)
	}
	fmt.Println(v.Deadlock, v.Detections[0].Loop, v.FalsePositives, v.FalseNegatives)
	// Output: true [C--A A--B B--C] 0 0
}
