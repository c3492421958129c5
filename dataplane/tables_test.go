package dataplane

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

func (s *testSwitch) wantMACs(want ...string) {
	s.t.Helper()
	var got []string
	for _, e := range s.MACEntries(s.now) {
		got = append(got, fmt.Sprintf("%v at %d static %v", e.MAC, e.Port, e.Static))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("stations:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Stations are told in the order of their addresses, those that have aged not at all.
func TestMACEntries(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.MAC = []Station{{stationMAC(2), 2}} })
	static := fmt.Sprintf("%v at 2 static true", stationMAC(2))
	s.wantMACs(static)
	s.receive(0, datagram{dst: stationMAC(2), src: stationMAC(0), priority: 3}.frame())
	s.drain(2)
	s.wantMACs(fmt.Sprintf("%v at 0 static false", stationMAC(0)), static)
	s.advance(macAge + 1)
	s.wantMACs(static)
}

func TestRouteAndARPEntries(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	text := func() (lines []string) {
		for _, r := range s.RouteEntries() {
			lines = append(lines, fmt.Sprintf("%v connected %v ports %v backup %v active %v", r.Prefix, r.Connected, r.Ports, r.Backup, r.Active))
		}
		for _, e := range s.ARPEntries(s.now) {
			lines = append(lines, fmt.Sprintf("%v at %v static %v", e.IP, e.MAC, e.Static))
		}
		return lines
	}
	want := []string{
		"10.0.1.0/24 connected true ports {0 1} backup {} active {0 1}",
		"10.0.2.0/24 connected true ports {2} backup {} active {2}",
		"0.0.0.0/0 connected false ports {3 4} backup {5} active {3 4}",
		"10.9.0.0/16 connected false ports {3} backup {} active {3}",
		fmt.Sprintf("10.0.1.10 at %v static true", stationMAC(0)),
		fmt.Sprintf("10.0.2.10 at %v static true", stationMAC(2)),
	}
	if got := text(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s.link(0, false)
	s.link(3, false)
	s.link(4, false)
	want[0] = "10.0.1.0/24 connected true ports {0 1} backup {} active {1}"
	want[2] = "0.0.0.0/0 connected false ports {3 4} backup {5} active {5}"
	want[3] = "10.9.0.0/16 connected false ports {3} backup {} active {}"
	if got := text(); !slices.Equal(got, want) {
		t.Errorf("with links down\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A prefix that is entered twice is told once, as it is looked up.
func TestRouteEntryThatIsShadowed(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		c.Routes = append(c.Routes, Route{Prefix: prefix("10.0.2.0/24"), Ports: ports(4)})
	})
	if n := len(s.RouteEntries()); n != 4 {
		t.Errorf("%d entries, want 4", n)
	}
}

func (s *testSwitch) wantPauses(p unit.Port, c unit.Priority, count uint64, total unit.Time, last LastPause) {
	s.t.Helper()
	k := s.Counters(p)
	if k.Pauses[c] != count || k.PausedTime[c] != total || k.LastPause[c] != last {
		s.t.Errorf("queue %s: %d pauses, %d ns in all, the last %+v; want %d, %d, %+v", text(p, c), k.Pauses[c], k.PausedTime[c], k.LastPause[c], count, total, last)
	}
}

// The history of a queue's pauses: each counts once, however often it is repeated.
func TestPauseHistory(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.wantPauses(1, 3, 0, 0, LastPause{})
	start := s.now
	s.receive(1, pauseOf(3, 1000, 1))
	s.advance(10 * unit.Microsecond)
	s.receive(1, pauseOf(3, 1000, 1))
	if at, ok := s.PausedSince(1, 3); !ok || at != start {
		t.Errorf("paused since %d, %v; want %d", at, ok, start)
	}
	s.wantPauses(1, 3, 1, 0, LastPause{})
	s.advance(5 * unit.Microsecond)
	s.receive(1, pauseOf(3, 0, 1))
	if _, ok := s.PausedSince(1, 3); ok {
		t.Error("the queue is paused after a resume")
	}
	s.wantPauses(1, 3, 1, 15*unit.Microsecond, LastPause{start, 15 * unit.Microsecond})
	second := s.now
	s.receive(1, pauseOf(3, 1000, 1))
	s.advance(unit.Microsecond)
	s.receive(1, pauseOf(3, 0, 1))
	s.wantPauses(1, 3, 2, 16*unit.Microsecond, LastPause{second, unit.Microsecond})
	s.wantPauses(1, 4, 0, 0, LastPause{})
}

// Labels are told as the pause frames carried them, while the pause is there.
func TestLabelsTold(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	in := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Initiator: unit.NodePort{Node: 9, Port: 1}, Seq: 5, Period: 2}
	s.receive(1, pfcWith(1000, in))
	if got, _ := s.Labels(1, 3); got != in {
		t.Errorf("the label in is %v, want %v", got, in)
	}
	out := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Initiator: unit.NodePort{Node: 7}, Seq: 6}
	s.det.label = func(detect.PG) itsyhdr.TLV { return out }
	for range 4 {
		s.receive(0, datagram{dst: stationMAC(1), src: stationMAC(0), priority: 3, size: 1000}.frame())
	}
	s.drain(0)
	out.Priority, out.Period = 3, 1
	if _, got := s.Labels(0, 3); got != out {
		t.Errorf("the label out is %v, want %v", got, out)
	}
	s.receive(1, pauseOf(3, 0, 1))
	if got, _ := s.Labels(1, 3); got.Kind != itsyhdr.KindPeriod {
		t.Errorf("the label of a pause that is over: %v", got)
	}
	s.drain(1)
	s.drain(0)
	if _, got := s.Labels(0, 3); got.Kind != itsyhdr.KindPeriod {
		t.Errorf("the label of a priority group that resumed: %v", got)
	}
}

// A detector that is put in the place of another is told what happens from then on, and
// its deadline is kept.
func TestExchange(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	second := &recorder{deadline: s.now + 5*unit.Microsecond}
	s.Exchange(func(v detect.View, a detect.Actions) detect.Detector {
		if v.Self() != 7 {
			t.Errorf("the new detector sees switch %d, want 7", v.Self())
		}
		return second.make(v, a)
	})
	if ready, _ := s.Work(nil); !ready.Has(0) {
		t.Errorf("ready ports %b: nobody keeps the new deadline", ready)
	}
	s.drain(0)
	s.wantNext(s.now + 5*unit.Microsecond)
	s.receive(1, pauseOf(3, 1000, 1))
	s.wantCalls()
	if len(second.calls) == 0 {
		t.Error("the new detector was not told of a pause")
	}
}
