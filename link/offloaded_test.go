package link

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/link/gso"
)

// guest sends as a guest with virtio does: behind a header that says what is left to do.
type guest struct {
	t  testing.TB
	fd int
}

// newGuest sends by an interface of a namespace until the test ends.
func newGuest(t testing.TB, ns *testkit.Namespace, name string) *guest {
	t.Helper()
	g := &guest{t: t}
	if err := ns.Do(func() (err error) {
		if g.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		if err := unix.SetsockoptInt(g.fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1); err != nil {
			return err
		}
		ifi, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		return unix.Bind(g.fd, &unix.SockaddrLinklayer{Ifindex: ifi.Index})
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(g.fd) })
	return g
}

// virtio is struct virtio_net_hdr.
func virtio(flags, kind uint8, headers, size, sumStart, sumOffset int) []byte {
	h := []byte{flags, kind}
	for _, n := range []int{headers, size, sumStart, sumOffset} {
		h = binary.NativeEndian.AppendUint16(h, uint16(n))
	}
	return h
}

func (g *guest) send(header, frame []byte) {
	g.t.Helper()
	if _, err := unix.Write(g.fd, append(bytes.Clone(header), frame...)); err != nil {
		g.t.Fatalf("%d bytes behind the header %x: %v", len(frame), header, err)
	}
}

// whole sends a frame as it is.
func (g *guest) whole(frame []byte) { g.t.Helper(); g.send(make([]byte, gso.HeaderLen), frame) }

// unfinished sends a frame that has right checksums with that of TCP left to do. A tag moves what is
// behind it.
func (g *guest) unfinished(frame []byte) {
	g.t.Helper()
	at := 34
	if frame[12] == 0x81 {
		at += tagBytes
	}
	f := bytes.Clone(frame)
	pseudo := ether.Fold(ether.Sum(uint64(len(f)-at)+ether.ProtoTCP, f[at-8:at]))
	binary.BigEndian.PutUint16(f[at+16:], pseudo)
	g.send(virtio(1, 0, 0, 0, at, 16), f)
}

// joined sends frames that follow one another as one.
func (g *guest) joined(frames [][]byte) {
	g.t.Helper()
	var j gso.Joiner
	n, head, skip := j.Join(frames)
	if n != len(frames) {
		g.t.Fatalf("%d of %d frames are one", n, len(frames))
	}
	b := bytes.Clone(head)
	for _, f := range frames {
		b = append(b, f[skip:]...)
	}
	g.send(b[:gso.HeaderLen], b[gso.HeaderLen:])
}

// stream is n frames of a TCP connection that follow one another, with numbers of IPv4 that do too.
func stream(n, payload int) (frames [][]byte) {
	for i := range n {
		f := tcpFrame(uint32(i*payload), bytes.Repeat([]byte{byte(i)}, payload))
		p := f[14:34]
		ether.SetID(p, uint16(i))
		p[10], p[11] = 0, 0
		binary.BigEndian.PutUint16(p[10:], ether.Checksum(p))
		frames = append(frames, f)
	}
	return frames
}

// datagrams is stream for UDP, and what a sender leaves to be cut into them.
func datagrams(n, payload int) (frames [][]byte, segment []byte) {
	one := func(i, bytes int) []byte {
		f := tcpFrame(0, make([]byte, bytes-12))[:42+bytes]
		p := f[14:34]
		p[9] = ether.ProtoUDP
		ether.SetID(p, uint16(i))
		p[10], p[11] = 0, 0
		binary.BigEndian.PutUint16(p[10:], ether.Checksum(p))
		u := f[34:]
		copy(u, []byte{0, 7, 0, 7, byte(len(u) >> 8), byte(len(u)), 0, 0})
		for j := range u[8:] {
			u[8+j] = byte(i + j/payload)
		}
		return f
	}
	sum := func(f []byte) uint64 { return ether.Sum(uint64(len(f)-34)+ether.ProtoUDP, f[26:34]) }
	for i := range n {
		f := one(i, payload)
		binary.BigEndian.PutUint16(f[40:], ^ether.Fold(ether.Sum(sum(f), f[34:])))
		frames = append(frames, f)
	}
	segment = one(0, n*payload)
	binary.BigEndian.PutUint16(segment[40:], ether.Fold(sum(segment)))
	return frames, segment
}

