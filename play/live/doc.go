// Package run plays a scenario on a lab that it builds and removes.
//
//	scenario.Plan --Play--> [lab up -> lab.Play -> judge -> lab down] --> verdict.Verdict
//	                          |
//	                          '--> live page, captures, if asked for
//
// Read in this order: run.go, show.go (three runs, told in acts).
//
// Invariants: the lab is removed however a run ends, unless it is to be kept; a run
// whose progress nobody reads any more ends in order.
//
// What it does not do: it reads no file, and prints no verdict.
package run
