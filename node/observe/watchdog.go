package observe

import (
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/unit"
)

// Watchdog is a running PFC watchdog, and what it has seen.
type Watchdog struct {
	Action      string          `json:"action"`
	Detection   unit.Time       `json:"detection_ns"`
	Restoration unit.Time       `json:"restoration_ns"`
	Poll        unit.Time       `json:"poll_ns"`
	Ports       []string        `json:"ports"` // the ports it watches
	Queues      []WatchdogQueue `json:"queues"`
}

// WatchdogQueue is a queue that is watched.
type WatchdogQueue struct {
	Port  string `json:"port"`
	Class int    `json:"priority"`
	watchdog.Stats
}

// TakeWatchdog takes a snapshot of s's watchdog for the ports that it watches; nil if
// the detector of s is not a watchdog.
func TakeWatchdog(s *dataplane.Switch, ports unit.PortSet) *Watchdog {
	w, ok := s.Detector().(*watchdog.Watchdog)
	if !ok {
		return nil
	}
	c := w.Config()
	out := &Watchdog{
		Action: c.Action.String(), Detection: c.Detection, Restoration: c.Restoration, Poll: c.Poll,
		Ports: portNames(s, ports), Queues: []WatchdogQueue{},
	}
	for rest := ports; rest != 0; rest &= rest - 1 {
		for _, class := range lossless(s.Config()) {
			q := detect.Queue{Port: rest.First(), Class: unit.Priority(class)}
			out.Queues = append(out.Queues, WatchdogQueue{Port: portName(s, q.Port), Class: class, Stats: w.Stats(q)})
		}
	}
	return out
}

// Sample is the input for a switch's metrics: its snapshot, the totals of its events,
// and its watchdog, if it has one.
type Sample struct {
	Switch   Switch    `json:"switch"`
	Version  string    `json:"version"` // of the program
	Response string    `json:"response"`
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
