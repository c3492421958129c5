package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSlurm: Slurm plays a campaign on two nodes, one of which is killed with all that runs
// on it; the shards merged are what a single run prints.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	dir := t.TempDir()
	command := []string{"sim", "fuzz", "--n", "1000", "--seed", "20", "--detector", "itsypaper", "--shrink", "0"}
	folder := filepath.Join(dir, "campaign")
	s.must("softswitch", append([]string{"campaign", "init", "--shards", "16", folder}, command...)...)
	waits := make(chan error, 1)
	go func() {
		out, err := s.command("softswitch", "campaign", "run", folder, "--engine", "slurm", "--", "--wait", "--quiet").CombinedOutput()
		t.Logf("%s", out)
		waits <- err
	}()
	s.killNode("n2")
	select {
	case err := <-waits:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * limit):
		t.Fatalf("the campaign does not end:\n%s", s.must("squeue"))
	}
	if status := s.must("softswitch", "campaign", "status", folder); !strings.Contains(status, "16 of 16 shards are there") {
		t.Error(status)
	}
	whole := exec.Command("softswitch", append(slices.Clone(command), "--json")...)
	whole.Dir = folder
	want, err := whole.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitUnmet {
		t.Fatal(err)
	}
	got, err := exec.Command("softswitch", "campaign", "merge", folder, "--json").Output()
	if !errors.As(err, &exit) || exit.ExitCode() != exitUnmet || string(got) != string(want) {
		t.Errorf("%v\nmerged\n%s\nwhole\n%s", err, got, want)
	}
}

// slurm is a cluster of two nodes of two processors each, all on this machine.
type slurm struct {
	*testing.T
	dir     string
	env     []string
	daemons map[string]*exec.Cmd
}

// startSlurm skips the test where Slurm is not installed.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster takes seconds")
	}
	if os.Geteuid() != 0 {
		t.Skip("slurmd needs root")
	}
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%v (Debian packages slurm-wlm, munge)", err)
		}
	}
	// The folder's path has to be short: a socket is in it.
	dir, err := os.MkdirTemp("", "slurm-")
	if err != nil {
		t.Fatal(err)
	}
	s := &slurm{T: t, dir: dir, daemons: map[string]*exec.Cmd{}}
	conf := filepath.Join(dir, "slurm.conf")
	s.env = append(os.Environ(), "SLURM_CONF="+conf)
	t.Cleanup(func() {
		for _, d := range s.daemons {
			d.Process.Kill()
			d.Wait()
		}
		for _, pid := range s.processes("SLURM_CONF=" + conf) { // steps of jobs
			unix.Kill(pid, unix.SIGKILL)
		}
		os.RemoveAll(dir)
	})
	key := make([]byte, 1024)
	rand.Read(key)
	ports := freePorts(t, 3)
	text := fmt.Sprintf(slurmConf, ports[0], dir, ports[1], ports[2])
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "state"), 0o755),
		os.WriteFile(filepath.Join(dir, "munge.key"), key, 0o600), os.WriteFile(conf, []byte(text), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	s.start("munged", "munged", "--foreground", "--force", "--socket="+at("munge"), "--key-file="+at("munge.key"),
		"--pid-file="+at("munged.pid"), "--seed-file="+at("munged.seed"), "--log-file="+at("munged.log"))
	s.until("munged answers", func() bool { _, err := os.Stat(at("munge")); return err == nil })
	s.start("slurmctld", "slurmctld", "-D")
	s.start("n1", "slurmd", "-D", "-N", "n1")
	s.start("n2", "slurmd", "-D", "-N", "n2")
	s.until("two nodes are idle", func() bool {
		out, err := s.command("sinfo", "-h", "-N", "-o", "%t").Output()
		return err == nil && string(out) == "idle\nidle\n"
	})
	return s
}

const slurmConf = `ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%[1]d
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge
CredType=cred/munge
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool.%%n
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.%%n.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd.%%n.log
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
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%[3]d CPUs=2
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%[4]d CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP MaxTime=INFINITE
`

// freePorts are TCP ports of the loopback that nobody has.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (s *slurm) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
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

func (s *slurm) start(what, name string, args ...string) {
	s.Helper()
	cmd := s.command(name, args...)
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.daemons[what] = cmd
}

// until waits for what Slurm tells nobody who does not ask.
func (s *slurm) until(what string, is func() bool) {
	s.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(s.dir, "slurmctld.log"))
			s.Fatalf("not in %v: %s\n%s", limit, what, log)
		}
	}
}

// processes are those with a variable in their environment.
func (s *slurm) processes(variable string) (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		s.Fatal(err)
	}
	for _, name := range all {
		data, err := os.ReadFile(name)
		if err != nil { // it has ended
			continue
		}
		if slices.Contains(strings.Split(string(data), "\x00"), variable) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				s.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// killNode kills a node while it plays shards. Slurm notices by itself in minutes; here it is
// told, and then plays them elsewhere at once.
func (s *slurm) killNode(node string) {
	s.Helper()
	var job []int
	s.until(node+" plays a shard", func() bool { job = s.processes("SLURMD_NODENAME=" + node); return len(job) > 1 })
	tasks := strings.Fields(s.must("squeue", "-h", "-w", node, "-o", "%K"))
	if err := s.daemons[node].Process.Kill(); err != nil {
		s.Fatal(err)
	}
	s.daemons[node].Wait()
	for _, pid := range job {
		unix.Kill(pid, unix.SIGKILL)
	}
	s.must("scontrol", "update", "NodeName="+node, "State=DOWN", "Reason=killed")
	for _, task := range tasks {
		s.until("shard "+task+" is queued again", func() bool {
			for id := range strings.FieldsSeq(s.must("squeue", "-h", "-r", "-t", "PD", "-o", "%F_%K")) {
				if strings.HasSuffix(id, "_"+task) {
					s.must("scontrol", "update", "JobId="+id, "StartTime=now")
					return true
				}
			}
			return false
		})
	}
}
