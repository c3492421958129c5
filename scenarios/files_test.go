// The tests of the shipped files. Each file is played once with each detector, and all that
// is said of it is held against that one run:
//
//	file, detector -> play -> run (log, verdict, truth) -> checks -> faults
//
// Read in this order: files_test.go (what is played), checks_test.go (what is said of
// every file), claims_test.go (what single files say, and the publications that they are
// of). Folder changed has tests that change a file before they play it.
package scenarios_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/detect/itsypaper"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

var detectors = map[string]detect.Factory{"none": detect.NewNone, "itsypaper": itsypaper.New, "itsy": itsy.New}

// file is a shipped file, and how it is played.
type file struct {
	name      string // "hu-fig4", "rdma/sonic-dualtor"
	detectors []string
	seeds     uint64
}

// slow are runs of files that do not lock, which take as long as many others: make long
// plays them.
var slow = []string{"hu-fig3/itsypaper", "hu-fig5-2g/itsypaper"}

// files are all of them. In make test they are played without a detector where something
// is said of that.
func files(t *testing.T) (all []file) {
	t.Helper()
	add := func(name string, seeds uint64, detectors ...string) {
		f := file{name: name, seeds: seeds}
		for _, detector := range detectors {
			of := name + "/" + detector
			claimed := func(c fileCheck) bool { return c.about(of) }
			left := slices.Contains(slow, of) || detector == "none" && !slices.ContainsFunc(claims, claimed)
			if testkit.Sized(!left, true) {
				f.detectors = append(f.detectors, detector)
			}
		}
		all = append(all, f)
	}
	for _, name := range scenarios.Names() {
		add(name, 1, "none", "itsypaper", "itsy")
	}
	if len(all) < 30 {
		t.Fatalf("%d files, want 30 or more", len(all))
	}
	rdma, err := fs.Glob(scenarios.RDMA, "rdma/*.yaml")
	if err != nil || len(rdma) == 0 {
		t.Fatalf("%d files of rdma, %v", len(rdma), err)
	}
	for _, name := range rdma {
		add(strings.TrimSuffix(name, ".yaml"), testkit.Sized[uint64](1, 5), "none", "itsy")
	}
	return all
}

// run is a file that was played: what happened, and what came of it.
type run struct {
	of       string // "hu-fig4/itsy": the file, and the detector
	scenario *scenario.Scenario
	log      []line
	verdict  *verdict.Verdict
	truth    *oracle.Result
	cycles   []string // those that its flows can close, as testsim.Hops
}

// line is an event of a node.
type line struct {
	event.Node
	event.Event
}

// play simulates a file with a detector.
func play(t *testing.T, name, detector string, seed uint64) *run {
	t.Helper()
	s := simtest.Shipped(t, name, detector)
	if detector == "none" { // what is expected of detectors is not expected of none
		s.Expect.Detected, s.Expect.Missed = nil, nil
	}
	r := &run{of: name + "/" + detector, scenario: s}
	r.verdict, r.truth = simtest.Run(t, s, sim.Options{Seed: seed, Detectors: detectors, Events: func(n event.Node, e event.Event) {
		r.log = append(r.log, line{n, e})
	}})
	return r
}

// TestFiles plays every file, and has every check look at every run.
func TestFiles(t *testing.T) {
	for _, f := range files(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			cycles := cyclesOf(t, f.name)
			for _, detector := range f.detectors {
				for seed := range f.seeds {
					t.Run(fmt.Sprintf("%s/seed=%d", detector, seed+1), func(t *testing.T) {
						r := play(t, f.name, detector, seed+1)
						r.cycles = cycles
						r.judge(t)
					})
				}
			}
		})
	}
}

// judge has every check look at a run; and at the run with something wrong in it, of which
// it must say so.
func (r *run) judge(t *testing.T) {
	t.Helper()
	for _, c := range slices.Concat(general, claims) {
		if !c.about(r.of) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if fault := c.fault(r); fault != "" {
				t.Error(fault)
			}
			for i, spoil := range c.spoil {
				bad := r.copied()
				spoil(bad)
				if c.fault(bad) == "" {
					t.Errorf("it has no fault with the %d. thing wrong in it: the check cannot fail", i+1)
				}
			}
		})
	}
}

// copied is a run of which the log and the verdict can be changed.
func (r *run) copied() *run {
	c, v := *r, *r.verdict
	c.verdict, c.log = &v, r.log[:len(r.log):len(r.log)]
	return &c
}

// Every check is about runs that there are, and has its canaries.
func TestChecksLook(t *testing.T) {
	var runs []string
	for _, f := range files(t) {
		for _, detector := range f.detectors {
			runs = append(runs, f.name+"/"+detector)
		}
	}
	for _, c := range slices.Concat(general, claims) {
		for _, of := range c.of {
			if one := (fileCheck{of: []string{of}}); !slices.ContainsFunc(runs, one.about) {
				t.Errorf("%s is about %s, of which there is none", c.name, of)
			}
		}
		if len(c.spoil) == 0 {
			t.Errorf("%s has no canary", c.name)
		}
	}
}

// A file that is shipped is no example of settings that cost something, but for two whose point
// they are, and its name is that of its scenario. Enough of them lock.
func TestText(t *testing.T) {
	locks := 0
	for _, f := range files(t) {
		s := simtest.Shipped(t, f.name, "itsy")
		if f.name == "headroom-pool" || f.name == "starved" {
			if len(s.Warnings) != 1 {
				t.Errorf("%s: warnings %q, want one", f.name, s.Warnings)
			}
		} else if len(s.Warnings) > 0 {
			t.Errorf("%s: warnings %q", f.name, s.Warnings)
		}
		if want := strings.TrimPrefix(f.name, "rdma/"); s.Name != want {
			t.Errorf("%s: its name is %q, want %q", f.name, s.Name, want)
		}
		if d := s.Wanted().Deadlock; d != nil && *d {
			locks++
		}
	}
	if locks < 15 {
		t.Errorf("%d files lock, want 15 or more: the checks prove little", locks)
	}
}
