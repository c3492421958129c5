package auth

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

const (
	macA = unit.MAC(0x02000000000a)
	macB = unit.MAC(0x02000000000b)

	gap = unit.Millisecond
)

var (
	key1 = Key{1}
	key2 = Key{2}
)

// pair is a link in a script: what each end sends comes at once, unless it is taken away.
type pair struct {
	t    testing.TB
	now  unit.Time
	a, b *end
}

type end struct {
	*End
	far   *end
	heard []Heard
}

func config(self unit.MAC, keys ...Key) Config {
	return Config{Mode: Strict, Link: "a--b", Keys: keys, Self: self, First: 1000, Gap: gap}
}

func newPair(t testing.TB, a, b Config) *pair {
	p := &pair{t: t, a: &end{End: New(a)}, b: &end{End: New(b)}}
	p.a.far, p.b.far = p.b, p.a
	p.a.Up(0)
	p.b.Up(0)
	return p
}

// agreed is a pair whose ends know each other.
func agreed(t testing.TB) *pair {
	t.Helper()
	p := newPair(t, config(macA, key1), config(macB, key1))
	p.greet()
	p.wantKnown(true, true)
	return p
}

// greet delivers the hellos that are due, with their replies, until none is.
func (p *pair) greet() {
	for p.a.Due() <= p.now || p.b.Due() <= p.now {
		for _, e := range []*end{p.a, p.b} {
			if e.Due() <= p.now {
				e.deliver(p.now, e.hello(e.Challenge(p.now)))
			}
		}
	}
}

// hello is the frame of a hello.
func (e *end) hello(h Hello) []byte {
	f := make([]byte, itsyhdr.MessageLen)
	e.PutHello(f, unit.NodePort{Node: 1}, h)
	return f
}

// deliver gives a hello to the far end, and its reply to this one.
func (e *end) deliver(now unit.Time, frame []byte) Heard {
	_, t, err := itsyhdr.ParseMessage(frame)
	if err != nil || t.Kind != itsyhdr.KindHello {
		panic(fmt.Sprint("no hello: ", t, err))
	}
	h := e.far.Hear(now, frame, t)
	e.far.heard = append(e.far.heard, h)
	if h.Replies {
		e.far.deliver(now, e.far.hello(h.Reply))
	}
	return h
}

// pause is a pause frame of an end, signed.
func (e *end) pause() []byte {
	f := make([]byte, pfcframe.Len)
	pad := pfcframe.Put(f, pfcframe.Frame{Src: e.self.Bytes(), Enable: 8, Quanta: [8]uint16{3: 65535}})
	itsyhdr.Put(pad, itsyhdr.TLV{Priority: 3, Period: 7})
	e.Sign(f, pauseTag)
	return f
}

const pauseTag = pfcframe.PadOffset + itsyhdr.AuthOffset

func (p *pair) want(to *end, frame []byte, want Verdict) {
	p.t.Helper()
	before := bytes.Clone(frame)
	if got := to.Open(p.now, frame, pauseTag); got != want {
		p.t.Errorf("a frame is %v, want %v", got, want)
	}
	if !bytes.Equal(frame, before) {
		p.t.Errorf("Open has changed the frame")
	}
}

func (p *pair) wantKnown(a, b bool) {
	p.t.Helper()
	if p.a.Known() != a || p.b.Known() != b {
		p.t.Errorf("known to a: %v, to b: %v; want %v and %v", p.a.Known(), p.b.Known(), a, b)
	}
}

func TestWhatIsSignedIsBelieved(t *testing.T) {
	p := agreed(t)
	for range 3 {
		p.want(p.b, p.a.pause(), Believed)
		p.want(p.a, p.b.pause(), Believed)
	}
}

// Every bit of a frame is authenticated.
func TestNoBitCanBeChanged(t *testing.T) {
	p := agreed(t)
	for bit := range pfcframe.Len * 8 {
		f := p.a.pause()
		f[bit/8] ^= 1 << (bit % 8)
		if v := p.b.Open(p.now, f, pauseTag); v == Believed || v == Missing {
			t.Errorf("a frame with bit %d changed is %v", bit, v)
		}
	}
	p.want(p.b, p.a.pause(), Believed)
}

