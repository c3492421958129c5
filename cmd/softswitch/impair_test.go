package main

import (
	"strings"
	"testing"
	"time"
)

// TestImpair delays a link of a lab by hand, looks at it, and ends it.
func TestImpair(t *testing.T) {
	b := newBed(t, "ip", "ping")
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	addr := b.address("h2")
	b.must("impair", "s1", "s2", "--delay", "40ms")
	if least := b.ping("h1", addr); least < 80*time.Millisecond {
		t.Errorf("a ping over a link of 40 ms took %v", least)
	}
	if r := b.must("impair"); !strings.Contains(r.stdout, "s1:to-s2") || !strings.Contains(r.stdout, "40ms") {
		t.Errorf("lab impair shows\n%s", r.stdout)
	}
	b.must("impair", "s1", "s2", "--clear")
	if r := b.must("impair"); r.stdout != "no link is impaired\n" {
		t.Errorf("lab impair shows, after --clear,\n%s", r.stdout)
	}
	b.wantPing("h1", addr)

	for _, c := range []struct{ args, want string }{
		{"s1 s2 --delay 20us", `delay: "20us": a live wire keeps time to 1ms; valid: 0s, or 1ms to 10s`},
		{"s1 s2 --loss 101%", `loss: "101%" is not a share`},
		{"s1 s2 --control-loss 0.05%", `write at most one digit after the point`},
		{"s1 s2 --reorder 1%", "reorder: 1% of the frames take twice the delay, which is 0"},
		{"h1 s2 --loss 1%", `no link between "h1" and "s2"; beside h1 there is: s1`},
		{"s1 s2", "give --clear or an impairment"},
		{"s1 s2 --clear --loss 1%", "give --clear or an impairment"},
		{"--loss 1%", "which link?"},
		{"s1", "want two nodes, or none"},
	} {
		if r := b.lab("impair", strings.Fields(c.args)...); r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("lab impair %s: exit status %d, %q; want 2, %q", c.args, r.code, r.stderr, c.want)
		}
	}
	if r := b.must("impair"); r.stdout != "no link is impaired\n" {
		t.Errorf("lab impair shows, after what was refused,\n%s", r.stdout)
	}
}

// ping is the shortest of three round trips.
func (b *bed) ping(from, addr string) (least time.Duration) {
	b.Helper()
	r := b.must("exec", from, "ping", "-q", "-c", "3", "-i", "0.2", addr)
	_, times, ok := strings.Cut(r.stdout, "mdev = ")
	text, _, slash := strings.Cut(times, "/")
	least, err := time.ParseDuration(text + "ms")
	if !ok || !slash || err != nil {
		b.Fatalf("ping says %q", r.stdout)
	}
	return least
}

// TestImpairedRun: who impairs a link by hand during a run is told that the run does not
// count.
func TestImpairedRun(t *testing.T) {
	b := newBed(t)
	s := b.playing(b.lasting(), "running until")
	b.must("impair", "s1", "s2", "--duplicate", "1%")
	b.wantDoubt(s.end(), "s1 to-s2: its wire was impaired, and not by the scenario", "s2 to-s1: its wire was impaired")
}

// TestWireScenarios: what only a simulation could play before. The first flow of w6 sends as many bytes as
// it does until it stops: a late host would leave some of these out, without which no loop closes.
func TestWireScenarios(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, args string }{
		{"wan/two-sites", "--slow 1"},
		{"w6-late-edge", "--slow 4000 --set flows[0].stop=0s --set flows[0].size=49000"},
		{"w13-lost-label", "--slow 400"},
		{"w22-forged-label", "--slow 400"},
	} {
		t.Run(c.file, func(t *testing.T) {
			v, _ := newBed(t).play("../../scenarios/"+c.file+".yaml", strings.Fields(c.args)...)
			if !v.ExpectedMet {
				t.Errorf("%q", v.Reasons)
			}
		})
	}
}
