package ui

import (
	"strings"
	"testing"

	"softswitch/event"
	"softswitch/link/lldp"
)

// TestMismatch: where the ends of a link say different things the link has a mark and a sentence, as
// long as they do, and not after the node has restarted.
func TestMismatch(t *testing.T) {
	s := newScript(t)
	near := s.m.w.far[1] // where direction 0 begins
	say := func(what event.Type, f lldp.Feature) {
		s.add(near.Node, event.Event{Type: what, Port: near.Port, Feature: f, Bytes: 1<<3 | 1<<4, Limit: 1 << 3})
	}
	say(event.DCBXMismatch, lldp.FeaturePFC)
	say(event.DCBXMismatch, lldp.FeatureETS)
	got := s.state()
	text := "the ends of " + s.m.w.links[0].Name + " disagree on lossless priorities: 3, 4 at " + s.m.name(near.Node) + ", 3 at " + s.m.w.nodes[s.m.w.to(0)].Name
	if len(got.Mismatches) != 2 || got.Mismatches[0] != (Mismatch{0, "PFC", text}) || got.Mismatches[1].What != "ETS" {
		t.Errorf("%+v, want %q", got.Mismatches, text)
	}
	if want := "T" + text[1:] + "."; !strings.Contains(got.Words, want) || len(got.Log) != 2 || got.Log[0].Text != text {
		t.Errorf("%q, %+v, want %q", got.Words, got.Log, want)
	}
	if want := "T" + text[1:] + "."; !strings.HasSuffix(got.Brief, want) {
		t.Errorf("%q, want %q", got.Brief, want)
	}
	other := s.m.w.far[3]
	s.add(other.Node, event.Event{Type: event.DCBXMismatch, Port: other.Port, Feature: lldp.FeatureETS})
	if got, want := s.state().Brief, "The ends of 2 links disagree, by DCBX."; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.add(other.Node, event.Event{Type: event.DCBXAgreed, Port: other.Port, Feature: lldp.FeatureETS})
	say(event.DCBXAgreed, lldp.FeaturePFC)
	if got := s.state().Mismatches; len(got) != 1 || got[0].What != "ETS" {
		t.Errorf("%+v", got)
	}
	s.restart(near.Node)
	if got := s.state().Mismatches; len(got) != 0 {
		t.Errorf("after the restart: %+v", got)
	}
}
