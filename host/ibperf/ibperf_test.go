package ibperf

import (
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// What an ib_write_bw of version 6.06 sent.
const captured = "0000:0080:000011:e0c69c:0000020b:00007fb1541da000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:00:01:00000000:\x00"

func TestCaptured(t *testing.T) {
	got, err := ParseLine([]byte(captured))
	want := Line{Reads: 0x80, QPN: 0x11, PSN: 0xe0c69c, RKey: 0x20b, Address: 0x7fb1541da000, GID: netip.MustParseAddr("::ffff:10.0.0.1")}
	if got != want || err != nil {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if text := string(want.Text()); text != captured {
		t.Errorf("%q; want %q", text, captured)
	}
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 1000 {
		var gid [16]byte
		for i := range gid {
			gid[i] = byte(r.Uint32())
		}
		want := Line{uint16(r.Uint32()), r.Uint32N(1 << 24), r.Uint32N(1 << 24), r.Uint32(), r.Uint64(), netip.AddrFrom16(gid)}
		text := want.Text()
		if got, err := ParseLine(text); got != want || err != nil || !IsLine(text) {
			t.Fatalf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		if got, err := ParseBinary(want.Binary()); got != want || err != nil {
			t.Fatalf("%x: %+v, %v; want %+v", want.Binary(), got, err, want)
		}
	}
	for mtu := 256; mtu <= 4096; mtu *= 2 {
		if got, err := ParseMTU(MTUText(mtu)); got != mtu || err != nil {
			t.Errorf("MTU %d: %d, %v", mtu, got, err)
		}
	}
	if err := CheckVersion(VersionText()); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	line := func(s string) error { _, err := ParseLine([]byte(s)); return err }
	mtu := func(s string) error { _, err := ParseMTU([]byte(s)); return err }
	version := func(s string) error { return CheckVersion([]byte(s)) }
	for _, c := range []struct {
		check      func(string) error
		text, want string
	}{
		{line, "", `line "" has 1 fields; valid: 23`},
		{line, strings.Replace(captured, ":ff:ff", "", 1), "has 21 fields"},
		{line, strings.Replace(captured, "e0c69c", "xe0c69c", 1), `field 4 of line`},
		{line, strings.Replace(captured, "000011", "1000011", 1), `"1000011"; valid: hexadecimal, up to 24 bits`},
		{line, strings.Replace(captured, ":ff:", ":100:", 1), `"100"; valid: hexadecimal, up to 8 bits`},
		{mtu, "3", `MTU "3"`},
		{mtu, "0\x00", `MTU "0\x00"`},
		{mtu, "6\x00", `MTU "6\x00"`},
		{version, "5.69\x00", `version "5.69" of the far end; valid: 5.70 or later`},
		{version, "GET / HTTP/1.1\r\n", "valid: 5.70 or later"},
		{version, "NaN\x00", "valid: 5.70 or later"},
	} {
		if err := c.check(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %q", c.text, err, c.want)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(captured))
	f.Add([]byte("done\x00"))
	if b, err := hex.DecodeString("0000000000010000"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseLine(b)
		if err != nil {
			return
		}
		if got, err := ParseLine(l.Text()); got != l || err != nil {
			t.Fatalf("%+v, %v; want %+v", got, err, l)
		}
	})
}

// A line of ibv_rc_pingpong is as the program writes it, and is read as the same.
func TestPingPongLine(t *testing.T) {
	l := Line{QPN: 0x11, PSN: 0xabcdef, GID: netip.MustParseAddr("::ffff:10.0.0.2")}
	text := l.PingPongText()
	if want := "0000:000011:abcdef:00000000000000000000ffff0a000002\x00"; string(text) != want || len(text) != PingPongLen || !IsLine(text) {
		t.Errorf("%q; want %q", text, want)
	}
	if got, err := ParsePingPong(text); err != nil || got != l {
		t.Errorf("%+v, %v; want %+v", got, err, l)
	}
	for _, bad := range []string{"", "0000:000011:abcdef", "0000:1000000:000000:00000000000000000000ffff0a000002", "0000:000011:abcdef:0a000002", "0000:00001x:abcdef:00000000000000000000ffff0a000002"} {
		if _, err := ParsePingPong([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
