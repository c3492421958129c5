package main

import (
	"encoding/json"
	"slices"
	"testing"

	"softswitch/oracle/verdict"
)

// TestSeveralNICs plays hosts with several NICs in both worlds, which agree on what is paused, what is
// completed, and which NIC is left.
func TestSeveralNICs(t *testing.T) {
	for _, name := range []string{"rails", "dual-homed"} {
		t.Run(name, func(t *testing.T) {
			b, file := newBigBed(t), "../../scenarios/rdma/"+name+".yaml"
			live, _ := b.play(file)
			simulated := b.run(b.command("sim", "run", file, "--json"))
			var want verdict.Verdict
			b.noError(json.Unmarshal([]byte(simulated.stdout), &want))
			if !live.ExpectedMet || !want.ExpectedMet {
				t.Errorf("live %q, simulated %q", live.Reasons, want.Reasons)
			}
			if done := live.Completion.All; done.Done != done.Flows || done.Flows != want.Completion.All.Done {
				t.Errorf("live %d of %d flows are done, simulated %d", done.Done, done.Flows, want.Completion.All.Done)
			}
			if got, want := sendersOf(&live), sendersOf(&want); !slices.Equal(got, want) {
				t.Errorf("NICs with flows at the end:\nlive      %v\nsimulated %v", got, want)
			}
			paused := pausedOf
			if name == "dual-homed" { // which of two NICs is a matter of milliseconds
				paused = pausedHosts
			}
			if got, want := paused(&live), paused(&want); !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("paused:\nlive      %v\nsimulated %v", got, want)
			}
		})
	}
}

// pausedOf are the NICs that were paused, of hosts with several.
func pausedOf(v *verdict.Verdict) []string {
	return nicsOf(v, func(n *verdict.NICResult) bool { return n.Pauses > 0 })
}

// pausedHosts are the hosts with several NICs of which one was paused.
func pausedHosts(v *verdict.Verdict) (all []string) {
	for _, h := range v.Hosts {
		if h.Pauses > 0 {
			all = append(all, h.Host)
		}
	}
	return all
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
