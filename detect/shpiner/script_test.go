package shpiner

import (
	"reflect"
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/detecttest"
	"softswitch/unit"
)

// Ports of a script's switch, which is one of a loop: b comes from the switch before, p
// and p2 lead to the next ones, h to a host.
const b, p, p2, h = detecttest.In, detecttest.Out, detecttest.Aside, detecttest.Host

const (
	priority = detecttest.Priority
	hop      = 10 * unit.Microsecond
	period   = PeriodHops * hop
	whole    = SuspectHops * hop // how long a queue has to stand until it is suspected
)

// script is one switch. It has no neighbours: a message that its system sends is recorded,
// and one that comes to it is delivered by the script. The system's messages are M.
type script[M any] struct {
	*testing.T
	*detecttest.Fabric
	*detecttest.Switch
	build func(M) []byte
	parse func([]byte) (M, error)
}

// newScript is a script with a system made by f. build makes a message's payload, and
// parse reads that of one which the system sent.
func newScript[M any](t *testing.T, f detect.Factory, build func(M) []byte, parse func([]byte) (M, error)) *script[M] {
	sc := &script[M]{T: t, Fabric: detecttest.New(f), build: build, parse: parse}
	sc.Hop = hop
	sc.Switch = sc.Fabric.Switch(5, int(detecttest.RingPorts))
	sc.FaceHosts(h)
	return sc
}

// Receive lets a message come in at in, which the system has to take.
func (sc *script[M]) Receive(in unit.Port, m M) {
	sc.Helper()
	if !sc.DeliverFrame(in, sc.build(m)) {
		sc.Errorf("%+v is refused", m)
	}
}

// Refuse lets a payload come in at in, which the system has to refuse.
func (sc *script[M]) Refuse(in unit.Port, payload []byte) {
	sc.Helper()
	if sc.DeliverFrame(in, payload) {
		sc.Errorf("%x is taken, want it refused", payload)
	}
}

// TakeMessages is what was sent since the last call, and by which ports.
func (sc *script[M]) TakeMessages() (at []unit.Port, all []M) {
	sc.Helper()
	for _, s := range sc.Sent {
		m, err := sc.parse(s.Payload)
		if err != nil {
			sc.Fatalf("sent %x: %v", s.Payload, err)
		}
		at, all = append(at, s.Port), append(all, m)
	}
	sc.Sent = nil
	return at, all
}

// TakeOne is the only message that was sent since the last call, by p.
func (sc *script[M]) TakeOne() M {
	sc.Helper()
	at, all := sc.TakeMessages()
	if !slices.Equal(at, []unit.Port{p}) {
		sc.Fatalf("sent %+v at %v, want one message at %d", all, at, p)
	}
	return all[0]
}

// WantSent checks what was sent since the last call.
func (sc *script[M]) WantSent(want ...M) {
	sc.Helper()
	if _, got := sc.TakeMessages(); !reflect.DeepEqual(got, want) {
		sc.Errorf("sent %+v, want %+v", got, want)
	}
}

// WantDone checks what was reported, done and refused since the last call.
func (sc *script[M]) WantDone(want ...string) {
	sc.Helper()
	if !slices.Equal(sc.Done, want) {
		sc.Errorf("done %q, want %q", sc.Done, want)
	}
	sc.Done = nil
}

// stateBytes is the size of a system of a switch with so many ports.
func stateBytes(f detect.Factory, ports int) int {
	return detecttest.New(f).Switch(1, ports).Detector().StateBytes()
}
