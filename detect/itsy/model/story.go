package model

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/unit"
)

// story is how state i was reached, and what happens then.
func (e *explorer) story(i uint32, moves []move) (lines []string) {
	var way []uint32
	for at := i; at != 0; at = e.before[at] {
		way = append(way, at)
	}
	slices.Reverse(way)
	s := slices.Clone(e.at(0))
	for _, to := range way {
		m := e.moveTo(s, e.at(to))
		lines = append(lines, e.tell(s, &m))
		copy(s, e.at(to))
	}
	for _, m := range moves {
		lines = append(lines, e.tell(s, &m))
		e.move(s, e.next, &m, e.truth(s))
		copy(s, e.next)
	}
	return lines
}

// moveTo is the move by which to comes from s.
func (e *explorer) moveTo(s, to state) move {
	is, next := e.truth(s), make(state, e.width)
	for _, m := range e.moves(s, nil) {
		if what := e.move(s, next, &m, is); what == "" && slices.Equal(next, to) {
			return m
		}
	}
	panic("model: no move leads to a state that was reached")
}

// tell is what happens by m in s, in a line.
func (e *explorer) tell(s state, m *move) string {
	var what string
	k, st := m.k, m.step
	switch m.kind {
	case moveDeliver, moveLose:
		to := e.receiver(m.wire)
		k = to.Node
		frame := e.wires.seqs[*e.onWire(s, m.wire)].head
		st = step{op: opDeliver, a: uint8(to.Port), frame: frame}
		what = fmt.Sprintf("%s from S%d", e.wires.frames[frame], e.end(k, to.Port).other.Node)
		if m.kind == moveLose {
			return fmt.Sprintf("S%d: %s is lost", k, what)
		}
	case moveFail:
		other := e.end(m.k, unit.Port(st.a)).other
		what = fmt.Sprintf("the link to S%d fails, which does not know yet", other.Node)
	default:
		what = e.say(k, st)
	}
	a := e.switches[k]
	a.node.load([]byte(a.states[s[k-1]].key))
	a.node.apply(st)
	for _, t := range a.node.traces {
		what += "; " + traced(t)
	}
	for _, f := range a.node.sent {
		what += fmt.Sprintf("; sends S%d %s", e.end(k, f.port).other.Node, e.wires.frames[f.frame])
	}
	for _, f := range a.node.reports {
		what += fmt.Sprintf("; DECLARES that priority group %d and queue %d wait for each other", f.PG.Port, f.Queue.Port)
	}
	return fmt.Sprintf("S%d: %s", k, what)
}

// say is what happens at switch k by s, but for what comes in.
func (e *explorer) say(k unit.NodeID, s step) string {
	turns := e.turns[k][s.a]
	switch {
	case s.op == opFill && s.b == s.c:
		return fmt.Sprintf("priority group %d goes XOFF with 2 units in %s", s.a, turns[s.b])
	case s.op == opFill:
		return fmt.Sprintf("priority group %d goes XOFF with a unit in %s and one in %s", s.a, turns[s.b], turns[s.c])
	case s.op == opAdd:
		return fmt.Sprintf("one more unit of priority group %d comes to %s", s.a, turns[s.b])
	case s.op == opPop:
		return fmt.Sprintf("a unit of priority group %d begins to leave by queue %d", s.a, s.c)
	case s.op == opAge:
		return "verifications seem given up"
	}
	return fmt.Sprintf(atPort[s.op], s.a)
}

// atPort is what happens by a step that is about one port.
var atPort = [...]string{
	opSent: "a unit of priority group %d has left", opSend: "port %d sends", opRefresh: "priority group %d repeats its pause",
	opLapse: "priority group %d repeats its pause too late", opExpire: "the pause of queue %d runs out", opFire: "priority group %d acts by itself",
	opDown: "port %d is down", opUp: "port %d is up",
}

// String is the queues of m: "queue 1", "queues 1 and 4".
func (m portMask) String() string {
	var ports []string
	for rest := m; rest != 0; rest &= rest - 1 {
		ports = append(ports, fmt.Sprint(rest.first()))
	}
	if len(ports) == 1 {
		return "queue " + ports[0]
	}
	return "queues " + strings.Join(ports, " and ")
}

func (f frame) String() string {
	switch f.kind {
	case resumeFrame:
		return fmt.Sprintf("resume after period %d", f.period)
	case pauseFrame:
		text := fmt.Sprintf("pause of period %d", f.period)
		if f.tlv.Seq != 0 {
			text += fmt.Sprintf(" with label %d of %v", f.tlv.Seq, f.tlv.Initiator)
		}
		if f.tlv.Flags != 0 {
			text += fmt.Sprintf(" flags %x", f.tlv.Flags)
		}
		return text
	}
	text := fmt.Sprintf("%v %d of %v", f.tlv.Kind, f.tlv.Seq, f.tlv.Initiator)
	if f.tlv.Flags != 0 {
		text += ", failed"
	}
	return text
}

func traced(t detect.Trace) string {
	text := fmt.Sprintf("%v %d of %v", t.Step, t.Label.Seq, t.Label.Initiator)
	if t.PG.Port != unit.NoPort {
		text += fmt.Sprintf(" at priority group %d", t.PG.Port)
	}
	return text
}
