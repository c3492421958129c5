// Command bench measures how fast the switch is compared with other forwarders on the
// same machine at the same time, and how fast a lap of bare relays is. It is a tool for developers
// of softswitch:
//
//	make && go run -exec sudo ./cmd/bench forward
//
// Forward puts a device under test (DUT) between a sender and a sink, each in a
// network namespace of its own:
//
//	processor B                       processor A
//	┌─ source ───┐   ┌─ dut ──────────────────────────────┐   ┌─ sink ─────┐
//	│ sender src═╪═══╪═p0 ring ──▶ softswitch | ... ──▶ p1═╪═══╪═dst counts │
//	└────────────┘   └────────────────────────────────────┘   └────────────┘
//	the copy into the ring runs       the sink's (empty) receive
//	on B, in the sender's send        path runs on A, in the DUT's send
//
// Floor connects four processes in a ring and sends one 60-byte frame round it, lap
// after lap: the shortest time in which a label can get from a switch back to itself.
//
//	┌─ lap ──┐   ┌─ relay ─┐   ┌─ relay ─┐   ┌─ relay ─┐
//	│ 0 next═╪═══╪═prev    │   │         │   │    next═╪═══╗
//	│   prev │   │    next═╪═══╪═prev ...│   │         │   ║
//	└────║───┘   └─────────┘   └─────────┘   └─────────┘   ║
//	     ╚═════════════════════════════════════════════════╝
//
// Read in this order: main.go (the commands), forward.go (turns, rounds, ratios), dut.go with ovs.go
// (what is measured), sender_linux.go and frame.go (the load), floor.go
// and worker.go (the ring), then bed_linux.go, thread_linux.go and child_linux.go
// (namespaces, wires, processors, processes), stat.go and text.go.
//
// Invariants:
//   - paired: in a round each DUT is measured once per size, one after the other;
//     ratios are taken within a round, and the median is that of the ratios.
//   - equal: every turn has fresh namespaces, the same wires, the same load and the
//     same processors, whatever the DUT.
//   - forwarded: before a turn is measured, frames of the load are compared byte by
//     byte at the sink; the count is that of the sink's interface.
//   - nothing-left: namespaces have no names and end with the program, processes are
//     ended by pid and die with the program; no setting of the machine is changed.
//
// It does not tune the machine, and absolute figures from a shared machine vary from
// run to run: quote the ratios.
package main
