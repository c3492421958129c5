package event

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/unit"
)

var core0 = Node{ID: 1, Name: "core0", Ports: []string{"to-agg0-0", "", "to-agg2-0"}}

func TestAppendLine(t *testing.T) {
	label := itsyhdr.TLV{Kind: itsyhdr.KindChecking, Priority: 3, Initiator: unit.NodePort{Node: 9, Port: 2}, Seq: 7, Trigger: unit.NodePort{Node: 9, Port: 2}, Hops: 1, Period: 4}
	for _, c := range []struct {
		e    Event
		want string
	}{
		{
			Event{At: 1000, Type: XOFF, Port: 0, Priority: 3, Out: 2, OutPriority: 3, Period: 255, Bytes: 40960, Limit: 36864},
			`{"ts":1000,"node":"core0","id":1,"type":"xoff","port":0,"port_name":"to-agg0-0","priority":3,"out":2,"out_name":"to-agg2-0","out_priority":3,"period":255,"bytes":40960,"limit":36864}`,
		},
		{
			Event{At: 1001, Type: Paused, Out: 1, OutPriority: 3, HasPeriod: true, Period: 12},
			`{"ts":1001,"node":"core0","id":1,"type":"paused","out":1,"out_priority":3,"period":12}`,
		},
		{
			Event{At: 1001, Type: Paused, Out: 1, OutPriority: 3, HasPeriod: true, Period: 13, Bytes: 4},
			`{"ts":1001,"node":"core0","id":1,"type":"paused","out":1,"out_priority":3,"period":13,"left_out":4}`,
		},
		{
			Event{At: 1002, Type: Paused, Out: 3, OutPriority: 3},
			`{"ts":1002,"node":"core0","id":1,"type":"paused","out":3,"out_priority":3}`,
		},
		{
			Event{At: 1003, Type: Trace, Step: detect.StepDrop, Port: unit.NoPort, Out: 1, OutPriority: 3, Label: label},
			`{"ts":1003,"node":"core0","id":1,"type":"trace","out":1,"out_priority":3,"step":"drop","label":{"kind":"checking","priority":3,"flags":0,"initiator":{"node":9,"port":2},"seq":7,"trigger":{"node":9,"port":2},"hops":1,"period":4}}`,
		},
		{
			Event{At: 1004, Type: Deadlock, Port: 1, Priority: 3, Out: 2, OutPriority: 3, Label: itsyhdr.TLV{Kind: 9, Auth: 0xfedcba9876543210}, Trigger: unit.NodePort{Node: 65535, Port: 63}, OnLoop: true},
			`{"ts":1004,"node":"core0","id":1,"type":"deadlock","port":1,"priority":3,"out":2,"out_name":"to-agg2-0","out_priority":3,"label":{"kind":"kind-9","priority":0,"flags":0,"initiator":{"node":0,"port":0},"seq":0,"trigger":{"node":0,"port":0},"hops":0,"period":0,"auth":"fedcba9876543210"},"trigger":{"node":65535,"port":63},"on_loop":true}`,
		},
		{
			Event{At: 1005, Type: Rerouted, Out: 2, Bytes: 6},
			`{"ts":1005,"node":"core0","id":1,"type":"rerouted","out":2,"out_name":"to-agg2-0","route":6}`,
		},
	} {
		if got := string(core0.Append(nil, c.e)); got != c.want+"\n" {
			t.Errorf("%v:\n got %swant %s", c.e.Type, got, c.want)
		}
	}
}

