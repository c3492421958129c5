// Package metrics gives what switches and hosts count to Prometheus: as text over
// HTTP, of one node or of a whole lab.
//
//	node: live.Node --observe--.
//	lab:  control sockets ------+--> Sample --collector--> GET /metrics --> Prometheus
//
// Read in this order: Sample, collector.go (from a sample to metrics), names.go (every
// metric, its labels and what it means), serve.go (HTTP).
//
// Invariants:
//   - counters only grow while a node lives: they are those of the node itself, not
//     those that somebody cleared;
//   - bounded: at most scrapesMax scrapes at a time and connectionsMax connections; a
//     client that does not read is hung up on;
//   - a node that does not answer is told of by softswitch_up 0, and fails no scrape;
//   - what reaches farther than this machine's loopback was asked for by its address.
//
// What it does not do: it keeps nothing from one scrape to the next, and it asks no
// node itself: a function gives it the Sample.
package metrics
