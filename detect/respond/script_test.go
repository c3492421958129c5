package respond

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

const (
	us   = unit.Microsecond
	kilo = 1000
)

// Ports of a switch S_k of a ring S1 > S2 > ... > S1: b is its priority group for the link
// from S_(k-1), p its egress to S_(k+1), h leads to its host, x out of the ring.
const (
	b unit.Port = iota
	p
	h
	x
	ringPorts
)

var hop = detecttest.Delay{Pause: 20 * us, Message: 20 * us}

// declarer is a detector that declares what the script says, in its next call.
type declarer struct {
	detect.None
	act  detect.Actions
	find []detect.Finding
	got  []itsyhdr.Kind // messages
}

func (d *declarer) Message(_ unit.Time, _ unit.Port, t itsyhdr.TLV) { d.got = append(d.got, t.Kind) }

func (d *declarer) Deadline() unit.Time {
	if len(d.find) > 0 {
		return 0
	}
	return unit.Never
}

func (d *declarer) Tick(unit.Time) {
	d.act.Report(d.find[0])
	d.find = d.find[1:]
}

// script is a fabric of responders, with checks.
type script struct {
	*testing.T
	*detecttest.Fabric
	s map[unit.NodeID]*detecttest.Switch
	d map[unit.NodeID]*declarer
}

func newScript(t *testing.T, response string) script {
	t.Helper()
	policy, err := Parse(response)
	if err != nil {
		t.Fatal(err)
	}
	sc := script{T: t, s: map[unit.NodeID]*detecttest.Switch{}, d: map[unit.NodeID]*declarer{}}
	sc.Fabric = detecttest.New(NewChangeable(func(v detect.View, a detect.Actions) detect.Detector {
		d := &declarer{act: a}
		sc.d[v.Self()] = d
		return d
	}, policy))
	return sc
}

func (sc script) add(id unit.NodeID, ports int) *detecttest.Switch {
	sc.s[id] = sc.Switch(id, ports)
	return sc.s[id]
}

// newRing is a ring of n switches, S1 to Sn, that is dead at 100 us: 60 KB wait
// everywhere, XON is 36 KB.
func newRing(t *testing.T, n int, response string) script {
	t.Helper()
	sc := newScript(t, response)
	for k := 1; k <= n; k++ {
		sc.add(unit.NodeID(k), int(ringPorts)).FaceHosts(h)
	}
	for k := 1; k <= n; k++ {
		sc.Link(sc.s[unit.NodeID(k)], p, sc.s[unit.NodeID(k%n+1)], b, hop)
	}
	for k := 1; k <= n; k++ {
		sc.close(unit.NodeID(k))
	}
	sc.To(100 * us)
	sc.wantStuck(true)
	return sc
}

// close fills S_k's ring priority group and lets it go XOFF.
func (sc script) close(k unit.NodeID) {
	sc.s[k].Enqueue(b, p, 60*kilo)
	sc.s[k].XOFF(b, p)
}

// trigger hangs a switch out of the ring behind x of S_at. Its host is behind port 1.
func (sc script) trigger(id, at unit.NodeID) *detecttest.Switch {
	t := sc.add(id, 3)
	t.FaceHosts(1)
	sc.Link(sc.s[at], x, t, 0, hop)
	return t
}

// declare lets S_k declare that its ring priority group waits for its ring queue.
func (sc script) declare(k unit.NodeID, trigger unit.NodePort) {
	d := sc.d[k]
	d.find = append(d.find, detect.Finding{PG: pgOf(b), Queue: queueOf(p), Trigger: trigger})
}

func pgOf(i unit.Port) detect.PG {
	return detect.PG{Port: i, Priority: detecttest.Priority}
}

func queueOf(q unit.Port) detect.Queue { return detect.Queue{Port: q, Priority: detecttest.Priority} }

// after lets so much time pass.
func (sc script) after(d unit.Time) { sc.To(sc.Now() + d) }

// count is how often an action was taken.
func (sc script) count(m detect.Action) (n int) {
	for _, done := range sc.Acts {
		if done.Action == m {
			n++
		}
	}
	return n
}

func (sc script) wantStuck(want bool) {
	sc.Helper()
	if got := sc.Stuck(); (len(got) > 0) != want {
		sc.Errorf("at %d us: stuck queues %v, want some: %v", sc.Now()/us, got, want)
		sc.log()
	}
}

// wantCount checks how often actions were taken.
func (sc script) wantCount(m detect.Action, want int) {
	sc.Helper()
	if got := sc.count(m); got != want {
		sc.Errorf("%v: %d times, want %d", m, got, want)
		sc.log()
	}
}

// wantRefused checks all refusals, in order.
func (sc script) wantRefused(want ...detect.Refusal) {
	sc.Helper()
	same := len(sc.Refusals) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = sc.Refusals[i].Why == want[i]
	}
	if !same {
		sc.Errorf("refused %+v, want %v", sc.Refusals, want)
		sc.log()
	}
}

// wantClean checks that nothing is left of what was done, not even the permission to do it.
func (sc script) wantClean() {
	sc.Helper()
	type queue struct {
		at unit.NodeID
		q  detect.Queue
	}
	forced := map[queue]bool{}
	for _, m := range sc.Acts {
		switch m.Action {
		case detect.ActionForce:
			forced[queue{m.Switch, m.Queue}] = true
		case detect.ActionUnforce:
			delete(forced, queue{m.Switch, m.Queue})
		}
	}
	if len(forced) > 0 {
		sc.Errorf("%+v may still force frames", forced)
		sc.log()
	}
	for _, m := range sc.Refusals {
		if ports := sc.s[m.Switch].Facts().Ports(); int(m.PG.Port) >= ports || int(m.Queue.Port) >= ports {
			sc.Errorf("%+v names a port that is not there", m)
		}
	}
	for k := range unit.NodeID(100) {
		if s := sc.s[k]; s != nil && s.InForce() {
			sc.Errorf("S%d: an action is still in force", k)
			sc.log()
		}
	}
}

func (sc script) log() {
	sc.Helper()
	for _, m := range sc.Acts {
		sc.Logf("%6d us  S%d %v priority group %d queue %d flow %d: %d", m.At/us, m.Switch, m.Action, m.PG.Port, m.Queue.Port, m.Flow, m.Bytes)
	}
	for _, r := range sc.Refusals {
		sc.Logf("%6d us  S%d refused: %v", r.At/us, r.Switch, r.Why)
	}
}
