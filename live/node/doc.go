// Package node runs a switch, a host or a NIC as a process does: with a control socket,
// an event log, a capture, a recording and metrics, as its file asks for them.
//
//	config ---> RunSwitch, RunHost, RunNIC ---> live.Node: frames
//	                       |
//	control socket --> request --> [lock: copy] --> answer
//	metrics        --> sample  --> [lock: copy] --> answer
//
// Read in this order: runner.go (what is around every machine), switch.go, host.go and
// nic.go (the machines), announce.go (what is said of a switch before it runs), requests.go (what a switch can be asked), keep.go (to be
// asked of an instant), watchdog.go (a watchdog
// that comes and goes while the switch runs), restart.go, capturing.go, device.go (the
// interfaces of a NIC).
//
// Invariants:
//   - a machine is held only while something is copied, and by one request at a time:
//     however many clients ask, a frame waits for one copy at most;
//   - what was opened is closed in the opposite order, whatever way a run ends;
//   - one process at a time runs on an interface.
//
// What it does not do: it reads no file and prints no result; frames are package live's.
package node