func TestNothingIsBelievedTwice(t *testing.T) {
	p := agreed(t)
	one, two := p.a.pause(), p.a.pause()
	p.want(p.b, two, Believed)
	p.want(p.b, two, Replayed)
	p.want(p.b, one, Replayed)
}

func TestOwnFrameIsReflected(t *testing.T) {
	p := agreed(t)
	p.want(p.a, p.a.pause(), Reflected)
	f := p.a.hello(Hello{Value: 5})
	if h := p.a.Hear(0, f, itsyhdr.TLV{Kind: itsyhdr.KindHello}); h.Verdict != Reflected || h.Replies {
		t.Errorf("its own hello: %+v", h)
	}
}

func TestFrameWithoutTag(t *testing.T) {
	p := agreed(t)
	f := p.a.pause()
	clear(f[pauseTag:])
	p.want(p.b, f, Missing)
	if v := p.b.Open(0, f, -1); v != Missing {
		t.Errorf("a frame that has no place for a tag is %v", v)
	}
	accepting := New(Config{Mode: Accept, Keys: []Key{key1}})
	for v, want := range map[Verdict][2]bool{Believed: {true, true}, Missing: {false, true}, Unknown: {}, Wrong: {}, Replayed: {}, Reflected: {}} {
		if strict, accept := p.b.Believes(v), accepting.Believes(v); strict != want[0] || accept != want[1] {
			t.Errorf("%v: strict heeds it: %v, accept: %v; want %v", v, strict, accept, want)
		}
	}
}

