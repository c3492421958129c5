package netnslab

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"softswitch/internal/lists"
	"softswitch/internal/safefile"
)

// RunDirVariable names the environment variable that replaces [DefaultRunDir].
const RunDirVariable = "SOFTSWITCH_RUN_DIR"

// DefaultRunDir is where labs keep their states and run directories.
const DefaultRunDir = "/run/softswitch"

// RunDir returns the directory that holds a directory per lab.
func RunDir() string {
	if dir := os.Getenv(RunDirVariable); dir != "" {
		return dir
	}
	return DefaultRunDir
}

// Dir returns the directory of the lab of that name: state.json and, per node, a
// run directory named as the node.
func Dir(name string) string { return filepath.Join(RunDir(), name) }

const (
	stateName    = "state.json"
	stateVersion = 1
)

// State is the record of a lab on this machine. It is written before each thing in it
// exists, so it may list more than exists, never less. Its methods are for one
// goroutine at a time.
type State struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	// Boot is the kernel's boot id: pids and inodes of another boot mean nothing.
	Boot string `json:"boot"`
	// Token is in the environment of every process of the lab, and of no other.
	Token string `json:"token"`
	// Input is the SHA-256 of the Lab.
	Input string `json:"input"`
	// Owner is the program that has promised to remove the lab before it ends, if any.
	Owner process `json:"owner,omitzero"`
	// Complete: every step was done.
	Complete bool `json:"complete"`
	// Relay is the process that reaches the nodes of an attached lab.
	Relay process     `json:"relay,omitzero"`
	Nodes []NodeState `json:"nodes"`
	Links []LinkState `json:"links"`

	dir string // the lab's directory
}

// NodeState is the record of a node.
type NodeState struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Inode     uint64   `json:"inode,omitempty"`  // of the namespace; 0: not yet made
	Cookie    uint64   `json:"cookie,omitempty"` // of the namespace, SO_NETNS_COOKIE; 0: a kernel before 5.14
	Dir       string   `json:"dir"`
	Command   []string `json:"command,omitempty"`
	// Env, Realtime and Ready are as in Node, for Restart.
	Env      []string `json:"env,omitempty"`
	Realtime bool     `json:"realtime,omitempty"`
	Ready    string   `json:"ready,omitempty"`
	PID      int      `json:"pid,omitempty"`   // 0: not yet started
	Start    uint64   `json:"start,omitempty"` // its start time in clock ticks since boot
	// Hosting is as in Node: PID is then that of a process that runs other nodes too.
	Hosting int `json:"hosting,omitempty"`
	// Via and Agent are as in Node; the namespace and the process are then not of this lab.
	Via   []string `json:"via,omitempty"`
	Agent []string `json:"agent,omitempty"`
}

// ConsoleLog is the file, in the folder of a host, of all that came from its guest's serial line.
const ConsoleLog = "vm/console.log"

// LogPath is where what the node's process says is written.
func (n NodeState) LogPath() string { return filepath.Join(n.Dir, LogName) }

// LinkState is the record of a link.
type LinkState struct {
	A   End `json:"a"`
	B   End `json:"b"`
	MTU int `json:"mtu"`
}

// String returns "node:iface <-> node:iface".
func (l LinkState) String() string { return Link{A: l.A, B: l.B}.String() }

// checkpoint is called wherever a kill -9 would leave a different state than just
// before. Tests replace it.
var checkpoint = func() {}

// newState returns the state of a lab before anything of it exists.
func newState(lab Lab, dir, boot string) *State {
	st := &State{
		Version: stateVersion, Name: lab.Name, Boot: boot, Token: rand.Text(),
		Input: fingerprint(lab), dir: dir,
	}
	if stat, err := readStat(os.Getpid()); err == nil && lab.Passing {
		st.Owner = process{os.Getpid(), stat.Starttime}
	}
	for _, n := range lab.Nodes {
		st.Nodes = append(st.Nodes, NodeState{
			Name: n.Name, Kind: n.Kind,
			Dir: filepath.Join(dir, n.Name), Command: n.Command, Env: n.Env, Realtime: n.Realtime, Ready: n.Ready, Via: n.Via, Agent: n.Agent, Hosting: n.Hosting,
		})
		if n.Via == nil {
			st.Nodes[len(st.Nodes)-1].Namespace = namespace(lab.Name, n.Name)
		}
	}
	for _, l := range lab.Links {
		st.Links = append(st.Links, LinkState(l))
	}
	return st
}

