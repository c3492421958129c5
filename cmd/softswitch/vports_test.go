package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/internal/testkit"
	"softswitch/node/observe"
)

// stations are containers at the ports of what runs in a namespace, whose veths offload all they can:
//
//	st[0] "eth0" ═══ "p0" │ softswitch │ "p1" ═══ "eth0" st[1]
type stations struct {
	*bed
	in *testkit.Namespace
	st [2]*testkit.Namespace
}

func newStations(t *testing.T, programs ...string) *stations {
	t.Helper()
	s := &stations{bed: newBed(t, programs...), in: testkit.NewNamespace(t)}
	for i := range s.st {
		s.st[i] = testkit.NewNamespace(t)
		s.st[i].Veth("eth0", s.in, fmt.Sprintf("p%d", i))
		s.address(s.st[i], fmt.Sprintf("10.0.0.%d/24", i+1))
	}
	return s
}

func (s *stations) address(ns *testkit.Namespace, text string) {
	s.Helper()
	addr, err := netlink.ParseAddr(text)
	if err == nil {
		err = ns.NL.AddrAdd(ns.Link("eth0"), addr)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// within runs softswitch in a namespace until the test stops it.
func (s *stations) within(ns *testkit.Namespace, args ...string) (r *started) {
	s.Helper()
	if err := ns.Do(func() error { r = s.start(s.command(args...)); return nil }); err != nil {
		s.Fatal(err)
	}
	return r
}

// runsSwitch runs a switch with these arguments, and returns when its first two ports are up.
func (s *stations) runsSwitch(args ...string) (run *started, socket string) {
	s.Helper()
	socket = filepath.Join(s.TempDir(), "s.sock")
	run = s.within(s.in, append([]string{"run", "--control", socket}, args...)...)
	s.await("the ports to be up", func() bool {
		var w observe.Switch
		return control.Call(socket, "stats", nil, &w) == nil && w.Ports[0].Up && w.Ports[1].Up
	})
	return run, socket
}

// refused runs softswitch in the namespace of its ports, which refuses to start.
func (s *stations) refused(want string, args ...string) {
	s.Helper()
	if err := s.in.Do(func() error {
		if r := s.run(s.command(args...)); r.code != cli.ExitError || !strings.Contains(r.stderr, want) {
			s.Errorf("%v: exit status %d, said %q; want %q", args, r.code, r.stderr, want)
		}
		return nil
	}); err != nil {
		s.Fatal(err)
	}
}

// transfer sends bytes by TCP from one station to the other and wants them there, and no wrong checksum on
// the way.
func (s *stations) transfer(from, to int) {
	s.Helper()
	seed := testkit.Seed(s.T)
	random := rand.NewChaCha8([32]byte{byte(seed)})
	payload := make([]byte, 4<<20)
	random.Read(payload)
	var ln net.Listener
	var conn net.Conn
	err := s.st[to].Do(func() (err error) { ln, err = net.Listen("tcp", fmt.Sprintf("10.0.0.%d:0", to+1)); return err })
	if err != nil {
		s.Fatal(err)
	}
	defer ln.Close()
	received := make(chan []byte, 1)
	go func() {
		defer close(received)
		if conn, err := ln.Accept(); err == nil {
			defer conn.Close()
			got, _ := io.ReadAll(conn)
			received <- got
		}
	}()
	if err := s.st[from].Do(func() (err error) { conn, err = net.Dial("tcp", ln.Addr().String()); return err }); err != nil {
		s.Fatal(err)
	}
	_, err = conn.Write(payload)
	if err = errors.Join(err, conn.Close()); err != nil {
		s.Fatal(err)
	}
	if got := <-received; !bytes.Equal(got, payload) {
		s.Errorf("seed %d: %d bytes arrived, of %d, or others", seed, len(got), len(payload))
	}
	for i, ns := range s.st {
		if n := ns.WrongSums(); n != 0 {
			s.Errorf("station %d found %d wrong checksums of TCP", i, n)
		}
	}
}

// TestRunFinishesWhatStationsOffload: TCP of two containers' stacks with all offloads on goes through a
// switch; it is told once which ports' far ends offload, and counted.
func TestRunFinishesWhatStationsOffload(t *testing.T) {
	s := newStations(t, "iperf3")
	run, socket := s.runsSwitch("p0", "p1")
	s.transfer(0, 1)
	s.transfer(1, 0)
	for i, ns := range []*testkit.Namespace{s.st[1], s.st[0]} {
		if err := ns.Do(func() error {
			args := []string{"-s", "-1", "-D", "-p", "5301"}
			if i == 1 {
				args = []string{"-c", "10.0.0.2", "-p", "5301", "-n", "16M"}
			}
			if r := s.run(s.program("iperf3", args...)); r.code != 0 {
				t.Errorf("iperf3 %v: exit status %d: %s%s", args, r.code, r.stdout, r.stderr)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	r := s.run(s.command("show", "interfaces", "counters", "--socket", socket, "--json"))
	if r.code != 0 || strings.Count(r.stdout, `"offloaded": `) != 2 || strings.Contains(r.stdout, `"offloaded": 0`) {
		t.Errorf("exit status %d, counters %s", r.code, r.stdout)
	}
	run.signal(os.Interrupt)
	end := run.end()
	for _, port := range []string{"p0", "p1"} {
		if line := "switch: port " + port + ": its far end offloads"; end.code != 0 || strings.Count(end.stdout, line) != 1 {
			t.Errorf("exit status %d, want it to say %q once", end.code, line)
		}
	}
}

// TestRunTellsOfCarriers: one that goes, and one that comes back.
func TestRunTellsOfCarriers(t *testing.T) {
	s := newStations(t)
	run, _ := s.runsSwitch("p0", "p1")
	run.await("no rate is said of p0, p1: no headroom is enough")
	run.await("ports p0 (no rate limit), p1 (no rate limit)")
	s.st[1].SetDown("eth0")
	run.await("switch: port p1: its carrier is gone")
	s.st[1].SetUp("eth0")
	run.await("switch: port p1: its carrier is there")
	run.signal(os.Interrupt)
	if r := run.end(); r.code != 0 || strings.Count(r.stdout, "its carrier") != 2 {
		t.Errorf("exit status %d, want two words of a carrier", r.code)
	}
}

// TestRunTakesSlack: it says how much; a file that refuses gets none.
func TestRunTakesSlack(t *testing.T) {
	s := newStations(t)
	for more, want := range map[string]string{"": "s: this process wakes up to ", "buffer: {slack: 0}\n": ""} {
		file := filepath.Join(t.TempDir(), "s.yaml")
		text := "name: s\nid: 1\nports: [{name: p0, peer: host, rate: 100Mbit/s}, {name: p1, peer: host, rate: 100Mbit/s}]\n" + more
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		run := s.within(s.in, "run", "-c", file)
		run.await("ports p0 (100Mbit/s), p1 (100Mbit/s)")
		run.signal(os.Interrupt)
		if r := run.end(); r.code != 0 || !strings.HasPrefix(r.stdout, want) || strings.Contains(r.stdout, "slack") != (want != "") {
			t.Errorf("%q: exit status %d, want %q", more, r.code, want)
		}
	}
}

// TestRunNamesWhoIgnoresPauses: a kernel's stack sends on while it is paused, and is named once, with what is
// lost by it; behind a NIC, which heeds pauses, it is not.
func TestRunNamesWhoIgnoresPauses(t *testing.T) {
	for _, behind := range []bool{false, true} {
		t.Run(fmt.Sprintf("behind a NIC %v", behind), func(t *testing.T) { namesWhoIgnores(t, behind) })
	}
}

func namesWhoIgnores(t *testing.T, behind bool) {
	s := newStations(t)
	in := s.in
	if behind {
		in = testkit.NewNamespace(t)
		in.Veth("p0", s.in, "wire0")
		in.Veth("p1", s.in, "wire1")
		s.within(s.in, "nic", "--wire", "wire0", "--stack", "p0", "--rate", "100Mbit/s")
		s.within(s.in, "nic", "--wire", "wire1", "--stack", "p1", "--rate", "100Mbit/s")
	}
	file, socket := filepath.Join(t.TempDir(), "s.yaml"), filepath.Join(t.TempDir(), "s.sock")
	text := "name: s\nid: 1\nports: [{name: p0, peer: host, rate: 100Mbit/s}, {name: p1, peer: host, rate: 5Mbit/s}]\nbuffer: {slack: 600000}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run := s.within(in, "run", "-c", file, "--control", socket)
	var w observe.Switch
	ask := func(ok func(p *observe.Port) bool) func() bool {
		return func() bool {
			w = observe.Switch{}
			return control.Call(socket, "stats", nil, &w) == nil && ok(&w.Ports[0])
		}
	}
	s.await("the ports to be up", ask(func(p *observe.Port) bool { return p.Up && w.Ports[1].Up }))
	stop := s.flood(0, 1)
	if behind {
		s.await("a hundred repeated pauses", ask(func(p *observe.Port) bool { return p.TxRefresh[3] > 100 }))
	} else {
		run.await("s: port p0: its far end goes on sending in priority 3 while paused: 2 pauses in vain, ")
		s.await("frames lost by it", ask(func(p *observe.Port) bool { return p.UnheededLost[3] > 100 && p.TxRefresh[3] > 100 }))
	}
	stop()
	p := &w.Ports[0]
	if named := p.PausesInVain[3] > 0 && p.RxUnheeded[3] > 0; named == behind || behind && p.UnheededLost[3] > 0 {
		t.Errorf("%d pauses in vain, %d frames after them, %d lost by it", p.PausesInVain[3], p.RxUnheeded[3], p.UnheededLost[3])
	}
	r := s.run(s.command("show", "pfc", "counters", "--socket", socket))
	if r.code != 0 || strings.Contains(r.stdout, "Pauses in vain") == behind {
		t.Errorf("exit status %d, %s", r.code, r.stdout)
	}
	run.signal(os.Interrupt)
	want := map[bool]int{true: 0, false: 1}[behind]
	if r := run.end(); r.code != 0 || strings.Count(r.stdout, "while paused") != want {
		t.Errorf("exit status %d, want %d names", r.code, want)
	}
}

// flood sends datagrams of priority 3 from one station to the other, as fast as it can, until stop is called.
func (s *stations) flood(from, to int) (stop func()) {
	s.Helper()
	var to3 *net.UDPConn
	err := s.st[from].Do(func() (err error) {
		to3, err = net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(10, 0, 0, byte(to+1)), Port: 9})
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	if err := ipv4.NewConn(to3).SetTOS(26 << 2); err != nil {
		s.Fatal(err)
	}
	done := make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for b := make([]byte, 1400); ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			for range 8 { // 90 Mbit/s
				to3.Write(b) // an answer that nobody listens is no error here
			}
		}
	})
	return func() {
		close(done)
		sending.Wait()
		to3.Close()
	}
}

// nicPair has NICs take the veths of both stations, with a wire between them.
func (s *stations) nicPair() (socket string, nics [2]*started) {
	s.Helper()
	other := testkit.NewNamespace(s.T)
	s.in.Veth("wire0", other, "wire1")
	s.in.Delete("p1")
	s.st[1] = testkit.NewNamespace(s.T)
	s.st[1].Veth("eth0", other, "p1")
	s.address(s.st[1], "10.0.0.2/24")
	socket = filepath.Join(s.TempDir(), "nic.sock")
	nics[0] = s.within(s.in, "nic", "--wire", "wire0", "--stack", "p0", "--rate", "1Gbit/s", "--control", socket)
	nics[1] = s.within(other, "nic", "--wire", "wire1", "--stack", "p1", "--rate", "1Gbit/s")
	s.await("the first NIC to be up", func() bool {
		var n observe.NIC
		return control.Call(socket, "stats", nil, &n) == nil
	})
	return socket, nics
}

// TestNICTakesAVeth: a NIC serves a container by this end of its veth, which stays as it is.
func TestNICTakesAVeth(t *testing.T) {
	s := newStations(t)
	socket, nics := s.nicPair()
	s.transfer(0, 1)
	var n observe.NIC
	if err := control.Call(socket, "stats", nil, &n); err != nil {
		t.Fatal(err)
	}
	if n.Priorities[0].Sent == 0 || n.Priorities[0].Received == 0 || n.Stack.Offloaded == 0 {
		t.Errorf("priority 0: %+v; the stack's link: %+v", n.Priorities[0], n.Stack)
	}
	for _, nic := range nics {
		nic.signal(os.Interrupt)
		if r := nic.end(); r.code != 0 {
			t.Errorf("exit status %d: %s", r.code, r.stderr)
		}
	}
	if s.in.Link("p0").Attrs().RawFlags&unix.IFF_NOARP != 0 {
		t.Error("the kernel answers no ARP at the stack's interface after the end")
	}
}

// TestNICTakesATAP: one that is there, as for a guest's NIC: a program of the test has its other side.
func TestNICTakesATAP(t *testing.T) {
	s := newStations(t)
	var tap *os.File
	if err := s.in.Do(func() (err error) { tap, err = openTAP("tap-a"); return err }); err != nil {
		t.Skip(err)
	}
	defer tap.Close()
	s.in.SetUp("tap-a")
	nic := s.within(s.in, "nic", "--wire", "p0", "--stack", "tap-a")
	request := arpRequest()
	answered := make(chan error, 1)
	go func() {
		for b := make([]byte, 2048); ; {
			n, err := tap.Read(b)
			if err != nil || n >= 32 && b[20] == 0 && b[21] == 2 && bytes.Equal(b[28:32], []byte{10, 0, 0, 1}) {
				answered <- err
				return
			}
		}
	}()
	s.await("an answer to a guest's ARP request", func() bool {
		if _, err := tap.Write(request); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-answered:
			return err == nil
		default:
			return false
		}
	})
	nic.signal(os.Interrupt)
	if r := nic.end(); r.code != 0 {
		t.Errorf("exit status %d: %s", r.code, r.stderr)
	}
	s.in.Link("tap-a") // it is still there
}

// openTAP makes a TAP device and attaches to it.
func openTAP(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	return os.NewFile(uintptr(fd), name), err
}

// arpRequest asks for 10.0.0.1.
func arpRequest() []byte {
	f := make([]byte, 60)
	copy(f, []byte{
		255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1,
		2, 0, 0, 0, 0, 9, 10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1,
	})
	return f
}

// TestNICRefusesAStack: what cannot be a stack is refused with the reason, and what to do.
func TestNICRefusesAStack(t *testing.T) {
	s := newStations(t)
	attrs := func(name string) netlink.LinkAttrs { a := netlink.NewLinkAttrs(); a.Name = name; return a }
	if err := s.in.NL.LinkAdd(&netlink.Bridge{LinkAttrs: attrs("br0")}); err != nil {
		t.Fatal(err)
	}
	far := testkit.NewNamespace(t)
	for _, name := range []string{"port", "long", "lower"} {
		s.in.Veth(name, far, "far-"+name)
	}
	if err := errors.Join(
		s.in.NL.LinkSetMaster(s.in.Link("port"), s.in.Link("br0")),
		s.in.NL.LinkSetMTU(s.in.Link("long"), 9000),
		s.in.NL.AddrAdd(s.in.Link("p1"), &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(10, 9, 0, 1), Mask: net.CIDRMask(24, 32)}}),
	); err != nil {
		t.Fatal(err)
	}
	for stack, want := range map[string]string{
		"lo":   "stack lo: it is the loopback",
		"br0":  "stack br0: it is a bridge",
		"port": "ip link set dev port nomaster",
		"long": "its MTU is 9000, and frames for one of 1500 pass the wire; lower it with `ip link set dev long mtu 1500`",
		"p1":   "stack p1 has the address 10.9.0.1/24",
		"nope": `"nope": no such network interface`,
		"p0":   `stack: "p0" is the port itself`,
	} {
		s.refused(want, "nic", "--wire", "p0", "--stack", stack)
	}
	macvlan := attrs("mv")
	macvlan.ParentIndex = s.in.Link("lower").Attrs().Index
	if err := s.in.NL.LinkAdd(&netlink.Macvlan{LinkAttrs: macvlan, Mode: netlink.MACVLAN_MODE_BRIDGE}); err != nil {
		t.Logf("no macvlan is refused, as this kernel makes none: %v", err)
	} else {
		s.refused("stack mv: it is a macvlan: what is sent there goes to its lower device", "nic", "--wire", "p0", "--stack", "mv")
	}
	s.refused("without --address", "nic", "--wire", "p0", "--stack", "lower", "--address", "10.0.0.3/24")
}
