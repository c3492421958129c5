// Package run plays a scenario in virtual time for a user: with a progress bar, a file
// of every event, and the live page, as asked for.
//
//	scenario.Plan --Play--> sim.World or ui.Simulate --> verdict.Verdict
//	                               |
//	                               |--> events, as the lines of a live node's log --> file
//	                               |--> frames --> pcapng
//	                               '--> states of the page --> HTML
//
// Read in this order: run.go, trace.go, pcap.go.
//
// What it does not do: it reads no file, and prints no verdict.
package run
