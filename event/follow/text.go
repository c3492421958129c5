package follow

import (
	"fmt"
	"strings"

	"softswitch/event"
	"softswitch/unit"
)

// texts are those of events that no detector or response is told of. In braces stand fields of the event;
// {repeated} says how often a pause was repeated before it, if the log has no event of that.
var texts = map[event.Type]string{
	event.XOFF:             "priority group {priority group} XOFF: holds {bytes} bytes, the last queued at {queue} {period}",
	event.Headroom:         "priority group {priority group} has {bytes} bytes in its headroom, and {limit} outside",
	event.XON:              "priority group {priority group} XON: holds {bytes} bytes {period}",
	event.PauseSent:        "pause sent for {priority group} {period}",
	event.ResumeSent:       "resume sent for {priority group} {period}{repeated}",
	event.RefreshSent:      "pause repeated for {priority group} {period}{repeated}",
	event.Refreshed:        "queue {queue}: its pause is repeated {period}{repeated}",
	event.Resumed:          "queue {queue} resumed{repeated}",
	event.Expired:          "queue {queue} goes on: its pause ran out{repeated}",
	event.Held:             "paused queue {queue} holds {bytes} bytes of priority group {priority group} (XON {limit})",
	event.StrongCreated:    "wait begins: priority group {priority group}, queue {queue}, {bytes} bytes (XON {limit})",
	event.StrongRemoved:    "wait ends: priority group {priority group}, queue {queue}, {bytes} bytes (XON {limit})",
	event.HostStorm:        "storm: pauses for {priority group} without end",
	event.HostStormOver:    "the storm of pauses for {priority group} is over",
	event.HostSlow:         "slow: {port} drains {bytes} kbit/s",
	event.HostSlowOver:     "{port} is slow no more",
	event.LinkUp:           "link {port} up",
	event.LinkDown:         "link {port} down",
	event.NeighbourLearned: "LLDP: a neighbour at {port} is new",
	event.NeighbourGone:    "LLDP: a neighbour at {port} is gone",
	event.DCBXAgreed:       "DCBX: the two ends of the link of {port} agree again on {feature}",
	event.Members:          "members of the PortChannel of {port} that are up: {bytes}",
	event.PauseUnheeded:    "{port}: its far end goes on sending in priority {priority} while paused: {pauses in vain}, {lost frames} lost by it",
	event.Rerouted:         "route {bytes} rerouted to backup port {out}",
}

// Text describes the event for people, in one line, without the time and the node; name gives
// the names of other nodes' ports, as Merger.Name does.
func (e Entry) Text(name func(unit.NodePort) string) string {
	pg, queue := e.place(e.Port, e.Priority), e.place(e.Out, e.OutPriority)
	period, repeated := fmt.Sprintf("(period %d)", e.Period), ""
	if e.Bytes != 0 {
		repeated = fmt.Sprintf(", repeated %d times before", e.Bytes)
	}
	text, ok := texts[e.Type]
	switch {
	case e.Type == event.Paused && e.HasPeriod:
		text = "queue {queue} paused {period}{repeated}"
	case e.Type == event.Paused:
		text = "queue {queue} paused{repeated}"
	case e.Type == event.DCBXMismatch:
		text = "DCBX: the two ends of the link of {port} disagree on {feature}"
		if e.Feature.OfPriorities() {
			text += fmt.Sprintf(": %s here, %s there", unit.PrioritySet(e.Bytes), unit.PrioritySet(e.Limit))
		}
	case !ok:
		return e.detectorText(pg, queue, name)
	}
	return strings.NewReplacer("{priority group}", pg, "{queue}", queue, "{port}", e.name(e.Port), "{out}", e.name(e.Out), "{feature}", e.Feature.Says(),
		"{bytes}", fmt.Sprint(e.Bytes), "{limit}", fmt.Sprint(e.Limit), "{priority}", fmt.Sprint(e.Priority),
		"{pauses in vain}", unit.Count(e.Bytes, "pause")+" in vain", "{lost frames}", unit.Count(e.Limit, "frame"), "{period}", period, "{repeated}", repeated).Replace(text)
}

// detectorText is Text for detectors and responses.
func (e Entry) detectorText(pg, queue string, name func(unit.NodePort) string) string {
	where := ""
	if e.Out != unit.NoPort {
		where += ", queue " + queue
	}
	if e.Port != unit.NoPort {
		where += ", priority group " + pg
	}
	switch e.Type {
	case event.Trace:
		return fmt.Sprintf("detector: %s%s, %v", e.Step, where, e.Label)
	case event.Deadlock:
		trigger := ""
		if !e.Trigger.IsZero() {
			trigger = ", initial trigger " + name(e.Trigger) + map[bool]string{true: " on the loop"}[e.OnLoop]
		}
		return "DEADLOCK declared" + where + trigger
	case event.Cause:
		return e.causeText(name) + where
	case event.Acted:
		text := fmt.Sprintf("action: %s %d%s", e.Action, e.Bytes, where)
		if e.Action.Lasts() {
			text += fmt.Sprintf(" (%s; until: %s)", e.Action.Why(), e.Action.Until())
		}
		return text
	case event.Refused:
		return fmt.Sprintf("action not taken: %s%s", e.Refusal, where)
	}
	return e.Type.String() + where
}

// causeText is the beginning of Text for a cause.
func (e Entry) causeText(name func(unit.NodePort) string) string {
	with := ""
	if e.Together {
		with = fmt.Sprintf(", together with %d", e.Rank-1)
	}
	text := fmt.Sprintf("cause %d, %d %%%s: %s", e.Rank, e.Confidence, with, strings.ReplaceAll(e.Cause.String(), "-", " "))
	if !e.Trigger.IsZero() {
		text += " at " + name(e.Trigger) + map[bool]string{true: " on the loop", false: " off the loop"}[e.OnLoop]
	}
	if e.Flow != 0 {
		text += fmt.Sprintf(", flow %v", e.Flow)
	}
	return text
}

func (e Entry) place(p unit.Port, c unit.Priority) string { return fmt.Sprintf("%s:%d", e.name(p), c) }

// name is a port's name, or its number.
func (e Entry) name(p unit.Port) string {
	if int(p) < len(e.Node.Ports) && e.Node.Ports[p] != "" {
		return e.Node.Ports[p]
	}
	return fmt.Sprintf("port %d", p)
}

// JSON appends e as a line of its log, including the newline.
func (e Entry) JSON(dst []byte) []byte { return e.Node.Append(dst, e.Event) }
