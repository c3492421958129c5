package pcapng

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"softswitch/internal/testkit"
)

func newWriter(t testing.TB, w io.Writer) *Writer {
	t.Helper()
	pw, err := NewWriter(w, "softswitch", "a comment")
	if err != nil {
		t.Fatal(err)
	}
	return pw
}

func addInterface(t testing.TB, w *Writer, name string) int {
	t.Helper()
	id, err := w.AddInterface(Interface{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func write(t testing.TB, w *Writer, packets ...Packet) {
	t.Helper()
	for _, p := range packets {
		if err := w.WritePacket(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// TestBytes spells out each block of a small file.
func TestBytes(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, "sw", "")
	if err != nil {
		t.Fatal(err)
	}
	eth0 := addInterface(t, w, "eth0")
	write(t, w, Packet{
		Interface: eth0, Time: 0x0000_0001_0000_0002, Direction: Outbound,
		Data: []byte("abcdef"), Dropped: 7, Comment: "hello",
	})
	want := "" +
		// Section header: type, length, magic, version, section length unknown,
		"0a0d0d0a" + "28000000" + "4d3c2b1a" + "0100" + "0000" + "ffffffffffffffff" +
		"0400" + "0200" + "73770000" + // shb_userappl "sw"
		"0000" + "0000" + "28000000" + // opt_endofopt, length
		// Interface: type, length, Ethernet, reserved, no snap length,
		"01000000" + "28000000" + "0100" + "0000" + "00000000" +
		"0200" + "0400" + "65746830" + // if_name "eth0"
		"0900" + "0100" + "09000000" + // if_tsresol nanoseconds
		"0000" + "0000" + "28000000" +
		// Packet: type, length, interface 0, time high and low, 6 of 6 bytes,
		"06000000" + "4c000000" + "00000000" + "01000000" + "02000000" + "06000000" + "06000000" +
		"6162636465660000" +
		"0100" + "0500" + "68656c6c6f000000" + // opt_comment "hello"
		"0200" + "0400" + "02000000" + // epb_flags outbound
		"0400" + "0800" + "0700000000000000" + // epb_dropcount 7
		"0000" + "0000" + "4c000000"
	if got := hex.EncodeToString(file.Bytes()); got != want {
		t.Errorf("file\n got %s\nwant %s", got, want)
	}
}

// TestReadBack writes random packets of several interfaces, some of which are
// added late, and reads them with an independent reader.
func TestReadBack(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	var file bytes.Buffer
	w := newWriter(t, &file)
	var (
		names []string
		want  []Packet
	)
	for range 2000 {
		if len(names) == 0 || rng.IntN(200) == 0 {
			name := fmt.Sprintf("eth%d", len(names))
			if id := addInterface(t, w, name); id != len(names) {
				t.Fatalf("interface %s has number %d", name, id)
			}
			names = append(names, name)
		}
		p := randomPacket(rng, len(names))
		want = append(want, p)
		if err := w.WritePacket(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}

	r, err := pcapgo.NewNgReader(&file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.SectionInfo(); s.Application != "softswitch" || s.Comment != "a comment" {
		t.Errorf("section %+v", s)
	}
	for i, p := range want {
		data, info, err := r.ReadPacketData()
		if err != nil {
			t.Fatalf("packet %d: %v", i, err)
		}
		if !bytes.Equal(data, p.Data) || info.Length != len(p.Data) || info.InterfaceIndex != p.Interface || info.Timestamp.UnixNano() != p.Time {
			t.Fatalf("packet %d: wrote %+v, read %+v and %x", i, p, info, data)
		}
	}
	if _, _, err := r.ReadPacketData(); err != io.EOF {
		t.Errorf("after the last packet: %v, want EOF", err)
	}
	for i, name := range names {
		ifi, err := r.Interface(i)
		if err != nil {
			t.Fatal(err)
		}
		if ifi.Name != name || ifi.LinkType != layers.LinkTypeEthernet || ifi.SnapLength != 0 {
			t.Errorf("interface %d: %+v", i, ifi)
		}
	}
}

func randomPacket(rng *rand.Rand, interfaces int) Packet {
	p := Packet{
		Interface: rng.IntN(interfaces),
		Time:      rng.Int64N(1 << 62),
		Direction: Direction(rng.IntN(3)),
		Data:      make([]byte, rng.IntN(100)),
		Dropped:   rng.Uint64N(2),
		Comment:   strings.Repeat("é", rng.IntN(9)),
	}
	for i := range p.Data {
		p.Data[i] = byte(rng.Uint32())
	}
	return p
}

// blockEnds checks the chain of block lengths of a file and returns where each
// block ends.
func blockEnds(t *testing.T, file []byte) map[int]bool {
	t.Helper()
	ends := map[int]bool{}
	for at := 0; at < len(file); {
		if len(file)-at < 12 {
			t.Fatalf("%d bytes at %d are no block", len(file)-at, at)
		}
		n := int(le.Uint32(file[at+4:]))
		if n%4 != 0 || n < 12 || at+n > len(file) || int(le.Uint32(file[at+n-4:])) != n {
			t.Fatalf("block at %d of %d: length %d is not repeated at its end", at, len(file), n)
		}
		at += n
		ends[at] = true
	}
	return ends
}

// writes notes how long the file is after each write.
type writes struct {
	bytes.Buffer
	ends []int
}

func (w *writes) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	w.ends = append(w.ends, w.Len())
	return n, err
}

func TestFileIsWholeWhileGrowing(t *testing.T) {
	var file writes
	w := newWriter(t, &file)
	addInterface(t, w, "eth0")
	for i := range 1000 {
		if err := w.WritePacket(Packet{Data: make([]byte, i), Comment: strings.Repeat("c", i%7)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(file.ends) < 5 {
		t.Fatalf("half a megabyte made %d writes: nothing is seen of a capture that grows", len(file.ends))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	ends := blockEnds(t, file.Bytes())
	for _, end := range file.ends {
		if !ends[end] {
			t.Errorf("a write ended at %d, within a block", end)
		}
	}
}

func TestCommentIsCut(t *testing.T) {
	var file bytes.Buffer
	w := newWriter(t, &file)
	addInterface(t, w, "eth0")
	write(t, w, Packet{Comment: "x" + strings.Repeat("é", 40000)}) // 80,001 bytes
	blockEnds(t, file.Bytes())
	if n := bytes.Count(file.Bytes(), []byte("é")); n != 32767 {
		t.Errorf("kept %d characters of two bytes, want 32767: with the x they are 65535 bytes", n)
	}
}

func TestUnknownInterface(t *testing.T) {
	w := newWriter(t, io.Discard)
	addInterface(t, w, "eth0")
	for _, id := range []int{-1, 1} {
		err := w.WritePacket(Packet{Interface: id})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("interface %d; there are 1", id)) {
			t.Errorf("packet on interface %d: %v", id, err)
		}
	}
}

var errDisk = errors.New("disk is full")

// failing fails after ok writes.
type failing struct{ ok int }

func (f *failing) Write(p []byte) (int, error) {
	if f.ok--; f.ok < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestFileErrorStays(t *testing.T) {
	if _, err := NewWriter(&failing{0}, "", ""); !errors.Is(err, errDisk) {
		t.Errorf("NewWriter = %v", err)
	}
	w := newWriter(t, &failing{1})
	addInterface(t, w, "eth0")
	if err := w.Flush(); !errors.Is(err, errDisk) {
		t.Errorf("Flush = %v", err)
	}
	if err := w.WritePacket(Packet{}); !errors.Is(err, errDisk) {
		t.Errorf("WritePacket after it = %v", err)
	}
	if _, err := w.AddInterface(Interface{Name: "eth1"}); !errors.Is(err, errDisk) {
		t.Errorf("AddInterface after it = %v", err)
	}
}

// TestTshark reads a file with Wireshark's reader: names, times, directions, drop
// counts and comments.
func TestTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("needs tshark (Debian package tshark)")
	}
	path := filepath.Join(t.TempDir(), "a.pcapng")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := newWriter(t, file)
	left, right := addInterface(t, w, "left"), addInterface(t, w, "right")
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC).UnixNano()
	write(t, w,
		Packet{Interface: left, Time: at, Direction: Inbound, Data: make([]byte, 61), Comment: "label 3.1 → trigger 7.2"},
		Packet{Interface: right, Time: at + 1, Direction: Outbound, Data: make([]byte, 60)},
		Packet{Interface: right, Time: at + 2, Data: make([]byte, 9230), Dropped: 3, Comment: "third"},
	)

	cmd := exec.Command(tshark, "-r", path, "-T", "fields", "-E", "separator=|",
		"-e", "frame.interface_name", "-e", "frame.time_epoch", "-e", "frame.len",
		"-e", "frame.packet_flags_direction", "-e", "frame.drop_count", "-e", "frame.comment")
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	want := "left|1714979289.123456789|61|0x00000001||label 3.1 → trigger 7.2\n" +
		"right|1714979289.123456790|60|0x00000002||\n" +
		"right|1714979289.123456791|9230||3|third\n"
	if string(got) != want {
		t.Errorf("tshark\n got %q\nwant %q", got, want)
	}
}

func BenchmarkWritePacket(b *testing.B) {
	w := newWriter(b, io.Discard)
	addInterface(b, w, "eth0")
	p := Packet{Data: make([]byte, 1514), Direction: Inbound, Comment: "label 3.1"}
	b.ReportAllocs()
	b.SetBytes(1514)
	for b.Loop() {
		if err := w.WritePacket(p); err != nil {
			b.Fatal(err)
		}
	}
}
