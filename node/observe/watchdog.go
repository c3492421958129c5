package observe

import (
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/unit"
)

// Watchdog is a PFC watchdog, and what it and those before it have seen.
type Watchdog struct {
	Action      string          `json:"action"` // "" if none runs
	Detection   unit.Time       `json:"detection_ns"`
	Restoration unit.Time       `json:"restoration_ns"`
	Poll        unit.Time       `json:"poll_ns"`
	Idle        bool            `json:"counter_poll_disabled,omitempty"` // it looks at no queue
	BigRed      bool            `json:"big_red_switch,omitempty"`        // it drops in all queues
	Ports       []string        `json:"ports"`                           // the ports it watches
	Queues      []WatchdogQueue `json:"queues"`
}

// WatchdogQueue is a queue that is watched, or was and had a storm.
type WatchdogQueue struct {
	Port      string `json:"port"`
	Priority  int    `json:"priority"`
	Unwatched bool   `json:"unwatched,omitempty"` // no longer
	watchdog.Stats
}

// Storms are the counters of watchdogs that a switch had before.
type Storms map[detect.Queue]watchdog.Stats

// Keep adds the counters of the watchdog of s, if it has one, before that is taken out.
func (st Storms) Keep(s *dataplane.Switch) {
	if w, ok := s.Detector().(*watchdog.Watchdog); ok {
		for _, q := range losslessQueues(s) {
			st[q] = w.Stats(q).After(st[q])
		}
	}
}

// TakeWatchdog takes a snapshot of s's watchdog for the ports that it watches, and of the
// storms that there were elsewhere or before it; nil if there is neither.
func TakeWatchdog(s *dataplane.Switch, ports unit.PortSet, before Storms) *Watchdog {
	out := &Watchdog{Ports: []string{}, Queues: []WatchdogQueue{}}
	w, runs := s.Detector().(*watchdog.Watchdog)
	if runs {
		c := w.Config()
		out.Action, out.Detection, out.Restoration, out.Poll = c.Action.String(), c.Detection, c.Restoration, c.Poll
		out.Idle, out.BigRed = !w.Polling(), w.BigRed()
		out.Ports = portNames(s, ports)
	}
	for _, q := range losslessQueues(s) {
		of := WatchdogQueue{Port: portName(s, q.Port), Priority: int(q.Priority), Unwatched: !runs || !ports.Has(q.Port), Stats: before[q]}
		if runs {
			of.Stats = w.Stats(q).After(of.Stats)
		}
		if !of.Unwatched || of.Detected > 0 {
			out.Queues = append(out.Queues, of)
		}
	}
	if !runs && len(out.Queues) == 0 {
		return nil
	}
	return out
}

func losslessQueues(s *dataplane.Switch) (queues []detect.Queue) {
	for p := range unit.Port(s.Ports()) {
		for _, priority := range s.Config().Buffer.LosslessAt(p).List() {
			queues = append(queues, detect.Queue{Port: p, Priority: unit.Priority(priority)})
		}
	}
	return queues
}

// Sample is the input for a switch's metrics: its snapshot, the totals of its events,
// and its watchdog, if it has one.
type Sample struct {
	Switch   Switch    `json:"switch"`
	Version  string    `json:"version"` // of the program
	History  History   `json:"history"`
	Watchdog *Watchdog `json:"watchdog,omitempty"`
}

// Counters are a switch's counters and, if they were cleared, their values at that
// time.
type Counters struct {
	Switch  Switch `json:"switch"`
	Cleared *Mark  `json:"cleared,omitempty"`
}

// Mark is a snapshot that was kept when counters were cleared. The switch itself keeps
// counting from its start; displays show the difference.
type Mark struct {
	Time   string `json:"time"` // RFC 3339
	Switch Switch `json:"switch"`
}
