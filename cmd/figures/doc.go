// Command figures draws the figures of the documentation: the results of the papers'
// cases in the simulator, over time and over rates. It is a tool for developers of softswitch:
//
//	go run ./cmd/figures draw
//
//	scenarios --> sim --> samples, pauses, verdicts --> view/plot --> SVG, Markdown
//
// Read in this order: main.go (the commands), figures.go (all figures), cycle.go (Hu et al.: priority groups and
// pauses of the four-switch cycle), loops.go (Shpiner et al.: priority groups and throughput of credit loops, with
// what breaks them), loop.go and boundary.go (routing loops), trigger.go (ITSY: flows when a deadlock is broken),
// convergence.go (congestion control); scale.go measures how large the simulator goes.
//
// Invariant: the same program draws the same files, byte for byte.
//
// The command judges nothing; package view/plot determines the appearance of marks.
package main
