// Package event is the log of a fabric: what every switch reports about its pauses, the
// bytes that wait behind them, and its detector. Events are values that cost nothing to
// make; on disk they are JSON lines.
//
//	switch --Event--> Node.Append --line--> file --Decode--> Log --> oracle
//
// Read in this order: Type and Event (what happens), json.go with shapes (the keys of
// each type of line), append.go, decode.go, and line.go (a line as JSON).
//
// Invariants:
//   - complete: from the merged logs of all switches the oracle can rebuild, for
//     any instant, which priority group is XOFF in which period, which queue is paused by
//     which period, how many bytes of a priority group that is XOFF wait in a queue that is
//     paused, and, where a pool is short, of every priority group, and what is in headrooms;
//   - one clock: At of all nodes of a machine comes from one clock, and never goes back
//     within a log;
//   - one form: Decode reads what Append wrote as the same Event, and accepts nothing
//     that Append could not have written.
//
// What it does not do: it opens no file, buffers nothing and judges nothing.
package event

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// Type says what happened.
type Type uint8

// Types of event. In brackets the fields they use, apart from At and Type.
const (
	// XOFF says that priority group (Port, Priority) crossed its XOFF threshold by a frame queued in
	// (Out, OutPriority). [Period: of this XOFF; Bytes: charged to the priority group; Limit: its XON]
	XOFF Type = iota + 1
	// XON says that priority group (Port, Priority) fell to its XON threshold. [Period, Bytes]
	XON
	// PauseSent says that a PFC frame which pauses Priority left through Port, ResumeSent that one left
	// which resumes it, and RefreshSent that one left which repeats a pause. [Period; Bytes: how many
	// RefreshSent before it are left out, see Refreshes]
	PauseSent
	ResumeSent
	RefreshSent
	// Paused says that a pause took effect on queue (Out, OutPriority), which was not paused
	// before, or was paused by another period or without one. [Period, HasPeriod; Bytes: as of
	// Resumed]
	Paused
	// Resumed says that a resume frame ended the pause of queue (Out, OutPriority). [Bytes: how many
	// Refreshed before it are left out]
	Resumed
	// Expired says that the pause of queue (Out, OutPriority) ran out. [Bytes: as of Resumed]
	Expired
	// Held says that priority group (Port, Priority) is XOFF, that queue (Out, OutPriority) is paused, and
	// that the priority group now has Bytes in the queue. It is logged when both become true and at each
	// change after that. Where priority groups share a pool that may be short, priority groups that are not
	// XOFF are logged too. [Limit: the priority group's XON]
	Held
	// StrongCreated says that it has become true, and StrongRemoved that it is no longer true, that
	// M(priority group, queue) > XON, the priority group is XOFF and the queue is paused. [Bytes, Limit]
	// Where priority groups share a pool that may be short, other priority groups move XON, and neither is
	// logged.
	StrongCreated
	StrongRemoved
	// Trace is a step of the detector. [Step, Label; queue (Out, OutPriority) and priority group
	// (Port, Priority) of the step; Out or Port is unit.NoPort if it has none]
	Trace
	// Deadlock says that the detector declared one: priority group (Port, Priority) waits for queue
	// (Out, OutPriority). [Label, Trigger, OnLoop]
	Deadlock
	// Cause says that the detector named a cause of the deadlock that it declared at priority group (Port,
	// Priority) and queue (Out, OutPriority). [Cause, Rank: 1 for the likeliest, Confidence,
	// Trigger: where it is, In: the ingress port there, unit.NoPort for none, OnLoop,
	// Together: with the one of the rank before it; Flow: one of the flows named, an event
	// for each]
	Cause
	// LinkUp says that the link of Port came up.
	LinkUp
	// LinkDown says that the link of Port went down.
	LinkDown
	// Rerouted says that a route group's primary ports are all down, and that its traffic now uses
	// the backup port Out. [Bytes: the number of the route]
	Rerouted
	// Acted says that a system took an action on its switch, at queue (Out, OutPriority), priority group
	// (Port, Priority) or both. [Action; Bytes: the number that goes with it; Flow]
	Acted
	// Refused says that a system wanted to take an action, but could not. [Refusal]
	Refused
	// HostStorm says that a NIC of a host begins to pause Priority continuously, whatever its buffer holds, and
	// HostStormOver that it stops. [priority group (Port, Priority)]
	HostStorm
	HostStormOver
	// Refreshed says that a pause came for queue (Out, OutPriority) of the period that pauses it
	// already. [Period; Bytes: how many of them before it are left out]
	Refreshed
	// HostSlow says that a NIC of a host drains what it is sent no faster than Bytes kbit/s from now on, and
	// HostSlowOver that it is as fast as its link again. [Port]
	HostSlow
	HostSlowOver
	// AuthAgreed says that the two ends of the link of Port know each other's counter, so that what
	// comes by it can be authenticated. [Port]
	AuthAgreed
	// AuthRefused says that control frames that came by Port were not believed. It is logged for the
	// first one of each reason, and then at most once a second. [Port, Why; Bytes: how many
	// frames so far]
	AuthRefused
	// AuthBehind says that the counter of Port was behind what the far end had believed, because a
	// clock went back; now it is ahead. [Port]
	AuthBehind
	// Headroom says that priority group (Port, Priority), which is XOFF, has Bytes in its headroom and Limit
	// outside it. It is logged where priority groups share a pool that may be short ([buffer.Config.Shares]):
	// when a headroom comes into use, when what is outside changes meanwhile, and, with Bytes 0, when the
	// headroom is empty again.
	Headroom
	// Members says how many members of the LAG of Port are up, after the link of Port came up or went
	// down: what the others carried, or what Port carries from now on, moves. [Port; Bytes: how many]
	Members
	// NeighbourLearned says that LLDP has told of a neighbour at Port that was not known, and
	// NeighbourGone that one said goodbye, was not heard for as long as it had said, or went with the
	// link. [Port]
	NeighbourLearned
	NeighbourGone
	// DCBXMismatch says that the far end of Port says something else of Feature than this end, by LLDP,
	// and DCBXAgreed that it no longer does. [Port, Feature; Bytes and Limit: the priorities here and
	// there, a bit each, if Feature is OfPriorities]
	DCBXMismatch
	DCBXAgreed
	// PauseUnheeded says that the far end of Port goes on sending in Priority while it is paused. It is
	// logged once for each burst of such frames. [Port, Priority; Bytes: how many pauses of the burst
	// were in vain so far; Limit: how many frames were lost by it so far]
	PauseUnheeded

	lastType = PauseUnheeded
)

// Event is one event of one node. It contains no pointer.
type Event struct {
	At                    unit.Time
	Type                  Type
	Step                  detect.Step
	Action                detect.Action
	Refusal               detect.Refusal
	Cause                 detect.CauseType
	Why                   auth.Verdict // of AuthRefused
	Feature               lldp.Feature // of DCBXMismatch and DCBXAgreed
	Rank                  uint8        // of Cause, from 1
	Confidence            uint8        // of Cause, in per cent
	HasPeriod             bool
	OnLoop                bool
	Together              bool // of Cause
	Port, Out             unit.Port
	In                    unit.Port // of Cause
	Priority, OutPriority unit.Priority
	Period                uint8
	Bytes, Limit          int32
	Flow                  detect.FlowID // of Acted and Cause; 0 if it is about no flow
	Label                 itsyhdr.TLV
	Trigger               unit.NodePort
}
