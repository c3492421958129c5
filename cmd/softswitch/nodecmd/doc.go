// Package nodecmd contains the commands that run a node or send requests to running nodes: "run",
// "nic", "show", "clear", "pfcwd", "auth".
//
// Read in this order: run.go, nic.go, rdma.go, show.go, clear.go, pfcwd.go, auth.go. Packages live/node, live/rdma,
// view/show and lab implement them.
package nodecmd
