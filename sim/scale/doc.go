// Package scale measures how large and how fast the simulator goes: deadlocks planted in
// fabrics of thousands of switches, and frame-hops a second.
//
//	plant --> sim.Large --> run --> Result: detected, latency, time, memory
//	a fat-tree under load --> Bench --> Speed
//
// Read in this order: scale.go, plant.go (the fabrics and their deadlocks), bench.go,
// memory.go.
//
// Invariants:
//   - what is detected is the same each time, how long it takes is not;
//   - every planted deadlock comes about, or the result says so.
//
// What it does not do: it prints nothing, and has no part in what is simulated.
package scale
