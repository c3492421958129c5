// Package simcmd are the commands that play scenarios in virtual time: "sim" and those below it,
// "compare", "cause", "sweep", and what plays long runs in parts, "campaign".
//
// Read in this order: sim.go, compare.go, traffic.go, cause.go, sweep.go, merge.go, campaign.go. What
// they do is in the packages of the same names.
package simcmd
