// Package impair is what a wire does to frames apart from carrying them: it delays, loses,
// repeats and reorders them. It is one set of rules for both worlds: the simulator's wires
// and the stage between a live port and its link ask it what becomes of each frame, and
// carry out the answer by their own clocks.
//
//	frame ──▶ Wire.Send ──▶ Fate: how many copies, how late, overtaken
//	             │
//	   Faults, seed, Lose
//
// Wires and their faults are in impair.go; tape.go is what somebody at the wire has seen.
//
// Invariants:
//   - own-stream: what a wire draws depends on its seed, its stream and the frames that it
//     was given, and on nothing else; a fault of 0 draws nothing.
//   - pure: it reads no clock, and a Tape alone keeps frames.
//
// It does not delay anything itself, and does not put forged frames anywhere: the code
// that drives the wire does.
package impair
