package link

import (
	"bytes"
	"io"
	"testing"
	"time"

	"softswitch/internal/timer"
	"softswitch/link/pcapng"
)

// read reads all of a capture.
func read(t *testing.T, file io.Reader) (links []pcapng.Interface, frames []pcapng.Packet, stats []pcapng.Statistics) {
	t.Helper()
	err := pcapng.Read(file, func(block any) {
		switch b := block.(type) {
		case pcapng.Interface:
			links = append(links, b)
		case pcapng.Packet:
			frames = append(frames, b)
		case pcapng.Statistics:
			stats = append(stats, b)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return links, frames, stats
}

// pass sends frames by a link and takes them out at the other end.
func pass(t *testing.T, from, to Link, frames ...[]byte) {
	t.Helper()
	send(t, from, frames...)
	receive(t, to, len(frames))
}

// TestCapturesComeAndGo: each capture has what passed while it ran, and no more.
func TestCapturesComeAndGo(t *testing.T) {
	taps := &Taps{}
	a, b := Pipe()
	tapped := taps.Tap(a, pcapng.Interface{Name: "a", Description: "switch 1 port 0"})
	pass(t, tapped, b, numbered(1, 60))

	var first, second bytes.Buffer
	one := startCapture(t, taps, &first, nil)
	pass(t, tapped, b, numbered(2, 60))
	two := startCapture(t, taps, &second, nil)
	pass(t, tapped, b, numbered(3, 60))
	closeCapture(t, one)
	pass(t, b, tapped, numbered(4, 60))
	closeCapture(t, two)
	pass(t, tapped, b, numbered(5, 60))
	if taps.running.Load() != nil {
		t.Error("links are still looking for a capture")
	}

	for _, tt := range []struct {
		file *bytes.Buffer
		want [][]byte
	}{
		{&first, [][]byte{numbered(2, 60), numbered(3, 60)}},
		{&second, [][]byte{numbered(3, 60), numbered(4, 60)}},
	} {
		links, frames, stats := read(t, tt.file)
		if len(links) != 1 || links[0] != (pcapng.Interface{Name: "a", Description: "switch 1 port 0"}) {
			t.Errorf("interfaces %+v", links)
		}
		var got [][]byte
		for _, f := range frames {
			got = append(got, f.Data)
		}
		wantFrames(t, got, tt.want)
		if len(stats) != 1 || !stats[0].End || stats[0].Dropped != 0 {
			t.Errorf("statistics %+v, want those of the end", stats)
		}
	}
}

// TestLinkThatCameBack: an interface that is opened anew is still the same one in a
// capture, and one that is new is described late.
func TestLinkThatCameBack(t *testing.T) {
	var file bytes.Buffer
	taps, c := capturing(t, &file, nil)
	a, b := Pipe()
	pass(t, taps.tap(a, "a"), b, numbered(1, 60))
	a.Close()
	a, b = Pipe()
	pass(t, taps.tap(a, "a"), b, numbered(2, 60))
	a, b = Pipe()
	pass(t, taps.tap(a, "b"), b, numbered(3, 60))
	closeCapture(t, c)
	links, frames, _ := read(t, &file)
	if len(links) != 2 || len(frames) != 3 || frames[0].Interface != 0 || frames[1].Interface != 0 || frames[2].Interface != 1 {
		t.Errorf("interfaces %+v, frames %+v", links, frames)
	}
}

// TestMark: what passed before a mark stands before it, and the time stamps are
// CLOCK_MONOTONIC and the offset that was asked for.
func TestMark(t *testing.T) {
	const offset = 1 << 60
	file, out := io.Pipe()
	taps := &Taps{}
	a, b := Pipe()
	tapped := taps.tap(a, "a")
	type result struct {
		frames []pcapng.Packet
		mark   pcapng.Statistics
	}
	marked := make(chan result)
	go func() {
		defer close(marked)
		var res result
		pcapng.Read(file, func(block any) {
			switch b := block.(type) {
			case pcapng.Packet:
				res.frames = append(res.frames, b)
			case pcapng.Statistics:
				res.mark = b
				marked <- res
			}
		})
	}()
	c, err := taps.Capture(out, CaptureOptions{Offset: offset})
	if err != nil {
		t.Fatal(err)
	}
	before := int64(timer.Now())
	pass(t, tapped, b, numbered(1, 60))
	c.Mark()
	got := <-marked
	after := int64(timer.Now())
	if len(got.frames) != 1 || got.mark.End {
		t.Fatalf("before the mark: %+v; it is %+v", got.frames, got.mark)
	}
	const slack = int64(time.Millisecond)
	at, mark := got.frames[0].Time-offset, got.mark.Time-offset
	if at < before-slack || mark < at || mark > after+slack {
		t.Errorf("the frame is of %d and the mark of %d; want both in order from %d to %d", at, mark, before, after)
	}
	go func() {
		for range marked { // the statistics of the end
		}
	}()
	closeCapture(t, c)
	out.Close()
}
