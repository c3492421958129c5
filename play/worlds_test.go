package play

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/sim"
)

// TestCompare lets the simulator stand for a lab: both worlds say the same, unless the
// lab does not find the deadlock, or none of its runs is valid.
func TestCompare(t *testing.T) {
	simulate := func(_ context.Context, p *scenario.Plan) (*verdict.Verdict, error) {
		w, err := sim.New(p, sim.Options{Seed: 1, Detectors: catalog.Factories()})
		if err != nil {
			return nil, err
		}
		return w.Run()
	}
	for _, c := range []struct {
		name   string
		change func(*verdict.Verdict)
		same   bool
		want   string
	}{
		{"same", func(*verdict.Verdict) {}, true, "| yes |"},
		{"no deadlock", func(v *verdict.Verdict) { *v = verdict.Verdict{} }, false, "| no deadlock | no |"},
		{"not valid", func(v *verdict.Verdict) { v.Invalid = "busy" }, false, "| no valid run (3 runs not valid) | ? |"},
	} {
		reads := 0
		read := func(name string) ([]byte, error) {
			if reads++; reads > 1 { // as of standard input
				return nil, nil
			}
			return scenarios.FS.ReadFile(name)
		}
		w := Worlds{
			Runs: 2, Progress: io.Discard, Read: read,
			Live: func(ctx context.Context, p *scenario.Plan) (*verdict.Verdict, error) {
				v, err := simulate(ctx, p)
				if err == nil {
					c.change(v)
				}
				return v, err
			},
		}
		var out bytes.Buffer
		table, err := w.Compare(context.Background(), []string{"fattree-on-loop.yaml"})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err, same := table.WriteText(&out), table.Same(); err != nil || same != c.same || strings.Count(out.String(), c.want) != 2 {
			t.Errorf("%s: same %t, %v\n%s", c.name, same, err, &out)
		}
	}
}
