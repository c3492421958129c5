package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
)

// watchdogs are the detectors by the action of PFC_WD.
var watchdogs = map[string]string{"drop": "watchdog", "forward": "watchdog-forward", "alert": "watchdog-alert"}

// The time between two looks at the queues, in ms, without POLL_INTERVAL (sonic-net/sonic-swss,
// orchagent/orchdaemon.cpp).
const sonicPoll = 100

// watchdogTime is a time of PFC_WD, with SONiC's bounds in ms (sonic-net/sonic-swss, orchagent/pfcwdorch.cpp, and
// sonic-pfcwd.yang).
type watchdogTime struct {
	field       string
	least, most int
	have        lists.Groups[string, string] // by time: the ports
}

// watchdogs reads PFC_WD. The detector, and its times, are those of most ports with a watchdog, "" if none has.
func (r *sonicReader) watchdogs(links []sonicLink) (detector, times string) {
	var have lists.Groups[string, string]
	detection := watchdogTime{field: "detection_time", least: 100, most: 5000}
	restoration := watchdogTime{field: "restoration_time", least: 100, most: 60_000}
	poll := watchdogTime{field: "POLL_INTERVAL", least: 100, most: 3000}
	var without []string
	for _, l := range links {
		for _, e := range l.ends() {
			c := e.at
			switch {
			case !c.has("PFC_WD", e.port):
				without = append(without, e.String())
				continue
			case c.field("PFC_WD", e.port, "detection_time") == "":
				r.tellAt(e.String(), "PFC_WD has no detection_time, without which SONiC starts no watchdog")
				without = append(without, e.String())
				continue
			}
			action := strings.ToLower(c.field("PFC_WD", e.port, "action"))
			if action == "" {
				action = "drop" // the default of sonic-net/sonic-swss, orchagent/pfcwdorch.cpp
			}
			if watchdogs[action] == "" {
				r.faultf(c, quoted("PFC_WD|"+e.port), "action is %q; want drop, forward or alert", cut(action))
				continue
			}
			have.Add(watchdogs[action], e.String())
			detection.read(r, e, e.port)
			restoration.read(r, e, e.port)
			poll.read(r, e, "GLOBAL")
		}
	}
	if len(have.Keys) == 0 {
		return "", ""
	}
	most := usualOf(&have)
	for _, kind := range have.Keys {
		for _, at := range have.Of[kind] {
			if kind != most {
				r.tellAt(at, "the action of PFC_WD is that of %s: a scenario has one detector, here %s", kind, most)
			}
		}
	}
	r.tell("PFC_WD has a watchdog: detector is %s, and watchdog has its times", most)
	for _, at := range without {
		r.tellAt(at, "PFC_WD has none, and a watchdog of a scenario is at all ports")
	}
	return most, r.watchdogTimes(&detection, &restoration, &poll)
}

// watchdogTimes are those of most ports, as a scenario has them.
func (r *sonicReader) watchdogTimes(detection, restoration, poll *watchdogTime) string {
	d, p := detection.usual(r), poll.usual(r)
	shortest := d
	text := fmt.Sprintf("{detection_time: %dms", d)
	if len(restoration.have.Keys) > 0 {
		n := restoration.usual(r)
		text += fmt.Sprintf(", restoration_time: %dms", n)
		shortest = min(shortest, n)
	}
	if p > shortest {
		r.tell("POLL_INTERVAL of PFC_WD is %d ms, which is longer than another of its times: poll is %d ms here", p, shortest)
		p = shortest
	}
	return text + fmt.Sprintf(", poll: %dms}", p)
}

// read reads the time of a port, from a row of PFC_WD.
func (t *watchdogTime) read(r *sonicReader, e end, row string) {
	text := e.at.field("PFC_WD", row, t.field)
	switch {
	case text != "":
	case t.field == "POLL_INTERVAL":
		text = strconv.Itoa(sonicPoll)
	default:
		r.tellAt(e.String(), "PFC_WD has no %s, without which SONiC does not end a storm by itself: here it ends", t.field)
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < t.least || n > t.most {
		r.faultf(e.at, quoted("PFC_WD|"+row), "%s is %q; want %d to %d (ms)", t.field, cut(text), t.least, t.most)
		return
	}
	t.have.Add(strconv.Itoa(n), e.String())
}

// usual is the time of most ports in ms, of several that as many have the shortest. Ports with another are told of.
func (t *watchdogTime) usual(r *sonicReader) int {
	slices.SortFunc(t.have.Keys, compareNames)
	most := usualOf(&t.have)
	for _, ms := range t.have.Keys {
		for _, at := range t.have.Of[ms] {
			if ms != most {
				r.tellAt(at, "%s of PFC_WD is %s ms: a scenario has one, here that of most ports, %s ms", t.field, ms, most)
			}
		}
	}
	n, _ := strconv.Atoi(most) // of a fault 0
	return n
}
