// Package labcmd are the commands about labs: "lab" and those below it, and "demo".
//
// Read in this order: lab.go (build, list, remove), run.go (play a scenario), nodes.go (what is done
// to nodes and links), look.go (captures, events, metrics, the page), attach.go (labs that
// somebody else has built), attack.go (forged frames on a link). What they do is in packages lab and netns-lab.
package labcmd
