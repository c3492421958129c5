package link

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket/pcapgo"

	"softswitch/internal/testkit"
	"softswitch/pfcframe"
)

// A tcpdump on an interface sees what the link receives and what it sends, pauses
// included, in the order of the wire. The ends take turns, so that both see one order.
func TestTcpdumpSeesBothDirections(t *testing.T) {
	if _, err := exec.LookPath("tcpdump"); err != nil {
		t.Skip(err)
	}
	const frames = 10_000
	w := newWire(t)
	ends := []*Packet{w.openLeft(Options{}), w.openRight(Options{})}
	left, right := startTcpdump(t, w.a, "left", frames), startTcpdump(t, w.b, "right", frames)

	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var want [][]byte
	for len(want) < frames {
		from := r.IntN(2)
		batch := make([][]byte, 1+r.IntN(min(100, frames-len(want))))
		for i := range batch {
			batch[i] = numbered(len(want)+i, 60+r.IntN(1455))
			if r.IntN(3) == 0 {
				batch[i] = pause(len(want) + i)
			}
		}
		send(t, ends[from], batch...)
		wantFrames(t, receive(t, ends[1-from], len(batch)), batch)
		want = append(want, batch...)
	}
	wantFrames(t, left.wait(), want)
	wantFrames(t, right.wait(), want)
}

// pause is a PFC frame that is like no other.
func pause(i int) []byte {
	b := make([]byte, pfcframe.Len)
	f := pfcframe.Frame{Src: [6]byte{2, 0, 0, 0, byte(i >> 8), byte(i)}, Enable: 1 << 3}
	f.Quanta[3] = uint16(i)
	pfcframe.Put(b, f)
	return b
}

// patience bounds what a test waits for that must happen.
const patience = 30 * time.Second

// tcpdump is a tcpdump that writes a file.
type tcpdump struct {
	t    *testing.T
	cmd  *exec.Cmd
	says *os.File
	file string
}

// startTcpdump starts a tcpdump of n frames on an interface, and waits until it listens.
func startTcpdump(t *testing.T, ns *testkit.Namespace, ifname string, n int) *tcpdump {
	t.Helper()
	d := &tcpdump{t: t, file: filepath.Join(t.TempDir(), "pcap")}
	d.cmd = exec.Command("tcpdump", "-i", ifname, "-n", "-p", "-B", "65536", "-c", strconv.Itoa(n), "-Z", "root", "-w", d.file)
	says, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	d.says, d.cmd.Stderr = says, to
	if err := ns.Do(d.cmd.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.cmd.Process.Kill()
		d.cmd.Wait()
		says.Close()
	})
	var said []byte
	for b := make([]byte, 1); !bytes.Contains(said, []byte("listening on")); said = append(said, b...) {
		if _, err := says.Read(b); err != nil {
			t.Fatalf("tcpdump: %v: %s", err, said)
		}
	}
	return d
}

// wait returns the frames that tcpdump saw, once these are all or patience ends.
func (d *tcpdump) wait() (frames [][]byte) {
	d.t.Helper()
	giveUp := time.AfterFunc(patience, func() { d.cmd.Process.Signal(os.Interrupt) })
	defer giveUp.Stop()
	said, _ := io.ReadAll(d.says)
	if err := d.cmd.Wait(); err != nil {
		d.t.Fatal(err)
	}
	if !strings.Contains(string(said), "\n0 packets dropped by kernel") {
		d.t.Errorf("tcpdump has missed frames:%s", said)
	}
	f, err := os.Open(d.file)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	in, err := pcapgo.NewReader(f)
	if err != nil {
		d.t.Fatal(err)
	}
	for {
		frame, _, err := in.ReadPacketData()
		if err == io.EOF {
			break
		}
		if err != nil {
			d.t.Fatalf("after %d frames: %v", len(frames), err)
		}
		frames = append(frames, frame)
	}
	return frames
}
