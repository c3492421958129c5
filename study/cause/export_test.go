package cause

import (
	"softswitch/event"
	"softswitch/oracle"
	"softswitch/unit"
)

// Run is the run of a case, for the tests that draw cases from package fuzz, which imports this
// one.
type Run = run

// NewRun is newRun.
var NewRun = newRun

// NewCase is newCase.
var NewCase = newCase

// OnEvents has see called with every event of the run.
func (r *Run) OnEvents(see func(event.Node, event.Event)) { r.events = see }

// Fabric is that of the run.
func (r *Run) Fabric() *oracle.Fabric { return r.fabric }

// Play is play.
func (r *Run) Play(settled func(unit.Time, *oracle.Stuck) bool) error { return r.play(settled) }

// DeadlockAt is deadlock.
func (r *Run) DeadlockAt(at unit.Time, stuck *oracle.Stuck) *Deadlock { return r.deadlock(at, stuck) }
