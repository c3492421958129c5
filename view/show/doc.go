// Package show makes what running switches and NICs answer readable, in the words and
// columns of SONiC.
//
//	node --request--> View.Fetch --> answer --> View.Tables --> table --> text
//	                                    |
//	                                    `--> JSON
//
// Read in this order: show.go (what a view is, and how it is written), watch.go, table.go, then the
// views: pfc.go, buffer.go, tables.go (interfaces, routes, stations), deadlock.go, nic.go.
//
// Invariants:
//   - JSON has what the table has, and an answer of its own for each switch;
//   - counters are those since they were cleared, for whoever looks.
//
// What it does not do: it changes no switch, and knows no lab and no command line.
package show