// randomEvent is an event of type ty with every field that counts set at random
// and every other field zero.
func randomEvent(r *rand.Rand, ty Type, at unit.Time) Event {
	np := func() unit.NodePort {
		return unit.NodePort{Node: unit.NodeID(r.IntN(1 << 16)), Port: unit.Port(r.IntN(unit.MaxPorts))}
	}
	e := Event{At: at, Type: ty}
	has := shapes[ty].need
	if may := shapes[ty].may; r.IntN(2) == 0 {
		has |= may
		e.HasPeriod = may&keyPeriod != 0
	}
	if shapes[ty].may&keyPG == keyPG {
		e.Port, e.Out = unit.NoPort, unit.NoPort
	}
	if has&keyPort != 0 {
		e.Port = unit.Port(r.IntN(unit.MaxPorts))
	}
	if has&keyPriority != 0 {
		e.Priority = unit.Priority(r.IntN(unit.Priorities))
	}
	if has&keyOut != 0 {
		e.Out = unit.Port(r.IntN(unit.MaxPorts))
	}
	if has&keyOutPriority != 0 {
		e.OutPriority = unit.Priority(r.IntN(unit.Priorities))
	}
	if has&keyPeriod != 0 {
		e.Period = uint8(r.Uint32())
	}
	if has&(keyBytes|keyRoute|keyAmount) != 0 {
		e.Bytes = r.Int32()
	}
	if has&keyLeftOut != 0 {
		e.Bytes = 1 + r.Int32N(1<<31-1)
	}
	if has&(keyLimit|keyLost) != 0 {
		e.Limit = r.Int32()
	}
	if has&keyStep != 0 {
		e.Step = detect.Step(1 + r.IntN(int(lastStep)))
	}
	if has&keyLabel != 0 {
		e.Label = itsyhdr.TLV{
			Kind: itsyhdr.Kind(r.IntN(16)), Priority: unit.Priority(r.IntN(8)), Flags: uint8(r.IntN(32)), Initiator: np(),
			Seq: uint16(r.Uint32()), Trigger: np(), Hops: uint8(r.Uint32()), Period: uint8(r.Uint32()), Auth: r.Uint64() >> uint(r.IntN(65)),
		}
	}
	if has&keyTrigger != 0 {
		e.Trigger = np()
	}
	if has&keyOnLoop != 0 {
		e.OnLoop = r.IntN(2) == 0
	}
	if has&keyAction != 0 {
		e.Action = detect.ActionDrop + detect.Action(r.IntN(int(detect.ActionRelease)))
	}
	if has&keyFlow != 0 {
		e.Flow = 1 + detect.FlowID(r.Uint32N(1<<32-1))
	}
	if has&keyCause != 0 {
		e.Cause = detect.CauseHost + detect.CauseType(r.IntN(len(detect.CauseTypes)))
		e.In = unit.NoPort
		if has&keyIn != 0 {
			e.In = unit.Port(r.IntN(unit.MaxPorts))
		}
		e.Together = has&keyTogether != 0
		e.Rank, e.Confidence = uint8(1+r.IntN(detect.CausesMax)), uint8(r.IntN(101))
	}
	if has&keyWhy != 0 {
		e.Why = auth.Missing + auth.Verdict(r.IntN(int(auth.Verdicts-1)))
	}
	if has&keyRefusal != 0 {
		e.Refusal = detect.RefusedNoAlternative + detect.Refusal(r.IntN(int(detect.RefusedTooMany)))
	}
	return e
}

func TestRoundTrip(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	node := Node{ID: 65535, Name: "s\"1\\\n\u00e9", Ports: []string{"eth0", "", "\u2028", "a b"}}
	log := Log{Node: node}
	var text []byte
	for i := range 5000 {
		e := randomEvent(r, XOFF+Type(i%int(lastType)), unit.Time(i)*7)
		log.Events = append(log.Events, e)
		text = node.Append(text, e)
	}
	got, err := Decode("log", text, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Events {
		if got.Events[i] != log.Events[i] {
			t.Fatalf("line %d:\n got %+v\nwant %+v", i+1, got.Events[i], log.Events[i])
		}
	}
	if !reflect.DeepEqual(got, log) {
		t.Fatalf("got the log of %+v, cut %t, with %d events; want %+v with %d", got.Node, got.Cut, len(got.Events), node, len(log.Events))
	}
}

// TestMark: a byte order mark at the head of a log, and only there, is read over.
func TestMark(t *testing.T) {
	text := core0.Append(nil, Event{At: 1, Type: LinkUp})
	if log, err := Decode("log", append([]byte("\ufeff"), text...), false); err != nil || len(log.Events) != 1 {
		t.Errorf("%d events, %v", len(log.Events), err)
	}
	if _, err := Decode("log", append(text, append([]byte("\ufeff"), text...)...), false); err == nil {
		t.Error("a mark in the second line is no fault")
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 0, 1024)
	for ty := XOFF; ty <= lastType; ty++ {
		e := randomEvent(r, ty, 1<<50)
		if n := testing.AllocsPerRun(100, func() { core0.Append(buf, e) }); n != 0 {
			t.Errorf("%v: %v allocations", ty, n)
		}
		if n := len(core0.Append(nil, e)); n > 512 {
			t.Errorf("%v: a line of %d bytes, the comment promises 512", ty, n)
		}
	}
}

func TestEveryTypeAndStepHasAName(t *testing.T) {
	seen := map[string]bool{}
	for ty := XOFF; ty <= lastType; ty++ {
		if name := ty.String(); name == "" || seen[name] {
			t.Errorf("type %d: name %q is empty or taken", ty, name)
		}
		seen[ty.String()] = true
	}
	for s := detect.StepMint; s <= lastStep; s++ {
		if s.String() == "" || seen[s.String()] {
			t.Errorf("step %d: name %q is empty or taken", s, s)
		}
		seen[s.String()] = true
	}
}

func TestAppendUnknownTypePanics(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "no type 200") {
			t.Errorf("panic %q, want one that names type 200", r)
		}
	}()
	core0.Append(nil, Event{Type: 200})
}

