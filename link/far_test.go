package link

import (
	"testing"

	"softswitch/internal/testkit"
)

// The far end of a veth is known, in this namespace and in another; that of a TAP is not.
func TestFarEnd(t *testing.T) {
	w := newWire(t)
	if err := w.b.NL.LinkSetMTU(w.b.Link("right"), 1400); err != nil {
		t.Fatal(err)
	}
	w.a.Veth("here", w.a, "there")
	k := newStack(t)
	for _, tt := range []struct {
		ns    *testkit.Namespace
		name  string
		want  Far
		known bool
	}{
		{w.a, "left", Far{"right", 1400}, true},
		{w.b, "right", Far{"left", 1500}, true},
		{w.a, "here", Far{"there", 1500}, true},
		{k.ns, "nic0", Far{}, false},
	} {
		var got Far
		var known bool
		if err := tt.ns.Do(func() (err error) { got, known, err = FarEnd(tt.name); return err }); err != nil {
			t.Fatal(err)
		}
		if got != tt.want || known != tt.known {
			t.Errorf("%s: %+v, known %v; want %+v, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
	wantError(t, w.a.Do(func() error { _, _, err := FarEnd("nosuch0"); return err }), "nosuch0")
}
