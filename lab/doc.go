// Package lab plays scenarios on network namespaces: a process per switch and host,
// veths between them, and the scenario's events.
//
//	scenario.Plan --Describe--> netnslab.Lab --netnslab.Up--> running nodes
//	      |                                                      |
//	      '-----------Play: start, fail, heal, kill ... -------->|
//	                                                             v
//	verdict.Verdict <--judge-- oracle <--event logs, counters--Collect
//
// Read in this order: describe.go, headroom.go, play.go, logs.go (how long logs become), orders.go,
// collect.go, readlogs.go, verdict.go; then what is done with a lab by hand: nodes.go, impair.go,
// shell.go; how all of its frames are captured: capture.go,
// capturefile.go; and how its counters become metrics: scrape.go.
//
// Invariant, one-door: every change of a lab that is up is a method of [Orders], no matter who orders it.
//
// What it does not do: it makes no namespaces (package netnslab) and judges no deadlock
// (package oracle).
package lab
