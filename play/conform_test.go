package play

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"softswitch/conform"
	"softswitch/conform/mutant"
	"softswitch/dataplane"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// The simulator's own switch passes every case that its profile has, whatever the seed, and with other
// profiles those that are about something else.
func TestConformSelf(t *testing.T) {
	seed := testkit.Seed(t)
	passed := map[string]bool{}
	play := func(name string, p *conform.Profile, patterns ...string) {
		cases, err := conform.Select(patterns)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ConformSim(context.Background(), ConformOptions{Profile: p, Cases: cases, Seed: seed, Soak: 2 * unit.Second}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.Cases {
			switch o.Result {
			case conform.Pass:
				passed[o.ID] = true
			case conform.Skipped:
			default:
				t.Errorf("%s: %s: %s: %s", name, o.ID, o.Result, o.Reason)
			}
		}
		if r.ExitCode() != 0 {
			t.Errorf("%s: exit code %d", name, r.ExitCode())
		}
	}
	play("self", ConformSelf())
	for _, action := range []string{"forward", "alert"} {
		p := ConformSelf()
		p.Watchdog.Action = action
		play("watchdog "+action, p, "W")
	}
	contained := ConformSelf()
	contained.Watchdog = &conform.Watchdog{Contain: 800 * unit.Millisecond}
	play("contained", contained, "W")
	free := ConformSelf()
	free.Watchdog = nil
	play("no watchdog", free, "T")
	slower := ConformSelf()
	slower.Ports[2].Speed /= 2
	play("a slower port", slower, "T01", "N01", "N09")
	for _, c := range conform.Cases() {
		if !passed[c.ID] {
			t.Errorf("%s passed with no profile", c.ID)
		}
	}
}

// What failed is kept, and comes to the same when it is judged again.
func TestConformJudge(t *testing.T) {
	dir := t.TempDir()
	defect := mutant.Defects()[0]
	r, err := ConformSim(context.Background(), ConformOptions{
		Profile: ConformSelf(), Cases: []*conform.Case{conform.Find("R01"), conform.Find(defect.Cases[0])}, Dir: dir,
		Wrap: func(m dataplane.Machine) dataplane.Machine { return mutant.New(m, defect) },
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ConformJudge(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Cases) != 1 || again.Cases[0].Result != conform.Fail || again.Cases[0].Reason != r.Cases[1].Reason || !reflect.DeepEqual(again.Cases[0].Checks, r.Cases[1].Checks) {
		t.Errorf("judged again: %+v\nbefore: %+v", again.Cases, r.Cases)
	}
	if again.ExitCode() != 1 {
		t.Errorf("exit code %d", again.ExitCode())
	}
	file := filepath.Join(dir, defect.Cases[0]+conformSavedEnd)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, spoilt := range []struct{ was, is, want string }{
		{`"conform-record/1"`, `"conform-record/2"`, "want conform-record/1"},
		{`"profile":"self"`, `"profile":"other"`, "the profile of"},
		{`"case":"` + defect.Cases[0], `"case":"Z99`, "there is none"},
		{`{`, ``, "no record of a case"},
	} {
		if err := os.WriteFile(file, bytes.Replace(data, []byte(spoilt.was), []byte(spoilt.is), 1), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ConformJudge(dir); err == nil || !strings.Contains(err.Error(), spoilt.want) {
			t.Errorf("%v; want %s", err, spoilt.want)
		}
	}
}

// Counters are read from what SONiC prints, whatever else there is.
func TestParsePFCCounters(t *testing.T) {
	p := ConformSelf()
	const text = `
  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
        a       0       0       0   1,234       5       0       0       0
        b       0       0       0       0       0       0       0       0
        c       0       0       0       0       0       0       0       7
        d       0       0       0       0       0       0       0       0

  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
        a       0       0       0       2       0       0       0       0
        b       0       0       0       0       0       0       0       0
        c       0       0       0       0       0       0       0       0
`
	all, err := parsePFCCounters(p, text)
	if err != nil {
		t.Fatal(err)
	}
	value := func(port int, name string) uint64 {
		for i, n := range all[port].Names {
			if n == name {
				return all[port].Values[i]
			}
		}
		t.Fatalf("no %s", name)
		return 0
	}
	if value(0, "rx pfc 3") != 1234 || value(0, "tx pfc 3") != 2 || value(2, "rx pfc 7") != 7 || value(1, "rx pfc 0") != 0 {
		t.Errorf("%+v", all)
	}
	if _, err := parsePFCCounters(p, strings.ReplaceAll(text, "        b ", "       bb ")); err == nil || !strings.Contains(err.Error(), `no counters of port "b"`) {
		t.Errorf("%v", err)
	}
	if _, err := parsePFCCounters(p, strings.Replace(text, "1,234", "N/A", 1)); err == nil || !strings.Contains(err.Error(), `"N/A" is no number`) {
		t.Errorf("%v", err)
	}
}
