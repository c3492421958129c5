// Package labcmd contains the commands for labs: "lab" with its subcommands, and "demo".
//
// Read in this order: lab.go (build, list, remove), run.go (play a scenario), nodes.go (orders to
// nodes and links), look.go (captures, events, metrics, the page), attach.go (labs built by another
// tool), attack.go (forged frames on a link). Packages lab and netns-lab implement them.
package labcmd
