// Package play plays one scenario for somebody who watches: on a lab that it builds and removes
// (Lab), or in virtual time (Sim), and in both worlds side by side (Worlds).
//
//	scenario.Plan --Lab--> [lab up -> lab.Play -> judge -> lab down] --> verdict.Verdict
//	                          |
//	                          '--> live page, captures, if asked for
//
//	scenario.Plan --Sim--> sim.World or ui.Simulate --> verdict.Verdict
//	                               |
//	                               |--> events, as the lines of a live node's log --> file
//	                               |--> frames --> pcapng
//	                               '--> states of the page --> HTML
//
//	scenario --> Sim, once              --.
//	         --> Sim, with lab.Timing   ---+--> a row of Worlds' table
//	         --> Lab, as slow as it needs -'
//
// Read in this order: lab.go, show.go (three runs, told in acts); sim.go, pcap.go; worlds.go; nics.go (labs for
// programs, of demonstrations).
//
// Invariants: the lab is removed however a run ends, unless Lab was told to keep it; a run whose
// progress nobody reads any more ends in order; a live run that is not valid does not count.
//
// What it does not do: it reads no file, and prints no verdict.
package play
