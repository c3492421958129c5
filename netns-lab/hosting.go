package netnslab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"softswitch/internal/control"
)

// HostingWords are the first arguments of a process that runs several nodes.
var HostingWords = []string{"lab", "nodes"}

// HostingSocket is the control socket of a process that runs several nodes, in its run
// directory. It is there when all of them are ready, and answers:
//
//	look                    the status of each node by name, as in NodeReport.Process
//	signal   HostedSignal   does to a node what the signal does to a process; the status before
//	restart  HostedRestart  ends a node, if it has not ended, and starts it again; answers when it is ready
const HostingSocket = "control.sock"

// hostingList is the list of the nodes, in the same directory.
const hostingList = "nodes.json"

// Hosting is a process that runs several nodes. It starts in a run directory of its own,
// in the network namespace of the process that makes the lab.
type Hosting struct {
	// Command is its argv; the name of the list of its nodes is added, which is a
	// []Hosted as JSON.
	Command  []string
	Env      []string // as in Node
	Realtime bool     // as in Node
}

// Hosted is a node in the list of such a process.
type Hosted struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"` // path
	Dir       string   `json:"dir"`       // absolute; what the node says goes to LogName there
	Command   []string `json:"command"`   // relative paths in it are in Dir
}

// HostedSignal asks for what a signal does.
type HostedSignal struct {
	Node   string `json:"node"`
	Signal string `json:"signal"` // SIGSTOP, SIGCONT or SIGKILL
}

// HostedRestart asks for another start of a node.
type HostedRestart struct {
	Node string `json:"node"`
}

// hostingPrefix begins the names of their run directories. No node is called so.
const hostingPrefix = ".process"

// hostingPlace is where process number i, from 1, is.
func hostingPlace(dir string, i int) place {
	name := fmt.Sprintf("%s%d", hostingPrefix, i)
	return place{Node: name, Dir: filepath.Join(dir, name)}
}

// hosted is the list of the nodes that process number i runs.
func hosted(lab Lab, at map[string]place, i int) (list []Hosted) {
	for _, n := range lab.Nodes {
		if p := at[n.Name]; n.Hosting == i {
			list = append(list, Hosted{n.Name, filepath.Join(NamespaceDir, p.Namespace), p.Dir, n.Command})
		}
	}
	return list
}

// listFile is the file of such a list.
func listFile(list []Hosted) File {
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		panic("netnslab: " + err.Error()) // it holds strings only
	}
	return File{Path: hostingList, Data: text}
}

// beside is how many other nodes have the node's process.
func (st *State) beside(n *NodeState) (others int) {
	for i := range st.Nodes {
		if o := &st.Nodes[i]; n.Hosting != 0 && o.Hosting == n.Hosting && o.Name != n.Name {
			others++
		}
	}
	return others
}

// PerProcess is how many nodes the process with the most runs.
func (st *State) PerProcess() int {
	most, of := min(1, len(st.Nodes)), map[int]int{}
	for _, n := range st.Nodes {
		if n.Hosting != 0 {
			of[n.Hosting]++
			most = max(most, of[n.Hosting])
		}
	}
	return most
}

// askHosting asks the process that runs a node.
func (st *State) askHosting(n *NodeState, do string, args, result any) error {
	return control.Call(filepath.Join(hostingPlace(st.dir, n.Hosting).Dir, HostingSocket), do, args, result)
}

// signalHosted does to a node that shares its process what a signal does to a process.
func (st *State) signalHosted(n *NodeState, sig unix.Signal) error {
	was, err := n.process().status(), error(nil)
	if was != "dead" {
		err = st.askHosting(n, "signal", HostedSignal{n.Name, unix.SignalName(sig)}, &was)
	}
	if err == nil && was == "dead" {
		err = os.ErrProcessDone
	}
	return n.signalError(sig, err)
}

// restartHosted starts a node again in the process that it shares, which has to be there.
func (st *State) restartHosted(n *NodeState) error {
	if n.process().status() == "dead" {
		return fmt.Errorf("netnslab: restart of node %s: its process, number %d, has ended, and with it %d other nodes; valid: a lab that is deployed again",
			n.Name, n.PID, st.beside(n))
	}
	if err := st.askHosting(n, "restart", HostedRestart{n.Name}, nil); err != nil {
		return fmt.Errorf("netnslab: restart of node %s: %w", n.Name, err)
	}
	return nil
}

// statuses asks processes for the status of their nodes, once each.
type statuses map[int]map[string]string

// of is the status of a node that shares its process.
func (s statuses) of(st *State, n *NodeState) (string, error) {
	if now := n.process().status(); now != "running" {
		return now, nil
	}
	if s[n.Hosting] == nil {
		var all map[string]string
		if err := st.askHosting(n, "look", nil, &all); err != nil {
			return "running", err
		}
		s[n.Hosting] = all
	}
	return s[n.Hosting][n.Name], nil
}

// hostingDirs are the run directories of the processes that run several nodes.
func (st *State) hostingDirs() (dirs []string) {
	for _, n := range st.Nodes {
		if n.Hosting != 0 {
			dirs = append(dirs, hostingPlace(st.dir, n.Hosting).Dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
