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

// TestLostBeforeTheRun: what a link had lost before the run is not said of the run, and hides nothing that
// the run loses, whatever is under way when the run begins.
func TestLostBeforeTheRun(t *testing.T) {
	for _, c := range []struct {
		sent, came uint64 // before the run
		late       uint64 // of those that came, how many were under way at the first look
		lost       uint64 // in the run
		want       []string
	}{
		{sent: 100, came: 98},
		{sent: 100, came: 98, lost: 3, want: []string{"3 frames from s1 to s2 were lost between them"}},
		{sent: 100, came: 98, late: 5, lost: 3, want: []string{"3 frames from s1 to s2 were lost between them"}},
		{sent: 100, came: 100, late: 5, lost: 3, want: []string{"3 frames from s1 to s2 were lost between them"}},
		{sent: 10, came: 900, lost: 3, want: []string{"3 frames from s1 to s2 were lost between them"}}, // s1 began anew
	} {
		t.Setenv(netnslab.RunDirVariable, t.TempDir())
		st := &netnslab.State{Name: "x"}
		var looks, sent, came atomic.Uint64
		sent.Store(c.sent)
		came.Store(c.came)
		answering(t, st, "s1", func() (p observe.Port) { p.TxResume[3] = sent.Load(); return p })
		answering(t, st, "s2", func() (p observe.Port) {
			if p.RxResume[3] = came.Load(); looks.Add(1) == 1 {
				p.RxResume[3] -= c.late
			}
			return p
		})
		a, b := scenario.LinkEnd{Name: "s1", Iface: "p"}, scenario.LinkEnd{Name: "s2", Iface: "p"}
		r := &Run{lostBefore: map[scenario.LinkEnd]int64{}}
		r.countTunnel(st, a, b)
		sent.Add(1000)
		came.Add(1000 - c.lost)
		if r.doubtTunnel(st, a, b); !slices.Equal(r.Invalid, c.want) {
			t.Errorf("%+v: %q", c, r.Invalid)
		}
	}
}
