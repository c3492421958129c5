// Package nodecmd are the commands that run a node, and those that speak to running ones: "run",
// "nic", "show", "clear", "pfcwd", "auth".
//
// Read in this order: run.go, nic.go, show.go, clear.go, pfcwd.go, auth.go. What they do
// is in packages live/node, view/show and lab.
package nodecmd
