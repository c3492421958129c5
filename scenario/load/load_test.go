package load_test

import (
	"strings"
	"testing"

	"softswitch/scenario/load"
	"softswitch/scenarios"
)

// TestPlanInstead: what is chosen is played instead of what the file says, and a choice
// that there is not is named with its flag.
func TestPlanInstead(t *testing.T) {
	data, err := scenarios.FS.ReadFile("itsy-fig5.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := load.Plan("x.yaml", data, load.Instead{Detector: "watchdog", Response: "none", Slow: 2})
	if err != nil {
		t.Fatal(err)
	}
	file, err := load.Scenario("x.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Scenario; s.Detector != "watchdog" || s.Response != "none" || s.Duration != 2*file.Duration {
		t.Errorf("detector %s, response %s, duration %v of %v", s.Detector, s.Response, s.Duration, file.Duration)
	}
	for want, in := range map[string]load.Instead{`--detector: "magic"`: {Detector: "magic"}, `--response: "magic"`: {Response: "magic"}} {
		if _, err := load.Plan("x.yaml", data, in); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", in, err, want)
		}
	}
}