// Frames of another link, also between the same two ports, are not believed.
func TestOtherLinkOtherKey(t *testing.T) {
	p := agreed(t)
	for name, c := range map[string]Config{
		"another key":  {Link: "a--b", Keys: []Key{key2}},
		"another link": {Link: "a--b#2", Keys: []Key{key1}},
	} {
		c.Self, c.First = macA, p.a.counter+1
		other := &end{End: New(c)}
		if v := p.b.Open(0, other.pause(), pauseTag); v != Wrong {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// As many frames may be lost in a row as the window has; after more of them the far end is
// asked, and the frame after the answer is believed.
func TestLossIsCaughtUp(t *testing.T) {
	p := agreed(t)
	p.now = unit.Second
	p.a.counter += window - 1
	p.want(p.b, p.a.pause(), Believed)
	p.a.counter += window
	p.want(p.b, p.a.pause(), Replayed)
	if p.b.Due() != p.now {
		t.Errorf("the far end is asked at %d, want now", p.b.Due())
	}
	p.greet()
	p.want(p.b, p.a.pause(), Believed)
	// A multiple of what the low bits tell shows as a wrong code.
	p.now += unit.Second
	p.a.counter += 1 << 16
	p.want(p.b, p.a.pause(), Wrong)
	p.greet()
	p.want(p.b, p.a.pause(), Believed)
}

// restart is what stands in an end's place after its switch has died.
func (p *pair) restart(e *end, first uint64) {
	c := config(e.self, key1)
	c.First = first
	e.End = New(c)
	e.Up(p.now)
}

func TestRestartIsBelievedAtOnce(t *testing.T) {
	p := agreed(t)
	p.now = unit.Second
	p.restart(p.a, p.a.counter+1_000_000)
	p.a.heard, p.b.heard = nil, nil
	p.greet()
	p.wantKnown(true, true)
	p.want(p.b, p.a.pause(), Believed)
	p.want(p.a, p.b.pause(), Believed)
	announces := func(h Heard) bool { return h.Announce }
	if !slices.ContainsFunc(p.b.heard, announces) {
		t.Errorf("the end that stayed has heard %+v, want that it says anew what it had said", p.b.heard)
	}
	if !slices.ContainsFunc(p.a.heard, announces) {
		t.Errorf("the end that began has heard %+v, want that it is asked, and says what holds", p.a.heard)
	}
	for _, h := range slices.Concat(p.a.heard, p.b.heard) {
		if h.Verdict != Believed {
			t.Errorf("an end has refused: %+v", h)
		}
	}
}

// What was recorded before the restart of its receiver is not believed after it, in whatever order
// it comes: hellos, with which the life before began, among it.
func TestNothingOfALifeBeforeIsBelieved(t *testing.T) {
	p := newPair(t, config(macA, key1), config(macB, key1))
	var recorded [][]byte
	record := func(f []byte) []byte { recorded = append(recorded, bytes.Clone(f)); return f }
	p.a.deliver(0, record(p.a.hello(p.a.Challenge(0))))
	p.b.deliver(0, p.b.hello(p.b.Challenge(0)))
	record(p.a.hello(Hello{FlagAnswer, p.b.nonce}))
	for range 5 {
		p.want(p.b, record(p.a.pause()), Believed)
	}
	p.now = unit.Second
	p.restart(p.b, p.b.counter+1_000_000)
	p.b.Challenge(p.now) // lost
	for range 3 {
		for _, f := range recorded {
			if itsyhdr.IsMessage(f) {
				_, tlv, _ := itsyhdr.ParseMessage(f)
				p.b.Hear(p.now, f, tlv)
			} else if v := p.b.Open(p.now, f, pauseTag); v != Unknown {
				t.Errorf("a frame of before is %v", v)
			}
		}
	}
	p.wantKnown(true, false)
	p.now += 10 * gap
	p.greet()
	p.wantKnown(true, true)
	p.want(p.b, p.a.pause(), Believed)
	for _, f := range recorded {
		if !itsyhdr.IsMessage(f) {
			if v := p.b.Open(p.now, f, pauseTag); v == Believed {
				t.Error("a frame of before is believed after the answer")
			}
		}
	}
}

// A challenge that nobody answers is sent again, with the same nonce, since the answer may
// take longer than that; ever more rarely, and at once when something comes.
func TestChallengeIsRepeated(t *testing.T) {
	p := newPair(t, config(macA, key1), config(macB, key1))
	nonce := p.a.Challenge(0).Value
	var at []int
	for range 10 {
		p.now = p.a.Due()
		at = append(at, int(p.now/gap))
		if h := p.a.Challenge(p.now); h.Value != nonce || h.Flags != 0 {
			t.Errorf("again: %+v, want the nonce %d", h, nonce)
		}
	}
	if got, want := fmt.Sprint(at), "[1 3 7 15 31 63 127 191 255 319]"; got != want {
		t.Errorf("after %s times the gap, want %s", got, want)
	}
	p.now += gap / 2
	p.want(p.a, p.b.pause(), Unknown)
	if want := 319*gap + gap; p.a.Due() != want {
		t.Errorf("a frame has come: asks at %d, want %d", p.a.Due(), want)
	}
	p.now = p.a.Due()
	p.greet()
	p.wantKnown(true, true)
}

// The answers to a challenge that was repeated are frames like others.
func TestSecondAnswer(t *testing.T) {
	p := newPair(t, config(macA, key1), config(macB, key1))
	h := p.a.Challenge(0)
	one, two := p.a.hello(h), p.a.hello(p.a.Challenge(p.a.Due()))
	p.b.known = true // it has asked before
	p.a.deliver(0, one)
	if got := p.a.deliver(0, two); got.Verdict != Believed {
		t.Errorf("the challenge again: %+v", got)
	}
	for i, h := range p.a.heard {
		if h.Verdict != Believed {
			t.Errorf("answer %d: %+v", i, h)
		}
	}
}

// Of a switch that begins anew with a counter behind the one before, the far end tells it so.
func TestClockThatGoesBack(t *testing.T) {
	p := agreed(t)
	for range 100 {
		p.want(p.b, p.a.pause(), Believed)
	}
	p.now = unit.Second
	p.restart(p.a, 5)
	p.greet()
	if !p.a.heard[len(p.a.heard)-2].Behind {
		t.Errorf("the end whose clock went back has heard %+v", p.a.heard)
	}
	p.wantKnown(true, true)
	p.want(p.b, p.a.pause(), Believed)
	p.want(p.a, p.b.pause(), Believed)
}

// A forged notice, or one of long ago, does not move the counter.
func TestNoticeThatIsOld(t *testing.T) {
	p := agreed(t)
	old := p.b.hello(Hello{FlagNotice, p.a.counter})
	for range 10 {
		p.want(p.b, p.a.pause(), Believed)
	}
	counter := p.a.counter
	if h := p.b.deliver(0, old); h.Behind || p.a.counter != counter {
		t.Errorf("%+v, counter %d, want %d as before", h, p.a.counter, counter)
	}
	if h := p.b.deliver(0, p.b.hello(Hello{FlagNotice, 1 << 63})); h.Behind || p.a.counter != counter {
		t.Errorf("a notice of 2^63: %+v, counter %d, want %d as before", h, p.a.counter, counter)
	}
}

func TestForgedHelloMovesNothing(t *testing.T) {
	p := agreed(t)
	before := *p.b.End
	for _, flags := range []uint8{0, FlagAnswer, FlagNotice, 31} {
		f := p.a.hello(Hello{flags, 1 << 40})
		for _, at := range []int{0, 7, 20, tagAt, tagAt + 3, offCounter, offCounter + 7, offValue, 59} {
			g := bytes.Clone(f)
			g[at] ^= 1
			h := p.b.Hear(0, g, itsyhdr.TLV{Kind: itsyhdr.KindHello, Flags: flags})
			if h.Verdict != Wrong && h.Verdict != Missing || h.Replies || h.Announce || h.Behind {
				t.Errorf("flags %d, octet %d changed: %+v", flags, at, h)
			}
		}
	}
	p.b.due = before.due
	if after := *p.b.End; after.last != before.last || after.known != before.known || after.counter != before.counter {
		t.Errorf("forged hellos have moved %+v to %+v", before, after)
	}
}

// Keys are changed without a frame that is not believed: the new key is added at both ends,
// then comes first, then the old one goes.
func TestKeysAreChanged(t *testing.T) {
	p := agreed(t)
	for _, keys := range [][]Key{{key1, key2}, {key2, key1}, {key2}} {
		for _, e := range []*end{p.a, p.b} {
			e.SetKeys(keys)
			p.want(p.b, p.a.pause(), Believed)
			p.want(p.a, p.b.pause(), Believed)
		}
	}
	p.a.SetKeys([]Key{key1})
	p.want(p.b, p.a.pause(), Wrong)
}

// reference is an end of a link the plain way: it keeps all counters that it has believed, and
// looks for one that fits among all that may be.
type reference struct {
	*End
	believed map[uint64]bool
	last     uint64
}

func (r *reference) open(frame []byte) bool {
	for counter := r.last + 1; counter <= r.last+window; counter++ {
		if uint16(counter) == uint16(frame[pauseTag])<<8|uint16(frame[pauseTag+1]) && r.verify(frame, pauseTag, counter) && !r.believed[counter] {
			r.believed[counter], r.last = true, counter
			return true
		}
	}
	return false
}

// Frames are lost, repeated, put out of order, replayed and changed at random: what is believed
// is what the reference believes.
func TestAgainstReference(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	p := agreed(t)
	ref := &reference{End: New(config(macB, key1)), believed: map[uint64]bool{}, last: p.b.last}
	var sent [][]byte
	believed := 0
	for i := range 3000 {
		if p.a.counter-p.b.last > window { // too many were lost in a row
			p.now += unit.Second
			p.b.Open(p.now, p.a.pause(), pauseTag)
			p.greet()
			ref.last = p.b.last
		}
		switch r.IntN(20) {
		case 0:
			p.a.counter += uint64(r.IntN(1000))
		case 1: // the low bits wrap
			p.a.counter += uint64(r.IntN(window))
		}
		f := p.a.pause()
		sent = append(sent, bytes.Clone(f))
		switch r.IntN(6) {
		case 0:
			continue // lost
		case 1:
			f = bytes.Clone(sent[r.IntN(len(sent))])
		case 2:
			f[r.IntN(len(f))] ^= 1 << r.IntN(8)
		}
		got, want := p.b.Open(0, f, pauseTag) == Believed, ref.open(f)
		if got != want {
			t.Fatalf("seed %d, frame %d: believed %v, the reference %v", seed, i, got, want)
		}
		if got {
			believed++
		}
	}
	if believed < 1000 {
		t.Errorf("seed %d: %d frames believed, of some 2000", seed, believed)
	}
}

// Hellos and pauses are lost at random, ends restart with a clock that may have gone back:
// once nothing is lost any more the ends agree after one more challenge.
func TestNoLockOut(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for n := range 300 {
		p := newPair(t, config(macA, key1), config(macB, key1))
		lossy := func(e *end, f []byte) {
			for f != nil && r.IntN(3) > 0 {
				var reply []byte
				if itsyhdr.IsMessage(f) {
					_, tlv, _ := itsyhdr.ParseMessage(f)
					if h := e.far.Hear(p.now, f, tlv); h.Replies {
						reply = e.far.hello(h.Reply)
					}
				} else {
					e.far.Open(p.now, f, pauseTag)
				}
				f, e = reply, e.far
			}
		}
		for range 200 {
			p.now += unit.Time(r.Int64N(int64(gap)))
			for _, e := range []*end{p.a, p.b} {
				switch {
				case r.IntN(50) == 0:
					p.restart(e, uint64(r.Int64N(int64(e.counter)*2+1)))
				case e.Due() <= p.now:
					lossy(e, e.hello(e.Challenge(p.now)))
				default:
					lossy(e, e.pause())
				}
			}
		}
		for range 2 { // the first pauses may find that they are not believed, and ask
			p.a.far.Open(p.now, p.a.pause(), pauseTag)
			p.b.far.Open(p.now, p.b.pause(), pauseTag)
			p.now += gap
			p.greet()
		}
		if v, w := p.b.Open(p.now, p.a.pause(), pauseTag), p.a.Open(p.now, p.b.pause(), pauseTag); v != Believed || w != Believed {
			t.Fatalf("seed %d, case %d: of a %v, of b %v; want both believed", seed, n, v, w)
		}
	}
}

func TestParseKeys(t *testing.T) {
	const hex = "000102030405060708090A0b0c0d0e0f"
	k, err := ParseKeys("keys", []byte("# links\n\na--b "+hex+" ff0102030405060708090a0b0c0d0e0f  # both\n * "+hex+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := k.Of("a--b"); len(got) != 2 || got[0][15] != 15 || got[1][0] != 0xff {
		t.Errorf("a--b has %x", got)
	}
	if got := k.Of("c--d"); len(got) != 1 || got[0][10] != 10 {
		t.Errorf("another link has %x", got)
	}
	if again, err := ParseKeys("again", k.File()); err != nil || !reflect.DeepEqual(again, k) {
		t.Errorf("written and read again: %v, %v", again, err)
	}
	delete(k, AllLinks)
	if got := k.Of("c--d"); got != nil {
		t.Errorf("a link without keys has %x", got)
	}
}

func TestParseKeysRefuses(t *testing.T) {
	const good = "000102030405060708090a0b0c0d0e0f"
	for text, want := range map[string]string{
		"":                             "keys: no key",
		"a--b":                         "keys:1: link a--b: 0 keys",
		good:                           "keys:1: 0 keys",
		good + " a--b":                 "keys:1: key 1 has 4 digits",
		"a--b " + good[2:]:             "keys:1: link a--b: key 1 has 30 digits; write 32",
		"\na--b " + good + " x":        "keys:2: link a--b: key 2 has 1 digits; write 32",
		"a--b " + good[:31] + "x":      "keys:1: link a--b: key 1 is not hexadecimal",
		"* " + good + " " + good:       "keys:1: link *: the two keys are the same",
		"a " + good + "\na " + good:    "keys:2: the link has a line already",
		strings.Repeat("a 1 1 1\n", 1): "keys:1: 3 keys",
	} {
		_, err := ParseKeys("keys", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), good[:8]) {
			t.Errorf("%q: the error shows a key: %v", text, err)
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add([]byte("a--b 000102030405060708090a0b0c0d0e0f\n* ff # x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := ParseKeys("keys", data)
		if err == nil && len(k) == 0 {
			t.Error("neither keys nor an error")
		}
		for link, keys := range k {
			if link == "" || len(keys) == 0 || len(keys) > KeysMax {
				t.Errorf("link %q has %d keys", link, len(keys))
			}
		}
	})
}

// Nothing that prints a value shows a key.
func TestNoKeyIsPrinted(t *testing.T) {
	secret := Key{0xab, 0xcd, 0xef}
	c := config(macA, secret)
	k := Keys{"a--b": {secret}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{secret, &secret, c, c.Keys, k} {
			if got := strings.ToLower(fmt.Sprintf(verb, v)); strings.Contains(got, "abcdef") || strings.Contains(got, "171 205") || strings.Contains(got, "0xab, 0xcd") {
				t.Errorf("%s of %T shows the key: %s", verb, v, got)
			}
		}
	}
}

func TestModes(t *testing.T) {
	for _, name := range modeNames {
		var m Mode
		if err := m.UnmarshalText([]byte(name)); err != nil || m.String() != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	if err := new(Mode).UnmarshalText([]byte("strikt")); err == nil || !strings.Contains(err.Error(), "use off, accept, strict") {
		t.Errorf("strikt: %v", err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	p := agreed(t)
	f := p.a.pause()
	h := p.a.hello(Hello{Value: 1})
	for name, do := range map[string]func(){
		"Sign": func() { p.a.Sign(f, pauseTag) },
		"Open": func() { p.a.Sign(f, pauseTag); p.b.Open(0, f, pauseTag) },
		"hello": func() {
			p.a.PutHello(h, unit.NodePort{}, Hello{Value: 1})
			p.b.Hear(0, h, itsyhdr.TLV{Kind: itsyhdr.KindHello})
		},
	} {
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	p := agreed(b)
	f := p.a.pause()
	b.ReportAllocs()
	for b.Loop() {
		p.a.Sign(f, pauseTag)
	}
}

// A pause that is signed and judged: what authentication costs both ends together.
func BenchmarkSignOpen(b *testing.B) {
	p := agreed(b)
	f := p.a.pause()
	b.ReportAllocs()
	for b.Loop() {
		p.a.Sign(f, pauseTag)
		if p.b.Open(0, f, pauseTag) != Believed {
			b.Fatal("not believed")
		}
	}
}

// A challenge that is replayed is answered once each gap, however often it comes.
func TestReplayedChallenge(t *testing.T) {
	p := agreed(t)
	old := p.a.hello(p.a.Challenge(p.a.Due()))
	p.want(p.b, p.a.pause(), Believed)
	_, tlv, err := itsyhdr.ParseMessage(old)
	if err != nil {
		t.Fatal(err)
	}
	replies := 0
	for n := range 1000 { // in ten gaps
		h := p.b.Hear(unit.Second+unit.Time(n)*gap/100, old, tlv)
		if h.Verdict != Replayed {
			t.Fatalf("replay %d: %+v", n, h)
		}
		if h.Replies {
			replies++
		}
	}
	if replies != 10 {
		t.Errorf("%d answers to 1000 replays in ten gaps, want 10", replies)
	}
}

// An end that does not know the far end cannot tell a challenge from a replayed one: each that was
// recorded makes one answer, and all of them together one more in each gap.
func TestReplayedChallengesOfARestartedEnd(t *testing.T) {
	p := agreed(t)
	var recorded [][]byte
	for range 3 {
		p.now += gap
		recorded = append(recorded, p.a.hello(p.a.Challenge(p.now)))
	}
	p.restart(p.b, 1<<40)
	answers := 0
	for n := range 3000 { // in ten gaps
		f := recorded[n%len(recorded)]
		_, tlv, err := itsyhdr.ParseMessage(f)
		if err != nil {
			t.Fatal(err)
		}
		h := p.b.Hear(p.now+unit.Time(n)*gap/300, f, tlv)
		if h.Replies != h.Announce || h.Replies != (h.Verdict == Believed) {
			t.Fatalf("replay %d: %+v", n, h)
		}
		if h.Replies {
			answers++
		}
	}
	if want := len(recorded) + 10; answers != want {
		t.Errorf("%d answers to 3000 replays in ten gaps, want %d", answers, want)
	}
	p.now += 10 * gap
	if h := p.a.deliver(p.now, p.a.hello(p.a.Challenge(p.now))); h.Verdict != Believed || !h.Replies {
		t.Errorf("the far end's own challenge after them: %+v, want an answer", h)
	}
	p.greet()
	p.wantKnown(true, true)
}
