package follow

import (
	"fmt"
	"strings"

	"softswitch/event"
	"softswitch/unit"
)

// Text describes the event for people, in one line, without the time and the node; name gives
// the names of other nodes' ports, as Merger.Name does.
func (e Entry) Text(name func(unit.NodePort) string) string {
	bucket, queue := e.place(e.Port, e.Class), e.place(e.Out, e.OutClass)
	switch e.Type {
	case event.XOFF:
		return fmt.Sprintf("priority group %s XOFF: holds %d bytes, the last queued at %s (period %d)", bucket, e.Bytes, queue, e.Period)
	case event.Headroom:
		return fmt.Sprintf("priority group %s has %d bytes in its headroom, and %d outside", bucket, e.Bytes, e.Limit)
	case event.XON:
		return fmt.Sprintf("priority group %s XON: holds %d bytes (period %d)", bucket, e.Bytes, e.Period)
	case event.PauseSent:
		return fmt.Sprintf("pause sent for %s (period %d)", bucket, e.Period)
	case event.ResumeSent:
		return fmt.Sprintf("resume sent for %s (period %d)%s", bucket, e.Period, e.leftOut())
	case event.RefreshSent:
		return fmt.Sprintf("pause repeated for %s (period %d)%s", bucket, e.Period, e.leftOut())
	case event.Paused:
		if e.HasPeriod {
			return fmt.Sprintf("queue %s paused (period %d)%s", queue, e.Period, e.leftOut())
		}
		return fmt.Sprintf("queue %s paused%s", queue, e.leftOut())
	case event.Refreshed:
		return fmt.Sprintf("queue %s: its pause is repeated (period %d)%s", queue, e.Period, e.leftOut())
	case event.Resumed:
		return fmt.Sprintf("queue %s resumed%s", queue, e.leftOut())
	case event.Expired:
		return fmt.Sprintf("queue %s goes on: its pause ran out%s", queue, e.leftOut())
	case event.Held:
		return fmt.Sprintf("paused queue %s holds %d bytes of priority group %s (XON %d)", queue, e.Bytes, bucket, e.Limit)
	case event.StrongCreated, event.StrongRemoved:
		return fmt.Sprintf("%s: priority group %s, queue %s, %d bytes (XON %d)", e.strong(), bucket, queue, e.Bytes, e.Limit)
	case event.HostStorm:
		return fmt.Sprintf("storm: pauses for %s without end", bucket)
	case event.HostStormOver:
		return fmt.Sprintf("the storm of pauses for %s is over", bucket)
	case event.HostSlow:
		return fmt.Sprintf("slow: drains %d kbit/s", e.Bytes)
	case event.HostSlowOver:
		return "slow no more"
	case event.LinkUp:
		return fmt.Sprintf("link %s up", e.name(e.Port))
	case event.LinkDown:
		return fmt.Sprintf("link %s down", e.name(e.Port))
	case event.Rerouted:
		return fmt.Sprintf("route %d rerouted to backup port %s", e.Bytes, e.name(e.Out))
	}
	return e.detectorText(bucket, queue, name)
}

// leftOut says how often a pause was repeated before it, if the log has no event of that.
func (e Entry) leftOut() string {
	if e.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf(", repeated %d times before", e.Bytes)
}

func (e Entry) strong() string {
	if e.Type == event.StrongCreated {
		return "wait begins"
	}
	return "wait ends"
}

// detectorText is Text for detectors and responses.
func (e Entry) detectorText(bucket, queue string, name func(unit.NodePort) string) string {
	where := ""
	if e.Out != unit.NoPort {
		where += ", queue " + queue
	}
	if e.Port != unit.NoPort {
		where += ", priority group " + bucket
	}
	switch e.Type {
	case event.Trace:
		return fmt.Sprintf("detector: %s%s, %v", e.Step, where, e.Label)
	case event.Deadlock:
		trigger := ""
		if !e.Trigger.IsZero() {
			trigger = ", initial trigger " + name(e.Trigger)
			if e.OnLoop {
				trigger += " on the loop"
			}
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
	switch {
	case e.Trigger.IsZero():
	case e.OnLoop:
		text += " at " + name(e.Trigger) + " on the loop"
	default:
		text += " at " + name(e.Trigger) + " off the loop"
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
