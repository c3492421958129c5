package compare

import (
	"bytes"
	"strings"
	"testing"

	"softswitch/scenario"
	"softswitch/scenario/load"
)

// withoutAndWith plays a file with the same connections, with PFC and without.
func withoutAndWith(t *testing.T, file string) map[string]*Row {
	t.Helper()
	world, _ := NewWorld("sim", nil)
	sources, err := Scenarios("sim", []string{"../../scenarios/no-pfc/" + file})
	if err != nil {
		t.Fatal(err)
	}
	systems, err := PickSystems([]string{RC, NoPFCGoBackN, NoPFCSelective})
	if err != nil {
		t.Fatal(err)
	}
	c, err := (&Matrix{World: world, Scenarios: sources, Systems: systems, Runs: 2, First: 1}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]*Row{}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Figures == nil {
			t.Fatalf("%s: %s", r.System, r.why())
		}
		rows[r.System] = r
		if pfc := r.System == RC; pfc != (r.Lost == nil) || pfc != (r.pfc() > 0) || r.Count("lossless_lost") > 0 {
			t.Errorf("%s: lost %v, %d of them lossless, %d PFC frames", r.System, r.Lost, r.Count("lossless_lost"), r.pfc())
		}
	}
	return rows
}

// done is how many of the connections with a size were acknowledged as a whole.
func done(r *Row) int { return r.Connections.Completion.All.Done }

// A NIC that storms stops the connections to the hosts beside it, and nobody where pauses are not heeded.
func TestStormWithoutPFC(t *testing.T) {
	rows := withoutAndWith(t, "storm.yaml")
	flows := rows[RC].Connections.Completion.All.Flows
	if n := done(rows[RC]); n != 0 {
		t.Errorf("with PFC %d of %d are done", n, flows)
	}
	for _, system := range []string{NoPFCGoBackN, NoPFCSelective} {
		if r := rows[system]; done(r) != flows || r.Connections.Goodput < 10*rows[RC].Connections.Goodput {
			t.Errorf("%s: %d of %d are done, %d bit/s; with PFC %d", system, done(r), flows, r.Connections.Goodput, rows[RC].Connections.Goodput)
		}
	}
}

// An incast loses nothing with PFC. Without, connections that go back send most packets again, and
// those that are selective fewer.
func TestIncastWithoutPFC(t *testing.T) {
	rows := withoutAndWith(t, "incast.yaml")
	rc, gbn, selective := rows[RC], rows[NoPFCGoBackN], rows[NoPFCSelective]
	flows := rc.Connections.Completion.All.Flows
	const packets = 24 * 256 * 2 // of both runs
	switch {
	case done(rc) != flows || rc.Connections.Again != 0:
		t.Errorf("with PFC %d of %d are done, %d packets sent again", done(rc), flows, rc.Connections.Again)
	case gbn.Connections.Again < packets:
		t.Errorf("go-back-N sent %d packets again, want more than the %d that there are", gbn.Connections.Again, packets)
	case selective.Connections.Again == 0 || selective.Connections.Again > gbn.Connections.Again/2:
		t.Errorf("selective repeat sent %d packets again, go-back-N %d", selective.Connections.Again, gbn.Connections.Again)
	}
	for _, r := range []*Row{gbn, selective} {
		if len(r.Lost) != 1 || r.Lost[0].What != "lossy_queue_full" || r.Lost[0].Count == 0 || r.lost() != r.Lost[0].Count {
			t.Errorf("%s: lost %v", r.System, r.Lost)
		}
	}
}

// What a slow host has no room for is counted too, though no switch dropped it.
func TestSlowHostWithoutPFC(t *testing.T) {
	const text = "name: slow\ntopology: {switches: [s1], hosts: [a, b], links: [a--s1, b--s1], rate: 1Gbit/s, delay: 1us}\n" +
		"flows: [{name: f, from: a, to: b}]\nevents: [{at: 1ms, do: slow, host: b, rate: 10Mbit/s}]\nduration: 20ms\n"
	src := Source{Name: "slow", Parse: func() (*scenario.Scenario, error) { return load.Scenario("slow.yaml", []byte(text)) }}
	world, _ := NewWorld("sim", nil)
	systems, err := PickSystems([]string{NoPFCGoBackN})
	if err != nil {
		t.Fatal(err)
	}
	c, err := (&Matrix{World: world, Scenarios: []Source{src}, Systems: systems, Runs: 1, First: 1}).Run(t.Context())
	if err != nil || c.Rows[0].Figures == nil {
		t.Fatalf("%v, %s", err, c.Rows[0].why())
	}
	if lost := c.Rows[0].Lost; len(lost) != 1 || lost[0].What != lostBeyond || lost[0].Count == 0 {
		t.Errorf("lost %v, want some by the host alone", lost)
	}
	var text2 bytes.Buffer
	if err := c.WriteText(&text2); err != nil || !strings.Contains(text2.String(), lostBeyond) {
		t.Errorf("%v\n%s", err, &text2)
	}
}
