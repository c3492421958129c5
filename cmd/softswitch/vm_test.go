package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/testkit"
	"softswitch/lab/guest"
	"softswitch/node/observe"
	"softswitch/play/rdmademo"
)

// qemu is what runs guests.
const qemu = "qemu-system-x86_64"

// needGuests skips a test where no guest can be made: without QEMU, or without the packages that guests are
// built of.
func (b *bed) needGuests() {
	b.Helper()
	testkit.Need(b, qemu)
	var said bytes.Buffer
	if err := guest.Ensure(b.Context(), &said); err != nil {
		b.Skipf("no guest can be built here: %v\n%s", err, &said)
	}
}

// vm runs `softswitch lab vm VERB --name NAME ARGS...`.
func (b *bed) vm(verb string, args ...string) result {
	b.Helper()
	return b.run(b.vmCommand(verb, args...))
}

func (b *bed) vmCommand(verb string, args ...string) *exec.Cmd {
	return b.command(append([]string{"lab", "vm", verb, "--name", b.name}, args...)...)
}

// mustVM is vm, and the command has to succeed.
func (b *bed) mustVM(verb string, args ...string) result {
	b.Helper()
	r := b.vm(verb, args...)
	if r.code != 0 {
		b.Fatalf("vm %s %s: exit status %d", verb, strings.Join(args, " "), r.code)
	}
	return r
}

// guestsUp deploys two hosts with NICs, and boots a guest on each.
func (b *bed) guestsUp() {
	b.Helper()
	b.needGuests()
	b.must("deploy", "-t", "../../scenarios/nic/two-switches.yaml")
	b.mustVM("start")
}

// pair runs a program of perftest in both guests, h1 as the client, and wants both to end with 0.
func (b *bed) pair(argv ...string) {
	b.Helper()
	server := b.start(b.vmCommand("exec", append([]string{"h2"}, argv...)...))
	b.mustVM("exec", "h2", "sh", "-c", "until grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6; do usleep 50000; done") // it listens at port 18515
	if r := b.vm("exec", append(append([]string{"h1"}, argv...), "10.100.1.2")...); r.code != 0 {
		for _, host := range []string{"h1", "h2"} { // programs compare what kind of GID each has
			b.vm("exec", host, "grep", "-r", "-v", "^0000:0000:0000:0000:0000:0000:0000:0000$", "/sys/class/infiniband/rxe0/ports/1/gids")
		}
		b.Fatalf("the client's exit status is %d", r.code)
	}
	if r := server.end(); r.code != 0 {
		b.Errorf("the server's exit status is %d: %s", r.code, r.stdout)
	}
}

// nicShow asks the NICs of the lab.
func (b *bed) nicShow() (nics map[string]observe.NIC) {
	b.Helper()
	if err := json.Unmarshal([]byte(b.run(b.command("nic", "show", "--name", b.name, "--json")).stdout), &nics); err != nil {
		b.Fatal(err)
	}
	return nics
}

// counter is one of a guest's RDMA device.
func (b *bed) counter(host, name string) int {
	b.Helper()
	r := b.mustVM("exec", host, "cat", "/sys/class/infiniband/rxe0/ports/1/hw_counters/"+name)
	n, err := strconv.Atoi(strings.TrimSpace(r.stdout))
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// TestGuests: an unmodified RDMA program transfers its messages between two guests, packet by packet, and the
// lab's end is theirs.
func TestGuests(t *testing.T) {
	b := newBigBed(t)
	b.guestsUp()
	const messages = 20
	file := filepath.Join(t.TempDir(), "guests.pcapng")
	capture := b.capture("-w", file)
	b.pair("ib_write_bw", "-x", "1", "--tclass=104", "-u", "20", "-s", "65536", "-n", strconv.Itoa(messages))
	capture.signal(os.Interrupt)
	capture.end()
	if packets, wrong := testkit.ICRCs(t, file); packets < 2*64*messages || wrong != 0 {
		t.Errorf("scapy sees %d packets, %d with a wrong ICRC", packets, wrong)
	}
	nics := b.nicShow()
	if sent, got := nics["h1"].Priorities[3].Sent, nics["h2"].Priorities[3].Received; sent != 64*messages || got != sent {
		t.Errorf("h1 sent %d packets, and h2 received %d; want %d, a KiB each", sent, got, 64*messages)
	}
	for host, n := range nics {
		if n.InHost.Sum() != 0 || n.OnArrival != (observe.ArrivalLoss{}) {
			t.Errorf("%s lost %+v, %+v", host, n.InHost, n.OnArrival)
		}
		if naks := b.counter(host, "out_of_seq_request"); naks != 0 {
			t.Errorf("%s missed packets %d times", host, naks)
		}
	}

	if r := b.vm("exec", "h1", "sh", "-c", "echo said; exit 3"); r.code != 3 || r.stdout != "said\n" {
		t.Errorf("exit status %d, said %q", r.code, r.stdout)
	}
	b.mustVM("start") // leaves those that are up
	b.mustVM("stop", "h1")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"exec", "h1", "true"}, "guest h1: it is not up; see `softswitch lab vm start`"},
		{[]string{"console", "h1"}, "guest h1: console: it is not up"},
		{[]string{"stop", "h1"}, "guest h1: it is not up"},
		{[]string{"exec", "s1", "true"}, "s1 is a switch"},
		{[]string{"exec", "h1"}, "want a node and a command"},
		{[]string{"start", "h3"}, `no node "h3"`},
	} {
		if r := b.vm(c.args[0], c.args[1:]...); r.code != cli.ExitError || !strings.Contains(r.stderr, c.want) {
			t.Errorf("vm %v: exit status %d, want %d and %q", c.args, r.code, cli.ExitError, c.want)
		}
	}
	waits := b.start(b.vmCommand("exec", "h2", "sh", "-c", "echo waits; sleep 1000"))
	waits.await("waits")
	b.must("destroy")
	if r := waits.end(); r.code != cli.ExitError || !strings.Contains(r.stdout, "guest h2: its machine ended") {
		t.Errorf("a command in a guest that ended: exit status %d", r.code)
	}
	b.wantNothing()
}

