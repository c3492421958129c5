// Package hosting runs many nodes of a lab in one process, each with its sockets in its
// own network namespace: a fabric of hundreds of nodes then costs one Go runtime.
//
//	list of nodes --> Run --> node 1: goroutines; sockets in namespace 1, files in folder 1
//	                     '--> node 2: goroutines; sockets in namespace 2, files in folder 2
//	control.sock: look, signal --> node.Life: is it there, freeze, thaw, crash
//	              restart      --> node 1 ends, another node 1 begins
//
// To everybody else a node is what it is with a process of its own: the same namespace,
// interfaces, control socket, event log and frames on the wire. What a pid is good for,
// the process's own control socket does instead, as [netnslab.HostingSocket] says.
//
// Invariants:
//   - all or none: the control socket is there when every node answers, and if one cannot
//     start, the process ends and says which;
//   - a node that is killed or fails later takes no other with it; a panic takes all,
//     since it is a fault of the program, and is in the process's log.
//
// What it does not do: NICs, which serve programs in their namespace, keep processes of
// their own.
package hosting
