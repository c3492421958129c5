package lldp

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"softswitch/unit"
)

const (
	second = unit.Second
	start  = 7 * second
)

// says is what an end with these lossless priorities says.
func says(system string, lossless unit.PrioritySet) Config {
	ets := NewETS([unit.Priorities]int{0: 1, 1: 1, 2: 1})
	return Config{
		Interval: 30 * second, System: system, Port: "to-" + system, Chassis: 0x020000000100, MAC: 0x020000000101,
		Capabilities: Bridge | Router, DCBX: DCBX{PFC: NewPFC(lossless), ETS: ets, Recommends: ets, RoCE: NewRoCE(3, 1<<3)},
	}
}

// changed is what has changed of a, in words.
func changed(a *Agent) string {
	var all []string
	a.Changes(func(c Change) {
		text := [...]string{Learned: "learned", Gone: "gone", Disagree: "disagree", Agree: "agree"}[c.What]
		if c.What == Disagree || c.What == Agree {
			text += " " + c.Feature.String()
		}
		all = append(all, text)
	})
	return strings.Join(all, ", ")
}

func receive(t *testing.T, a *Agent, now unit.Time, frame []byte) {
	t.Helper()
	if err := a.Receive(now, frame); err != nil {
		t.Fatalf("at %v: %v", now, err)
	}
}

func wantChange(t *testing.T, a *Agent, want string) {
	t.Helper()
	if got := changed(a); got != want {
		t.Errorf("changes %q, want %q", got, want)
	}
}

// TestBothEnds: what one end says is what the other knows of it.
func TestBothEnds(t *testing.T) {
	a, b := says("s1", 1<<3|1<<4), New(says("s2", 1<<3|1<<4))
	frame := New(a).Append(start, nil)
	if !Is(frame) || len(frame) < 60 {
		t.Fatalf("no frame of LLDP: %x", frame)
	}
	receive(t, b, start, frame)
	wantChange(t, b, "learned")
	n := b.Neighbours()[0]
	if n.Chassis != "02:00:00:00:01:00" || n.Port != "to-s1" || n.System != "s1" || n.PortDescription != "to-s1" || n.Capabilities.String() != "BR" {
		t.Errorf("%+v", n)
	}
	if *n.DCBX.PFC != *a.DCBX.PFC || *n.DCBX.ETS != *a.DCBX.ETS {
		t.Errorf("DCBX %+v %+v, want %+v %+v", n.DCBX.PFC, n.DCBX.ETS, a.DCBX.PFC, a.DCBX.ETS)
	}
	if r := *n.DCBX.Recommends; r.Class != a.DCBX.ETS.Class || r.Bandwidth != a.DCBX.ETS.Bandwidth || r.TSA != a.DCBX.ETS.TSA {
		t.Errorf("recommends %+v, want %+v", r, a.DCBX.ETS)
	}
	if n.Until-n.Heard != 121*second { // 4 x 30 + 1
		t.Errorf("it lasts for %v", n.Until-n.Heard)
	}
}

// sent are the times at which an end sends until a time, in seconds after start; hear is called
// before each of them.
func sent(a *Agent, until unit.Time) (at []int) {
	for now := a.Next(); now <= until; now = a.Next() {
		a.Tick(now)
		if a.Due(now) {
			a.Append(now, nil)
			at = append(at, int((now-start)/second))
		}
	}
	return at
}

func wantSent(t *testing.T, got []int, want ...int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("sent at %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("sent at %v, want %v", got, want)
		}
	}
}

// TestFastStart: a frame leaves as the link comes up, four to a new neighbour a second apart, and
// then one an interval.
func TestFastStart(t *testing.T) {
	a := New(says("s1", 1<<3))
	if a.Next() != unit.Never {
		t.Errorf("a link that is down: next at %v", a.Next())
	}
	a.Up(start)
	wantSent(t, sent(a, start+70*second), 0, 30, 60)
	receive(t, a, start+75*second, New(says("s2", 1<<3)).Append(0, nil))
	wantSent(t, sent(a, start+140*second), 75, 76, 77, 78, 108, 138)
	a.Down()
	wantChange(t, a, "learned, gone")
	if a.Next() != unit.Never || a.Due(start+200*second) {
		t.Error("a frame is due on a link that is down")
	}
}