// TestGuestsLose: without PFC a link that is too slow loses packets and RDMA sends again what followed;
// with PFC it loses none.
func TestGuestsLose(t *testing.T) {
	testkit.LongOnly(t)
	b := newBigBed(t)
	b.guestsUp()
	b.run(b.command("nic", "slow", "--name", b.name, "h2", "3Mbit/s")) // less than a guest sends on a busy machine
	for _, program := range []string{"ib_write_bw", "ib_send_bw", "ib_read_bw"} {
		b.pair(program, "-x", "1", "--tclass=104", "-u", "20", "-s", "65536", "-n", "20")
	}
	if naks := b.counter("h2", "out_of_seq_request") + b.counter("h1", "out_of_seq_request"); naks != 0 {
		t.Errorf("with PFC packets were missed %d times", naks)
	}
	if nics := b.nicShow(); nics["h2"].OnArrival.Lossy != 0 || nics["h2"].Priorities[3].PauseSent == 0 {
		t.Errorf("with PFC: h2 lost %+v and sent %d pauses", nics["h2"].OnArrival, nics["h2"].Priorities[3].PauseSent)
	}
	b.pair("ib_write_bw", "-x", "1", "--tclass=0", "-s", "65536", "-n", "20")
	if naks, lost := b.counter("h2", "out_of_seq_request"), b.nicShow()["h2"].OnArrival.Lossy; naks == 0 || lost == 0 {
		t.Errorf("without PFC %d packets were lost and missed %d times; want some", lost, naks)
	}
}

// TestGuestFlows: flows with a handshake are clients and servers of unmodified programs in a guest, of each
// operation, by TCP and by rdma_cm.
func TestGuestFlows(t *testing.T) {
	testkit.LongOnly(t)
	b := newBigBed(t)
	b.needGuests()
	b.must("deploy", "-t", "testdata/programs.yaml")
	b.mustVM("start")
	for i, c := range flowCells {
		argv := []string{"h1", c.program, "-x", "1", "--tclass=104", "-u", "20", "-s", "65536", "-n", "20"}
		if c.cm {
			argv = append(argv, "-R", "--tos=104")
		}
		if c.client {
			argv = append(argv, fmt.Sprintf("10.100.0.%d", i+3))
		} else {
			b.must("start", c.host)
		}
		b.mustVM("exec", argv...)
		if !c.client {
			b.await(c.flow+" is over", func() bool { return b.nicShow()[c.host].Sent[0].Messages.Completion > 0 })
		}
		b.wantFlow(c)
	}
	b.must("destroy")
	b.wantNothing()
}

