package lab

import (
	"path/filepath"

	"softswitch/event/follow"
	netnslab "softswitch/netns-lab"
)

// ControlPath is the control socket of a node of a lab.
func ControlPath(n netnslab.NodeState) string { return filepath.Join(n.Dir, ControlName) }

// ConfigPath is the file from which a node of a lab starts.
func ConfigPath(n netnslab.NodeState) string { return filepath.Join(n.Dir, configName) }

// OpenEvents opens the event logs of the nodes with these names; without names, of all
// nodes. width is that of the longest name.
func OpenEvents(st *netnslab.State, names []string) (m *follow.Merger, width int, err error) {
	nodes, err := Pick(st, names, "")
	if err != nil {
		return nil, 0, err
	}
	var paths []string
	for _, n := range nodes {
		paths, width = append(paths, EventsPath(n)), max(width, len(n.Name))
	}
	return follow.OpenAll(paths), width, nil
}

// EventsPath is the event log of a node of a lab.
func EventsPath(n netnslab.NodeState) string { return filepath.Join(n.Dir, EventsName) }
