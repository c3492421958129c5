// Package simcmd contains the commands that play scenarios in virtual time: "sim" with its
// subcommands, "compare", "cause", "sweep", and "campaign", which plays long runs in parts.
//
// Read in this order: sim.go, compare.go, traffic.go, cause.go, sweep.go, merge.go, campaign.go.
// Packages of the same names implement them.
package simcmd
