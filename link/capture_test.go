package link

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/gopacket/pcapgo"
	"golang.org/x/sys/unix"

	"softswitch/link/pcapng"
)

// shown is a batch as a tap's sink saw it.
type shown struct {
	dir    Direction
	at     time.Time
	frames [][]byte
}

func TestTapShowsWhatPasses(t *testing.T) {
	a, b := Pipe()
	var got []shown
	on := true
	tapped := Tap(a, func() bool { return on }, func(dir Direction, at time.Time, frames [][]byte) {
		s := shown{dir: dir, at: at}
		for _, f := range frames {
			s.frames = append(s.frames, bytes.Clone(f))
		}
		got = append(got, s)
	})

	before := time.Now()
	if n, err := tapped.Write([][]byte{numbered(1, 60), numbered(2, 60), {}}); n != 2 || err == nil {
		t.Fatalf("Write = %d, %v; want the third frame refused", n, err)
	}
	between := time.Now()
	send(t, b, numbered(3, 60))
	receive(t, tapped, 1)
	after := time.Now()

	if len(got) != 2 || got[0].dir != Out || got[1].dir != In {
		t.Fatalf("shown: %+v", got)
	}
	wantFrames(t, got[0].frames, [][]byte{numbered(1, 60), numbered(2, 60)})
	wantFrames(t, got[1].frames, [][]byte{numbered(3, 60)})
	for i, span := range [][2]time.Time{{before, between}, {between, after}} {
		if got[i].at.Before(span[0]) || got[i].at.After(span[1]) {
			t.Errorf("batch %d is of %v, want one from %v to %v", i, got[i].at, span[0], span[1])
		}
	}

	on = false
	send(t, tapped, numbered(5, 60))
	on = true
	tapped.Close()
	if _, err := tapped.Write([][]byte{numbered(4, 60)}); err == nil || len(got) != 2 {
		t.Errorf("a frame that was not sent was shown: %+v, %v", got[2:], err)
	}
}

