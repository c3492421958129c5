package show

import (
	"strings"
	"testing"

	"softswitch/internal/control"
	"softswitch/view/observe"
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

// TestLasts: a deadlock that has ended does not last, and a switch without a detector
// is blind.
func TestLasts(t *testing.T) {
	over, lasting := Declared{}, Declared{}
	over.setup.Detector, lasting.setup.Detector = "none", "itsy"
	over.Findings, lasting.Findings = []observe.Finding{{At: 1, Over: 2}}, []observe.Finding{{At: 1, Over: 2}, {At: 3}}
	if lasts, blind := Lasts([]Declared{over}); lasts || blind != 1 {
		t.Errorf("a deadlock that is over: lasts %t, %d blind", lasts, blind)
	}
	if lasts, blind := Lasts([]Declared{over, lasting}); !lasts || blind != 1 {
		t.Errorf("a deadlock that is not: lasts %t, %d blind", lasts, blind)
	}
}
