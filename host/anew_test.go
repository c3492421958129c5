package host

import (
	"testing"

	"softswitch/pfcframe"
	"softswitch/unit"
)

// A host that is started in the place of one that stormed lets its switch go in every lossless
// priority, before it sends anything else, and once.
func TestHostThatBeginsAnewLetsGo(t *testing.T) {
	h := newTestHost(t, testConfig(flow(1, 3, 0)))
	anew, err := New(h.cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.Host = anew
	h.link(true)
	h.Start(h.now)
	h.run(ms)
	sent := h.take()
	for i, c := range []unit.Priority{3, 4} {
		pf, _, err := pfcframe.Parse(sent[i].data)
		if err != nil || pf.Enable != 1<<c || pf.Quanta[c] != 0 || sent[i].at != unit.Second+unit.Time(i)*h.cfg.Rate.FrameTime(pfcframe.Len) {
			t.Errorf("frame %d at %d: %x, want a resume of priority %d", i, sent[i].at, sent[i].data[:24], c)
		}
	}
	h.link(false)
	h.link(true)
	if n := h.nics[0].count.TxResume; n[3] != 1 || n[4] != 1 {
		t.Errorf("resumes by priority, when its link is back: %v", n)
	}
}