// TestGuestPingPong: ibv_rc_pingpong in a guest is the client and the server of nic rdma.
func TestGuestPingPong(t *testing.T) {
	testkit.LongOnly(t)
	b := newBigBed(t)
	b.needGuests()
	b.must("deploy", "-t", "../../scenarios/nic/two-switches.yaml")
	b.mustVM("start", "h1")
	ours := func(words ...string) *exec.Cmd {
		return b.command(append([]string{"lab", "exec", "--name", b.name, "h2", "softswitch", "nic", "rdma"}, append(words, "--messages", "20")...)...)
	}
	server := b.start(ours("serve"))
	server.await("waiting for")
	b.mustVM("exec", "h1", "ibv_rc_pingpong", "-g", "1", "-n", "20", "10.100.1.2")
	if r := server.end(); r.code != 0 {
		t.Errorf("our server: exit status %d", r.code)
	}
	program := b.start(b.vmCommand("exec", "h1", "ibv_rc_pingpong", "-g", "1", "-n", "20"))
	b.mustVM("exec", "h1", "sh", "-c", "until grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6; do usleep 50000; done")
	if r := b.run(ours("pingpong", "10.100.0.2")); r.code != 0 {
		t.Errorf("our client: exit status %d", r.code)
	}
	if r := program.end(); r.code != 0 {
		t.Errorf("the program as a server: exit status %d", r.code)
	}
}

// TestRDMADemo: a ring of real RDMA programs locks, nothing moves, it is cured, and all programs end with 0.
func TestRDMADemo(t *testing.T) {
	testkit.LongOnly(t)
	b := newLoneBed(t)
	b.needGuests()
	var v rdmademo.Result
	b.untilValid(func() string {
		r := b.run(b.command("demo", "rdma", "--name", b.name, "--json"))
		v = rdmademo.Result{}
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
			t.Fatalf("exit status %d, and no JSON: %v", r.code, err)
		}
		if v.OK != (r.code == 0) {
			t.Errorf("exit status %d, ok %t", r.code, v.OK)
		}
		return v.Invalid
	})
	if !v.OK || v.Declarer == "" || v.Moved != 0 || v.Fabric != 0 || v.Dropped == 0 || len(v.Programs) != 3 {
		t.Errorf("%+v", v)
	}
	b.wantNothing()
}

// TestGuestsAtAnyMoment: whatever is killed while guests boot and work, nothing of them is left but what
// `lab destroy` removes.
func TestGuestsAtAnyMoment(t *testing.T) {
	testkit.LongOnly(t)
	first := newBigBed(t)
	first.needGuests()
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := range 20 {
		what := []string{"vm start", "a machine", "all machines", "the lab"}[rng.IntN(4)]
		at := time.Duration(rng.IntN(6000)) * time.Millisecond
		if !t.Run(fmt.Sprintf("%d: after %v %s", n, at, what), func(t *testing.T) {
			b := makeBed(t)
			b.must("deploy", "-t", "../../scenarios/nic/two-switches.yaml")
			run := b.start(b.vmCommand("start"))
			time.Sleep(at) // the moment; no event is meant
			switch machines := b.machines(); what {
			case "vm start":
				run.signal(os.Kill)
			case "a machine":
				machines = machines[:min(1, len(machines))]
				fallthrough
			case "all machines":
				for _, pid := range machines {
					kill(pid, syscall.SIGKILL)
				}
			}
			b.must("destroy")
			run.end() // as the guests are gone it ends, whatever it said
			b.wantNothing()
		}) {
			t.Errorf("seed %d", seed)
		}
	}
}

// TestRDMADemoAtAnyMoment: at whatever moment `demo rdma` is interrupted, it removes its lab with the guests;
// when it is killed, `lab destroy` does.
func TestRDMADemoAtAnyMoment(t *testing.T) {
	testkit.LongOnly(t)
	first := newBigBed(t)
	first.needGuests()
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := range 20 {
		sig := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}[rng.IntN(3)]
		at := time.Duration(rng.IntN(20_000)) * time.Millisecond // guests boot in half of it
		if !t.Run(fmt.Sprintf("%d: after %v %v", n, at, sig), func(t *testing.T) {
			b := makeBed(t)
			run := b.start(b.command("demo", "rdma", "--name", b.name))
			time.Sleep(at) // the moment; no event is meant
			run.signal(sig)
			said := run.end().stdout
			if sig == syscall.SIGKILL {
				if r := b.lab("destroy"); r.code != 0 {
					t.Errorf("destroy: exit status %d: %s", r.code, r.stderr)
				}
			} else if said != "" && !strings.Contains(said, "interrupted") { // one that said nothing had not begun
				t.Errorf("it says nothing of the interrupt: %s", said)
			}
			b.wantNothing()
		}) {
			t.Errorf("seed %d", seed)
		}
	}
}

// machines are the processes of the bed's guests.
func (b *bed) machines() (pids []int) {
	b.Helper()
	for _, path := range b.processes() {
		dir := filepath.Dir(path)
		if name, err := os.ReadFile(filepath.Join(dir, "comm")); err == nil && strings.HasPrefix(qemu, strings.TrimSpace(string(name))) {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				b.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}
