package link

import "time"

// Direction is a frame's direction as its link sees it.
type Direction uint8

// Directions.
const (
	In  Direction = iota + 1 // received
	Out                      // sent
)

// Tap returns a link that is l and, while on returns true, shows each batch of frames
// to sink: those that Read delivers, with the time when they were read, and those that
// Write has sent, with the time just before (so that on one machine a frame is sent
// before it arrives). Frames that Write refused are not shown.
//
// sink is called by the goroutine of Read or of Write, before they return, so possibly
// by two at once. It must neither change nor keep the frames, and should be quick.
//
// on is called for each batch, possibly from two goroutines at once.
func Tap(l Link, on func() bool, sink func(dir Direction, at time.Time, frames [][]byte)) Link {
	return &tap{Link: l, on: on, sink: sink}
}

type tap struct {
	Link
	on   func() bool
	sink func(dir Direction, at time.Time, frames [][]byte)
}

func (t *tap) Read(bufs [][]byte) (int, error) {
	n, err := t.Link.Read(bufs)
	if n > 0 && t.on() {
		t.sink(In, time.Now(), bufs[:n])
	}
	return n, err
}

// Poll implements Poller if the link that is tapped does.
func (t *tap) Poll(bufs [][]byte) int {
	n := t.Link.(Poller).Poll(bufs)
	if n > 0 && t.on() {
		t.sink(In, time.Now(), bufs[:n])
	}
	return n
}

// Hear implements Hearer if the link that is tapped does; another one has heard from the beginning.
func (t *tap) Hear() error {
	if l, ok := t.Link.(Hearer); ok {
		return l.Hear()
	}
	return nil
}

func (t *tap) Write(frames [][]byte) (int, error) {
	if !t.on() {
		return t.Link.Write(frames)
	}
	at := time.Now()
	n, err := t.Link.Write(frames)
	if n > 0 {
		t.sink(Out, at, frames[:n])
	}
	return n, err
}
