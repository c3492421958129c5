package clcm_test

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
	"softswitch/detect/clcm"
	"softswitch/internal/testseed"
	"softswitch/unit"
)

// Those of docs/format/clcm.md.
var (
	election = clcm.Election{Class: 3, SPUID: 0xdeadbeef}
	release  = clcm.Path{
		Phase: clcm.Release, Class: 3, Nonce: 0x01020304, Index: 1,
		Hops: []clcm.Hop{{SPUID: 0x0a0b0c0d, Egress: 2}, {SPUID: 7, Egress: 63}},
	}
)

func path(m clcm.Path) []byte       { return clcm.AppendPath(nil, m) }
func elect(m clcm.Election) []byte  { return clcm.AppendElection(nil, m) }
func padded(b []byte, n int) []byte { return append(b, make([]byte, n)...) }
func set(off int, v ...byte) func([]byte) []byte {
	return func(b []byte) []byte { copy(b[off:], v); return b }
}

// longest is the longest path that a message can tell.
func longest() (m clcm.Path) {
	m = clcm.Path{Phase: clcm.Release, Index: clcm.MaxHops - 1}
	for i := range clcm.MaxHops {
		m.Hops = append(m.Hops, clcm.Hop{SPUID: uint32(i + 1), Egress: unit.Port(i % unit.MaxPorts)})
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
	if m, err := clcm.ParseElection(padded(elect(election), 34)); m != election || err != nil {
		t.Errorf("ParseElection = %+v, %v, want %+v", m, err, election)
	}
	if m, err := clcm.ParsePath(padded(path(release), 22), nil); !reflect.DeepEqual(m, release) || err != nil {
		t.Errorf("ParsePath = %+v, %v, want %+v", m, err, release)
	}
}

// The longest path fills a payload, and one hop more would not fit.
func TestLongestPath(t *testing.T) {
	m := longest()
	b := path(m)
	if len(b) > detect.PayloadMax || clcm.PathLen(clcm.MaxHops+1) <= detect.PayloadMax {
		t.Errorf("%d hops take %d octets, one more %d; want the last to be the first above %d", clcm.MaxHops, len(b), clcm.PathLen(clcm.MaxHops+1), detect.PayloadMax)
	}
	if got, err := clcm.ParsePath(b, nil); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("ParsePath = %+v, %v, want %+v", got, err, m)
	}
}

func TestElectionRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
		want   error
	}{
		{"empty", func([]byte) []byte { return nil }, clcm.ErrShort},
		{"only the head", func(b []byte) []byte { return b[:8] }, clcm.ErrShort},
		{"one octet missing", func(b []byte) []byte { return b[:11] }, clcm.ErrShort},
		{"all zero", func(b []byte) []byte { clear(b); return b }, clcm.ErrType},
		{"type 126", set(0, 126<<1), clcm.ErrType},
		{"OUI of IEEE 802.1", set(2, 0x00, 0x80, 0xc2), clcm.ErrOUI},
		{"an ITSY TLV", set(5, 1), clcm.ErrSubtype},
		{"version 2", set(6, 0x21), clcm.ErrVersion},
		{"a path", set(6, 0x12), clcm.ErrKind},
		{"length 9", set(1, 9), clcm.ErrLength},
		{"length 10 + 256", set(0, 0xff), clcm.ErrLength},
		{"a phase", set(7, 0x61), clcm.ErrPhase},
		{"SPUID 0", set(8, 0, 0, 0, 0), clcm.ErrSPUID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if m, err := clcm.ParseElection(tt.damage(elect(election))); err != tt.want || m != (clcm.Election{}) {
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
		{"empty", func([]byte) []byte { return nil }, clcm.ErrShort},
		{"cut before the hops", func(b []byte) []byte { return b[:13] }, clcm.ErrShort},
		{"cut in the last hop", func(b []byte) []byte { return b[:23] }, clcm.ErrShort},
		{"type 126", set(0, 126<<1), clcm.ErrType},
		{"another OUI", set(4, 0x55), clcm.ErrOUI},
		{"an ITSY TLV", set(5, 1), clcm.ErrSubtype},
		{"version 0", set(6, 0x02), clcm.ErrVersion},
		{"an election", set(6, 0x11), clcm.ErrKind},
		{"phase 2", set(7, 0x62), clcm.ErrPhase},
		{"phase 31", set(7, 0x7f), clcm.ErrPhase},
		{"three hops in room for two", set(13, 3), clcm.ErrHops},
		{"one hop in room for two", set(13, 1), clcm.ErrLength},
		{"no hop", set(13, 0), clcm.ErrHops},
		{"100 hops", set(13, 100), clcm.ErrHops},
		{"255 hops", set(13, 255), clcm.ErrHops},
		{"longer than the payload", func(b []byte) []byte { b[1], b[13] = 27, 3; return b }, clcm.ErrShort},
		{"index 2 of a release of two hops", set(12, 2), clcm.ErrIndex},
		{"index 255", set(12, 255), clcm.ErrIndex},
		{"index 1 of a detection of two hops", set(7, 0x60), clcm.ErrIndex},
		{"SPUID 0", set(14, 0, 0, 0, 0), clcm.ErrSPUID},
		{"egress port 64", set(23, 64), clcm.ErrPort},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if m, err := clcm.ParsePath(tt.damage(path(release)), nil); err != tt.want || m.Hops != nil {
				t.Errorf("ParsePath = %+v, %v, want zero, %v", m, err, tt.want)
			}
		})
	}
}

