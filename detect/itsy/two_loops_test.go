package itsy

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// newTwoLoops is a ring of three with a link from S1 to S3 as well. S1 holds enough for either
// way; S3 pauses S2 and S2 pauses S1: the long loop is closed at 75 us, by what S1 minted then
// as label 3. The short loop waits for S3's priority group x.
func newTwoLoops(t *testing.T, f detect.Factory) script {
	sc := script{detecttest.NewScript(t, f)}
	for k := unit.NodeID(1); k <= 3; k++ {
		sc.Add(k, int(detecttest.RingPorts)).FaceHosts(h)
	}
	near := detecttest.Delay{Pause: 5 * us, Message: 5 * us}
	sc.Link(sc.S[1], p, sc.S[2], b, near)
	sc.Link(sc.S[2], p, sc.S[3], b, hop)
	sc.Link(sc.S[3], p, sc.S[1], b, hop)
	sc.Link(sc.S[1], x, sc.S[3], x, near)
	sc.To(10 * us)
	sc.Fill(1, b, p, 60)
	sc.Fill(1, b, x, 60)
	sc.S[1].XOFF(b, p)
	sc.Close(40*us, 3)
	sc.Close(70*us, 2)
	return sc
}

// closeShort closes the short loop.
func (sc script) closeShort(at unit.Time) {
	sc.To(at)
	sc.Fill(3, x, p, 60)
	sc.S[3].XOFF(x, p)
}

// breakLong lets the link from S2 to S3 fail: S2 resumes S1, 5 us later.
func (sc script) breakLong(at unit.Time) {
	sc.To(at)
	sc.S[2].Expire(p)
	sc.S[2].Leave(b, p, 60*kilo)
	sc.S[2].XON(b)
}

// wantQueues checks which queues of S1 were declared, in order.
func (sc script) wantQueues(want ...unit.Port) {
	sc.Helper()
	var got []unit.Port
	for _, f := range sc.Findings {
		if f.Switch != 1 {
			sc.Errorf("S%d declares", f.Switch)
		}
		got = append(got, f.Queue.Port)
	}
	if !slices.Equal(got, want) {
		sc.LogTraces()
		sc.Fatalf("declared queues %v, want %v", got, want)
	}
}

// A label comes home by two loops, of which one is checked, and the other breaks: the one that
// was checked is declared.
func TestCheckedLoopIsDeclared(t *testing.T) {
	sc := newTwoLoops(t, New)
	sc.closeShort(85 * us) // the check leaves by x at 100 and is home at 125
	sc.breakLong(121 * us) // the label has come by p at 120
	sc.To(125 * us)
	sc.wantAllStuck()
	sc.To(10_000 * us)
	sc.wantQueues(x)
}

// A loop is broken while its check is on its way, which declares it; then its queue is
// resumed. The priority group is on another loop, which stays, and has to be declared too: although the
// label that came home by the broken one was not its newest.
func TestDeclaredLoopBreaksAnotherStays(t *testing.T) {
	sc := newTwoLoops(t, New)
	sc.closeShort(146 * us) // the check has passed S3 at 145 and is home at 165
	sc.breakLong(163 * us)
	sc.To(165 * us)
	sc.wantQueues(p)
	sc.To(10_000 * us)
	sc.WantStuck(true)
	sc.wantQueues(p, x)
}

// full is a stub of which each queue alone keeps a priority group XOFF.
type full struct{ *stub }

func (f full) HeldIn(_ detect.PG, out unit.PortSet) int { return 2000 * out.Len() }

func (f full) Stays(b detect.PG, out detect.Queues) bool {
	return f.HeldIn(b, out[b.Priority]) > f.XON(b)
}

var (
	pg0    = detect.PG{Port: 0, Priority: 3}
	queue1 = detect.Queue{Port: 1, Priority: 3}
)

// newFreed is a switch whose priority group 0 was blocked, with a label of its own, until the pause of
// queue 1 ended.
func newFreed() (*stub, detect.Detector) {
	s := &stub{id: 1, ports: 4}
	d := New(full{s}, s)
	d.XOFF(0, pg0, queue1)
	d.Pause(0, queue1, itsyhdr.TLV{}, true)
	d.Label(0, pg0)
	d.Resume(0, queue1, true)
	return s, d
}

// wantMint pauses queue 1 with the word that what it waits for is declared, and checks that priority group
// 0 takes it for another deadlock.
func wantMint(t *testing.T, d detect.Detector) {
	t.Helper()
	declared := newLabel(50, unit.NodePort{Node: 9, Port: 5}).with(flagProof | flagDone)
	d.Pause(0, queue1, declared.tlv(), true)
	l := parseLabel(d.Label(0, pg0))
	if l.owner() != (unit.NodePort{Node: 1, Port: 0}) || !declared.less(l) || l.has(flagDone) {
		t.Errorf("publishes %v, want a new label of its own", l.tlv())
	}
}

// A priority group that waited is freed, and then waits for what was declared meanwhile. That was not the
// deadlock that it is in now, whatever label it had published.
func TestFreedPGMints(t *testing.T) {
	_, d := newFreed()
	wantMint(t, d)
}

// The same if its own pause may have lapsed in between.
func TestFreedPGMintsAfterALapse(t *testing.T) {
	s, d := newFreed()
	s.lapsed = true
	d.Label(0, pg0)
	s.lapsed = false
	wantMint(t, d)
}
