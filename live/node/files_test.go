package node

import (
	"errors"
	"slices"
	"testing"

	"softswitch/event"
	"softswitch/link"
	"softswitch/live/record"
	"softswitch/live/replay"
)

// fullDisk is a file that cannot be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A recording that cannot be written is a problem of the node while it runs, not only at its end.
func TestProblemsTellOfTheRecording(t *testing.T) {
	sw := onePort(t)
	rec := record.New(sw, fullDisk{}, replay.Header{Kind: replay.Switch}, event.Node{})
	rec.Close() // what there is has been tried to be written
	n := runOn(t, sw, func() link.Link { near, _ := link.Pipe(); return near })
	f := files{recording: rec}
	if got, want := f.live(n, 0).Problems, []string{"recording: no space left"}; !slices.Equal(got, want) {
		t.Errorf("problems %q, want %q", got, want)
	}
}
