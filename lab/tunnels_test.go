package lab

import (
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"softswitch/internal/control"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
	"softswitch/scenario"
)

// answering serves the counters of a switch's one port, port, as they are at that moment.
func answering(t *testing.T, st *netnslab.State, name string, port func() observe.Port) {
	t.Helper()
	s, err := control.Listen(filepath.Join(netnslab.Dir(st.Name), name, ControlName))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(func(control.Request) (any, error) {
			p := port()
			p.Name = "p"
			return observe.Switch{Name: name, Ports: []observe.Port{p}}, nil
		})
	}()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
}

// TestLostInATunnel: what a link of an attached lab has lost makes the run not valid, also
// while more is sent all the time; what is only under way does not.
func TestLostInATunnel(t *testing.T) {
	for _, c := range []struct {
		sent, came, more uint64 // more is sent, and comes, at each look at the sender
		want             []string
	}{
		{sent: 1000, came: 1000},
		{sent: 1000, came: 1000, more: 5},
		{sent: 1000, came: 993, want: []string{"7 frames from s1 to s2 were lost between them"}},
		{sent: 1000, came: 900, more: 5, want: []string{"100 frames from s1 to s2 were lost between them"}},
		{sent: 1000, came: 1003}, // somebody else sends too
	} {
		t.Setenv(netnslab.RunDirVariable, t.TempDir())
		st := &netnslab.State{Name: "x"}
		var moved atomic.Uint64
		answering(t, st, "s1", func() (p observe.Port) {
			p.TxFrames[3], p.TxPause[3], p.Messages[1] = c.sent-10+moved.Add(c.more), 6, 4
			return p
		})
		answering(t, st, "s2", func() (p observe.Port) {
			p.RxFrames[3], p.RxPause[3], p.Messages[0] = c.came-10+moved.Load(), 6, 4
			return p
		})
		r := &Run{}
		r.doubtTunnel(st, scenario.LinkEnd{Name: "s1", Iface: "p"}, scenario.LinkEnd{Name: "s2", Iface: "p"})
		if !slices.Equal(r.Invalid, c.want) {
			t.Errorf("%d sent, %d came: %q, want %q", c.sent, c.came, r.Invalid, c.want)
		}
	}
}
