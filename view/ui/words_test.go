package ui

import (
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// TestBrief: the one sentence tells what the drawing shows: which host is slow, what is down, what a
// response does meanwhile, who ignores a storm, and how often a deadlock has come back.
func TestBrief(t *testing.T) {
	s := newScript(t)
	wants := func(want string) {
		t.Helper()
		if got := s.state().Brief; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	node := len(s.m.w.switches)
	host, access := s.m.w.ids[node], s.m.w.nodes[node].Ports[0]^1 // the direction to it
	name, near := s.m.w.nodes[node].Name, s.m.w.far[access^1]
	rate := s.m.w.rates[access].String()

	wants("Nothing flows.")
	s.add(near.Node, event.Event{Type: event.Paused, Out: near.Port, OutPriority: 3})
	wants("One link is paused.")
	s.add(host, event.Event{Type: event.HostSlow, Bytes: 4000})
	wants(name + " takes only 4Mbit/s of its " + rate + ": one link is paused.")
	s.add(near.Node, event.Event{Type: event.Acted, Action: detect.ActionLossy, Port: near.Port, Priority: 3, Out: near.Port, OutPriority: 3})
	wants(name + " takes only 4Mbit/s of its " + rate + ": one link is paused. A response acts on " + s.m.w.arrow(access) + ": lossy.")
	s.add(near.Node, event.Event{Type: event.Acted, Action: detect.ActionHonour, Port: near.Port, Priority: 3, Out: near.Port, OutPriority: 3})
	s.add(host, event.Event{Type: event.HostSlowOver})

	s.add(host, event.Event{Type: event.HostStorm, Priority: 3})
	wants(name + " pauses without end: one link is paused.")
	s.add(near.Node, event.Event{Type: event.Acted, Action: detect.ActionContain, Port: near.Port, Priority: 3, Out: near.Port, OutPriority: 3})
	ignores := s.m.w.nodes[s.m.w.from(access)].Name + " has ignored the pauses of " + name + " since " + s.m.clock(s.at) + ": it storm"
	wants(ignores + "s.")
	s.add(host, event.Event{Type: event.HostStormOver, Priority: 3})
	wants(ignores + "ed.")
}

// TestBriefSaysDown: also where traffic flows as it should.
func TestBriefSaysDown(t *testing.T) {
	s := newScript(t)
	near := s.m.w.far[1] // where direction 0 begins
	s.add(near.Node, event.Event{Type: event.LinkDown, Port: near.Port, Out: unit.NoPort})
	if got, want := s.state().Brief, "Nothing flows. Link "+s.m.w.links[0].Name+" is down."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBriefSaysAgain: a deadlock that soon comes back is told with how often it did, and one that forms
// later on is another.
func TestBriefSaysAgain(t *testing.T) {
	s := newScript(t)
	loop := s.loop(s.ring()...)
	opens := func() { s.add(loop[0].Node, event.Event{Type: event.Resumed, Out: loop[0].Port, OutPriority: 3}) }
	closes := func() {
		s.block(loop[0], loop[1])
		s.block(loop[len(loop)-1], loop[0])
	}
	for i, q := range loop {
		s.block(q, loop[(i+1)%len(loop)])
	}
	says := func(want string) {
		t.Helper()
		if got := s.state(); got.Status != statusDeadlock || strings.Contains(got.Brief, "come back") != (want != "") || !strings.HasSuffix(got.Brief, want) {
			t.Errorf("%s: %q, want %q at its end", got.Status, got.Brief, want)
		}
	}
	says("")
	opens()
	closes()
	says(" It has come back once.")
	opens()
	closes()
	says(" It has come back 2 times.")
	opens()
	s.at += curedFor + 1
	closes()
	says("")
}
