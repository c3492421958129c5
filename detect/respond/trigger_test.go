package respond

import (
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// A host that storms is not listened to any more, before the loop is broken, until it
// is quiet.
func TestHostTrigger(t *testing.T) {
	sc := newRing(t, 4, "drop+trigger")
	at := sc.trigger(9, 3)
	sc.spread(at)
	sc.declare(1, unit.NodePort{Node: 9, Port: 1})
	sc.after(long)
	sc.wantStuck(false)
	sc.wantRefused()
	sc.wantCount(detect.ActionLossy, 1)
	if m := sc.Acts[0]; m.Action != detect.ActionLossy || m.Switch != 9 || m.Queue != queueOf(1) {
		t.Errorf("first %+v, want queue 1 of S9 made lossy", m)
	}
	for range 10 { // the storm goes on
		at.HostPause(1)
		sc.after(100 * unit.Millisecond)
	}
	sc.wantCount(detect.ActionHonour, 0)
	sc.after(2 * hostQuiet)
	sc.wantCount(detect.ActionHonour, 1)
	sc.after(flowQuiet) // of the extra threshold
	sc.wantClean()
}

// The same host again takes twice as long.
func TestHostTriggerAgain(t *testing.T) {
	sc := newRing(t, 4, "trigger")
	at := sc.trigger(9, 3)
	for n := range 3 {
		sc.spread(at)
		sc.declare(1, unit.NodePort{Node: 9, Port: 1})
		from := sc.Now()
		sc.after(10 * unit.Second)
		sc.wantCount(detect.ActionHonour, n+1)
		took := sc.Acts[len(sc.Acts)-1].At - from
		if want := hostQuiet << n; took < want || took > want+unit.Millisecond {
			t.Errorf("time %d: honoured after %d us, want %d", n, took/us, want/us)
		}
	}
	sc.wantStuck(true) // nobody breaks it
}

// spread lets the host of a switch out of the ring pause it, and what waits for the host pause
// the ring for a moment.
func (sc script) spread(at *detecttest.Switch) {
	at.HostPause(1)
	at.Enqueue(0, 1, 40*kilo)
	at.XOFF(0, 1)
	at.Leave(0, 1, 40*kilo)
	at.XON(0)
}

// flows are what waits at a switch out of the ring: flow 1 and 2 from a host, 3 from
// the ring, 4 a little from a host.
func (sc script) flows(at *detecttest.Switch) {
	at.Enqueue(0, 2, 40*kilo)
	at.Enqueue(1, 2, 60*kilo)
	at.Flows(2, detect.Flow{ID: 3, In: 0, Bytes: 40 * kilo}, detect.Flow{ID: 1, In: 1, Bytes: 30 * kilo}, detect.Flow{ID: 2, In: 1, Bytes: 29 * kilo}, detect.Flow{ID: 4, In: 1, Bytes: 1 * kilo})
}

// Where a switch is the trigger the flows from its hosts are policed, for a time.
func TestFlowsArePoliced(t *testing.T) {
	sc := newRing(t, 4, "bubble+trigger")
	at := sc.trigger(9, 3)
	sc.flows(at)
	at.XOFF(0, 2)
	sc.declare(1, unit.NodePort{Node: 9, Port: 0})
	sc.after(long)
	sc.wantRefused()
	sc.wantCount(detect.ActionPolice, 2)
	for i, m := range sc.Acts[:2] {
		if m.Flow != detect.FlowID(i+1) || m.PG.Port != 1 || m.Bytes != int(detecttest.Rate/policeShare/1000) {
			t.Errorf("%+v, want flow %d of port 1 policed to a %d-th of the rate", m, i+1, policeShare)
		}
	}
	sc.after(flowQuiet)
	sc.wantCount(detect.ActionUnpolice, 2)
	sc.wantClean()
}

// A flow has one policer at a port: found again in another queue it is policed for as long from then on, and
// not until the time of the first one is up.
func TestPolicedTwice(t *testing.T) {
	sc := newRing(t, 4, "bubble+trigger")
	at := sc.trigger(9, 3)
	find := func(out unit.Port) {
		at.Enqueue(0, out, 40*kilo)
		at.Flows(out, detect.Flow{ID: 1, In: 1, Bytes: 30 * kilo})
		at.XOFF(0, out)
		sc.lie(9, 0, itsyhdr.TLV{Kind: itsyhdr.KindTrigger, Seq: uint16(out), Hops: 1, Trigger: unit.NodePort{Node: 9, Port: 0}})
		at.Leave(0, out, 40*kilo)
		at.XON(0)
	}
	find(1)
	sc.after(flowQuiet / 2)
	find(2)
	sc.wantCount(detect.ActionPolice, 2)
	sc.after(flowQuiet * 3 / 4)
	sc.wantCount(detect.ActionUnpolice, 0)
	sc.after(2 * flowQuiet)
	sc.wantCount(detect.ActionUnpolice, 1)
}

// With nothing from hosts, the heaviest flow.
func TestTransitFlow(t *testing.T) {
	sc := newRing(t, 4, "trigger")
	sc.s[3].Flows(p, detect.Flow{ID: 7, In: b, Bytes: 40 * kilo}, detect.Flow{ID: 8, In: x, Bytes: 30 * kilo})
	sc.declare(3, unit.NodePort{Node: 3, Port: b}) // its own
	sc.after(unit.Millisecond)
	sc.wantCount(detect.ActionPolice, 1)
	if m := sc.Acts[0]; m.Flow != 7 {
		t.Errorf("policed %+v, want flow 7", m)
	}
}

// The trigger's priority group has drained: what caused it is still there.
func TestCause(t *testing.T) {
	sc := newRing(t, 4, "trigger")
	at := sc.trigger(9, 3)
	sc.flows(at)
	at.XOFF(0, 2)
	at.Leave(0, 2, 40*kilo)
	at.XON(0)
	sc.declare(1, unit.NodePort{Node: 9, Port: 0})
	sc.after(unit.Millisecond)
	sc.wantRefused()
	sc.wantCount(detect.ActionPolice, 2)
}

func TestNoFlow(t *testing.T) {
	for _, port := range []unit.Port{0, 1} { // a priority group that is empty; a host that never paused
		sc := newRing(t, 4, "drop+trigger")
		sc.trigger(9, 3)
		sc.declare(1, unit.NodePort{Node: 9, Port: port})
		sc.after(long)
		sc.wantRefused(detect.RefusedUnfounded)
		sc.wantStuck(false)
		sc.after(flowQuiet)
		sc.wantClean()
	}
}

func TestNoPolicer(t *testing.T) {
	sc := newRing(t, 4, "trigger")
	at := sc.trigger(9, 3)
	at.Enqueue(0, 2, 40*kilo)
	at.XOFF(0, 2)
	var flows []detect.Flow
	for id := range detect.FlowID(6) {
		flows = append(flows, detect.Flow{ID: id, In: 1, Bytes: 10 * kilo})
	}
	at.Flows(2, flows...)
	sc.declare(1, unit.NodePort{Node: 9, Port: 0})
	sc.after(unit.Millisecond)
	sc.wantCount(detect.ActionPolice, 4)
	sc.wantRefused(detect.RefusedNoPolicer)
	sc.after(flowQuiet)
	sc.wantClean()
}

// Nobody has the trigger, or its switch has no such port, or the port is down.
func TestTriggerOutOfReach(t *testing.T) {
	for _, c := range []struct {
		trigger unit.NodePort
		down    bool
		want    detect.Refusal
	}{
		{unit.NodePort{Node: 99}, false, detect.RefusedUnreachable},
		{unit.NodePort{Node: 9, Port: 60}, false, detect.RefusedUnreachable},
		{unit.NodePort{Node: 1, Port: 60}, false, detect.RefusedUnreachable},
		{unit.NodePort{Node: 9, Port: 1}, true, detect.RefusedPortDown},
	} {
		sc := newRing(t, 4, "drop+trigger")
		at := sc.trigger(9, 3)
		if c.down {
			at.Down.Add(1)
		}
		sc.declare(1, c.trigger)
		sc.after(long)
		sc.wantRefused(c.want)
		sc.wantStuck(false) // it is broken all the same
		sc.after(flowQuiet)
		sc.wantClean()
	}
}

// A search is answered although messages are lost, and done once.
func TestLostSearch(t *testing.T) {
	for _, kind := range []itsyhdr.Kind{itsyhdr.KindTrigger, itsyhdr.KindFound} {
		sc := newRing(t, 4, "drop+trigger")
		sc.spread(sc.trigger(9, 3))
		n := 0
		sc.Lost = func(_ unit.NodeID, m itsyhdr.TLV) bool {
			if m.Kind == kind {
				n++
			}
			return m.Kind == kind && n <= 2
		}
		sc.declare(1, unit.NodePort{Node: 9, Port: 1})
		sc.after(long)
		sc.wantRefused()
		sc.wantStuck(false)
		sc.wantCount(detect.ActionLossy, 1)
		sc.after(hostQuiet + unit.Millisecond)
		sc.wantCount(detect.ActionHonour, 1) // not doubled by the second search
	}
}

// What a host sends is not believed.
func TestForgery(t *testing.T) {
	sc := newRing(t, 4, "bubble+trigger")
	for kind := itsyhdr.KindClaim; kind <= itsyhdr.KindFound; kind++ {
		for flags := range uint8(2) {
			sc.s[1].Deliver(h, itsyhdr.TLV{
				Kind: kind, Priority: detecttest.Priority, Flags: flags, Initiator: unit.NodePort{Node: 2, Port: b}, Seq: 1, Hops: 1, Trigger: unit.NodePort{Node: 1, Port: h},
			})
		}
	}
	sc.after(long)
	if sc.Messages > 0 || len(sc.Acts) > 0 || len(sc.Refusals) > 0 {
		t.Errorf("%d messages, actions %+v, refusals %+v; want nothing", sc.Messages, sc.Acts, sc.Refusals)
	}
}

// Messages of switches that make no sense are survived, and nothing stays of them.
func TestNonsense(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	for _, response := range Names()[1:] {
		sc := newRing(t, 4, response)
		sc.trigger(9, 3)
		for range 3000 {
			sc.after(unit.Time(r.IntN(30)) * us)
			if r.IntN(100) == 0 {
				sc.declare(unit.NodeID(1+r.IntN(4)), unit.NodePort{Node: unit.NodeID(r.IntN(11)), Port: unit.Port(r.IntN(64))})
			}
			sc.s[unit.NodeID(1+r.IntN(4))].Deliver(unit.Port(r.IntN(int(ringPorts))), itsyhdr.TLV{
				Kind: itsyhdr.Kind(8 + r.IntN(6)), Priority: unit.Priority(r.IntN(8)), Flags: uint8(r.IntN(4)), Seq: uint16(r.IntN(6)), Hops: uint8(r.Uint32()), Period: uint8(r.Uint32()),
				Initiator: unit.NodePort{Node: unit.NodeID(r.IntN(6)), Port: unit.Port(r.IntN(64))}, Trigger: unit.NodePort{Node: unit.NodeID(r.IntN(11)), Port: unit.Port(r.IntN(64))},
			})
		}
		sc.after(20 * flowQuiet)
		sc.wantClean()
	}
}

// peer is a detector with messages of its own.
type peer struct {
	detect.None
	frames int
}

func (p *peer) Frame(unit.Time, unit.Port, []byte) bool { p.frames++; return true }

func TestWrapper(t *testing.T) {
	in := &peer{}
	drop := Policy{Break: BreakDrop}
	s := newScript(t, "drop").add(1, 2)
	d := New(func(detect.View, detect.Actions) detect.Detector { return in }, drop)(s.Facts(), nil)
	if p, ok := d.(detect.Peer); !ok || !p.Frame(0, 0, nil) || in.frames != 1 {
		t.Error("a frame for the detector's own format does not reach it")
	}
	if _, ok := New(detect.NewNone, drop)(s.Facts(), nil).(detect.Peer); ok {
		t.Error("a detector without messages of its own has become a Peer")
	}
	if d := New(detect.NewNone, Policy{})(s.Facts(), nil); d != (detect.None{}) {
		t.Errorf("the zero policy wraps %T, want the detector itself", d)
	}
	if d.Name() != "none" {
		t.Errorf("name %q, want the detector's", d.Name())
	}
}

// The detector's messages are its own.
func TestDetectorsMessages(t *testing.T) {
	sc := newRing(t, 4, "drop")
	for kind := range itsyhdr.Kind(14) {
		sc.s[1].Deliver(p, itsyhdr.TLV{Kind: kind, Priority: detecttest.Priority, Initiator: unit.NodePort{Node: 7}, Seq: 1})
	}
	if got := sc.d[1].got; len(got) != 8 || got[7] != itsyhdr.KindAck {
		t.Errorf("the detector got kinds %v, want 0 to 7", got)
	}
}

func TestParse(t *testing.T) {
	for _, name := range Names() {
		if p, err := Parse(name); err != nil || p.String() != name {
			t.Errorf("Parse(%q) = %v, %v", name, p, err)
		}
	}
	if _, err := Parse("dorp"); err == nil || !strings.Contains(err.Error(), `"dorp"`) || !strings.Contains(err.Error(), "bubble+trigger") {
		t.Errorf("Parse(dorp): %v, want an error that names it and the valid choices", err)
	}
}
