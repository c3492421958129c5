package itsy

import (
	"slices"
	"testing"

	"softswitch/detect/detecttest"
	"softswitch/unit"
)

// kilo is the unit of bytes in the scripts, which are in kilobytes. XON is 36.
const (
	us   = unit.Microsecond
	kilo = 1000
)

// Ports of a switch S_k of a ring: b comes from S_(k-1), p leads to S_(k+1), h to its
// host, x out of the ring.
const b, p, h, x = detecttest.In, detecttest.Out, detecttest.Host, detecttest.Aside

var hop = detecttest.Delay{Pause: 20 * us, Message: 20 * us}

// script is a script of this package's detectors: what labels do, and verifications. The
// check has tests of its own.
type script struct{ detecttest.Script }

func newScript(t *testing.T) script { return script{detecttest.NewScript(t, NewUnchecked)} }

// newRing is a ring of n switches, S1 to Sn.
func newRing(t *testing.T, n int, d detecttest.Delay) script {
	sc := newScript(t)
	sc.Ring(n, d)
	return sc
}

// priority is the detector's state at a switch.
func (sc script) priority(k unit.NodeID) *priority {
	return sc.S[k].Detector().(*detector).priorities[detecttest.Priority]
}

// wantAllStuck checks that the findings' queues are stuck now.
func (sc script) wantAllStuck() {
	sc.Helper()
	stuck := sc.Stuck()
	for _, f := range sc.Findings {
		if at := (unit.NodePort{Node: f.Switch, Port: f.Queue.Port}); !slices.Contains(stuck, at) {
			sc.Errorf("declared %v, stuck are %v", at, stuck)
		}
	}
}
