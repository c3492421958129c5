package link

import (
	"testing"

	"softswitch/internal/testkit"
)

// wire is a veth pair in two fresh network namespaces that end with the test:
//
//	namespace a, "left" ═════ veth ═════ "right", namespace b
type wire struct {
	t    testing.TB
	a, b *testkit.Namespace
}

// newWire makes a pair that is up. It needs root.
func newWire(t testing.TB) *wire {
	t.Helper()
	w := &wire{t: t, a: testkit.NewNamespace(t), b: testkit.NewNamespace(t)}
	w.addVeth()
	return w
}

func (w *wire) addVeth() { w.t.Helper(); w.a.Veth("left", w.b, "right") }

// openLeft and openRight open the two ends.
func (w *wire) openLeft(opt Options) *Packet { w.t.Helper(); return openIn(w.t, w.a, "left", opt) }

func (w *wire) openRight(opt Options) *Packet { w.t.Helper(); return openIn(w.t, w.b, "right", opt) }

// openIn opens an interface of a namespace until the test ends.
func openIn(t testing.TB, ns *testkit.Namespace, name string, opt Options) (p *Packet) {
	t.Helper()
	if err := ns.Do(func() (err error) { p, err = Open(name, opt); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}
