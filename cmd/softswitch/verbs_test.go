package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
	"softswitch/live/rdma"
	"softswitch/oracle/verdict"
	"softswitch/view/show"
)

// TestNICRDMA: two hosts of a lab are server and client of each program, through their NICs and two switches: what
// one sends the other receives, once.
func TestNICRDMA(t *testing.T) {
	b := newBed(t)
	b.must("deploy", "-t", "../../scenarios/nic/two-switches.yaml")
	on := func(host string, words ...string) *exec.Cmd {
		return b.command(append([]string{"lab", "exec", "--name", b.name, host, "softswitch", "nic", "rdma"}, append(words, "--json", "--rate", "20Mbit/s")...)...)
	}
	for _, client := range [][]string{
		{"write", "10.100.1.2", "--messages", "20"},
		{"send", "10.100.1.2", "--messages", "20", "--rdma-cm"},
		{"read", "10.100.1.2", "--messages", "20"},
		{"ping", "10.100.1.2", "--messages", "20"},
		{"pingpong", "10.100.1.2", "--messages", "20"},
	} {
		s := b.start(on("h2", "serve", "--messages", "20"))
		s.await("waiting for perftest")
		r := b.run(on("h1", client...))
		served := s.end()
		if r.code != 0 || served.code != 0 {
			t.Fatalf("%s: exit status %d and %d:\n%s%s", client[0], r.code, served.code, r.stderr, served.stdout)
		}
		b.wantJSON("nic rdma "+client[0], r)
		_, printed, _ := strings.Cut(served.stdout, "\n{") // behind the line that was awaited
		var ours, theirs rdma.Test
		for text, v := range map[string]*rdma.Test{r.stdout: &ours, "{" + printed: &theirs} {
			if err := json.Unmarshal([]byte(text), v); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		}
		c, d := ours.Pairs[0], theirs.Pairs[0]
		if c.Sent-c.Again != d.Received || d.Sent-d.Again != c.Received || c.Sent == 0 {
			t.Errorf("%s: client %+v\nserver %+v", client[0], c, d)
		}
	}
}

// flowCell is a flow of testdata/programs.yaml and the program at its other end.
type flowCell struct {
	flow, host string // the host that is its end
	program    string // of perftest
	cm, client bool   // the program begins
}

var flowCells = []flowCell{
	{"write", "w1", "ib_write_bw", false, false},
	{"written", "w2", "ib_write_bw", false, true},
	{"send", "x1", "ib_send_bw", false, false},
	{"sent", "x2", "ib_send_bw", false, true},
	{"read", "r1", "ib_read_bw", false, false},
	{"answer", "r2", "ib_read_bw", false, true},
	{"cm-write", "cw1", "ib_write_bw", true, false},
	{"cm-written", "cw2", "ib_write_bw", true, true},
	{"cm-send", "cx1", "ib_send_bw", true, false},
	{"cm-sent", "cx2", "ib_send_bw", true, true},
	{"cm-read", "cr1", "ib_read_bw", true, false},
	{"cm-answer", "cr2", "ib_read_bw", true, true},
}

// packets is how many carry a flow's 20 messages of 64 KiB.
const packets = 20 * 64

// wantFlow checks what the flow of a cell has counted: each packet that carries a message, received once; and all
// messages, where this end is the client. A machine that is too busy loses frames of a NIC, which are sent again.
func (b *bed) wantFlow(c flowCell) {
	b.Helper()
	n := b.nicShow()[c.host]
	if len(n.Problems) > 0 {
		b.Errorf("%s: %v", c.flow, n.Problems)
	}
	if receives := c.client != (c.program == "ib_read_bw"); receives != (len(n.Received) == 1) {
		b.Errorf("%s: %d flows received", c.flow, len(n.Received))
	}
	for _, r := range n.Received {
		if r.Frames != packets || r.Packets.Invalid != 0 || r.Packets.AccessErrors != 0 {
			b.Errorf("%s: received %d packets, lost %d, %+v", c.flow, r.Frames, r.Lost, r.Packets)
		}
	}
	for _, s := range n.Sent {
		if m := s.Messages; m != nil && (m.Done != 20 || m.Failed || m.Completion == 0) || m == nil && s.Frames != packets {
			b.Errorf("%s: sent %d frames, messages %+v", c.flow, s.Frames, m)
		}
	}
}

