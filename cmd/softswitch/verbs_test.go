package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"softswitch/live/rdma"
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
	} {
		s := b.start(on("h2", "serve"))
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