// TestCredit: however often neighbours come and go, no more than five frames follow one another,
// and then one a second.
func TestCredit(t *testing.T) {
	a := New(says("s1", 1<<3))
	a.Up(start)
	total := 0
	for i := range 300 { // 30 s
		now := start + unit.Time(i)*100*unit.Millisecond
		c := says("s2", 1<<3)
		c.Chassis += unit.MAC(i)
		receive(t, a, now, New(c).Append(0, nil))
		c.Interval = 0
		if a.Due(now) {
			a.Append(now, nil)
			total++
		}
		goodbye(a, now)
	}
	if total < 30 || total > 35 {
		t.Errorf("%d frames in 30 s", total)
	}
}

// goodbye forgets all neighbours, as if each had said goodbye.
func goodbye(a *Agent, now unit.Time) {
	for _, n := range a.neighbours {
		a.neighbours[0].Until = min(n.Until, now)
	}
	a.Tick(now)
}

// TestAges: a neighbour is forgotten when it was not heard for as long as it said, and at once if
// it says goodbye.
func TestAges(t *testing.T) {
	c := says("s2", 1<<3)
	c.Interval = 1 * second
	frame := New(c).Append(0, nil)
	a := New(says("s1", 1<<3))
	receive(t, a, start, frame)
	receive(t, a, start+second, frame)
	if len(a.Neighbours()) != 1 || a.Next() != start+6*second {
		t.Fatalf("%d neighbours, next at %v", len(a.Neighbours()), a.Next())
	}
	a.Tick(start + 6*second - 1)
	wantChange(t, a, "learned")
	a.Tick(start + 6*second)
	wantChange(t, a, "gone")
	if a.Counters() != (Counters{Received: 2, Aged: 1}) {
		t.Errorf("%+v", a.Counters())
	}
	receive(t, a, start, frame)
	last := []byte(strings.Replace(string(frame), "\x06\x02\x00\x05", "\x06\x02\x00\x00", 1))
	receive(t, a, start+second, last)
	receive(t, a, start+second, last) // of nobody
	wantChange(t, a, "learned, gone")
}

// TestNeighbours: an end keeps a few, and compares nothing while there are several.
func TestNeighbours(t *testing.T) {
	a := New(says("s1", 1<<3))
	for i := range NeighboursMax + 1 {
		c := says("s2", 1<<4)
		c.Chassis += unit.MAC(i)
		if err := a.Receive(start, New(c).Append(0, nil)); err != nil != (i == NeighboursMax) || err != nil && err != ErrFull {
			t.Errorf("neighbour %d: %v", i, err)
		}
	}
	wantChange(t, a, "learned, disagree pfc, learned, agree pfc, learned, learned")
	if !a.Several() {
		t.Error("they are not several")
	}
}

// TestFlood: of a flood a few frames are read.
func TestFlood(t *testing.T) {
	a := New(says("s1", 1<<3))
	frame := New(says("s2", 1<<3)).Append(0, nil)
	for range 1000 {
		if err := a.Receive(start, frame); err != nil && err != ErrMany {
			t.Fatal(err)
		}
	}
	if n := a.Counters().Received; n > 20 {
		t.Errorf("%d frames were read", n)
	}
	receive(t, a, start+second, frame)
}

