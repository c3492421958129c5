// Package show formats the answers of running switches, hosts and NICs, in the terms and
// columns of SONiC.
//
//	node --request--> View.Fetch --> answer --> View.Tables --> table --> text
//	                                    |
//	                                    `--> JSON
//
// Read in this order: show.go (what a view is, and how it is written), watch.go, table.go, then the
// views: pfc.go, buffer.go, tables.go (interfaces, routes, stations), deadlock.go, connections.go
// and nics.go (of hosts), nic.go (of NICs for programs).
//
// Invariants:
//   - JSON has the contents of the table, with a separate answer for each node;
//   - counters count from when they were cleared, the same for all users.
//
// What it does not do: it changes no switch, and has nothing to do with labs.
package show