// fingerprint identifies the input.
func fingerprint(lab Lab) string {
	text, err := json.Marshal(lab)
	if err != nil {
		panic(fmt.Sprintf("netnslab: lab %s has no JSON: %v", lab.Name, err)) // strings, numbers and bytes only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Load reads the state of the lab of that name. The error is fs.ErrNotExist if
// there is none.
func Load(name string) (*State, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	return LoadDir(Dir(name))
}

// stateMax limits a state, in bytes: some 100,000 nodes.
const stateMax = 64 << 20

// LoadDir reads the state of the lab of that directory. Nobody but root or this user can
// have written it, and it says nothing of what is outside of the directory.
func LoadDir(dir string) (*State, error) {
	path := filepath.Join(dir, stateName)
	text, err := safefile.Read(path, stateMax)
	if err != nil {
		return nil, fmt.Errorf("netnslab: %w", err)
	}
	st := &State{dir: dir}
	if err := json.Unmarshal(text, st); err != nil {
		return nil, fmt.Errorf("netnslab: %s: %w", path, err)
	}
	if st.Version != stateVersion {
		return nil, fmt.Errorf("netnslab: %s: version %d: want %d; remove the lab with the program that made it", path, st.Version, stateVersion)
	}
	if err := st.check(); err != nil {
		return nil, fmt.Errorf("netnslab: %s: %w", path, err)
	}
	return st, nil
}

// check returns what in a state cannot belong to a lab with its directory. What identifies
// namespaces and processes is checked when something is done with them.
func (st *State) check() error {
	if want := filepath.Base(st.dir); st.Name != want {
		return fmt.Errorf("name %q: want %q, as its directory is called", st.Name, want)
	}
	for i := range st.Nodes {
		if err := st.Nodes[i].check(st); err != nil {
			return fmt.Errorf("node %q: %w", st.Nodes[i].Name, err)
		}
	}
	return nil
}

func (n *NodeState) check(st *State) error {
	if err := CheckNode(n.Name); err != nil {
		return err
	}
	dir := filepath.Join(st.dir, n.Name)
	if !isSamePath(n.Dir, dir) {
		return fmt.Errorf("directory %q: want %q", n.Dir, dir)
	}
	n.Dir = dir
	want := namespace(st.Name, n.Name)
	if n.Via != nil {
		want = ""
	}
	if n.Namespace != want {
		return fmt.Errorf("namespace %q: want %q", n.Namespace, want)
	}
	if n.Hosting < 0 {
		return fmt.Errorf("process %d of the lab: want 0 or more", n.Hosting)
	}
	return nil
}

// isSamePath reports whether two paths are the same text, as seen from the root.
func isSamePath(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return a == b && errA == nil && errB == nil
}

// Replaced returns an error if the lab of this name is gone or is not st any more; nil
// if it is st.
func (st *State) Replaced() error {
	now, err := Load(st.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("netnslab: lab %s was removed", st.Name)
	case err == nil && now.Token != st.Token:
		return fmt.Errorf("netnslab: lab %s was removed, and another has its name now", st.Name)
	}
	return err
}

// Labs returns the names of the labs that have a state, sorted.
func Labs() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(RunDir(), "*", stateName))
	if err != nil {
		return nil, fmt.Errorf("netnslab: %s: %w", RunDir(), err)
	}
	return lists.Map(found, func(path string) string { return filepath.Base(filepath.Dir(path)) }), nil
}

// save writes the state in one piece: a reader sees the old one or the new one.
func (st *State) save() error {
	text, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return fmt.Errorf("netnslab: state of %s: %w", st.Name, err)
	}
	defer checkpoint()
	if err := safefile.Replace(filepath.Join(st.dir, stateName), text, 0o644); err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	return nil
}

// node returns the record of the node of that name, or an error that lists all.
func (st *State) node(name string) (*NodeState, error) {
	names := lists.Map(st.Nodes, func(n NodeState) string { return n.Name })
	if i := slices.Index(names, name); i >= 0 {
		return &st.Nodes[i], nil
	}
	return nil, fmt.Errorf("netnslab: lab %s: no node %q; there is: %s", st.Name, name, strings.Join(names, ", "))
}

// bootID returns the kernel's id of this boot.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("netnslab: %w", err)
	}
	return strings.TrimSpace(string(id)), nil
}

// lockTimeout is how long Up and Down wait for another Up or Down: longer than either
// ever takes.
const lockTimeout = time.Minute

// lockName is the file in the run directory that is locked. No lab is called so.
const lockName = ".lock"

// lock takes the right to change the lab of that name, and all others in this run directory,
// and reports on progress if it has to wait. It refuses directories in which others could
// change something. Anyone who can open a file can lock it, so the lock is on a file that nobody
// else can open. Unlocking removes it; the kernel releases the lock when the program ends.
func lock(name string, progress io.Writer) (unlock func(), err error) {
	if err := safefile.MkdirAll(RunDir(), 0o755); err != nil {
		return nil, fmt.Errorf("netnslab: %w", err)
	}
	for _, dir := range []string{RunDir(), Dir(name)} {
		if err := safefile.CheckDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("netnslab: run directory: %w", err)
		}
	}
	path := filepath.Join(RunDir(), lockName)
	deadline := time.Now().Add(lockTimeout)
	for first := true; ; first = false {
		f, err := tryLock(path)
		if err == nil {
			return func() {
				os.Remove(path)
				f.Close()
			}, nil
		}
		switch busy := errors.Is(err, syscall.EWOULDBLOCK); {
		case busy && time.Now().After(deadline):
			return nil, fmt.Errorf("netnslab: another lab command has held %s for %v: %w", path, lockTimeout, err)
		case !busy && !errors.Is(err, syscall.EINTR):
			return nil, fmt.Errorf("netnslab: %w", err)
		}
		if first {
			fmt.Fprintf(progress, "waiting for another lab command that holds %s\n", RunDir())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// tryLock makes and locks the file at path. The error is EWOULDBLOCK if somebody else has it.
func tryLock(path string) (*os.File, error) {
	f, err := safefile.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil && !isAt(f, path) {
		err = syscall.EWOULDBLOCK // the process that had it has just removed it
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// isAt reports whether path is that of the open file.
func isAt(f *os.File, path string) bool {
	has, err := f.Stat()
	if err != nil {
		return false
	}
	is, err := os.Lstat(path)
	return err == nil && os.SameFile(has, is)
}

// exists reports whether there is a file of any kind at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