func startCapture(t testing.TB, taps *Taps, w io.Writer, comment func([]byte) string) *Capture {
	t.Helper()
	c, err := taps.Capture(w, CaptureOptions{Comment: comment})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// capturing is taps with a capture.
func capturing(t testing.TB, w io.Writer, comment func([]byte) string) (*Taps, *Capture) {
	t.Helper()
	taps := &Taps{}
	return taps, startCapture(t, taps, w, comment)
}

func (t *Taps) tap(l Link, name string) Link { return t.Tap(l, pcapng.Interface{Name: name}) }

func closeCapture(t testing.TB, c *Capture) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCaptureOfSeveralLinks(t *testing.T) {
	var file bytes.Buffer
	taps, c := capturing(t, &file, nil)
	a, b := Pipe()
	left, right := taps.tap(a, "left"), taps.tap(b, "right")
	start := time.Now()
	send(t, left, numbered(1, 60), numbered(2, 9230))
	receive(t, right, 2)
	send(t, right, numbered(3, 61))
	receive(t, left, 1)
	closeCapture(t, c)
	end := time.Now()
	if s := c.Stats(); s != (CaptureStats{Captured: 6}) {
		t.Errorf("stats %+v", s)
	}

	r, err := pcapgo.NewNgReader(&file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	last := start.Add(-time.Millisecond) // the capture's clock and ours were read one after the other
	for i, want := range []struct {
		link  string
		frame []byte
	}{
		{"left", numbered(1, 60)},
		{"left", numbered(2, 9230)},
		{"right", numbered(1, 60)},
		{"right", numbered(2, 9230)},
		{"right", numbered(3, 61)},
		{"left", numbered(3, 61)},
	} {
		data, info, err := r.ReadPacketData()
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		ifi, err := r.Interface(info.InterfaceIndex)
		if err != nil {
			t.Fatal(err)
		}
		if ifi.Name != want.link || !bytes.Equal(data, want.frame) {
			t.Errorf("frame %d is of %s: %x", i, ifi.Name, data)
		}
		if info.Timestamp.Before(last) || info.Timestamp.After(end.Add(time.Millisecond)) {
			t.Errorf("frame %d has time %v; the one before had %v, the end was %v", i, info.Timestamp, last, end)
		}
		last = info.Timestamp
	}
}

func TestCaptureSaysMonotonicClock(t *testing.T) {
	var file bytes.Buffer
	taps, c := capturing(t, &file, nil)
	a, _ := Pipe()
	taps.tap(a, "a") // the reader wants an interface
	closeCapture(t, c)
	r, err := pcapgo.NewNgReader(&file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	var offset int64
	if _, err := fmt.Sscanf(r.SectionInfo().Comment, "CLOCK_MONOTONIC = time - %d ns", &offset); err != nil {
		t.Fatalf("comment %q: %v", r.SectionInfo().Comment, err)
	}
	var ts unix.Timespec
	before := time.Now()
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	const off = 10 * time.Millisecond // what the clock may have been set by since
	if at := time.Unix(0, ts.Nano()+offset); at.Before(before.Add(-off)) || at.After(after.Add(off)) {
		t.Errorf("by the comment it is %v, want %v to %v", at, before, after)
	}
}

// stuckFile blocks all writes but the first, the header, until released.
type stuckFile struct {
	bytes.Buffer
	writes  int
	blocked chan struct{} // closed at the first write that blocks
	release chan struct{}
}

func (f *stuckFile) Write(p []byte) (int, error) {
	if f.writes++; f.writes == 2 {
		close(f.blocked)
		<-f.release
	}
	return f.Buffer.Write(p)
}

// TestCaptureDoesNotHoldUpLinks captures to a file that hangs: frames pass, and
// those that the capture has no room for are counted and marked in the file.
func TestCaptureDoesNotHoldUpLinks(t *testing.T) {
	file := &stuckFile{blocked: make(chan struct{}), release: make(chan struct{})}
	taps, c := capturing(t, file, nil)
	release := sync.OnceFunc(func() { close(file.release) })
	t.Cleanup(release) // before the capture's own clean-up, which waits for it
	a, b := Pipe()
	tapped := taps.tap(a, "a")
	<-file.blocked

	const size, batches, batch = 1500, 100, 64
	frame := numbered(1, size)
	frames := make([][]byte, batch)
	for i := range frames {
		frames[i] = frame
	}
	for range batches {
		send(t, tapped, frames...)
		receive(t, b, batch)
	}
	const room = captureBytes / size
	want := CaptureStats{Captured: room, Missed: batches*batch - room}
	if s := c.Stats(); s != want {
		t.Errorf("stats %+v, want %+v", s, want)
	}

	release()
	closeCapture(t, c)
	r, err := pcapgo.NewNgReader(&file.Buffer, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil; n++ {
		_, _, err = r.ReadPacketData()
	}
	if n-1 != room || err != io.EOF {
		t.Errorf("the file has %d frames and ends with %v, want %d", n-1, err, room)
	}
}

var errDisk = errors.New("disk is full")

// fullDisk fails all writes but the first, the header.
type fullDisk struct{ writes int }

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.writes++; f.writes > 1 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestCaptureOnFullDisk(t *testing.T) {
	taps, c := capturing(t, &fullDisk{}, nil)
	a, b := Pipe()
	tapped := taps.tap(a, "a")
	<-c.ended // describing the interface has failed
	send(t, tapped, numbered(1, 60))
	receive(t, b, 1)
	if s := c.Stats(); s != (CaptureStats{Missed: 1}) {
		t.Errorf("stats %+v, want 1 missed", s)
	}
	if err := c.Close(); !errors.Is(err, errDisk) {
		t.Errorf("Close = %v, want the file's error", err)
	}
}

// TestCaptureOnFullDiskMissesWhatWaits: frames that wait to be written when the file fails are
// missed, those of the portion that fails and those behind it.
func TestCaptureOnFullDiskMissesWhatWaits(t *testing.T) {
	file := &dyingFile{writing: make(chan struct{}), fail: make(chan struct{})}
	taps, c := capturing(t, file, nil)
	fail := sync.OnceFunc(func() { close(file.fail) })
	t.Cleanup(fail) // before the capture's own clean-up, which waits for it
	a, b := Pipe()
	tapped := taps.tap(a, "a")
	if err := c.Sync(); err != nil {
		t.Fatal(err)
	}
	send(t, tapped, numbered(1, 60))
	receive(t, b, 1)
	if err := c.Sync(); err != nil {
		t.Fatal(err)
	}
	file.dying.Store(true)
	send(t, tapped, numbered(2, 60), numbered(3, 60))
	<-file.writing
	send(t, tapped, numbered(4, 60))
	receive(t, b, 3)
	fail()
	<-c.ended
	if s := c.Stats(); s != (CaptureStats{Captured: 1, Missed: 3}) {
		t.Errorf("stats %+v, want 1 captured and 3 missed", s)
	}
	if err := c.Close(); !errors.Is(err, errDisk) {
		t.Errorf("Close = %v, want the file's error", err)
	}
}

// dyingFile takes all writes until it is dying; one then says that it is writing, and fails at fail.
type dyingFile struct {
	dying         atomic.Bool
	writing, fail chan struct{}
}

func (f *dyingFile) Write(p []byte) (int, error) {
	if !f.dying.Load() {
		return len(p), nil
	}
	close(f.writing)
	<-f.fail
	return 0, errDisk
}

func TestLinkOutlivesCapture(t *testing.T) {
	taps, c := capturing(t, io.Discard, nil)
	a, b := Pipe()
	tapped := taps.tap(a, "a")
	closeCapture(t, c)
	closeCapture(t, c)
	send(t, tapped, numbered(1, 60))
	wantFrames(t, receive(t, b, 1), [][]byte{numbered(1, 60)})
	if s := c.Stats(); s != (CaptureStats{}) {
		t.Errorf("stats %+v, want none after Close", s)
	}
}

// TestCaptureInTshark captures a real interface and looks at it as a user does.
func TestCaptureInTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("needs tshark (Debian package tshark)")
	}
	w := newWire(t)
	path := filepath.Join(t.TempDir(), "switch.pcapng")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	taps, c := capturing(t, file, func(f []byte) string {
		if binary.BigEndian.Uint16(f[12:]) == 0x8808 {
			return "a pause"
		}
		return ""
	})
	left := taps.tap(w.openLeft(Options{}), "left")
	right := taps.tap(w.openRight(Options{}), "right")
	// Priority 3, 65535 quanta (IEEE 802.1Qbb; IEEE 802.3 annex 31D).
	pause := make([]byte, 60)
	copy(pause, "\x01\x80\xc2\x00\x00\x01\x02\x00\x00\x00\x00\x01\x88\x08\x01\x01\x00\x08\x00\x00\x00\x00\x00\x00\xff\xff")
	send(t, left, pause, tagged(numbered(1, 60), 0x8100_6001))
	receive(t, right, 2)
	closeCapture(t, c)

	cmd := exec.Command(tshark, "-r", path, "-T", "fields", "-E", "separator=|", "-e", "frame.interface_name",
		"-e", "frame.packet_flags_direction", "-e", "macc.cbfc.pause_time.c3", "-e", "vlan.priority", "-e", "frame.comment")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	want := "left|0x00000002|65535||a pause\n" +
		"left|0x00000002||3|\n" +
		"right|0x00000001|65535||a pause\n" +
		"right|0x00000001||3|\n"
	if string(got) != want {
		t.Errorf("tshark\n got %q\nwant %q", got, want)
	}
}
