package check

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/sim/simtest"
	"softswitch/topo"
	"softswitch/unit"
)

// cured is checked with its cures.
func cured(t *testing.T, text string, failures int) *Checked {
	t.Helper()
	k := checkedFile(t, text, failures, 2)
	parse := func() (*scenario.Scenario, error) { return load.Scenario("test.yaml", []byte(text)) }
	if err := k.Cures(context.Background(), parse, io.Discard); err != nil {
		t.Fatal(err)
	}
	return k
}

// cure is the cure of a name.
func (k *Checked) cure(t *testing.T, name string) Cure {
	t.Helper()
	for _, c := range k.Report.Cures {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no cure is called %s: %+v", name, k.Report.Cures)
	return Cure{}
}

// withRoutes is a scenario file with further routes.
func withRoutes(text string, routes []Route) string {
	var b strings.Builder
	for _, r := range routes {
		fmt.Fprintf(&b, "  - {at: %s, to: %s, ports: [%s], backup: [%s]}\n", r.At, r.To, strings.Join(r.Ports, ", "), strings.Join(r.Backup, ", "))
	}
	if at := strings.Index(text, "\nflows:"); strings.Contains(text, "\nroutes:") {
		return strings.TrimRight(text[:at], "\n") + "\n" + b.String() + text[at:]
	}
	return text + "routes:\n" + b.String()
}

// via is the way of a flow, which may be one that a cure takes away.
var via = regexp.MustCompile(`, via: \[[^]]*\]`)

// TestRoutes: the routes of a cure, written into the file, leave no cycle, and where they
// are said to be the fewest no single other route would do.
func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		failures   int
		exact      int // routes, if no fewer do
	}{
		{"hu-case1-above", simtest.Text(t, "hu-case1-above"), 2, 1},
		{"shpiner-fig4", simtest.Text(t, "shpiner-fig4"), 0, 1},
		{"hu-fig4", simtest.Text(t, "hu-fig4"), 0, 2},
		{"guo-fig4", simtest.Text(t, "guo-fig4"), 0, 2},
		{"fattree-on-loop", simtest.Text(t, "fattree-on-loop"), 0, 2},
		{"many", "name: many\nduration: 1s\ntopology: {" + testkit.Sized("leafspine: {leaves: 6, spines: 2, hosts_per_leaf: 1}", "fattree: {k: 4}") + ", rate: 1Gbit/s}\n", testkit.Sized(1, 2), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.exact == 0 {
				t.Skip("it takes long")
			}
			k := cured(t, c.text, c.failures)
			cure := k.cure(t, "routes")
			if cure.Why != "" || cure.Exact != (c.exact > 0) || c.exact > 0 && len(cure.Routes) != c.exact {
				t.Fatalf("%+v, want %d exactly", cure, c.exact)
			}
			if left := checkedFile(t, via.ReplaceAllString(withRoutes(c.text, cure.Routes), ""), c.failures, 2).Report; !left.Clean() {
				t.Errorf("%d cycles are left, such as %+v", len(left.Cycles), left.Cycles[0])
			}
			if c.exact == 2 && !testing.Short() && (c.name != "fattree-on-loop" || testkit.Long()) { // which has most routes to try
				k.wantNoSingle(t)
			}
		})
	}
}

// wantNoSingle tries every other choice of ports for every single route.
func (k *Checked) wantNoSingle(t *testing.T) {
	t.Helper()
	c := cures{k: k, ctx: context.Background(), out: io.Discard, computed: topo.NewTable(k.plan.Fabric), delivers: k.checker.Delivers()}
	f := k.plan.Fabric
	for s := range f.Switches() {
		for d := range f.Subnets {
			g := k.plan.Table.Group(s, d)
			all := g.Ports.Or(g.Backup)
			for word := all.Words()[0]; word != 0; word = (word - 1) & all.Words()[0] { // each part of it: these fabrics have few ports
				out := unit.PortsOfWords([4]uint64{word})
				overrides, ok := Overrides(k.plan, c.computed, removals(s, d, out))
				if !ok {
					continue
				}
				sc := *k.plan.Scenario
				sc.Routes = append(sc.Routes[:len(sc.Routes):len(sc.Routes)], overrides...)
				for i := range sc.Flows {
					sc.Flows = append([]scenario.Flow{}, sc.Flows...)
					sc.Flows[i].Via = nil
				}
				left, err := CheckAll(c.ctx, simtest.Compile(t, &sc), Options{Failures: k.Report.Failures, Workers: 1}, io.Discard)
				if err != nil {
					t.Fatal(err)
				}
				if left.Report.Clean() && c.arrives(left) {
					t.Errorf("one route would do: %+v", overrides)
				}
			}
		}
	}
}

func removals(s, d int, out unit.PortSet) (all []Removal) {
	for ; !out.Empty(); out.Pop() {
		all = append(all, Removal{At: s, To: d, Out: out.First()})
	}
	return all
}

// TestTagger: Tagger's rules leave no cycle in any shipped scenario that they apply to,
// with up to two failures, in make test with one.
func TestTagger(t *testing.T) {
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	applied, cyclic, failures := 0, 0, testkit.Sized(1, 2)
	for _, file := range files {
		text := simtest.Text(t, strings.TrimSuffix(file, ".yaml"))
		s := simtest.Parse(t, file, text, "none")
		if s.Prevent("tagger") != nil {
			continue
		}
		applied++
		k, err := CheckAll(context.Background(), simtest.Compile(t, s), Options{Failures: failures, Workers: 2}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if !k.Report.Clean() {
			t.Errorf("%s: %+v", file, k.Report.Cycles[0])
		}
		if !checkedFile(t, text, failures, 2).Report.Clean() {
			cyclic++
		}
	}
	if applied < 10 || cyclic < 10 {
		t.Errorf("it applied to %d scenarios, of which %d have cycles without it", applied, cyclic)
	}
}

// TestPreventions: no flooding takes away what comes of flooding alone, and a prevention
// that does not apply says why.
func TestPreventions(t *testing.T) {
	guo := simtest.Text(t, "guo-fig4")
	if c := cured(t, guo, 0).cure(t, "no-flood"); c.Left != 0 || c.Why != "" {
		t.Errorf("no flooding: %+v", c)
	}
	if c := cured(t, guo, 1).cure(t, "no-flood"); c.Left == 0 {
		t.Errorf("no flooding, with a failure: %+v", c)
	}
	if c := cured(t, ring, 0).cure(t, "tagger"); !strings.HasPrefix(c.Why, "topology without levels") {
		t.Errorf("Tagger on a ring: %+v", c)
	}
	if cures := cured(t, simtest.Text(t, "pause"), 2).Report.Cures; cures != nil {
		t.Errorf("cures of what has no cycle: %+v", cures)
	}
}