func TestAppendPanics(t *testing.T) {
	long := longest()
	long.Hops = append(long.Hops, clcm.Hop{SPUID: 1})
	for name, do := range map[string]func(){
		"class 8":        func() { elect(clcm.Election{Class: 8, SPUID: 1}) },
		"SPUID 0":        func() { elect(clcm.Election{}) },
		"no hops":        func() { path(clcm.Path{}) },
		"too many hops":  func() { path(long) },
		"negative index": func() { path(clcm.Path{Phase: clcm.Release, Index: -1, Hops: release.Hops}) },
		"phase 2":        func() { path(clcm.Path{Phase: 2, Index: 0, Hops: release.Hops}) },
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

func randomPath(r *rand.Rand) clcm.Path {
	m := clcm.Path{Phase: clcm.Phase(r.IntN(2)), Class: unit.Priority(r.IntN(8)), Nonce: r.Uint32()}
	for range 1 + r.IntN(clcm.MaxHops) {
		m.Hops = append(m.Hops, clcm.Hop{SPUID: 1 + r.Uint32N(1<<32-1), Egress: unit.Port(r.IntN(unit.MaxPorts))})
	}
	m.Index = len(m.Hops)
	if m.Phase == clcm.Release {
		m.Index = r.IntN(len(m.Hops))
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	seed := testseed.New(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		m := randomPath(r)
		if got, err := clcm.ParsePath(path(m), nil); err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("seed %d: ParsePath(AppendPath(m)) = %+v, %v, want %+v", seed, got, err, m)
		}
		e := clcm.Election{Class: m.Class, SPUID: m.Hops[0].SPUID}
		if got, err := clcm.ParseElection(elect(e)); err != nil || got != e {
			t.Fatalf("seed %d: ParseElection(AppendElection(m)) = %+v, %v, want %+v", seed, got, err, e)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	m, cut := longest(), path(release)[:20]
	b, hops := path(m), make([]clcm.Hop, 0, clcm.MaxHops)
	for _, tt := range []struct {
		name string
		do   func()
	}{
		{"AppendPath", func() { clcm.AppendPath(b[:0], m) }},
		{"ParsePath", func() { clcm.ParsePath(b, hops) }},
		{"ParsePath of a truncated path", func() { clcm.ParsePath(cut, hops) }},
		{"AppendElection", func() { clcm.AppendElection(b[:0], election) }},
		{"ParseElection", func() { clcm.ParseElection(cut) }},
	} {
		if n := testing.AllocsPerRun(100, tt.do); n > 0 {
			t.Errorf("%s allocates %v times, want 0", tt.name, n)
		}
	}
}

var known = []error{
	clcm.ErrShort, clcm.ErrType, clcm.ErrOUI, clcm.ErrSubtype, clcm.ErrVersion, clcm.ErrKind, clcm.ErrLength, clcm.ErrPhase,
	clcm.ErrHops, clcm.ErrIndex, clcm.ErrSPUID, clcm.ErrPort,
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
		m, err := clcm.ParseElection(b)
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
	f.Add(path(clcm.Path{Class: 7, Nonce: 1, Index: 1, Hops: []clcm.Hop{{SPUID: 9, Egress: 1}}}))
	f.Add(set(13, 99)(path(release)))
	f.Add(elect(election))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := clcm.ParsePath(b, nil)
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
