package netnslab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"softswitch/internal/control"
	"softswitch/internal/safefile"
	"softswitch/unit"
)

// AgentSocket is the control socket in the run directory of an attached node on which its
// agent answers:
//
//	await              waits until the node answers; the version of softswitch there
//	look               Look
//	link     SetLink   sets an interface of the node up or down
//	signal   Signal    sends the node's process a signal, and waits until it has obeyed
const AgentSocket = "agent.sock"

// Look is what an agent says of its node.
type Look struct {
	PID        int             `json:"pid"`        // as the agent sees it; 0 for none
	Process    string          `json:"process"`    // as in NodeReport
	Interfaces map[string]bool `json:"interfaces"` // whether each is up
}

// SetLink asks an agent to set an interface up or down.
type SetLink struct {
	Iface string `json:"iface"`
	Up    bool   `json:"up"`
}

// Signal asks an agent to send a signal.
type Signal struct {
	Signal string `json:"signal"` // SIGSTOP, SIGCONT or SIGKILL
}

// Reached is what a relay says when it has reached all nodes.
const Reached = "reached\n"

// Attach makes a lab of nodes that somebody else has built and started. It makes a run
// directory for each and starts a relay, by the command given, with the lab's name added,
// which says on its output what is wrong, or Reached, and closes it. Down ends the relay and
// removes the directories; the nodes stay as they are.
//
// A lab of the same name is dealt with as by Up. If a node cannot be reached nothing stays.
// progress gets a few lines of text; nil for none.
func Attach(ctx context.Context, lab Lab, relay []string, progress io.Writer) (*State, error) {
	progress = cmp.Or(progress, io.Discard)
	lab = lab.withDefaults()
	if err := lab.check(); err != nil {
		return nil, err
	}
	return unlessThere(lab, progress, func(st *State) (*State, error) {
		began := time.Now()
		if err := st.attach(ctx, relay); err != nil {
			return nil, fmt.Errorf("netnslab: lab %s: %w", lab.Name, errors.Join(err, st.remove(st.Boot, progress)))
		}
		fmt.Fprintf(progress, "lab %s: %s reached in %v\n", st.Name, unit.Count(len(st.Nodes), "node"), time.Since(began).Round(time.Millisecond))
		return st, nil
	})
}

// attach makes the directories and the relay.
func (st *State) attach(ctx context.Context, relay []string) error {
	for _, n := range st.Nodes {
		if err := safefile.MkdirAll(n.Dir, 0o755); err != nil {
			return err
		}
	}
	if err := st.save(); err != nil {
		return err
	}
	said, says, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	defer says.Close()
	cmd := exec.Command(relay[0], append(relay[1:len(relay):len(relay)], st.Name)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = st.dir, environment(nil, st.Token), says, nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // so that it is no zombie as long as this program runs
	checkpoint()
	if stat, err := readStat(cmd.Process.Pid); err == nil {
		st.Relay = process{cmd.Process.Pid, stat.Starttime}
	}
	if err := st.save(); err != nil {
		return err
	}
	says.Close()
	stop := context.AfterFunc(ctx, func() { said.SetReadDeadline(time.Now()) })
	defer stop()
	wrong, err := io.ReadAll(said)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case len(wrong) == 0:
		return fmt.Errorf("the relay, process %d, has ended without a word", cmd.Process.Pid)
	case string(wrong) != Reached:
		return st.explain(string(wrong))
	}
	st.Complete = true
	return st.save()
}

// explain adds what the commands of the nodes in an error have said.
func (st *State) explain(wrong string) error {
	for _, n := range st.Nodes {
		if info, err := os.Stat(n.LogPath()); err == nil && info.Size() > 0 && strings.Contains(wrong, "node "+n.Name+":") {
			wrong += "\n" + n.Name + " says: " + tail(n.Dir)
		}
	}
	return errors.New(wrong)
}

// Attached reports whether somebody else built the lab.
func (st *State) Attached() bool { return len(st.Nodes) > 0 && st.Nodes[0].Via != nil }

// ask asks the agent of an attached node.
func (n *NodeState) ask(do string, args, result any) error {
	return control.Call(filepath.Join(n.Dir, AgentSocket), do, args, result)
}