// What a guest leaves to a NIC comes finished and cut, in order among its other frames, and is counted
// and told once.
func TestOffloadedFramesAreFinished(t *testing.T) {
	for _, polled := range []bool{false, true} {
		w := newWire(t)
		g := newGuest(t, w.a, "left")
		told := 0
		right := w.openRight(Options{Polled: polled, Offload: func() { told++ }})
		take := receive
		if polled {
			take = func(t testing.TB, l Link, n int) [][]byte { return poll(t, l.(*Packet), n) }
		}
		long := stream(40, 1400)
		short := stream(3, 300) // as one, it fits a slot
		udp, segment := datagrams(20, 1200)
		tag := func(f []byte) []byte { return tagged(f, 0x8100_6001) }
		want := [][]byte{numbered(1, 60)}
		g.whole(want[0])
		want = append(want, long...)
		g.joined(long)
		want = append(want, tcpFrame(9, []byte("odd")), tag(tcpFrame(9, []byte("tagged"))))
		g.unfinished(want[len(want)-2])
		g.unfinished(want[len(want)-1])
		want = append(want, short...)
		g.joined(short)
		want = append(want, udp...)
		g.send(virtio(1, 5, 42, 1200, 34, 6), segment)
		var tags [][]byte
		for _, f := range long {
			tags = append(tags, tag(f))
		}
		want = append(want, tags...)
		g.joined(tags)
		want = append(want, numbered(2, 60))
		g.whole(want[len(want)-1])

		wantFrames(t, take(t, right, len(want)), want)
		if s := counts(right); s != (Stats{Received: uint64(len(want)), Offloaded: 6}) || told != 1 {
			t.Errorf("polled %v: stats %+v, told %d times; want %d received, 6 offloaded, told once", polled, s, told, len(want))
		}
	}
}

// Segments and frames of any length and in any order, taken in batches of any size.
func TestOffloadedFramesOfAnyLength(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	w := newWire(t)
	g, right := newGuest(t, w.a, "left"), w.openRight(Options{})
	for range 100 {
		var want [][]byte
		for range 1 + r.IntN(5) {
			fs := stream(2+r.IntN(30), 100+r.IntN(1300))
			switch r.IntN(3) {
			case 0:
				fs = fs[:1]
				g.whole(fs[0])
			case 1:
				fs = fs[:1]
				g.unfinished(fs[0])
			default:
				g.joined(fs)
			}
			want = append(want, fs...)
		}
		for got := 0; got < len(want); {
			bufs := frameBuffers(1+r.IntN(40), 1518)
			n, err := right.Read(bufs)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			t.Logf("seed %d: frames %d to %d", seed, got, got+n)
			wantFrames(t, bufs[:n], want[got:got+n])
			got += n
		}
	}
}

// The kernel keeps what is longer than a slot within a bound, and what is beyond it is counted; an
// interface that goes down meanwhile is told as ever.
func TestLongFramesBeyondTheBound(t *testing.T) {
	w := newWire(t)
	g, right := newGuest(t, w.a, "left"), w.openRight(Options{})
	segment := stream(40, 1400)
	const sent = 300 // of 56 KB
	for range sent {
		g.joined(segment)
	}
	g.whole(numbered(1, 60))
	w.b.SetDown("right")
	got := 0
	for {
		bufs := frameBuffers(64, 1518)
		n, err := right.Read(bufs)
		if err != nil {
			if err != ErrDown {
				t.Fatal(err)
			}
			break
		}
		got += n
	}
	s := right.Stats()
	if s.Truncated == 0 || s.Offloaded == 0 || got != 40*int(s.Offloaded)+1 || s.Offloaded+s.Truncated != sent {
		t.Errorf("%d frames came of %d segments of 40 and a frame: %+v", got, sent, s)
	}
}

// A program's TCP with all offloads of a veth on arrives over two links that relay it, byte for byte.
//
//	program ── "nic0" ═══ right ──▶ right ═══ "nic0" ── program
func TestTCPOfAVethWithOffloads(t *testing.T) {
	var ends [2]*stack
	var links [2]*Packet
	for i := range ends {
		w := &wire{t: t, a: testkit.NewNamespace(t), b: testkit.NewNamespace(t)}
		w.a.Veth("nic0", w.b, "right")
		ends[i] = &stack{t: t, ns: w.a}
		ends[i].address(fmt.Sprintf("10.9.0.%d", i+1))
		links[i] = w.openRight(Options{})
	}
	near, far := links[0], links[1]
	longest := relay(t, near, far)
	relay(t, far, near)
	payload := make([]byte, 8<<20)
	for i := range payload {
		payload[i] = byte(i ^ i>>8 ^ i>>16)
	}
	if got := ends[0].transfer(ends[1], "10.9.0.2", payload); !bytes.Equal(got, payload) {
		t.Errorf("%d bytes arrived, of %d, or others", len(got), len(payload))
	}
	if n := ends[0].ns.WrongSums() + ends[1].ns.WrongSums(); n > 0 {
		t.Errorf("%d wrong checksums", n)
	}
	if s := near.Stats(); s.Offloaded == 0 || longest.Load() > 1514 {
		t.Errorf("the longest frame has %d bytes; %+v", longest.Load(), s)
	}
}
