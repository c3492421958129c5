package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/internal/control"
	"softswitch/lab/attack"
	"softswitch/node/observe"
	"softswitch/oracle/verdict"
)

// attack attacks the lab, and reads the report.
func (b *bed) attack(args ...string) (r attack.Report, code int) {
	b.Helper()
	out := b.run(b.command(append([]string{"lab", "attack", "--name", b.name, "--json"}, args...)...))
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
		b.Fatalf("the report is no JSON: %v", err)
	}
	return r, out.code
}

// verdictOf is the verdict in what a run with --json has said.
func (b *bed) verdictOf(r result) (v verdict.Verdict) {
	b.Helper()
	_, text, ok := strings.Cut(r.stdout, "\n{")
	if err := json.Unmarshal([]byte("{"+text[:strings.LastIndex(text, "}")+1]), &v); !ok || err != nil {
		b.Fatalf("no verdict: %v", err)
	}
	return v
}

// TestAttackedFabric: strangers on two links and a host attack a fabric whose links are strict
// while it deadlocks and is cured. The oracle's verdict is as without them. Its links are slow and its
// nodes share processes, so that a machine of half the usual speed has time for them beside other tests.
func TestAttackedFabric(t *testing.T) {
	b := newBigBed(t)
	b.untilValid(func() string {
		s := b.playing("../../scenarios/fattree-on-loop.yaml", "running until", "--set", "auth=strict", "--set", "duration=12s", "--set", "topology.rate=5Mbit/s", "--nodes-per-process", "9", "--response", "cure", "--json")
		for _, at := range [][]string{{"core0", "agg0-0"}, {"agg2-0", "core1"}, {"--host", "h3-1-1", "--kinds", "forge"}} {
			r, code := b.attack(append(at, "--for", "700ms", "--rate", "2000")...)
			refused := r.OfHosts + r.Malformed
			for _, n := range r.Refused {
				refused += n
			}
			if code == 2 || refused < 300 {
				t.Errorf("the attack of %v: exit status %d, %+v", at, code, r)
			}
		}
		v := b.verdictOf(s.end())
		if v.Invalid != "" {
			return v.Invalid
		}
		if !v.ExpectedMet || v.FalsePositives+v.Premature+v.FalseNegatives > 0 || v.LosslessLost > 0 || !v.Recovered {
			t.Errorf("%q: %d false, %d premature, %d missed, %d lossless frames lost, recovered %v", v.Reasons, v.FalsePositives, v.Premature, v.FalseNegatives, v.LosslessLost, v.Recovered)
		}
		if len(v.Auth) < 2 {
			t.Errorf("the verdict lists %d ends of links at which frames were refused, want those of two links: %v", len(v.Auth), v.Auth)
		}
		return ""
	})
}

// TestAttackOnOpenLinks: without authentication forged pauses are heeded. Of a host only pauses are.
func TestAttackOnOpenLinks(t *testing.T) {
	b := newBed(t)
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	before := b.pausesOf("s1", "to-s2")
	r, code := b.attack("s2", "s1", "--kinds", "forge", "--for", "500ms", "--rate", "4000", "--seed", "7")
	if heeded := b.pausesOf("s1", "to-s2") - before; r.Sent["forge"] < 1000 || len(r.Refused) > 0 || code == 2 || heeded < 100 {
		t.Errorf("exit status %d, %d pauses heeded, %+v", code, heeded, r)
	}
	r, code = b.attack("--host", "h1", "--kinds", "forge", "--for", "500ms", "--rate", "50000")
	if r.OfHosts < 1000 || r.OverBudget == 0 || r.Declared > 0 || len(r.Actions) > 0 || code != 0 {
		t.Errorf("a host: exit status %d, %+v", code, r)
	}
	for _, c := range []struct{ args, want string }{
		{"s1", "want two nodes"},
		{"", "which link?"},
		{"s1 h2", `no link between "s1" and "h2"; beside s1 there is: h1, s2`},
		{"s1 s9", `no node "s9"`},
		{"--host s1", `s1`},
		{"s1 s2 --host h1", "both --host and a link"},
		{"s1 s2 --kinds forge,reply", `--kinds: "reply" (did you mean "replay"?); valid: forge, replay, reflect, mutate, duplicate, reorder`},
		{"s1 s2 --rate 0", "--rate: 0; valid: 1 to 200000"},
		{"s1 s2 --for 0s", "--for: 0s; valid: above 0s"},
		{"s1 s2 --seed -1", "--seed: -1; valid: 0 or above"},
	} {
		out := b.run(b.command(append([]string{"lab", "attack", "--name", b.name}, strings.Fields(c.args)...)...))
		if out.code != 2 || !strings.Contains(out.stderr, c.want) {
			t.Errorf("attack %s: exit status %d, %q; want 2, %q", c.args, out.code, out.stderr, c.want)
		}
	}
}

// pausesOf is how many pauses a switch has heeded at a port.
func (b *bed) pausesOf(name, port string) (n uint64) {
	b.Helper()
	var w observe.Switch
	b.noError(control.Call(filepath.Join(b.dir(), name, "control.sock"), "stats", nil, &w))
	for _, p := range w.Ports {
		for _, k := range p.RxPause {
			if p.Name == port {
				n += k
			}
		}
	}
	return n
}
