package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/node/observe"
	"softswitch/play/nicdemo"
)

// TestNICDemo: iperf3 over UDP in a lossless priority through two switches to a slow
// receiver. Pauses reach the sender's NIC, the fabric loses nothing, and what iperf3 does
// not get back was lost in the hosts.
func TestNICDemo(t *testing.T) {
	b := newLoneBed(t, "iperf3", "ping")
	var v nicdemo.Result
	b.untilValid(func() string {
		r := b.run(b.command("demo", "nic", "--name", b.name, "--json"))
		v = nicdemo.Result{}
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
			t.Fatalf("exit status %d, and no JSON: %v", r.code, err)
		}
		if v.OK != (r.code == 0) {
			t.Errorf("exit status %d, ok %t", r.code, v.OK)
		}
		return v.Invalid
	})
	if !v.OK || v.Fabric != 0 || v.OnWire != v.Arrived || v.Pauses == 0 || v.PausedTime == 0 {
		t.Errorf("%+v", v)
	}
	if v.Sender.SendQueue == 0 || v.Iperf.Lost == 0 || v.Iperf.Rate < 4e6 || v.Iperf.Rate > 8e6 {
		t.Errorf("the receiver was to take half of what iperf3 sends: %+v, %+v", v.Iperf, v.Sender)
	}
	if v.Ping.Sent == 0 || v.Ping.Received != v.Ping.Sent {
		t.Errorf("ping in the priority that nobody pauses: %+v", v.Ping)
	}
	b.wantNothing()
}

// TestNICDemoInterrupt: Ctrl-C removes the lab, and what the programs say to it is left out.
func TestNICDemoInterrupt(t *testing.T) {
	b := newBed(t, "iperf3", "ping")
	s := b.start(b.command("demo", "nic", "--name", b.name))
	s.await("ping runs in priority 0")
	b.await("iperf3 sends", func() bool {
		var nic observe.NIC
		return control.Call(b.socket("h1"), "stats", nil, &nic) == nil && nic.Priorities[3].Sent > 0
	})
	s.signal(os.Interrupt)
	r := s.end()
	if r.code != cli.ExitError || !strings.Contains(r.stdout, "softswitch: interrupted: ") || strings.Contains(r.stdout, "iperf3 -c") {
		t.Errorf("exit status %d, want %d and a word of the interrupt alone", r.code, cli.ExitError)
	}
	b.wantNothing()
}

// TestNICLab: a lab with NICs by hand.
func TestNICLab(t *testing.T) {
	b := newBed(t, "ping")
	b.must("deploy", "-t", "../../scenarios/nic/two-switches.yaml")
	b.must("exec", "h1", "ping", "-q", "-c", "2", "-i", "0.2", "-Q", "104", "10.100.1.2") // DSCP 26: priority 3

	nicIn := func(args ...string) result {
		t.Helper()
		return b.run(b.command(append([]string{"nic", args[0], "--name", b.name}, args[1:]...)...))
	}
	r := nicIn("show", "--json")
	var nics map[string]observe.NIC
	if err := json.Unmarshal([]byte(r.stdout), &nics); err != nil || r.code != 0 {
		t.Fatalf("nic show: exit status %d, %v", r.code, err)
	}
	for _, name := range []string{"h1", "h2"} {
		if n := nics[name]; n.Name != name || n.Priorities[3].Sent < 2 || n.Priorities[3].Received < 2 || n.InHost.Sum() != 0 || n.OnArrival != (observe.ArrivalLoss{}) {
			t.Errorf("%s after ping: %+v", name, n)
		}
	}
	if r := nicIn("slow", "h2", "3Mbit/s"); r.code != 0 {
		t.Errorf("nic slow: exit status %d", r.code)
	}
	if r := nicIn("show"); r.code != 0 || !strings.Contains(r.stdout, "The stack of h2 takes frames at 3Mbit/s only.") || !strings.Contains(r.stdout, "Lost in the fabric") {
		t.Errorf("nic show: exit status %d", r.code)
	}
	if r := nicIn("normal", "h2"); r.code != 0 {
		t.Errorf("nic normal: exit status %d", r.code)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"slow", "h3", "3Mbit/s"}, `no node "h3" (did you mean "h1"`},
		{[]string{"slow", "s1", "3Mbit/s"}, "s1 is a switch"},
		{[]string{"slow", "h1"}, `RATE: "h1"`},
		{[]string{"slow", "h1", "0"}, `RATE: "0"`},
		{[]string{"normal"}, "no host"},
	} {
		if r := nicIn(c.args...); r.code != cli.ExitError || !strings.Contains(r.stderr, c.want) {
			t.Errorf("nic %v: exit status %d, want %d and %q", c.args, r.code, cli.ExitError, c.want)
		}
	}
	// The interfaces are another's.
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--wire", "eth0", "--address", "10.100.0.9/24"}, "another softswitch runs on this interface"},
		{[]string{"--wire", "eth9", "--address", "10.100.0.9/24"}, `did you mean "eth0"?`},
		{[]string{"--wire", "nic0", "--stack", "nic1", "--address", "10.100.0.9/24"}, "has the address 10.100.0.2/24"},
	} {
		args := append([]string{"lab", "exec", "--name", b.name, "h1", "softswitch", "nic"}, c.args...)
		if r := b.run(b.command(args...)); r.code != cli.ExitError || !strings.Contains(r.stderr, c.want) {
			t.Errorf("nic %v: exit status %d, want %d and %q", c.args, r.code, cli.ExitError, c.want)
		}
	}
	b.must("exec", "h1", "ping", "-q", "-c", "1", "10.100.1.2")
}

func TestNICFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"nic", "give a file with -c, or --wire and --address"},
		{"nic --wire eth0", "give a file with -c, or --wire and --address"},
		{"nic --wire eth0 -c x.yaml", "not both"},
		{"nic shwo", `unknown command "shwo"`},
		{"nic --wire eth0 --address 10.0.0.1", "address"},
		{"nic -c ../../scenarios/pause.yaml", "name"},
		{"nic show --socket /nowhere.sock h1", "--socket is one NIC"},
		{"nic show --name no-such-lab", "is not up"},
	} {
		root := root()
		root.SetArgs(strings.Fields(c.args))
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}
