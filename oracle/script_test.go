package oracle

import (
	"fmt"
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Ports of a switch of the test ring.
const (
	host unit.Port = iota // to its host
	in                    // from the switch before
	out                   // to the switch after
	side                  // of s2 only: to s5, which is outside the ring
)

const us = unit.Microsecond

// ring4 is R4+x: s1 to s4 in a ring, a host h1 to h4 (nodes 11 to 14) on each, and
// s5 (node 5) beside s2. Priority group b_k is (s_k, in), queue p_k is (s_k, out), and b_k
// pauses the queue p_k-1.
func ring4(t testing.TB) *Fabric {
	t.Helper()
	var nodes []Node
	var links []Link
	for k := unit.NodeID(1); k <= 4; k++ {
		nodes = append(nodes, Node{ID: k, Name: fmt.Sprintf("s%d", k), Ports: make([]string, 4)})
		nodes = append(nodes, Node{ID: 10 + k, Name: fmt.Sprintf("h%d", k), Host: true, Ports: []string{"eth0"}})
		links = append(links, Link{unit.NodePort{Node: k, Port: host}, unit.NodePort{Node: 10 + k}})
		links = append(links, Link{unit.NodePort{Node: k, Port: out}, unit.NodePort{Node: k%4 + 1, Port: in}})
	}
	nodes = append(nodes, Node{ID: 5, Name: "s5", Ports: make([]string, 4)})
	links = append(links, Link{unit.NodePort{Node: 2, Port: side}, unit.NodePort{Node: 5, Port: in}})
	f, err := NewFabric(nodes, links)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sharePool has the priority groups of each switch share a pool, by this rule.
func sharePool(f *Fabric, rule buffer.Rule) {
	f.pools = true
	for i := range f.nodes {
		if n := &f.nodes[i]; !n.Host {
			n.Rules = slices.Repeat([]buffer.Rule{rule}, len(n.Ports))
		}
	}
}

// script writes the logs of a run in the order of its lines.
type script struct {
	t    testing.TB
	now  unit.Time
	logs map[unit.NodeID]*event.Log
}

func newScript(t testing.TB) *script { return &script{t: t, logs: map[unit.NodeID]*event.Log{}} }

func (s *script) at(now unit.Time) *script { s.now = now; return s }

func (s *script) log(node unit.NodeID, e event.Event) *script {
	if s.logs[node] == nil {
		s.logs[node] = &event.Log{Node: event.Node{ID: node, Name: fmt.Sprintf("s%d", node)}}
	}
	e.At = s.now
	s.logs[node].Events = append(s.logs[node].Events, e)
	return s
}

// xoff: b_k goes XOFF in this period; it resumes at xon bytes.
func (s *script) xoff(k unit.NodeID, period uint8, xon int32) *script {
	return s.log(k, event.Event{Type: event.XOFF, Port: in, Priority: 3, Out: out, OutPriority: 3, Period: period, Bytes: xon + 4, Limit: xon})
}

func (s *script) xon(k unit.NodeID) *script {
	return s.log(k, event.Event{Type: event.XON, Port: in, Priority: 3})
}

// paused: a pause of period takes effect at p_k.
func (s *script) paused(k unit.NodeID, period uint8) *script {
	return s.log(k, event.Event{Type: event.Paused, Out: out, OutPriority: 3, HasPeriod: true, Period: period})
}

func (s *script) resumed(k unit.NodeID) *script {
	return s.log(k, event.Event{Type: event.Resumed, Out: out, OutPriority: 3})
}

func (s *script) expired(k unit.NodeID) *script {
	return s.log(k, event.Event{Type: event.Expired, Out: out, OutPriority: 3})
}

// held: this many bytes of b_k wait in p_k.
func (s *script) held(k unit.NodeID, bytes, xon int32) *script {
	return s.log(k, event.Event{Type: event.Held, Port: in, Priority: 3, Out: out, OutPriority: 3, Bytes: bytes, Limit: xon})
}

// stormed: the host of s_k pauses its switch.
func (s *script) stormed(k unit.NodeID) *script {
	return s.log(k, event.Event{Type: event.Paused, Out: host, OutPriority: 3})
}

func (s *script) calmed(k unit.NodeID) *script {
	return s.log(k, event.Event{Type: event.Resumed, Out: host, OutPriority: 3})
}

// declared: s_k declares that b_k waits for p_k; s1's label number 7.
func (s *script) declared(k unit.NodeID) *script {
	return s.log(k, event.Event{
		Type: event.Deadlock, Port: in, Priority: 3, Out: out, OutPriority: 3, OnLoop: true,
		Label: itsyhdr.TLV{Initiator: unit.NodePort{Node: 1, Port: in}, Seq: 7}, Trigger: unit.NodePort{Node: 1, Port: in},
	})
}

// forwarded: s_k takes that label from p_k to the upstream of b_k.
func (s *script) forwarded(k unit.NodeID, step detect.Step, seq uint16) *script {
	return s.log(k, event.Event{
		Type: event.Trace, Step: step, Port: in, Priority: 3, Out: out, OutPriority: 3,
		Label: itsyhdr.TLV{Initiator: unit.NodePort{Node: 1, Port: in}, Seq: seq},
	})
}

// closeRing makes a deadlock of the whole ring: XOFF now, paused 10 us later and
// closed at last by the pause of p_4, 20 us later.
func (s *script) closeRing(period uint8) *script {
	start := s.now
	for k := unit.NodeID(1); k <= 4; k++ {
		s.xoff(k, period, 36).held(k, 50, 36)
	}
	s.at(start + 10*us)
	for k := unit.NodeID(1); k <= 3; k++ {
		s.paused(k, period)
	}
	return s.at(start+20*us).paused(4, period)
}

// openRing lets p_1 go, so that all of it drains.
func (s *script) openRing() *script {
	s.xon(2).resumed(1)
	return s
}

// run replays and judges; the run ends with the last line.
func (s *script) run(f *Fabric, late unit.Time) *Result {
	s.t.Helper()
	r, err := Judge(f, s.all(), 0, late)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *script) all() []event.Log {
	var logs []event.Log
	for id := unit.NodeID(1); id < 20; id++ {
		if l := s.logs[id]; l != nil {
			logs = append(logs, *l)
		}
	}
	return logs
}

func q(k unit.NodeID) Queue { return Queue{unit.NodePort{Node: k, Port: out}, 3} }
