// Package cli is what programs below cmd and the commands of softswitch share: how a program begins
// and ends, which nodes and which scenario a command is about, and how it prints what it found.
//
// Read in this order: program.go (signals, errors, exit status), command.go (exit codes, arguments),
// print.go (findings, in words or as JSON), target.go (running nodes, by a lab or a socket), plan.go
// (scenario files), set.go (changes to them), page.go (the page of a run), output.go (files that are written).
//
// It does nothing of its own: a command that needs more than flags, words and exit codes has a
// package elsewhere.
package cli
