package live

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"softswitch/internal/ether"
	"softswitch/link"
	"softswitch/node/observe"
	"softswitch/unit"
)

// These tests run the program itself, `softswitch run`, on veths.

func TestRunForwards(t *testing.T) {
	l := newLab(t)
	l.runSwitch("")
	fars := [2]link.Link{l.openFar(0), l.openFar(1)}
	l.wantForwarding(fars, 0, 1_000_000) // both stations are learnt
	l.wantForwarding(fars, 1, 1_000_001)
	for from := range 2 {
		const frames = 500
		var batch [][]byte
		for n := range uint64(frames) {
			batch = append(batch, frame(unit.Port(from), unit.Port(1-from), n, true))
		}
		if n, err := fars[from].Write(batch); err != nil {
			t.Fatalf("wrote %d frames: %v", n, err)
		}
		var got [][]byte
		for len(got) < frames {
			f, err := readFrames(fars[1-from], 1)
			if err != nil {
				t.Fatalf("from port %d: %d of %d frames came: %v", from, len(got), frames, err)
			}
			if number(f[0]) < frames { // not one of before
				got = append(got, f[0])
			}
		}
		wantNumbers(t, fmt.Sprintf("from port %d", from), got, 0)
	}
}

func TestRunKeepsTheVLANTag(t *testing.T) {
	l := newLab(t)
	p := l.runSwitch("trust: pcp")
	fars := [2]link.Link{l.openFar(0), l.openFar(1)}
	l.wantForwarding(fars, 0, 1)
	l.wantForwarding(fars, 1, 2)
	plain := frame(0, 1, 3, false)
	tagged := append(append(append([]byte{}, plain[:12]...), 0x81, 0x00, 4<<5, 42), plain[12:]...)
	if _, err := fars[0].Write([][]byte{tagged}); err != nil {
		t.Fatal(err)
	}
	for {
		f, err := readFrames(fars[1], 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(f[0]) != len(tagged) {
			continue // one of before
		}
		if string(f[0]) != string(tagged) {
			t.Errorf("the tagged frame came as\n%x, was sent as\n%x", f[0], tagged)
		}
		break
	}
	s := p.awaitStats("the frame to be counted", func(s observe.Switch) bool { return s.Ports[1].TxFrames[4] == 1 })
	if s.Ports[0].RxFrames[4] != 1 {
		t.Errorf("the frame with priority 4 was received in %v", s.Ports[0].RxFrames)
	}
}

func TestRunHonoursPause(t *testing.T) {
	l := newLab(t)
	p := l.runSwitch("ports: [{name: p0, peer: switch}, {name: p1, peer: switch, rate: 1Mbit/s}]") // a pause of 65535 quanta is 33 s
	fars := [2]link.Link{l.openFar(0), l.openFar(1)}
	write := func(far int, f []byte) {
		t.Helper()
		if _, err := fars[far].Write([][]byte{f}); err != nil {
			t.Fatal(err)
		}
	}
	write(1, pfc(65535))
	p.awaitStats("the pause", func(s observe.Switch) bool { return s.Ports[1].Paused[3] })
	write(0, frame(0, 1, 1, true))
	write(0, frame(0, 1, 2, false))
	got, err := readFrames(fars[1], 1)
	if err != nil || number(got[0]) != 2 {
		t.Fatalf("frame %x left first, %v; want that of the priority that is not paused", got, err)
	}
	p.awaitStats("the frame to wait", func(s observe.Switch) bool { return s.Ports[1].Queue[3].Bytes == 80 })
	write(1, pfc(0))
	got, err = readFrames(fars[1], 1)
	if err != nil || number(got[0]) != 1 {
		t.Fatalf("frame %x left after the resume, %v; want the one that was held", got, err)
	}
}

// fill pauses port 1 for 33 s, at 1 Mbit/s, and sends it 100 frames of 80 bytes by port 0: however slowly
// they come, they wait.
func (p *program) fill(fars [2]link.Link) {
	p.t.Helper()
	if _, err := fars[1].Write([][]byte{pfc(65535)}); err != nil {
		p.t.Fatal(err)
	}
	p.awaitStats("port 1 to be paused", func(s observe.Switch) bool { return s.Ports[1].Paused[3] })
	for n := range uint64(100) {
		if _, err := fars[0].Write([][]byte{frame(0, 1, n, true)}); err != nil {
			p.t.Fatal(err)
		}
	}
}

func TestRunPausesItsSender(t *testing.T) {
	l := newLab(t)
	p := l.runSwitch("ports: [{name: p0, peer: switch}, {name: p1, peer: switch, rate: 1Mbit/s}]\nbuffer: {static_th: 4000, size: 1000, xon_offset: 2000, xoff: 20000, pool: 100000}")
	fars := [2]link.Link{l.openFar(0), l.openFar(1)}
	p.fill(fars)
	bufs := [][]byte{make([]byte, 0, 2048)}
	giveUp := time.AfterFunc(patience, func() { fars[0].Close() })
	defer giveUp.Stop()
	for quanta, want := uint16(0), uint16(65535); ; { // the pause, then refreshes, then the resume
		if n, err := fars[0].Read(bufs); err != nil || n != 1 {
			t.Fatalf("no PFC frame with %d quanta came: %v", want, err)
		}
		if b := bufs[0]; binary.BigEndian.Uint16(b[12:]) == 0x8808 {
			quanta = binary.BigEndian.Uint16(b[18+2*3:])
		}
		if quanta == 65535 && want == 65535 {
			want = 0
			if _, err := fars[1].Write([][]byte{pfc(0)}); err != nil {
				t.Fatal(err)
			}
		}
		if quanta == 0 && want == 0 {
			break
		}
	}
	frames, err := readFrames(fars[1], 100)
	if err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, "frames behind the pause", frames, 0)
	if s := p.awaitStats("the end", func(s observe.Switch) bool { return s.Ports[1].Queue[3].Bytes == 0 }); s.LosslessLost != 0 {
		t.Errorf("%d lossless frames lost", s.LosslessLost)
	}
}

