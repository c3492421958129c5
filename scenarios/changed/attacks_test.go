package changed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// played is what comes of an attack, with the lies and without, and how many lies there are.
func played(t *testing.T, path, response string, lies bool) (v *verdict.Verdict, forged int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := simtest.Parse(t, path, string(text), "itsy")
	if s.Name != strings.TrimSuffix(filepath.Base(path), ".yaml") {
		t.Errorf("its name is %q", s.Name)
	}
	all := len(s.Events)
	honest := slices.DeleteFunc(slices.Clone(s.Events), func(e scenario.Event) bool { return e.Do == scenario.Forge })
	if !lies {
		s.Events = honest
	}
	s.Response = response
	v, _ = simtest.Run(t, s, sim.Options{Seed: 1, Detectors: detectors})
	return v, all - len(honest)
}

// TestAttacks: what a switch that lies does to others is at most what docs/security.md says: nothing
// is declared, no flow loses more than half of its rate, and messages do not multiply.
func TestAttacks(t *testing.T) {
	const most = 6 // messages for each one that is forged
	files, err := filepath.Glob("../attacks/*.yaml")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d files, %v; want 16 or more", len(files), err)
	}
	for _, path := range files {
		for _, response := range []string{"cure", "drop+trigger", "force+trigger", "bubble+trigger"} {
			t.Run(strings.TrimPrefix(path, "../")+"/"+response, func(t *testing.T) {
				t.Parallel()
				with, forged := played(t, path, response, true)
				without, _ := played(t, path, response, false)
				if !with.ExpectedMet || !without.ExpectedMet {
					t.Errorf("not met: %s%s", strings.Join(with.Reasons, "; "), strings.Join(without.Reasons, "; "))
				}
				if n := with.ControlMessages - without.ControlMessages; forged == 0 || n > most*forged {
					t.Errorf("%d messages of %d forged ones", n, forged)
				}
				for i, f := range with.Flows {
					if honest := without.Flows[i]; 2*f.Received < honest.Received {
						t.Errorf("%s: %d frames arrive instead of %d", f.Name, f.Received, honest.Received)
					}
				}
			})
		}
	}
}

// What an attack may do is seen: the lies about a loop slow a flow down.
func TestAttacksAlarm(t *testing.T) {
	with, _ := played(t, "../attacks/bubble.yaml", "bubble+trigger", true)
	without, _ := played(t, "../attacks/bubble.yaml", "bubble+trigger", false)
	if with.Flows[0].Received >= without.Flows[0].Received {
		t.Errorf("%d frames of %s arrive, and %d without lies: the attack does nothing", with.Flows[0].Received, with.Flows[0].Name, without.Flows[0].Received)
	}
}