// TestFlowsWithPrograms: flows with a handshake are clients and servers of programs at another host, here those of
// nic rdma, through two NICs; `lab run` gives a verdict of such a flow, and virtual time refuses it.
func TestFlowsWithPrograms(t *testing.T) {
	const file = "testdata/programs.yaml"
	b := newBigBed(t)
	b.must("deploy", "-t", file)
	addresses := map[string]string{}
	for i, n := range []string{"h1", "w1", "w2", "x1", "x2", "r1", "r2", "cw1", "cw2", "cx1", "cx2", "cr1", "cr2"} {
		addresses[n] = fmt.Sprintf("10.100.0.%d", i+2)
	}
	for _, c := range flowCells {
		words := []string{"lab", "exec", "--name", b.name, "h1", "softswitch", "nic", "rdma"}
		if !c.client {
			b.must("start", c.host)
			s := b.start(b.command(append(words, "serve", "--rate", "20Mbit/s")...))
			if r := s.end(); r.code != 0 {
				t.Fatalf("%s: exit status %d", c.flow, r.code)
			}
			b.await(c.flow+" is over", func() bool { return b.nicShow()[c.host].Sent[0].Messages.Completion > 0 })
		} else {
			words = append(words, strings.TrimSuffix(strings.TrimPrefix(c.program, "ib_"), "_bw"), addresses[c.host], "--messages", "20", "--rate", "20Mbit/s")
			if c.cm {
				words = append(words, "--rdma-cm")
			}
			if r := b.run(b.command(words...)); r.code != 0 {
				t.Fatalf("%s: exit status %d", c.flow, r.code)
			}
		}
		b.wantFlow(c)
	}
	var shown map[string]show.Connections
	if err := json.Unmarshal([]byte(b.run(b.command("show", "connections", "--name", b.name, "--json")).stdout), &shown); err != nil {
		t.Fatal(err)
	}
	if c := shown["cx1"].Connections; len(c) != 1 || c[0].State != "done" {
		t.Errorf("%+v", shown)
	}
	if r := b.vm("start", "w1"); r.code != cli.ExitError || !strings.Contains(r.stderr, "w1 is itself the end of a flow with a handshake") {
		t.Errorf("a guest on the end of a flow: exit status %d, %s", r.code, r.stderr)
	}
	b.must("destroy")
	b.wantNothing()
	if r := b.run(b.command("sim", "run", file)); r.code != cli.ExitError || !strings.Contains(r.stderr, "flow write: key to is a host of nics") {
		t.Errorf("sim run: exit status %d, %s", r.code, r.stderr)
	}

	s := b.start(b.command("lab", "run", "--name", b.name, file, "--set", "duration=6s", "--json"))
	s.await("running until")
	served := b.run(b.command("lab", "exec", "--name", b.name, "h1", "softswitch", "nic", "rdma", "write", addresses["w2"], "--messages", "20", "--rate", "20Mbit/s"))
	_, text, _ := strings.Cut(s.end().stdout, "\n{")
	var v verdict.Verdict
	if err := json.Unmarshal([]byte("{"+text), &v); err != nil || served.code != 0 {
		t.Fatalf("%v, exit status %d", err, served.code)
	}
	if f := v.Flows[1]; f.ProgramEnd != "from" || f.Received != packets || f.Throughput == 0 {
		t.Errorf("%+v", f)
	}
	if f := v.Flows[0]; f.ProgramEnd != "to" || f.Sent != 0 || f.InFlight != 0 { // no server was there
		t.Errorf("%+v", f)
	}
	b.wantNothing()
}
