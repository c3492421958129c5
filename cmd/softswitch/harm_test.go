package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/testkit"
)

var harms = flag.Int("harms", 3, "how many runs TestHarmAtAnyMoment harms")

// harmed is a `lab run` that something happens to.
type harmed struct {
	*bed
	rng *rand.Rand
	run *started
}

// harm is something that may happen at any moment of a run.
type harm struct {
	name string
	// do does it, and reports whether there was something to do it to.
	do func(*harmed) bool
	// dies: the run is killed by it, or may be.
	dies bool
}

var allHarms = []harm{
	{"the run is killed", func(h *harmed) bool { return kill(h.run.cmd.Process.Pid, syscall.SIGKILL) }, true},
	{"a node is killed", func(h *harmed) bool { return kill(h.someNode(), syscall.SIGKILL) }, false},
	{"the run and a node are killed", func(h *harmed) bool {
		return kill(h.someNode(), syscall.SIGKILL) && kill(h.run.cmd.Process.Pid, syscall.SIGKILL)
	}, true},
	{"the lab is destroyed", func(h *harmed) bool { h.must("destroy"); return true }, false},
	{"a veth is deleted", (*harmed).deleteVeth, false},
	{"a namespace is deleted", (*harmed).deleteNamespace, false},
	{"a node stops", func(h *harmed) bool { return kill(h.someNode(), syscall.SIGSTOP) }, false},
	{"all nodes stop for a while", (*harmed).stopAll, false},
	{"the run stops for a while", func(h *harmed) bool {
		pid := h.run.cmd.Process.Pid
		defer kill(pid, syscall.SIGCONT)
		was := kill(pid, syscall.SIGSTOP)
		time.Sleep(time.Second) // this long is the harm; no event ends it
		return was
	}, false},
	{"the disk is full", (*harmed).fillDisk, false},
}

func kill(pid int, sig syscall.Signal) bool { return pid != 0 && syscall.Kill(pid, sig) == nil }

// nodePIDs are the processes of the nodes that are there by now.
func (h *harmed) nodePIDs() (pids []int) {
	for _, path := range h.processes() {
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		if pid != 0 && pid != h.run.cmd.Process.Pid {
			pids = append(pids, pid)
		}
	}
	return pids
}

// someNode is one of them, 0 if there is none.
func (h *harmed) someNode() int {
	pids := h.nodePIDs()
	if len(pids) == 0 {
		return 0
	}
	return pids[h.rng.IntN(len(pids))]
}

func (h *harmed) stopAll() bool {
	pids := h.nodePIDs()
	for _, pid := range pids {
		kill(pid, syscall.SIGSTOP)
	}
	time.Sleep(700 * time.Millisecond) // this long is the harm; no event ends it
	for _, pid := range pids {
		kill(pid, syscall.SIGCONT)
	}
	return len(pids) > 0
}

func (h *harmed) deleteVeth() bool {
	ns := h.someNamespace()
	if ns == "" {
		return false
	}
	out, err := exec.Command("ip", "-n", ns, "-br", "link", "show", "type", "veth").Output()
	name, _, _ := strings.Cut(strings.TrimSpace(string(out)), "@")
	return err == nil && name != "" && exec.Command("ip", "-n", ns, "link", "del", name).Run() == nil
}

func (h *harmed) deleteNamespace() bool {
	ns := h.someNamespace()
	return ns != "" && exec.Command("ip", "netns", "del", ns).Run() == nil
}

// someNamespace is the name of one of the lab's, "" if there is none.
func (h *harmed) someNamespace() string {
	names := h.namespaces()
	if len(names) == 0 {
		return ""
	}
	return filepath.Base(names[h.rng.IntN(len(names))])
}

// fillDisk fills the file system of the run directory, on which captures are too.
func (h *harmed) fillDisk() bool {
	os.WriteFile(filepath.Join(h.runDir, "rest"), make([]byte, 64<<20), 0o600) // as much as there is room for
	return true
}

// TestHarmAtAnyMoment: whatever happens to a run at whatever moment, nothing of its lab is left but
// what `lab destroy` removes, the run says what has happened, and another lab that is up is not
// touched.
func TestHarmAtAnyMoment(t *testing.T) {
	other := newBed(t, "ip")
	other.must("deploy", "-t", "../../scenarios/pause.yaml")
	before := other.inspect()
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	did := map[string]int{}
	for n := range *harms {
		kind := allHarms[rng.IntN(len(allHarms))]
		at := time.Duration(rng.IntN(4000)) * time.Millisecond
		name := fmt.Sprintf("%d: after %v %s", n, at, kind.name)
		ok := t.Run(name, func(t *testing.T) {
			h := &harmed{bed: makeBed(t), rng: rng}
			if h.harmed(kind, at) {
				did[kind.name]++
			}
		})
		if !ok {
			t.Errorf("seed %d", seed)
		}
	}
	if after := other.inspect(); !slices.Equal(pids(after), pids(before)) || !slices.Equal(after.Links, before.Links) {
		t.Errorf("the other lab was %+v, and is %+v", before, after)
	}
	t.Logf("harmed: %v", did)
}

// harmed plays a scenario, harms it, and looks at what is left. It reports whether there was
// something to harm.
func (h *harmed) harmed(kind harm, at time.Duration) bool {
	h.noError(syscall.Mount("tmpfs", h.runDir, "tmpfs", 0, "size=16M"))
	defer func() { h.noError(syscall.Unmount(h.runDir, syscall.MNT_DETACH)) }()
	args := []string{"lab", "run", "--name", h.name, "../../scenarios/pause.yaml", "--json"}
	if h.rng.IntN(2) == 0 {
		args = append(args, "--nodes-per-process", "1")
	}
	if h.rng.IntN(2) == 0 {
		args = append(args, "--pcap", filepath.Join(h.runDir, "pcap"))
	}
	h.run = h.start(h.command(args...))
	h.run.letRun(at) // the moment is random: it is at no event but the end
	done := kind.do(h)
	r := h.run.end()
	for _, name := range []string{"rest", "pcap"} {
		h.noError(os.RemoveAll(filepath.Join(h.runDir, name)))
	}
	switch {
	case kind.dies && r.code == -1:
	case r.code != 0 && r.code != cli.ExitUnmet && r.code != cli.ExitError:
		h.Errorf("exit status %d", r.code)
	case r.code != 0 && !strings.Contains(r.stdout, "run not valid") && !strings.Contains(r.stdout, `"invalid": "`) && !strings.Contains(r.stdout, "softswitch: "):
		h.Errorf("exit status %d, and no word of why: %s", r.code, r.stdout)
	}
	if strings.Contains(r.stdout, "panic") || strings.Contains(r.stdout, "goroutine ") {
		h.Errorf("it panics")
	}
	if r.code == -1 || len(h.namespaces()) > 0 || len(h.processes()) > 0 {
		if r := h.lab("destroy"); r.code != 0 {
			h.must("destroy", "--lost")
		}
	}
	h.wantNothing()
	return done
}
