package shpiner

import (
	"reflect"
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/unit"
)

// Ports of a Script's switch, which is one of a loop.
const (
	In    unit.Port = iota // comes from the switch before
	Out                    // leads to the next one
	Out2                   // leads to another next one
	Host                   // leads to a host
	Ports                  // how many there are
)

// Period is how often a Monitor samples, and Whole how long a queue has to stand
// until it is suspected.
const (
	Period = PeriodHops * HopTime
	Whole  = SuspectHops * HopTime
)

// Script is a switch of a loop in a test, with checks. Its system's messages are M.
type Script[M any] struct {
	*testing.T
	*Switch
	build func(M) []byte
	parse func([]byte) (M, error)
}

// NewScript is a script with a system made by f. build makes a message's payload, and
// parse reads that of one which the system sent.
func NewScript[M any](t *testing.T, f detect.Factory, build func(M) []byte, parse func([]byte) (M, error)) *Script[M] {
	sc := &Script[M]{t, NewSwitch(f, 5, int(Ports)), build, parse}
	sc.Hosts.Add(Host)
	return sc
}

// Pass lets time pass.
func (sc *Script[M]) Pass(d unit.Time) { sc.To(sc.now + d) }

// Receive lets a message come in at in, which the system has to take.
func (sc *Script[M]) Receive(in unit.Port, m M) {
	sc.Helper()
	if !sc.Deliver(in, sc.build(m)) {
		sc.Errorf("%+v is refused", m)
	}
}

// Refuse lets a payload come in at in, which the system has to refuse.
func (sc *Script[M]) Refuse(in unit.Port, payload []byte) {
	sc.Helper()
	if sc.Deliver(in, payload) {
		sc.Errorf("%x is taken, want it refused", payload)
	}
}

// TakeMessages is what was sent since the last call, and by which ports.
func (sc *Script[M]) TakeMessages() (at []unit.Port, all []M) {
	sc.Helper()
	for _, s := range sc.Take() {
		m, err := sc.parse([]byte(s.Payload))
		if err != nil {
			sc.Fatalf("sent %x: %v", s.Payload, err)
		}
		at, all = append(at, s.Port), append(all, m)
	}
	return at, all
}

// TakeOne is the only message that was sent since the last call, by Out.
func (sc *Script[M]) TakeOne() M {
	sc.Helper()
	at, all := sc.TakeMessages()
	if !slices.Equal(at, []unit.Port{Out}) {
		sc.Fatalf("sent %+v at %v, want one message at %d", all, at, Out)
	}
	return all[0]
}

// WantSent checks what was sent since the last call.
func (sc *Script[M]) WantSent(want ...M) {
	sc.Helper()
	if _, got := sc.TakeMessages(); !reflect.DeepEqual(got, want) {
		sc.Errorf("sent %+v, want %+v", got, want)
	}
}

// WantDone checks what was reported, done and refused since the last call.
func (sc *Script[M]) WantDone(want ...string) {
	sc.Helper()
	if !slices.Equal(sc.Done, want) {
		sc.Errorf("done %q, want %q", sc.Done, want)
	}
	sc.Done = nil
}
