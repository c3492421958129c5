package rdmademo

import (
	"strings"
	"testing"
)

// TestVerdict: each thing that may go wrong is said.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		want   string
		lasts  bool
		change func(*Result)
	}{
		{"", false, func(*Result) {}},
		{"the ring did not lock: the programs ended and no switch declared a deadlock", false, func(r *Result) { r.Declarer = "" }},
		{"the ring did not lock: the programs hang, as nothing moved for 1m0s, and no switch declared a deadlock", false, func(r *Result) { r.Declarer, r.Hung = "", true }},
		{"after the cure the programs hang, as nothing moved for 1m0s, and were ended", false, func(r *Result) { r.Hung = true }},
		{"while it was locked, 1 lossless frame left the switches", false, func(r *Result) { r.Moved = 1 }},
		{"a deadlock lasts", true, func(*Result) {}},
		{"lost in the fabric, beside what the cure dropped: 2 frames", false, func(r *Result) { r.Fabric = 2 }},
		{"ib_write_bw from h1 to h3: exit status 1, and 0 at the far end; it said last: no route", false, func(r *Result) { r.Programs[0].Status = 1 }},
		{"ib_write_bw from h1 to h3: exit status 0, and 9 at the far end; it said last: no route", false, func(r *Result) { r.Programs[0].PeerStatus = 9 }},
	} {
		r := Result{Declarer: "s1", Dropped: 3, Programs: []Program{{From: "h1", To: "h3", Said: "no route"}}}
		c.change(&r)
		r.conclude(c.lasts)
		if got := strings.Join(r.Reasons, "; "); got != c.want || r.OK != (c.want == "") {
			t.Errorf("ok %t, reasons %q; want %q", r.OK, got, c.want)
		}
	}
}
