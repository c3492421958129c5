// Package metrics exports the counters of switches and hosts to Prometheus: as text
// over HTTP, for one node or a whole lab.
//
//	node: live.Node --observe--.
//	lab:  control sockets ------+--> Sample --collector--> GET /metrics --> Prometheus
//
// Read in this order: Sample, collector.go (from a sample to metrics), names.go (every
// metric, its labels and what it means), serve.go (HTTP), guard.go (which requests of
// browsers are refused).
//
// Invariants:
//   - counters only grow while a node lives: they are the node's own, not those that a
//     user can clear;
//   - bounded: at most scrapesMax scrapes at a time and connectionsMax connections, of which
//     each is for one request; one answer is made at a time, with a rest after it, so that
//     scrapes take at most a quarter of a processor from forwarding, unless an answer takes
//     longer than 17 ms (control.Rest); a client that does not ask in time, or does not
//     read, is disconnected;
//   - not-for-pages: a browser gets nothing for another site's page (Guard);
//   - a node that does not answer shows as softswitch_up 0, and does not fail the
//     scrape;
//   - it listens beyond this machine's loopback only if an address was given.
//
// What it does not do: it keeps nothing between scrapes, and it asks no node itself: a
// function provides the Sample.
package metrics
