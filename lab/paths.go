package lab

import (
	"path/filepath"

	netnslab "softswitch/netns-lab"
)

// ControlPath is the control socket of a node of a lab, EventsPath its event log.
func ControlPath(n netnslab.NodeState) string { return filepath.Join(n.Dir, controlName) }

// EventsPath is as ControlPath says.
func EventsPath(n netnslab.NodeState) string { return filepath.Join(n.Dir, eventsName) }
