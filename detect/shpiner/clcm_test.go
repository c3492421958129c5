package shpiner_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/shpiner"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// Those of docs/format/clcm.md.
var (
	election = shpiner.Election{Priority: 3, SPUID: 0xdeadbeef}
	release  = shpiner.Path{
		Phase: shpiner.Release, Priority: 3, Nonce: 0x01020304, Index: 1,
		Hops: []shpiner.Hop{{SPUID: 0x0a0b0c0d, Egress: 2}, {SPUID: 7, Egress: 63}},
	}
)

func path(m shpiner.Path) []byte      { return shpiner.AppendPath(nil, m) }
func elect(m shpiner.Election) []byte { return shpiner.AppendElection(nil, m) }
func padded(b []byte, n int) []byte   { return append(b, make([]byte, n)...) }
func set(off int, v ...byte) func([]byte) []byte {
	return func(b []byte) []byte { copy(b[off:], v); return b }
}

// longest is the longest path that a message can tell.
func longest() (m shpiner.Path) {
	m = shpiner.Path{Phase: shpiner.Release, Index: shpiner.MaxHops - 1}
	for i := range shpiner.MaxHops {
		m.Hops = append(m.Hops, shpiner.Hop{SPUID: uint32(i + 1), Egress: unit.Port(i % unit.MaxPorts)})
	}
	return m
}

// examples reads the hex blocks of a format document; each line begins with its offset.
func examples(t *testing.T, file string) (all [][]byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(text), "```hex\n") {
		if i == 0 {
			continue
		}
		block, _, _ := strings.Cut(part, "```")
		var b []byte
		for line := range strings.Lines(block) {
			_, octets, _ := strings.Cut(line, "  ")
			v, err := hex.DecodeString(strings.Join(strings.Fields(octets), ""))
			if err != nil {
				t.Fatalf("%s: %q: %v", file, line, err)
			}
			b = append(b, v...)
		}
		all = append(all, b)
	}
	return all
}

func TestDocument(t *testing.T) {
	got, want := [][]byte{elect(election), path(release)}, examples(t, "../../docs/format/clcm.md")
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("the examples of docs/format/clcm.md differ:\n got %x\nwant %x", got, want)
	}
}

// A message frame's payload may be longer than the message.
func TestPaddingIsIgnored(t *testing.T) {
	if m, err := shpiner.ParseElection(padded(elect(election), 34)); m != election || err != nil {
		t.Errorf("ParseElection = %+v, %v, want %+v", m, err, election)
	}
	if m, err := shpiner.ParsePath(padded(path(release), 22), nil); !reflect.DeepEqual(m, release) || err != nil {
		t.Errorf("ParsePath = %+v, %v, want %+v", m, err, release)
	}
}

// The longest path fills a payload, and one hop more would not fit.
func TestLongestPath(t *testing.T) {
	m := longest()
	b := path(m)
	if len(b) > detect.PayloadMax || shpiner.PathLen(shpiner.MaxHops+1) <= detect.PayloadMax {
		t.Errorf("%d hops take %d octets, one more %d; want the last to be the first above %d", shpiner.MaxHops, len(b), shpiner.PathLen(shpiner.MaxHops+1), detect.PayloadMax)
	}
	if got, err := shpiner.ParsePath(b, nil); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("ParsePath = %+v, %v, want %+v", got, err, m)
	}
}

func TestElectionRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
		want   error
	}{
		{"empty", func([]byte) []byte { return nil }, shpiner.ErrShort},
		{"only the head", func(b []byte) []byte { return b[:8] }, shpiner.ErrShort},
		{"one octet missing", func(b []byte) []byte { return b[:11] }, shpiner.ErrShort},
		{"all zero", func(b []byte) []byte { clear(b); return b }, shpiner.ErrType},
		{"type 126", set(0, 126<<1), shpiner.ErrType},
		{"OUI of IEEE 802.1", set(2, 0x00, 0x80, 0xc2), shpiner.ErrOUI},
		{"an ITSY TLV", set(5, 1), shpiner.ErrSubtype},
		{"version 2", set(6, 0x21), shpiner.ErrVersion},
		{"a path", set(6, 0x12), shpiner.ErrKind},
		{"length 9", set(1, 9), shpiner.ErrLength},
		{"length 10 + 256", set(0, 0xff), shpiner.ErrLength},
		{"a phase", set(7, 0x61), shpiner.ErrPhase},
		{"SPUID 0", set(8, 0, 0, 0, 0), shpiner.ErrSPUID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if m, err := shpiner.ParseElection(tt.damage(elect(election))); err != tt.want || m != (shpiner.Election{}) {
				t.Errorf("ParseElection = %+v, %v, want zero, %v", m, err, tt.want)
			}
		})
	}
}

func TestPathRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
		want   error
	}{
		{"empty", func([]byte) []byte { return nil }, shpiner.ErrShort},
		{"cut before the hops", func(b []byte) []byte { return b[:13] }, shpiner.ErrShort},
		{"cut in the last hop", func(b []byte) []byte { return b[:23] }, shpiner.ErrShort},
		{"type 126", set(0, 126<<1), shpiner.ErrType},
		{"another OUI", set(4, 0x55), shpiner.ErrOUI},
		{"an ITSY TLV", set(5, 1), shpiner.ErrSubtype},
		{"version 0", set(6, 0x02), shpiner.ErrVersion},
		{"an election", set(6, 0x11), shpiner.ErrKind},
		{"phase 2", set(7, 0x62), shpiner.ErrPhase},
		{"phase 31", set(7, 0x7f), shpiner.ErrPhase},
		{"three hops in room for two", set(13, 3), shpiner.ErrHops},
		{"one hop in room for two", set(13, 1), shpiner.ErrLength},
		{"no hop", set(13, 0), shpiner.ErrHops},
		{"100 hops", set(13, 100), shpiner.ErrHops},
		{"255 hops", set(13, 255), shpiner.ErrHops},
		{"longer than the payload", func(b []byte) []byte { b[1], b[13] = 27, 3; return b }, shpiner.ErrShort},
		{"index 2 of a release of two hops", set(12, 2), shpiner.ErrIndex},
		{"index 255", set(12, 255), shpiner.ErrIndex},
		{"index 1 of a detection of two hops", set(7, 0x60), shpiner.ErrIndex},
		{"SPUID 0", set(14, 0, 0, 0, 0), shpiner.ErrSPUID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if m, err := shpiner.ParsePath(tt.damage(path(release)), nil); err != tt.want || m.Hops != nil {
				t.Errorf("ParsePath = %+v, %v, want zero, %v", m, err, tt.want)
			}
		})
	}
}

func TestAppendPanics(t *testing.T) {
	long := longest()
	long.Hops = append(long.Hops, shpiner.Hop{SPUID: 1})
	for name, do := range map[string]func(){
		"priority 8":     func() { elect(shpiner.Election{Priority: 8, SPUID: 1}) },
		"SPUID 0":        func() { elect(shpiner.Election{}) },
		"no hops":        func() { path(shpiner.Path{}) },
		"too many hops":  func() { path(long) },
		"negative index": func() { path(shpiner.Path{Phase: shpiner.Release, Index: -1, Hops: release.Hops}) },
		"phase 2":        func() { path(shpiner.Path{Phase: 2, Index: 0, Hops: release.Hops}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "clcm: ") {
					t.Errorf("it says %q, want a panic that begins with clcm", s)
				}
			}()
			do()
		})
	}
}

func randomPath(r *rand.Rand) shpiner.Path {
	m := shpiner.Path{Phase: shpiner.Phase(r.IntN(2)), Priority: unit.Priority(r.IntN(8)), Nonce: r.Uint32()}
	for range 1 + r.IntN(shpiner.MaxHops) {
		m.Hops = append(m.Hops, shpiner.Hop{SPUID: 1 + r.Uint32N(1<<32-1), Egress: unit.Port(r.IntN(unit.MaxPorts))})
	}
	m.Index = len(m.Hops)
	if m.Phase == shpiner.Release {
		m.Index = r.IntN(len(m.Hops))
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		m := randomPath(r)
		if got, err := shpiner.ParsePath(path(m), nil); err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("seed %d: ParsePath(AppendPath(m)) = %+v, %v, want %+v", seed, got, err, m)
		}
		e := shpiner.Election{Priority: m.Priority, SPUID: m.Hops[0].SPUID}
		if got, err := shpiner.ParseElection(elect(e)); err != nil || got != e {
			t.Fatalf("seed %d: ParseElection(AppendElection(m)) = %+v, %v, want %+v", seed, got, err, e)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	m, cut := longest(), path(release)[:20]
	b, hops := path(m), make([]shpiner.Hop, 0, shpiner.MaxHops)
	for _, tt := range []struct {
		name string
		do   func()
	}{
		{"AppendPath", func() { shpiner.AppendPath(b[:0], m) }},
		{"ParsePath", func() { shpiner.ParsePath(b, hops) }},
		{"ParsePath of a truncated path", func() { shpiner.ParsePath(cut, hops) }},
		{"AppendElection", func() { shpiner.AppendElection(b[:0], election) }},
		{"ParseElection", func() { shpiner.ParseElection(cut) }},
	} {
		if n := testing.AllocsPerRun(100, tt.do); n > 0 {
			t.Errorf("%s allocates %v times, want 0", tt.name, n)
		}
	}
}

var known = []error{
	shpiner.ErrShort, shpiner.ErrType, shpiner.ErrOUI, shpiner.ErrSubtype, shpiner.ErrVersion, shpiner.ErrKind, shpiner.ErrLength, shpiner.ErrPhase,
	shpiner.ErrHops, shpiner.ErrIndex, shpiner.ErrSPUID,
}

func isKnown(err error) bool {
	return slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) })
}

func FuzzElection(f *testing.F) {
	f.Add(elect(election))
	f.Add(elect(election)[:11])
	f.Add(path(release))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := shpiner.ParseElection(b)
		if err != nil {
			if !isKnown(err) {
				t.Errorf("ParseElection(%x): error %v has no value", b, err)
			}
			return
		}
		if again := elect(m); !bytes.Equal(again, b[:len(again)]) {
			t.Errorf("AppendElection(ParseElection(b)):\n got %x\nwant %x", again, b)
		}
	})
}

func FuzzPath(f *testing.F) {
	f.Add(path(release))
	f.Add(path(release)[:23])
	f.Add(path(longest()))
	f.Add(path(shpiner.Path{Priority: 7, Nonce: 1, Index: 1, Hops: []shpiner.Hop{{SPUID: 9, Egress: 1}}}))
	f.Add(set(13, 99)(path(release)))
	f.Add(elect(election))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := shpiner.ParsePath(b, nil)
		if err != nil {
			if !isKnown(err) {
				t.Errorf("ParsePath(%x): error %v has no value", b, err)
			}
			return
		}
		if again := path(m); !bytes.Equal(again, b[:len(again)]) {
			t.Errorf("AppendPath(ParsePath(b)):\n got %x\nwant %x", again, b)
		}
	})
}