func TestDecodeErrors(t *testing.T) {
	const xon = `{"ts":5,"node":"s1","id":1,"type":"xon","port":0,"priority":3,"period":1,"bytes":9}` + "\n"
	edit := func(old, new string) string { return strings.Replace(xon, old, new, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"empty line", xon + "\n", "log:2: jsontext: unexpected EOF"},
		{"no JSON", "hello\n", "log:1: jsontext: invalid character 'h'"},
		{"cut inside", xon[:40] + "\n" + xon, "log:1: jsontext: unexpected EOF"},
		{"two objects", strings.TrimSpace(xon) + xon, `log:1: jsontext: invalid character '{' after top-level value`},
		{"no type", edit(`,"type":"xon"`, ""), "log:1: type: missing"},
		{"unknown type", edit(`"xon"`, `"xonn"`), `log:1: type: "xonn": want xoff, xon,`},
		{"unknown key", edit(`"period"`, `"periode"`), `unknown object member name "periode": want ts, node,`},
		{"key twice", edit(`"period":1`, `"period":1,"period":1`), `log:1: jsontext: duplicate object member name "period"`},
		{"key missing", edit(`,"period":1`, ""), "log:1: period: missing from a line of type xon"},
		{"key of another type", edit(`"bytes":9`, `"bytes":9,"limit":3`), "log:1: limit: not on a line of type xon, which has ts,"},
		{"port name without port", edit(`"port":0`, `"port_name":"eth0"`), "log:1: port: missing"},
		{"priority 8", edit(`"priority":3`, `"priority":8`), "log:1: priority: 8: want an integer, 0 to 7"},
		{"port 256", edit(`"port":0`, `"port":256`), "log:1: port: 256: want an integer, 0 to 255"},
		{"period 256", edit(`"period":1`, `"period":256`), "log:1: period: 256: want an integer, 0 to 255"},
		{"negative bytes", edit(`"bytes":9`, `"bytes":-9`), "log:1: bytes: -9: want an integer, 0 to 2147483647"},
		{"fraction", edit(`"bytes":9`, `"bytes":9.5`), "log:1: bytes: 9.5: want an integer"},
		{"exponent", edit(`"bytes":9`, `"bytes":9e1`), "log:1: bytes: 9e1: want an integer"},
		{"leading zero", edit(`"bytes":9`, `"bytes":09`), "log:1: jsontext: invalid character '9'"},
		{"null", edit(`"bytes":9`, `"bytes":null`), "log:1: bytes: null: want an integer"},
		{"number as string", edit(`"bytes":9`, `"bytes":"9"`), `log:1: bytes: "9": want an integer`},
		{"id 0", edit(`"id":1`, `"id":0`), "log:1: id: 0: want an integer, 1 to 65535"},
		{"no name", edit(`"s1"`, `""`), "log:1: node: missing from a line of type xon"},
		{"not UTF-8", edit(`s1`, "s\xff"), `log:1: jsontext: invalid UTF-8 within "/node"`},
		{"bad escape", edit(`s1`, `s\x`), "log:1: jsontext: invalid escape sequence"},
		{"ts goes back", xon + strings.Replace(xon, `"ts":5`, `"ts":4`, 1), "log:2: ts: 4: goes back: the line before has 5"},
		{"another node", xon + strings.Replace(xon, `"s1"`, `"s2"`, 1), `log:2: node: "s2", id 1: this is the log of "s1", id 1`},
		{
			"two names of a port", edit(`"port":0`, `"port":0,"port_name":"a"`) + edit(`"port":0`, `"port":0,"port_name":"b"`),
			`log:2: port 0: named "b", before "a"`,
		},
		{"half a queue", `{"ts":5,"node":"s1","id":1,"type":"trace","out":1,"step":"mint","label":{}}` + "\n", "label.kind: \"\": want period,"},
		{"bad step", `{"ts":5,"node":"s1","id":1,"type":"trace","step":"hop"}` + "\n", `step: "hop": want mint, forward,`},
		{"bad trigger", `{"ts":5,"node":"s1","id":1,"type":"deadlock","trigger":{"node":1}}` + "\n", "log:1: trigger.port: missing: want an integer, 0 to 255"},
		{"cut short", xon + xon[:30], "log:2: cut short: the last line has no newline"},
		{"newline missing", strings.TrimSpace(xon), "log:1: cut short"},
	} {
		log, err := Decode("log", []byte(c.text), false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if strings.HasPrefix(c.text, xon) && strings.HasPrefix(c.want, "log:2") && len(log.Events) != 1 {
			t.Errorf("%s: %d events before the bad line, want 1", c.name, len(log.Events))
		}
	}
}

func TestDecodeCutShort(t *testing.T) {
	var text []byte
	for i := range 3 {
		text = core0.Append(text, Event{At: unit.Time(i), Type: Resumed, Out: 1, OutPriority: 3})
	}
	whole := len(text) / 3
	for cut := range len(text) {
		log, err := Decode("log", text[:cut], true)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		want := (cut + 1) / whole // a line that lacks only its newline counts
		if len(log.Events) != want || log.Cut != (cut%whole != 0) {
			t.Fatalf("cut at %d: %d events, cut %t; want %d, %t", cut, len(log.Events), log.Cut, want, cut%whole != 0)
		}
	}
	// Only the last line may be cut short.
	if _, err := Decode("log", append(append([]byte(nil), text[:10]...), text[9:]...), true); err == nil {
		t.Error("a damaged first line was accepted")
	}
}

func TestDecodeAnyOrderAndSpace(t *testing.T) {
	log, err := Decode("log", []byte(` { "type" : "resumed", "out_priority":3 ,"out":1,"id":4,"node":"a","ts":9 } `+"\r\n"), false)
	if err != nil || len(log.Events) != 1 || log.Events[0] != (Event{At: 9, Type: Resumed, Out: 1, OutPriority: 3}) {
		t.Fatalf("%+v, %v", log, err)
	}
}

// A log of an older program calls an action a measure.
func TestDecodeOlderNames(t *testing.T) {
	line := core0.Append(nil, Event{At: 9, Type: Acted, Action: detect.ActionPolice, Bytes: 5, In: unit.NoPort, Out: unit.NoPort})
	want, err := Decode("log", line, false)
	if err != nil {
		t.Fatal(err)
	}
	older := strings.NewReplacer(`"acted"`, `"measured"`, `"action"`, `"measure"`).Replace(string(line))
	got, err := Decode("log", []byte(older), false)
	if err != nil || older == string(line) || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %+v, %v; want %+v", older, got, err, want)
	}
}

