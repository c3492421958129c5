// Package scale measures how large and how fast the simulator goes: deadlocks planted in
// fabrics of thousands of switches, and frame-hops a second.
//
//	plant --> sim.Large --> run, a partition a processor --> Result: detected, latency, time, memory
//	a fat-tree under load --> Bench --> Speed
//
// Read in this order: scale.go, plant.go (the fabrics and their deadlocks), bench.go,
// memory.go.
//
// Invariants:
//   - detection results are the same each time, times are not;
//   - every planted deadlock forms, or the result says that it did not.
//
// What it does not do: it prints nothing, and has no part in what is simulated.
package scale