func TestRunSurvivesADeletedPort(t *testing.T) {
	l := newLab(t)
	p := l.runSwitch("")
	far1 := l.openFar(1)
	for i := range uint64(5) {
		l.in.Delete("p0") // and so its far end
		p.awaitStats("port 0 to be down", func(s observe.Switch) bool { return !s.Ports[0].Up })
		l.addVeth(0)
		p.awaitStats("port 0 to be up again", func(s observe.Switch) bool { return s.Ports[0].Up })
		fars := [2]link.Link{l.openFar(0), far1}
		l.wantForwarding(fars, 0, 10*i+1)
		l.wantForwarding(fars, 1, 10*i+2)
	}
}

func TestRunSurvivesFlaps(t *testing.T) {
	l := newLab(t)
	p := l.runSwitch("")
	fars := [2]link.Link{l.openFar(0), l.openFar(1)}
	for i := range uint64(3) {
		for range 100 { // faster than the switch may follow
			l.in.SetDown("p0")
			l.in.SetUp("p0")
			l.out.SetDown("f1")
			l.out.SetUp("f1")
		}
		p.awaitStats("both links to be up", func(s observe.Switch) bool { return s.Ports[0].Up && s.Ports[1].Up })
		l.wantForwarding(fars, 0, 10*i+1)
		l.wantForwarding(fars, 1, 10*i+2)
	}
}

func TestRunEndsOnSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		withinASecond(t, func() time.Duration {
			l := newLab(t)
			p := l.runSwitch("ports: [{name: p0, peer: switch, rate: 100Mbit/s}, {name: p1, peer: switch, rate: 100Mbit/s}]\nbuffer: {slack: 0}")
			begin := time.Now()
			if err := p.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			code, said := p.exit()
			took := time.Since(begin)
			said = strings.TrimPrefix(said, "s: detector none, response none, lossless priorities [3 4]; ports p0 (100Mbit/s), p1 (100Mbit/s)\n")
			if code != 0 || said != "" {
				t.Errorf("%v: exit status %d, said %q; want 0, and nothing but what it runs", sig, code, said)
			}
			if _, err := os.Lstat(p.control); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%v: the control socket was left: %v", sig, err)
			}
			l.runSwitch("") // and another may run at once
			return took
		})
	}
}

func TestRunRefusesAPortInUse(t *testing.T) {
	l := newLab(t)
	p := l.runSwitch("")
	code, said := l.run("run", "p1").exit()
	if code != 2 || !strings.Contains(said, "port p1: another softswitch runs on this interface") {
		t.Errorf("a second switch on p1: exit status %d, said %q; want 2 and the reason", code, said)
	}
	p.awaitStats("the first switch to run on", func(s observe.Switch) bool { return s.Ports[1].Up })
}

// A far end in another namespace, with an MTU below the port's, would lose frames.
func TestRunRefusesAShorterFarEnd(t *testing.T) {
	l := newLab(t)
	if err := l.out.NL.LinkSetMTU(l.out.Link("f1"), 1400); err != nil {
		t.Fatal(err)
	}
	code, said := l.run("run", "p0", "p1").exit()
	if code != 2 || !strings.Contains(said, "port p1: its far end, f1, has an MTU of 1400 and would lose frames for one of 1500") {
		t.Errorf("exit status %d, said %q; want 2 and the reason", code, said)
	}
	if err := l.in.NL.LinkSetMTU(l.in.Link("p1"), 1400); err != nil {
		t.Fatal(err)
	}
	l.runSwitch("") // neither end sends longer ones
}