// A log of an older program calls the priority of a label a class.
func TestDecodeOlderLabel(t *testing.T) {
	line := core0.Append(nil, Event{At: 9, Type: Deadlock, Label: itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 5}})
	want, err := Decode("log", line, false)
	if err != nil || want.Events[0].Label.Priority != 5 {
		t.Fatalf("%+v, %v", want, err)
	}
	older := strings.Replace(string(line), `{"kind":"label","priority":5`, `{"kind":"label","class":5`, 1)
	got, err := Decode("log", []byte(older), false)
	if err != nil || older == string(line) || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %+v, %v; want %+v", older, got, err, want)
	}
}

// What Decode accepts, Append writes and Decode reads again as the same.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	var all []byte
	for ty := XOFF; ty <= lastType; ty++ {
		line := core0.Append(nil, randomEvent(r, ty, unit.Time(ty)))
		f.Add(line)
		all = append(all, line...)
	}
	f.Add(all)
	f.Add(all[:len(all)-20])
	f.Add([]byte(`{"ts":5,"node":"s\u00311","id":1,"type":"xon","port":0,"port_name":"\"","priority":3,"period":1,"bytes":9}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := Decode("f", data, true)
		if err != nil {
			return
		}
		var text []byte
		for _, e := range log.Events {
			text = log.Node.Append(text, e)
		}
		again, err := Decode("f", text, false)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		again.Cut = log.Cut
		if !reflect.DeepEqual(again, log) {
			t.Fatalf("first %+v\nagain %+v", log, again)
		}
		if lines := bytes.Count(text, []byte("\n")); lines != len(log.Events) {
			t.Fatalf("%d lines for %d events", lines, len(log.Events))
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	buf := make([]byte, 0, 1024)
	e := Event{At: 1 << 50, Type: Held, Port: 1, Priority: 3, Out: 2, OutPriority: 3, Bytes: 40000, Limit: 36864}
	b.ReportAllocs()
	for b.Loop() {
		buf = core0.Append(buf[:0], e)
	}
}

func BenchmarkDecode(b *testing.B) {
	var text []byte
	for i := range 1000 {
		text = core0.Append(text, Event{At: unit.Time(i), Type: Held, Port: 1, Priority: 3, Out: 2, OutPriority: 3, Bytes: 40000, Limit: 36864})
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Decode("log", text, false); err != nil {
			b.Fatal(err)
		}
	}
}
