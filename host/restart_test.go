package host

import (
	"fmt"
	"testing"
)

// A host that is restarted begins its connections anew, and they work: whichever end it was, however
// far the connection had come, and whether a message ends often or seldom. Nothing that arrived is
// said to be lost.
func TestRestartOfAnEndOfAConnection(t *testing.T) {
	for _, end := range []string{"sender", "receiver"} {
		for _, long := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", end, long), func(t *testing.T) {
				f := connection(3, 10_000, 0)
				if long { // a restart is in the midst of the only message under way
					f.RC.Message, f.RC.Window = 300_000, 1
				}
				p := connect(t, f)
				for restarts := range 4 {
					p.run(100*ms + 3*us)
					before := p.messages(0)
					if before.Done == 0 || before.Failed {
						t.Fatalf("before restart %d: %+v", restarts, before)
					}
					p.flying = nil
					if end == "sender" {
						p.a = p.a.anew()
					} else {
						p.b = p.b.anew()
					}
					since := p.messages(0).Done
					p.run(100 * ms)
					if after := p.messages(0); after.Done == since || after.Failed {
						t.Fatalf("after restart %d %d messages are done, gave up: %v: %+v; the responder: %+v",
							restarts, after.Done-since, after.Failed, after, p.b.peers[0].resp.Count)
					}
				}
				// What flew when an end ended is lost, at most a window; in a sender's life before, too.
				if r := p.b.Receivers()[0]; r.Lost > 4*4*10 {
					t.Errorf("%d frames are said to be lost: %+v", r.Lost, r)
				}
			})
		}
	}
}

// The first packet of the life that follows is lost, too.
func TestRestartWithLoss(t *testing.T) {
	for _, end := range []string{"sender", "receiver"} {
		t.Run(end, func(t *testing.T) {
			p := connect(t, connection(3, 10_000, 0))
			p.run(100 * ms)
			p.flying = nil
			if end == "sender" {
				p.a = p.a.anew()
			} else {
				p.b = p.b.anew()
			}
			left := 3
			p.lose = func([]byte) bool { left--; return left >= 0 }
			since := p.messages(0).Done
			p.run(100 * ms)
			if after := p.messages(0); after.Done == since || after.Failed {
				t.Errorf("%d messages are done: %+v; the responder: %+v", after.Done-since, after, p.b.peers[0].resp.Count)
			}
		})
	}
}

// anew is a host in the place of this one, which is no more.
func (h *testHost) anew() *testHost {
	h.t.Helper()
	m, err := New(h.cfg)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Host = m
	h.out = nil
	h.link(true)
	h.Start(h.now)
	return h
}
