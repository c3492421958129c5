package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/unit"
	"softswitch/view/show"
)

// TestSeveralNICs plays hosts with several NICs in both worlds, which agree on what is paused, what is
// completed, and which NIC is left.
func TestSeveralNICs(t *testing.T) {
	for _, name := range []string{"rails", "dual-homed", "dual-homed-unplugged"} {
		t.Run(name, func(t *testing.T) {
			b, file := newBigBed(t), "../../scenarios/rdma/"+name+".yaml"
			live, _ := b.play(file)
			simulated := b.run(b.command("sim", "run", file, "--json"))
			var want verdict.Verdict
			b.noError(json.Unmarshal([]byte(simulated.stdout), &want))
			if !live.ExpectedMet || !want.ExpectedMet {
				t.Errorf("live %q, simulated %q", live.Reasons, want.Reasons)
			}
			if live.Completion == nil || want.Completion == nil {
				if name != "dual-homed-unplugged" { // its flows have no end
					t.Errorf("completed: live %v, simulated %v", live.Completion, want.Completion)
				}
			} else if done := live.Completion.All; done.Done != done.Flows || done.Flows != want.Completion.All.Done {
				t.Errorf("live %d of %d flows are done, simulated %d", done.Done, done.Flows, want.Completion.All.Done)
			}
			if got, want := sendersOf(&live), sendersOf(&want); !slices.Equal(got, want) {
				t.Errorf("NICs with flows at the end:\nlive      %v\nsimulated %v", got, want)
			}
			// A live switch whose process comes late has a queue for a moment, and pauses who sends to it; congestion lasts.
			lasting := want.Duration / 100
			paused, longPaused := pausedFor(&live, 0), pausedFor(&live, lasting)
			wantPaused, wantLong := pausedFor(&want, 0), pausedFor(&want, lasting)
			if !contains(paused, wantLong) || !contains(wantPaused, longPaused) || len(wantLong) == 0 {
				t.Errorf("paused, and for a hundredth of the run:\nlive      %v, %v\nsimulated %v, %v", paused, longPaused, wantPaused, wantLong)
			}
		})
	}
}

// misbehaving has a host with one address of which a NIC is slow, and one that storms in a priority that only
// one of its NICs pauses.
const misbehaving = `name: misbehaving
topology:
  switches: [s1, s2]
  hosts: [a1, a2, b, c]
  shared_address: [b]
  links: [s1--a1, s2--a2, s1--b, s2--b, s1--c, s2--c, s1--s2]
  ports: [{link: s2--c, lossless: [4]}]
  rate: 20Mbit/s
flows:
  - {name: A, from: a1, to: b}
  - {name: B, from: a2, to: b}
  - {name: C, from: a1, to: c, to_nic: 0}
  - {name: D, from: a2, to: c, to_nic: 1, priority: 4}
events:
  - {at: 200ms, do: slow, host: b, nic: 1, rate: 2Mbit/s}
  - {at: 300ms, do: storm, host: c, for: 300ms}
duration: 1s
`

// TestMisbehavingNICs: a NIC that is slow, or storms, pauses its link and no other of its host, in both worlds;
// and so does one of a lab that is told to.
func TestMisbehavingNICs(t *testing.T) {
	b := newBed(t)
	file := filepath.Join(t.TempDir(), "misbehaving.yaml")
	b.noError(os.WriteFile(file, []byte(misbehaving), 0o644))
	want := []string{"b eth1", "c eth0"}
	live, _ := b.play(file)
	var simulated verdict.Verdict
	b.noError(json.Unmarshal([]byte(b.run(b.command("sim", "run", file, "--json")).stdout), &simulated))
	for world, v := range map[string]*verdict.Verdict{"live": &live, "simulated": &simulated} {
		if got := nicsOf(v, func(n *verdict.NICResult) bool { return n.PausesSent > 0 }); !slices.Equal(got, want) || v.LosslessLost > 0 {
			t.Errorf("%s: %v pause, %s lost; want %v, and none", world, got, unit.Count(v.LosslessLost, "lossless frame"), want)
		}
	}

	b.must("deploy", "-t", file)
	b.must("storm", "b:eth0")
	b.await("eth0 of b storms", func() bool { n := b.nics("b"); return storms(n[0]) && n[0].Priorities[0].Sent > 0 })
	b.must("slow", "b:eth1", "1Mbit/s")
	if n := b.nics("b"); storms(n[1]) || n[0].Drain != 0 || n[1].Drain != 1_000_000 {
		t.Errorf("of b eth0 storms, and eth1 is slow: %+v", n)
	}
	b.must("normal", "b:eth0")
	if n := b.nics("b"); storms(n[0]) || n[1].Drain != 1_000_000 {
		t.Errorf("of b eth1 is slow: %+v", n)
	}
	b.must("storm", "b")
	if n := b.nics("b"); !storms(n[0]) || !storms(n[1]) {
		t.Errorf("both NICs of b storm: %+v", n)
	}
	b.must("normal", "b")
	if n := b.nics("b"); storms(n[0]) || storms(n[1]) || n[1].Drain != 0 {
		t.Errorf("b behaves: %+v", n)
	}
	b.wantMatch(b.lab("slow", "b:eth7", "1Mbit/s").stderr, `host b has no NIC "eth7".*it has: eth0, eth1`)
}

// nics are those of a host, as show says.
func (b *bed) nics(host string) []show.HostNIC {
	b.Helper()
	return showJSON[show.HostNICs](b, host, "nics").NICs
}

// storms reports whether a NIC pauses priority 3 without end.
func storms(n show.HostNIC) bool {
	return slices.ContainsFunc(n.Priorities, func(p show.NICPriority) bool { return p.Priority == 3 && p.Storming })
}

// pausedFor are the NICs that were paused, for that long in all, of hosts with several.
func pausedFor(v *verdict.Verdict, least unit.Time) []string {
	return nicsOf(v, func(n *verdict.NICResult) bool { return n.Pauses > 0 && n.Paused >= least })
}

func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// sendersOf are the NICs by which flows leave at the end of a run.
func sendersOf(v *verdict.Verdict) []string {
	return nicsOf(v, func(n *verdict.NICResult) bool { return n.Flows > 0 })
}

func nicsOf(v *verdict.Verdict, is func(*verdict.NICResult) bool) (all []string) {
	for _, h := range v.Hosts {
		for i := range h.NICs {
			if is(&h.NICs[i]) {
				all = append(all, h.Host+" "+h.NICs[i].NIC)
			}
		}
	}
	return all
}
