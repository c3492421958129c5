// Package node runs a switch, a host or a NIC as a process: with a control socket, an
// event log, a capture, a recording and metrics, as its configuration asks for.
//
//	config ---> RunSwitch, RunHost, RunNIC ---> live.Node: frames
//	                       |
//	control socket --> request --> [lock: copy] --> answer
//	metrics        --> sample  --> [lock: copy] --> answer
//
// Read in this order: runner.go (what all machines need), switch.go, host.go and nic.go
// (the machines), announce.go (what is said of a switch before it runs), requests.go (the
// requests to a switch), keep.go (statistics as of a given instant), watchdog.go (a
// watchdog that is started and stopped while the switch runs), restart.go, capturing.go,
// device.go (the interfaces of a NIC).
//
// Invariants:
//   - a machine is held only while something is copied, and by one request at a time:
//     however many clients ask, a frame waits for one copy at most;
//   - what was opened is closed in reverse order, however a run ends;
//   - one process at a time runs on an interface.
//
// What it does not do: it reads no configuration file and prints no result; package
// live moves the frames.
package node
