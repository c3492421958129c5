// Package workload draws the messages of a fabric's hosts: who sends how much to whom,
// and when.
//
//	points of a CDF --ParseSizes--> Sizes --.
//	pattern, hosts, load, times, seed ------+--> Spec --Messages--> messages in order of time
//
// Read in this order: sizes.go (distributions of sizes), workload.go (Spec and Messages),
// patterns.go (what each pattern draws).
//
// Invariants:
//   - repeatable: the same Spec draws the same messages; a host's arrivals are drawn with
//     a generator of its own, so that they do not depend on what others draw;
//   - bounded: no more messages are drawn than the caller takes.
//
// What it does not do: it knows no fabric, and nothing waits for anything: a message
// begins when its time has come, whatever became of those before it. A step of a
// collective operation that would wait for another one is taken to be in flight already.
package workload
