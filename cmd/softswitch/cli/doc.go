// Package cli contains the code that the programs in cmd and the commands of softswitch share: start
// and end of a program, selection of nodes and scenarios, and printing of results.
//
// Read in this order: program.go (signals, errors, exit status), command.go (exit codes, arguments),
// print.go (findings, as text or JSON), target.go (running nodes, by a lab or a socket), plan.go
// (scenario files), set.go (changes to them), page.go (the page of a run), output.go (output files).
//
// The package contains no logic of a command: beyond flags, help texts and exit codes, a command
// calls another package.
package cli
