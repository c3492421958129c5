package show

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/node/observe"
	"softswitch/unit"
)

// TestTable compares tables with those of SONiC's tabulate.
func TestTable(t *testing.T) {
	tb := table{title: "Egress:", header: []string{"Port", "TxQ", "Counter/pkts"}, left: 1}
	tb.add("a", "UC3", Thousands(1234567))
	tb.add("to-core0", "UC4", Thousands(0))
	var got strings.Builder
	if err := tb.write(&got); err != nil {
		t.Fatal(err)
	}
	want := `Egress:
Port      TxQ  Counter/pkts
--------  ---  ------------
a         UC3     1,234,567
to-core0  UC4             0
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234: "-1,234", 1e9: "1,000,000,000"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// A storm is told with what the watchdog makes of its queue now, and that there is none.
func TestWatchdogStats(t *testing.T) {
	w := &observe.Watchdog{Queues: []observe.WatchdogQueue{{Port: "a", Priority: 3}, {Port: "b", Priority: 3}, {Port: "c", Priority: 3, Unwatched: true}, {Port: "d", Priority: 4}}}
	for i := range 3 {
		w.Queues[i].Detected = 2
	}
	w.Queues[0].Stormed, w.Queues[0].Restored = true, 1
	empty := false
	var got []string
	for _, row := range WatchdogStats(&empty).Tables(w)[0].rows {
		got = append(got, strings.Join(row[:3], " "))
	}
	if want := []string{"a:3 stormed 2/1", "b:3 operational 2/0", "c:3 N/A 2/0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestViewWrite: views of several switches are one table with their names, or a table for
// each; a view that has nothing to show says so.
func TestViewWrite(t *testing.T) {
	ends := []control.Endpoint{{Name: "s1"}, {Name: "s2"}}
	v := View[[]string]{
		Empty: "Nothing.",
		Tables: func(cells []string) []table {
			tb := table{header: []string{"A"}}
			for _, c := range cells {
				tb.add(c)
			}
			return []table{tb}
		},
	}
	for _, c := range []struct {
		merge   bool
		ends    []control.Endpoint
		answers [][]string
		want    string
	}{
		{true, ends, [][]string{{"x"}, {"y", "z"}}, "Switch  A\n------  -\ns1      x\ns2      y\ns2      z\n"},
		{false, ends, [][]string{{"x"}, {"y"}}, "s1:\nA\n-\nx\n\ns2:\nA\n-\ny\n"},
		{true, ends, [][]string{nil, nil}, "Nothing.\n"},
		{true, []control.Endpoint{{}}, [][]string{{"x"}}, "A\n-\nx\n"},
	} {
		var got strings.Builder
		v.Merge = c.merge
		if err := v.Write(&got, c.ends, c.answers); err != nil || got.String() != c.want {
			t.Errorf("merge %t, %v: %v, got\n%swant\n%s", c.merge, c.answers, err, &got, c.want)
		}
	}
}

// TestLasts: a deadlock that has ended does not last.
func TestLasts(t *testing.T) {
	over, lasting := Declared{}, Declared{}
	over.Findings, lasting.Findings = []observe.Finding{{At: 1, Over: 2}}, []observe.Finding{{At: 1, Over: 2}, {At: 3}}
	if Lasts([]Declared{over}) || !Lasts([]Declared{over, lasting}) {
		t.Errorf("over: lasts %t; not over: %t", Lasts([]Declared{over}), Lasts([]Declared{over, lasting}))
	}
}

// deadlocked are the answers of two switches, of which the first has declared a deadlock
// and the second runs a detector of a name.
func deadlocked(second string) []Declared {
	a, b := Declared{}, Declared{}
	a.setup = observe.Setup{Name: "s1", ID: 0, Detector: "itsy", Ports: []observe.PortSetup{{Name: "to-s2"}}}
	b.setup = observe.Setup{Name: "s2", ID: 1, Detector: second, Ports: []observe.PortSetup{{Name: "to-s1"}, {Name: "to-h"}}}
	a.Deadlocks.Declared = 1
	a.Findings = []observe.Finding{{
		At: unit.Second, PG: observe.Place{Port: "to-h", Priority: 3}, Queue: observe.Place{Port: "to-s2", Priority: 3},
		Trigger: "1.1", Label: &observe.Label{Kind: "label", Initiator: "0.0", Seq: 7},
		Causes: []observe.Cause{
			{Type: "contention", At: "0.0", In: "0.0", OnLoop: true, Confidence: 70, Flows: []string{"0000000a", "0000000b"}},
			{Type: "host", At: "1.1", Together: true, Confidence: 95},
		},
	}}
	a.Actions = []observe.Action{
		{Since: unit.Second, Action: "lossy-turn", Why: "w", Until: "u", PG: &observe.Place{Port: "to-h", Priority: 3}, Queue: &observe.Place{Port: "to-s2", Priority: 3}},
		{Since: unit.Second, Action: "police", Why: "w", Until: "u", PG: &observe.Place{Port: "to-h", Priority: 0}, Flow: "0000000a", Bytes: 500},
		{Since: unit.Second, Action: "lend", Why: "w", Until: "u", PG: &observe.Place{Port: "to-h", Priority: 3}, Bytes: 4096},
	}
	b.Findings = []observe.Finding{}
	return []Declared{a, b}
}

// TestBlind: where no detector runs, no deadlock is declared, and that is said.
func TestBlind(t *testing.T) {
	ends := []control.Endpoint{{Name: "s1"}, {Name: "s2"}}
	none := deadlocked("none")
	none[0].setup.Detector, none[0].Findings = "none", nil
	for _, c := range []struct {
		answers []Declared
		want    string
	}{
		{deadlocked("itsy"), "flags"},
		{deadlocked("none"), "No detector runs on 1 of 2 switches (--detector): a deadlock would not be declared there.\n"},
		{none, "No deadlock has been declared.\nNo detector runs (--detector): a deadlock would not be declared.\n"},
	} {
		var got strings.Builder
		if err := Deadlocks().Write(&got, ends, c.answers); err != nil {
			t.Fatal(err)
		}
		if c.want == "flags" {
			if strings.Contains(got.String(), "No detector") {
				t.Errorf("a detector runs, and it says\n%s", &got)
			}
			continue
		}
		if !strings.HasSuffix(got.String(), c.want) {
			t.Errorf("got\n%swant at its end\n%s", &got, c.want)
		}
	}
}

// TestDeadlockJSON: times by the clock on the wall, ports by name, in all views of deadlocks alike.
func TestDeadlockJSON(t *testing.T) {
	for _, v := range []View[Declared]{Deadlocks(), Causes(), Actions()} {
		wantDeadlockJSON(t, v)
	}
}

func wantDeadlockJSON(t *testing.T, v View[Declared]) {
	t.Helper()
	var got strings.Builder
	ends := []control.Endpoint{{Name: "s1"}, {Name: "s2"}}
	if err := v.JSON(&got, ends, deadlocked("itsy"), false); err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Detector string
		Findings []struct {
			At      time.Time
			Trigger port `json:"initial_trigger"`
			Label   struct{ Initiator port }
			Lasts   bool
			Over    *time.Time
		}
	}
	if err := json.Unmarshal([]byte(got.String()), &all); err != nil {
		t.Fatalf("%v in %s", err, &got)
	}
	f := all["s1"].Findings[0]
	if f.At.Sub(timer.WallClock(unit.Second)).Abs() > time.Minute || f.Over != nil || !f.Lasts {
		t.Errorf("at %v, over %v, lasts %t", f.At, f.Over, f.Lasts)
	}
	if f.Trigger != (port{"1.1", "s2", "to-h"}) || f.Label.Initiator != (port{"0.0", "s1", "to-s2"}) {
		t.Errorf("trigger %+v, initiator %+v", f.Trigger, f.Label.Initiator)
	}
	if d := all["s2"].Detector; d != "itsy" {
		t.Errorf("detector of s2 %q", d)
	}
}

// TestCausesAndMeasures: causes with the names of their ports, measures with their numbers.
func TestCausesAndMeasures(t *testing.T) {
	ends := []control.Endpoint{{Name: "s1"}, {Name: "s2"}}
	at := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`)
	for _, c := range []struct {
		view View[Declared]
		want string
	}{
		{Causes(), `Switch  Declared at              Cause          At        From   On loop  Flows              Confidence
------  -----------------------  -------------  --------  -----  -------  -----------------  ----------
s1      T  1: contention  s1 to-s2  to-s2  yes      0000000a 0000000b        70 %
s1      T  2: and host    s2 to-h   -      no       -                        95 %
`},
		{Actions(), `Switch  Since                    Action             Priority group  Queue    Flow      Why  Until
------  -----------------------  -----------------  --------------  -------  --------  ---  -----
s1      T  lossy-turn         to-h:3          to-s2:3  -         w    u
s1      T  police 500 kbit/s  to-h:0          -        0000000a  w    u
s1      T  lend 4096 B        to-h:3          -        -         w    u
`},
	} {
		var got strings.Builder
		if err := c.view.Write(&got, ends, deadlocked("itsy")); err != nil {
			t.Fatal(err)
		}
		if got := at.ReplaceAllString(got.String(), "T"); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
}

// TestLosslessPriorities: each interface has its own, a column says what it does with pauses only if
// one does not both send and honour them, and one what it trusts only if that is not the DSCP everywhere.
func TestLosslessPriorities(t *testing.T) {
	v := observe.Setup{Lossless: []int{3, 4}, Ports: []observe.PortSetup{{Name: "a"}, {Name: "b", Lossless: &[]int{3}}}}
	rows := func() (got []string) {
		for _, row := range LosslessPriorities().Tables(v)[0].rows {
			got = append(got, strings.Join(row, " "))
		}
		return got
	}
	if got, want := rows(), []string{"a 3,4", "b 3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	v.Ports[0].PFC = "tx"
	if got, want := rows(), []string{"a 3,4 tx", "b 3 both"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	v.Ports[0].Trust, v.Ports[1].Trust = "dscp", "pcp"
	if got, want := rows(), []string{"a 3,4 tx dscp", "b 3 both pcp"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
