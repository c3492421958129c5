// Package sim runs the state machines of the live switch in virtual time: many switches
// and hosts, the wires between them, and the events of a scenario.
//
//	        Transmit          rate             delay, jitter, loss
//	machine --------> port ----------> wire --------------------> port --Receive--> machine
//	   ^                |                                           |
//	   |              Sent                                          |
//	   '--- timers: (time, id) in total order ----------------------'
//
// Read in this order: world.go (World, its nodes, ports and wires), run.go (the event
// loop), wire.go, timeline.go (link failures and other scheduled events), verdict.go,
// timers.go; large.go and partition.go (several processors) when you need them.
//
// Invariants:
//   - one order: everything happens in the order of (time, id). Ids follow the numbers
//     of nodes and ports, so neither the order in which nodes were added, nor into how
//     many partitions they are divided, nor the machine that runs the simulation changes
//     the result;
//   - one seed: all randomness comes from the seed, with a separate stream for each
//     direction of each wire;
//   - FIFO: a wire never exceeds its rate, and does not reorder, however its delay
//     varies; only a frame that the fault reorder chose is overtaken;
//   - no special case: a machine cannot tell a simulation from a live run.
//
// What it does not do: it reads no clock, starts no goroutine (Options.Each may, for
// partitions), and judges nothing (package oracle).
package sim
