// Package sim runs the very machines of the live switch in virtual time: many
// switches and hosts, the wires between them, and what happens when.
//
//	        Transmit          rate             delay, jitter, loss
//	machine --------> port ----------> wire --------------------> port --Receive--> machine
//	   ^                |                                           |
//	   |              Sent                                          |
//	   '--- timers: (time, id) in total order ----------------------'
//
// Read in this order: world.go (World, its nodes, ports and wires), run.go (the
// loop), wire.go, timeline.go (failures and what else a scenario does), verdict.go,
// heap.go; sample.go and large.go when they are needed.
//
// Invariants:
//   - one order: everything happens in the order of (time, id); ids follow the
//     numbers of nodes and ports, so neither the order in which nodes were added
//     nor the machine that it runs on changes anything;
//   - one seed: all randomness comes from the seed, a stream of its own for each
//     direction of each wire;
//   - FIFO: a wire never reorders, however its delay varies, and delivers no faster
//     than its rate;
//   - no special case: a machine cannot tell a simulation from the real thing.
//
// What it does not do: it reads no clock, starts no goroutine, and judges nothing
// (package oracle).
package sim