// TestCompare: what counts as different, and what does not.
func TestCompare(t *testing.T) {
	own := says("s1", 1<<3|1<<4)
	strict := NewETS([unit.Priorities]int{})
	renumbered := *own.DCBX.ETS // classes 0 and 1 with their numbers exchanged
	renumbered.Class[0], renumbered.Class[1] = 1, 0
	renumbered.Bandwidth[0], renumbered.Bandwidth[1] = renumbered.Bandwidth[1], renumbered.Bandwidth[0]
	turned := *strict // priority 0 before 1
	turned.Class[0], turned.Class[1] = 1, 0
	together := *own.DCBX.ETS
	together.Class[1] = 0
	willing := *NewPFC(1 << 3)
	willing.Willing = true
	for name, c := range map[string]struct {
		own, peer DCBX
		want      string
	}{
		"the same":                        {own.DCBX, own.DCBX, ""},
		"other priorities":                {own.DCBX, DCBX{PFC: NewPFC(1 << 3)}, "disagree pfc"},
		"other priorities, but willing":   {own.DCBX, DCBX{PFC: &willing}, ""},
		"nothing said":                    {own.DCBX, DCBX{}, ""},
		"nothing said here":               {DCBX{}, own.DCBX, ""},
		"strict":                          {own.DCBX, DCBX{ETS: strict}, "disagree ets"},
		"other numbers":                   {own.DCBX, DCBX{ETS: &renumbered}, ""},
		"two in one class":                {own.DCBX, DCBX{ETS: &together}, "disagree ets"},
		"another order of strict classes": {DCBX{ETS: strict}, DCBX{ETS: &turned}, "disagree ets"},
		"another priority of RoCEv2":      {own.DCBX, DCBX{RoCE: NewRoCE(3, 1<<4)}, "disagree app"},
		"both":                            {own.DCBX, DCBX{PFC: NewPFC(0), ETS: strict}, "disagree pfc, disagree ets"},
	} {
		here, there := own, says("s2", 0)
		here.DCBX, there.DCBX = c.own, c.peer
		a := New(here)
		receive(t, a, start, New(there).Append(0, nil))
		if got := strings.TrimPrefix(strings.TrimPrefix(changed(a), "learned"), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestRoCE: the priority of RoCEv2 is the usual one where that is lossless, and is found among others of its
// TLV by its port of UDP, or of any transport.
func TestRoCE(t *testing.T) {
	for lossless, want := range map[unit.PrioritySet]int{1<<3 | 1<<4: 3, 1<<4 | 1<<6: 4, 0: -1} {
		if c := NewRoCE(3, lossless); (c == nil) != (want < 0) || c != nil && int(*c) != want {
			t.Errorf("lossless %v: %v, want %d", lossless, c, want)
		}
	}
	for tlv, want := range map[string]int{
		"00 6312b7": 3, "00 8412b7": 4, "00 a112b7 a212b7 a512b7": -1, "00 2302ff e312b7 4312b7": 7, "00": -1,
	} {
		v, err := hex.DecodeString("0080c20c" + strings.ReplaceAll(tlv, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		var d DCBX
		if ok := d.read(v); !ok || (d.RoCE == nil) != (want < 0) || d.RoCE != nil && int(*d.RoCE) != want {
			t.Errorf("%s: %v, %v; want %d", tlv, d.RoCE, ok, want)
		}
	}
	for _, tlv := range []string{"", "0063", "006312", "006312b700"} {
		v, _ := hex.DecodeString("0080c20c" + tlv)
		if new(DCBX).read(v) {
			t.Errorf("%s was taken", tlv)
		}
	}
}

// TestGoodbye: an end that stops is forgotten at once, by a frame of no more than what has to be there; one
// whose link is down says nothing.
func TestGoodbye(t *testing.T) {
	a, b := New(says("s1", 1<<3)), New(says("s2", 1<<3))
	if f := a.Goodbye(); f != nil {
		t.Errorf("while the link is down: %x", f)
	}
	a.Up(start)
	receive(t, b, start, a.Append(start, nil))
	receive(t, b, start, a.Goodbye())
	wantChange(t, b, "learned, gone")
	if n, ttl, err := Parse(a.Goodbye()); err != nil || ttl != 0 || n.System != "" || n.DCBX != (DCBX{}) || n.Port != "to-s1" {
		t.Errorf("it says %+v for %d s: %v", n, ttl, err)
	}
}

// TestDisagreement: it is told when it begins and when it is over, and remembered.
func TestDisagreement(t *testing.T) {
	a := New(says("s1", 1<<3|1<<4))
	right, wrong := New(says("s2", 1<<3|1<<4)), New(says("s2", 1<<3))
	for i, end := range []*Agent{right, wrong, wrong, right, wrong} {
		receive(t, a, start+unit.Time(i)*second, end.Append(0, nil))
	}
	wantChange(t, a, "learned, disagree pfc, agree pfc, disagree pfc")
	d, lasts := a.Disagreements(FeaturePFC)
	if want := (Disagreement{Times: 2, Own: 1<<3 | 1<<4, Peer: 1 << 3, System: "s2"}); d != want || !lasts {
		t.Errorf("%+v, lasts %v, want %+v", d, lasts, want)
	}
	a.Down()
	wantChange(t, a, "gone, agree pfc")
}

// TestShares: shares of a link add up to 100.
func TestShares(t *testing.T) {
	for _, weights := range [][unit.Priorities]int{{1}, {1, 1, 1}, {1, 2, 0, 4, 100, 7, 9, 3}, {1, 1, 1, 1, 1, 1, 1, 1}} {
		e, sum := NewETS(weights), 0
		for p, w := range weights {
			if (e.TSA[p] == Enhanced) != (w > 0) {
				t.Errorf("%v: priority %d has algorithm %d", weights, p, e.TSA[p])
			}
			sum += int(e.Bandwidth[p])
		}
		if sum != 100 {
			t.Errorf("%v: %v add up to %d", weights, e.Bandwidth, sum)
		}
	}
}

// TestMalformed: what is wrong with a frame, and that it changes nothing.
func TestMalformed(t *testing.T) {
	const (
		head    = "0180c200000e02000000010188cc"
		chassis = "020704020000000100"
		port    = "0403057331"
		ttl     = "06020079"
		end     = "0000"
	)
	for name, c := range map[string]struct {
		hex  string
		want error
	}{
		"whole":                      {chassis + port + ttl + end, nil},
		"a TLV that is not known":    {chassis + port + ttl + "2002abcd" + end, nil},
		"padding":                    {chassis + port + ttl + end + "ffff", nil},
		"empty":                      {"", ErrTruncated},
		"no end":                     {chassis + port + ttl, ErrTruncated},
		"cut in a TLV":               {chassis + port + ttl + "0a05", ErrTruncated},
		"another order":              {port + chassis + ttl + end, ErrOrder},
		"no time to live":            {chassis + port + end, ErrOrder},
		"chassis twice":              {chassis + port + ttl + chassis + end, ErrOrder},
		"a chassis ID of one octet":  {"020104" + port + ttl + end, ErrShort},
		"a time to live of an octet": {chassis + port + "060101" + end, ErrShort},
	} {
		frame, err := hex.DecodeString(head + c.hex)
		if err != nil {
			t.Fatal(err)
		}
		a := New(says("s1", 1<<3))
		if err := a.Receive(start, frame); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if known := len(a.Neighbours()) == 1; known != (c.want == nil) {
			t.Errorf("%s: %d neighbours", name, len(a.Neighbours()))
		}
	}
}

// TestDiscards: a TLV of DCBX that is wrong is discarded, and the rest of its frame counts.
func TestDiscards(t *testing.T) {
	for name, tlv := range map[string]string{
		"PFC of one octet":          "fe050080c20b08",
		"traffic class 15":          "fe190080c20900" + "0123456f" + strings.Repeat("00", 16),
		"ETS that is cut short":     "fe080080c20900012345",
		"an application cut short":  "fe070080c20c006312",
		"a recommendation of class": "fe190080c20a00" + "8123456f" + strings.Repeat("00", 16),
	} {
		good := "fe060080c20b0810"
		frame, err := hex.DecodeString("0180c200000e02000000010188cc" + "020704020000000100" + "0403057331" + "06020079" + tlv + good + "0000")
		if err != nil {
			t.Fatal(err)
		}
		a := New(says("s1", 1<<3))
		receive(t, a, start, frame)
		if n := a.Neighbours()[0]; n.Discarded != 1 || n.DCBX.PFC == nil || n.DCBX.PFC.Enable != 1<<4 || n.DCBX.ETS != nil || n.DCBX.Recommends != nil {
			t.Errorf("%s: %d discarded, %+v", name, n.Discarded, n.DCBX)
		}
	}
}

// TestNames: what a stranger calls itself breaks no line, and an own name that is too long is cut.
func TestNames(t *testing.T) {
	c := says("s2\n\x1b[2J\xff", 1<<3)
	c.Port = strings.Repeat("x", 1000)
	a := New(says("s1", 1<<3))
	receive(t, a, start, New(c).Append(0, nil))
	if n := a.Neighbours()[0]; n.System != "s2??[2J?" || n.Port != strings.Repeat("x", 255) {
		t.Errorf("%q, %q", n.System, n.Port)
	}
}

// FuzzReceive: no frame panics, what is taken is within bounds, and an end that heard anything
// still says what it is configured to.
func FuzzReceive(f *testing.F) {
	f.Add(New(says("s2", 1<<3)).Append(0, nil))
	f.Add(New(says("", 0)).Append(0, nil)[:40])
	f.Fuzz(func(t *testing.T, frame []byte) {
		if !Is(frame) {
			return
		}
		a := New(says("s1", 1<<3|1<<4))
		a.Up(start)
		before := string(New(says("s1", 1<<3|1<<4)).Append(start, nil))
		err := a.Receive(start, frame)
		known := len(a.Neighbours())
		if known > 1 || err != nil && known > 0 {
			t.Fatalf("%d neighbours, %v", known, err)
		}
		if known == 1 {
			n := a.Neighbours()[0]
			if n.Until <= start || n.Until > start+65535*second {
				t.Errorf("until %v", n.Until)
			}
			if strings.ContainsFunc(n.System+n.Port+n.Chassis+n.PortDescription, func(r rune) bool { return r < ' ' }) {
				t.Errorf("%+v", n)
			}
		}
		if string(a.Append(start, nil)) != before {
			t.Error("it says something else")
		}
	})
}
