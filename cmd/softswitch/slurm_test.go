package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/testkit"
	"softswitch/internal/timer"
)

// TestSlurm: Slurm plays a campaign on two nodes, one of which is killed with all that runs
// on it; the shards merged are what a single run prints.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	dir := t.TempDir()
	command := []string{"sim", "fuzz", "--n", testkit.Sized("200", "1000"), "--seed", "20", "--detector", "itsypaper", "--shrink", "0"}
	folder := filepath.Join(dir, "campaign")
	s.must("softswitch", append([]string{"campaign", "init", "--shards", "16", folder}, command...)...)
	if err := os.Mkdir(filepath.Join(folder, "playing"), 0o755); err != nil { // killNode watches it
		t.Fatal(err)
	}
	s.must("softswitch", "campaign", "run", folder, "--engine", "slurm", "--", "--quiet", "--job-name=shards")
	s.killNode("n2", folder)
	s.must("srun", "--job-name=shards", "--dependency=singleton", "true") // waits for jobs of that name
	if status := s.must("softswitch", "campaign", "status", folder); !strings.Contains(status, "16 of 16 shards are there") {
		t.Error(status)
	}
	whole := exec.Command("softswitch", append(slices.Clone(command), "--json")...)
	whole.Dir = folder
	want, err := whole.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != cli.ExitUnmet {
		t.Fatal(err)
	}
	got, err := exec.Command("softswitch", "campaign", "merge", folder, "--json").Output()
	if !errors.As(err, &exit) || exit.ExitCode() != cli.ExitUnmet || string(got) != string(want) {
		t.Errorf("%v\nmerged\n%s\nwhole\n%s", err, got, want)
	}
}

// slurm is a cluster of two nodes of two processors each, all on this machine.
type slurm struct {
	*testing.T
	ctx     context.Context // ends a command that takes too long
	env     []string
	daemons map[string]*exec.Cmd
}

// startSlurm skips the test where Slurm is not installed.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster takes seconds")
	}
	testkit.Need(t, "munged", "slurmctld", "slurmd", "sbatch", "unshare", "true")
	if out, err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("slurmd in a pid namespace needs root: %v: %s", err, out)
	}
	besideLabs(t, bigLab)
	enterNetwork(t)
	// The folder's path has to be short: a socket is in it.
	dir, err := os.MkdirTemp("", "slurm-")
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	ctx, cancel := context.WithTimeout(t.Context(), 3*limit)
	t.Cleanup(cancel)
	s := &slurm{T: t, ctx: ctx, daemons: map[string]*exec.Cmd{}}
	s.env = append(os.Environ(), "SLURM_CONF="+at("slurm.conf"))
	t.Cleanup(func() {
		for name := range s.daemons {
			s.kill(name)
		}
		if t.Failed() {
			logs, err := exec.Command("sh", "-c", "tail -n 200 "+at("*.log")).CombinedOutput()
			t.Logf("%s%v", logs, err)
		}
		os.RemoveAll(dir)
	})
	key := make([]byte, 1024)
	rand.Read(key)
	text := fmt.Sprintf(slurmConf, dir, limit/time.Second)
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(at("state"), 0o755),
		os.WriteFile(at("munge.key"), key, 0o600), os.WriteFile(at("slurm.conf"), []byte(text), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	s.start("munged", "munged", "--foreground", "--force", "--socket="+at("munge"), "--key-file="+at("munge.key"),
		"--pid-file="+at("munged.pid"), "--seed-file="+at("munged.seed"), "--log-file="+at("munged.log"))
	if err := timer.UntilFile(at("munge"), limit, func() bool {
		return s.command("munge", "--no-input", "--socket="+at("munge")).Run() == nil
	}); err != nil {
		t.Fatal("munged does not answer: ", err)
	}
	s.start("slurmctld", "slurmctld", "-D")
	s.start("n1", "slurmd", "-D", "-N", "n1")
	s.start("n2", "slurmd", "-D", "-N", "n2")
	s.must("srun", "--nodes=2", "true") // waits for all of them
	return s
}

// enterNetwork takes the test to a network namespace of its own, where all ports are free.
func enterNetwork(t *testing.T) {
	t.Helper()
	n := testkit.NewNamespace(t)
	n.SetUp("lo")
	addr, err := netlink.ParseAddr("192.0.2.1/32") // slurmd does not listen where there is only 127.0.0.1
	if err == nil {
		err = n.NL.AddrAdd(n.Link("lo"), addr)
	}
	if err == nil {
		err = n.Enter()
	}
	if err != nil {
		t.Fatal(err)
	}
}

const slurmConf = `ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge
CredType=cred/munge
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool.%%n
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.%%n.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd.%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
# srun tries so long to reach a controller that does not listen yet.
MessageTimeout=%[2]d
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=7001 CPUs=2
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=7002 CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP MaxTime=INFINITE
`

// command is a command that ends with the test, also where that is killed.
func (s *slurm) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Env = s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // the test keeps its thread: it is in a namespace
	return cmd
}

// must runs a command, which has to succeed, and returns what it prints.
func (s *slurm) must(name string, args ...string) string {
	s.Helper()
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		s.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts a daemon that is init of a pid namespace of its own: when it dies, all dies that
// it ever started.
func (s *slurm) start(what, name string, args ...string) {
	s.Helper()
	cmd := s.command("unshare", append([]string{"--mount-proc", name}, args...)...)
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.daemons[what] = cmd
}

// kill kills a daemon and all that it started. None of them is left when it returns.
func (s *slurm) kill(what string) {
	s.daemons[what].Process.Kill()
	s.daemons[what].Wait()
	delete(s.daemons, what)
}

// killNode kills a node while it plays shards. Slurm notices by itself in minutes; here it is
// told, and then plays them elsewhere at once.
func (s *slurm) killNode(node, folder string) {
	s.Helper()
	err := timer.UntilFile(filepath.Join(folder, "playing", "1"), limit, func() bool {
		return slices.ContainsFunc(s.running(node), func(shard string) bool {
			_, err := os.Stat(filepath.Join(folder, "playing", shard))
			return err == nil
		})
	})
	if err != nil {
		s.Fatalf("%s plays no shard: %v\n%s", node, err, s.must("squeue"))
	}
	s.kill(node)
	played := s.running(node)
	s.must("scontrol", "update", "NodeName="+node, "State=DOWN", "Reason=killed")
	// scontrol returns when the node's shards are queued again, to begin in two minutes.
	var queued []string
	for line := range strings.Lines(s.must("squeue", "-h", "-r", "-t", "PD", "-O", "ArrayJobID,ArrayTaskID,RestartCnt")) {
		if f := strings.Fields(line); f[2] != "0" {
			s.must("scontrol", "update", "JobId="+f[0]+"_"+f[1], "StartTime=now")
			queued = append(queued, f[1])
		}
	}
	s.Logf("%s played shards %q when it was killed; queued again: %q", node, played, queued)
	for _, shard := range played {
		// It may have finished just before.
		if _, err := os.Stat(filepath.Join(folder, "shards", shard+".json")); err != nil && !slices.Contains(queued, shard) {
			s.Errorf("shard %s is not queued again: %v", shard, err)
		}
	}
}

// running are the shards that Slurm believes a node to play.
func (s *slurm) running(node string) []string {
	s.Helper()
	return strings.Fields(s.must("squeue", "-h", "-w", node, "-t", "R", "-o", "%K"))
}
