package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/internal/testkit"
	"softswitch/oracle"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// checkedFile checks a scenario file, with a number of workers.
func checkedFile(t *testing.T, text string, failures, workers int) *Checked {
	t.Helper()
	plan := simtest.Compile(t, simtest.Parse(t, "test.yaml", text, "none"))
	k, err := CheckAll(context.Background(), plan, Options{Failures: failures, Workers: workers}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// answered is a scenario file that was checked, with its answer.
func answered(t *testing.T, text string, failures int, down ...string) *Checked {
	t.Helper()
	plan := simtest.Compile(t, simtest.Parse(t, "test.yaml", text, "none"))
	links, err := LinksOf(plan.Fabric, down)
	if err != nil {
		t.Fatal(err)
	}
	k, err := CheckAll(context.Background(), plan, Options{Failures: failures, Workers: 2, Down: links}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Answer(context.Background(), io.Discard); err != nil {
		t.Fatal(err)
	}
	return k
}

const (
	ring = `name: ring
topology: {ring: {switches: 5, hosts_per_switch: 2}, rate: 10Gbit/s, delay: 1us}
duration: 1s
`
	leafSpine = `name: leaf-spine
topology:
  switches: [l0, l1, l2, l3, x, y]
  hosts: [h0, h1, h2, h3, g0, g1, g2, g3]
  links: [h0--l0, h1--l1, h2--l2, h3--l3, g0--l0, g1--l1, g2--l2, g3--l3,
          l0--x, l0--y, l1--x, l1--y, l2--x, l2--y, l3--x, l3--y]
  rate: 1Gbit/s
duration: 1s
`
)

// TestWitnesses: each witness, when it is played as the file that it is, deadlocks in its
// cycle.
func TestWitnesses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		failures   int
		want       int // witnesses, at least
	}{
		{"ring", ring, 0, 2},
		{"leaf-spine", leafSpine, 2, 15},
		{"leaf-spine of an IGP", strings.Replace(leafSpine, "  rate:", "  routing: igp\n  rate:", 1), 2, 12},
		{"fat-tree", "name: k4\nduration: 1s\ntopology: {fattree: {k: 4}, rate: 1Gbit/s}\n", 2, 16}, // routing loops
		{"flows that begin late", strings.ReplaceAll(simtest.Text(t, "hu-fig4-limit"), "start: 10us, stop: 10ms", "start: 9ms"), 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.failures > 0 {
				t.Skip("it takes long")
			}
			if found, _ := playWitnesses(t, c.text, c.failures); found < c.want {
				t.Errorf("%d witnesses, want %d or more", found, c.want)
			}
		})
	}
}

// slow are the scenarios whose search takes longest, as long as that of all others: their
// own traffic does not lock, or is a lot. make long plays them.
var slow = []string{
	"fattree-on-loop-thresholds", "hu-case1-ttl-bands", "hu-fig3", "hu-fig4-gfc", "hu-fig5-2g", "ring-bubble", "ring-gfc", "rdma/allreduce-failures", "rdma/hawkeye-inloop", "rdma/hawkeye-outofloop",
}

// kept are the scenarios with a prevention that leaves their cycles and keeps them from locking.
var kept = []string{"hu-fig4-gfc", "ring-gfc", "ring-bubble"}

// TestWitnessesOfScenarios: so it is with every shipped scenario, and each that has a cycle
// has a witness, but for those that are kept from locking. make test plays every second one, by turns.
func TestWitnessesOfScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes with the race detector")
	}
	names := append(shipped(t, scenarios.FS, "*.yaml"), shipped(t, scenarios.RDMA, "rdma/*.yaml")...)
	witnesses, turn := 0, testkit.Seed(t)%2
	for i, name := range names {
		if testkit.Sized(slices.Contains(slow, name) || uint64(i)%2 == turn, false) {
			continue
		}
		found, cycles := playWitnesses(t, simtest.Text(t, name), 0)
		if witnesses += found; cycles > 0 && (found == 0) != slices.Contains(kept, name) {
			t.Errorf("%s: %d witnesses of %d cycles", name, found, cycles)
		}
	}
	if least := testkit.Sized(12, 40); witnesses < least {
		t.Errorf("%d witnesses of %d scenarios, want %d or more", witnesses, len(names), least)
	}
}

// shipped are the names of the scenarios that match.
func shipped(t *testing.T, from fs.FS, pattern string) (names []string) {
	t.Helper()
	files, err := fs.Glob(from, pattern)
	if err != nil || files == nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f, ".yaml"))
	}
	return names
}

// playWitnesses plays the witnesses of a scenario file, and returns how many there are, and of
// how many cycles.
func playWitnesses(t *testing.T, text string, failures int) (found, cycles int) {
	t.Helper()
	k := checkedFile(t, text, failures, 2)
	first := k.Report.Cycles[:min(len(k.Report.Cycles), MaxWitnesses)]
	numbers := make([]int, len(first))
	for i := range numbers {
		numbers[i] = i + 1
	}
	if err := k.witnesses(context.Background(), []byte(text), t.TempDir(), numbers, io.Discard); err != nil {
		t.Fatal(err)
	}
	for i, cy := range first {
		if cy.Witness.File == "" {
			t.Logf("%s: cycle %d: none in %d tries", k.Report.Scenario, i+1, cy.Witness.Tries)
			continue
		}
		found++
		playWitness(t, &cy)
	}
	return found, len(k.Report.Cycles)
}

// playWitness plays the witness of a cycle and requires that it is stuck at the end.
func playWitness(t *testing.T, cy *Cycle) {
	t.Helper()
	text, err := os.ReadFile(cy.Witness.File)
	if err != nil {
		t.Fatal(err)
	}
	s := simtest.Parse(t, cy.Witness.File, string(text), "none")
	v, r := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"none": detect.NewNone}})
	if !v.ExpectedMet || !v.Deadlock {
		t.Errorf("%s: %v", cy.Witness.File, v.Reasons)
	}
	stuck := r.History.At(cy.Witness.Onset)
	for _, h := range cy.Hops {
		if q := (oracle.Queue{NodePort: h.Queues[0], Priority: unit.Priority(h.Priority)}); !stuck.InCore(q) {
			t.Errorf("%s: %s is not stuck at %d", cy.Witness.File, h.Link, cy.Witness.Onset)
		}
	}
}

// TestWorkers: the report is the same however many cases are checked at once.
func TestWorkers(t *testing.T) {
	var want []byte
	for _, workers := range []int{1, 2, 5} {
		got, err := json.Marshal(checkedFile(t, leafSpine, 2, workers).Report)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d workers: another report than with one", workers)
		}
	}
}

// TestEnds: a check and a search end with their context.
func TestEnds(t *testing.T) {
	plan := simtest.Compile(t, simtest.Parse(t, "test.yaml", leafSpine, "none"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := CheckAll(ctx, plan, Options{Failures: 2, Workers: 2}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("check: %v", err)
	}
	k := answered(t, leafSpine, 2)
	if err := k.Witnesses(ctx, []byte(leafSpine), t.TempDir(), io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("witnesses: %v", err)
	}
}

// TestTooMany: too many pairs of links are refused with the bound and what to do.
func TestTooMany(t *testing.T) {
	defer func(was int) { maxCases = was }(maxCases)
	maxCases = 40
	plan := simtest.Compile(t, simtest.Parse(t, "test.yaml", leafSpine, "none"))
	_, err := CheckAll(context.Background(), plan, Options{Failures: 2, Workers: 1}, io.Discard)
	if want := "43 cases of up to 2 failures; at most 40 can be checked: use --failures 1"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
