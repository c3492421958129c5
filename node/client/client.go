// Package client asks running nodes, and tells them what to do: a function for each request, with the
// types of what it takes and answers.
//
//	commands, lab, views --client.Switch(e)--> control socket --> live/node
//	                     <---observe.Switch---
//
// Read in this order: client.go (questions, then what changes a node), watchdog.go (the arguments of
// pfcwd).
//
// Invariant, one-door: what changes a node of a lab goes through lab.Orders; internal/archtest says so,
// and that nobody else names a request.
//
// What it does not do: it knows no lab, and answers nothing; package live/node does.
package client

import (
	"time"

	"softswitch/internal/control"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// Instant is the argument of requests about a point of the node's CLOCK_MONOTONIC.
type Instant struct {
	At unit.Time `json:"at"`
}

// CounterArgs are the arguments of requests about counters.
type CounterArgs struct {
	What string `json:"what"`
}

// Counters and watermarks that can be cleared: values of CounterArgs.
const (
	ClearPFC        = "pfc"
	ClearQueue      = "queue"
	ClearInterfaces = "interfaces"
	ClearQueueMarks = "queue_watermark"
	ClearGroupMarks = "priority_group_watermark"
)

// RestartArgs are what a switch runs after it restarts in its process.
type RestartArgs struct {
	Detector string `json:"detector"`
	Response string `json:"response"`
}

// ResponseArgs are what a running switch does about deadlocks from now on.
type ResponseArgs struct {
	Response string `json:"response"`
	// Standing says to act on what was declared before and stands.
	Standing bool `json:"standing"`
}

// StormArgs are for how long hosts may pause a priority of a switch from now on; 0 is for ever.
type StormArgs struct {
	Budget unit.Time `json:"budget_ns"`
}

// Node are the counters of a node of any kind.
type Node interface {
	observe.Switch | observe.Host | observe.NIC | observe.Live
}

// Stats are the counters of a node.
func Stats[T Node](e control.Endpoint) (T, error) { return control.Get[T](e, "stats", nil) }

// StatsWithin is Stats, and waits at most limit for the answer.
func StatsWithin[T Node](limit time.Duration, e control.Endpoint) (out T, err error) {
	return out, control.CallWithin(limit, e.Path, "stats", nil, &out)
}

// StatsOf are the counters that a node has kept of an instant, as Keep told it.
func StatsOf[T Node](e control.Endpoint, at unit.Time) (T, error) {
	return control.Get[T](e, "stats", Instant{at})
}

// Keep has a node keep its counters of an instant.
func Keep(e control.Endpoint, at unit.Time) error { return e.Call("keep", Instant{at}, nil) }

// SampleWithin is what metrics of a switch are computed from. It waits at most limit for the answer.
func SampleWithin(limit time.Duration, e control.Endpoint) (out observe.Sample, err error) {
	return out, control.CallWithin(limit, e.Path, "sample", nil, &out)
}

// Sample is what metrics of a switch are computed from.
func Sample(e control.Endpoint) (observe.Sample, error) {
	return control.Get[observe.Sample](e, "sample", nil)
}

// Counters are those of a switch, and where they were cleared last.
func Counters(e control.Endpoint, what string) (observe.Counters, error) {
	return control.Get[observe.Counters](e, "counters", CounterArgs{what})
}

// Setup is the configuration that a switch runs.
func Setup(e control.Endpoint) (observe.Setup, error) {
	return control.Get[observe.Setup](e, "setup", nil)
}

// Tables are the forwarding tables of a switch.
func Tables(e control.Endpoint) (observe.Tables, error) {
	return control.Get[observe.Tables](e, "tables", nil)
}

// Labels are those that pause frames of a switch carry.
func Labels(e control.Endpoint) ([]observe.Labels, error) {
	return control.Get[[]observe.Labels](e, "labels", nil)
}

// Deadlocks are those that the detector of a switch has declared.
func Deadlocks(e control.Endpoint) (observe.Deadlocks, error) {
	return control.Get[observe.Deadlocks](e, "deadlocks", nil)
}

// Watchdog is the PFC watchdog of a switch, nil if it has none.
func Watchdog(e control.Endpoint) (*observe.Watchdog, error) {
	return control.Get[*observe.Watchdog](e, "pfcwd", nil)
}

// Wires are what the wires of a node do to frames.
func Wires(e control.Endpoint) ([]observe.PortWire, error) {
	return control.Get[[]observe.PortWire](e, "wires", nil)
}

// Taped is a control frame that a node has sent since Tape, nil if there is none.
func Taped(e control.Endpoint, at config.WireRequest) ([]byte, error) {
	return control.Get[[]byte](e, "taped", at)
}

// Capture is a pcapng of what a node sends and receives, as it does.
func Capture(e control.Endpoint, offset int64) (*control.Conn, error) {
	return control.Open(e.Path, "capture", config.CaptureRequest{Offset: offset})
}

// Clear restarts counters or watermarks of a switch, for everyone who looks.
func Clear(e control.Endpoint, what string) error { return e.Call("clear", CounterArgs{what}, nil) }

// Keys has a switch read its file of keys again.
func Keys(e control.Endpoint) error { return e.Call("keys", nil, nil) }

// StartWatchdog starts the PFC watchdog of a switch in place of what it had.
func StartWatchdog(e control.Endpoint, args WatchdogArgs) error {
	return e.Call("pfcwd_start", args, nil)
}

// SetWatchdog changes the PFC watchdog of a switch that runs.
func SetWatchdog(e control.Endpoint, set WatchdogSettings) error {
	return e.Call("pfcwd_set", set, nil)
}

// StopWatchdog stops it on ports, on all if there are none.
func StopWatchdog(e control.Endpoint, ports []string) error {
	return e.Call("pfcwd_stop", WatchdogArgs{Ports: ports}, nil)
}

// Start has a host send its flows from an instant on.
func Start(e control.Endpoint, at unit.Time) error { return e.Call("start", Instant{at}, nil) }

// Stop has a host stop sending.
func Stop(e control.Endpoint) error { return e.Call("stop", nil, nil) }

// Act changes the behaviour of a host.
func Act(e control.Endpoint, a config.Act) error { return e.Call("act", a, nil) }

// Respond changes what a running switch does about deadlocks.
func Respond(e control.Endpoint, args ResponseArgs) error { return e.Call("response", args, nil) }

// BoundStorms changes for how long hosts may pause a priority of a switch.
func BoundStorms(e control.Endpoint, args StormArgs) error { return e.Call("storm_budget", args, nil) }

// Restart makes a switch restart in its process, with empty buffers.
func Restart(e control.Endpoint, args RestartArgs) error { return e.Call("restart", args, nil) }

// Impair has the wire from a port do this to frames.
func Impair(e control.Endpoint, w config.WireRequest) error { return e.Call("impair", w, nil) }

// Lose has a control frame that a node sends be lost.
func Lose(e control.Endpoint, at config.WireRequest) error { return e.Call("lose", at, nil) }

// Forge puts a frame on a wire as if the node had sent it.
func Forge(e control.Endpoint, at config.WireRequest) error { return e.Call("forge", at, nil) }

// Tape has a node keep the control frames that it sends.
func Tape(e control.Endpoint, at config.WireRequest) error { return e.Call("tape", at, nil) }