func TestRunNamesAnUnknownInterface(t *testing.T) {
	l := newLab(t)
	code, said := l.run("run", "p0", "nothing").exit()
	if code != 2 || !strings.Contains(said, `"nothing"`) || !strings.Contains(said, "p0, p1") && !strings.Contains(said, "p1, p0") {
		t.Errorf("exit status %d, said %q; want 2, the interface and those that there are", code, said)
	}
}

// TestRunNeedsRoot needs none itself: as root it runs the program as nobody.
func TestRunNeedsRoot(t *testing.T) {
	cmd := exec.Command(softswitch(t), "run", "lo")
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(string(out), "needs CAP_NET_RAW, run with sudo") {
		t.Errorf("without root: exit status %d (%v), said %q; want 2 and what is missing", code, err, out)
	}
}

// watch runs watchNetlink in the switch's namespace until the test ends. The states
// that it tells are taken one by one: while nobody does, it waits.
func (l *lab) watch(names ...string) (next func() LinkState) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	states := make(chan LinkState)
	ended := make(chan error, 1)
	go func() {
		if err := l.in.Enter(); err != nil {
			ended <- err
			return
		}
		ended <- watchNetlink(ctx, here, names, func(s LinkState) {
			select {
			case states <- s:
			case <-ctx.Done():
			}
		})
	}()
	l.t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			l.t.Errorf("watchNetlink: %v, want %v", err, context.Canceled)
		}
	})
	return func() LinkState {
		l.t.Helper()
		select {
		case s := <-states:
			return s
		case err := <-ended:
			ended <- err
			l.t.Fatalf("watchNetlink ended: %v", err)
		case <-time.After(patience):
			l.t.Fatal("no news of links")
		}
		panic("unreachable")
	}
}

// A burst of link changes that netlink's queue does not hold is caught up with.
func TestWatchCatchesUp(t *testing.T) {
	l := newLab(t)
	next := l.watch("p0", "p1", "ghost")
	if s := next(); s != (LinkState{Name: "ghost"}) {
		t.Errorf("first news: %+v; want that there is no ghost", s)
	}
	if s := next(); s.Index == 0 || !s.Running || s.MAC == 0 {
		t.Errorf("second news: %+v; want a link that runs", s)
	}
	// Far more than the queue's 212,992 bytes hold, at over 700 bytes a message.
	for range 2000 {
		l.in.SetDown("p1")
		l.in.SetUp("p1")
	}
	l.in.Delete("p1")
	for s := next(); s.Name != "p1" || s.Index != 0; s = next() {
	}
	l.addVeth(1)
	for s := next(); s.Name != "p1" || !s.Running; s = next() {
	}
}

// An interface that leaves a bridge is deleted as the bridge's port, not as an
// interface.
func TestWatchIsNotMisledByBridges(t *testing.T) {
	l := newLab(t)
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "br"
	bridge := &netlink.Bridge{LinkAttrs: attrs}
	if err := l.in.NL.LinkAdd(bridge); err != nil {
		t.Skipf("needs the kernel's bridge: %v", err)
	}
	p0 := l.in.Link("p0")
	next := l.watch("p0", "p1")
	next()
	next()
	if err := errors.Join(l.in.NL.LinkSetMaster(p0, bridge), l.in.NL.LinkSetNoMaster(p0)); err != nil {
		t.Fatal(err)
	}
	l.in.Delete("p1") // is heard after all that
	for s := next(); s.Name != "p1" || s.Index != 0; s = next() {
		if s.Name == "p0" && s.Index == 0 {
			t.Errorf("%s counts as gone since it left a bridge", s.Name)
		}
	}
}

// The switch takes its ports' addresses from their interfaces.
func TestWatchTellsTheAddress(t *testing.T) {
	l := newLab(t)
	p := l.runSwitch("ports: [{name: p0, peer: switch}, {name: p1, peer: switch, rate: 1Mbit/s}]\nbuffer: {static_th: 4000, size: 1000, xon_offset: 2000, xoff: 20000, pool: 100000}")
	p0 := l.in.Link("p0")
	far := l.openFar(0)
	p.fill([2]link.Link{far, l.openFar(1)}) // makes the switch send a pause
	giveUp := time.AfterFunc(patience, func() { far.Close() })
	defer giveUp.Stop()
	bufs := [][]byte{make([]byte, 0, 2048)}
	if n, err := far.Read(bufs); err != nil || n != 1 {
		t.Fatalf("no pause came: %v", err)
	}
	if got, want := ether.Src(bufs[0]), ether.ReadMAC(p0.Attrs().HardwareAddr); got != want {
		t.Errorf("the pause comes from %v, want %v, the interface's address", got, want)
	}
}
