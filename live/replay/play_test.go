package replay

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/itsypaper"
	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/link/lldp"
	"softswitch/node/config"
	"softswitch/pfcframe"
	"softswitch/unit"
)

var detectors = map[string]detect.Factory{"none": detect.NewNone, itsypaper.Name: itsypaper.New}

const batch = 8

// tape drives a machine at random, as a live node would, and records it.
type tape struct {
	Machine
	enc  Encoder
	file []byte
	rng  *rand.Rand
	now  unit.Time
	rx   [][]*buffer.Frame
	tx   [][]*buffer.Frame

	calls, frames, events int
}

func newTape(m Machine, h Header, node event.Node, seed uint64) *tape {
	t := &tape{Machine: m, enc: Encoder{Node: node}, file: AppendHeader(nil, h), rng: rand.New(rand.NewPCG(seed, 0))}
	for p := range m.Ports() {
		t.rx, t.tx = append(t.rx, make([]*buffer.Frame, batch)), append(t.tx, make([]*buffer.Frame, batch)[:0])
		t.lend(unit.Port(p), batch)
	}
	return t
}

func (t *tape) called() {
	t.calls++
	_, ev := t.Work(nil)
	if len(ev) > 0 {
		t.file = t.enc.Events(t.file, ev)
		t.events += len(ev)
	}
}

func (t *tape) lend(p unit.Port, n int) {
	t.file = t.enc.Lend(t.file, p, n)
	t.Lend(p, t.rx[p][:n])
	t.called()
}

func (t *tape) receive(p unit.Port, frames ...[]byte) {
	fs := t.rx[p][:len(frames)]
	for i, f := range fs {
		f.Data, f.Len = append(f.Data[:0], frames[i]...), len(frames[i])
		t.Parse(f)
	}
	t.file = t.enc.Receive(t.file, t.now, p, fs)
	t.Receive(t.now, p, fs)
	clear(fs)
	t.called()
	t.lend(p, len(frames))
	t.frames += len(frames)
}

func (t *tape) transmit(p unit.Port) {
	t.file = t.enc.Sent(t.file, t.now, p, len(t.tx[p]))
	t.Sent(t.now, p, t.tx[p])
	t.called()
	n, next := t.Transmit(t.now, p, t.tx[p][:batch])
	t.file = t.enc.Transmit(t.file, t.now, p, batch, n, next)
	t.tx[p] = t.tx[p][:n]
	t.called()
}

func (t *tape) setLink(p unit.Port, up bool) {
	t.file = t.enc.SetLink(t.file, t.now, p, up)
	t.SetLink(t.now, p, up)
	t.called()
}

func (t *tape) setMAC(p unit.Port, m unit.MAC) {
	t.file = t.enc.SetMAC(t.file, p, m)
	t.SetMAC(p, m)
	t.called()
}

// chaos makes n random calls, with frames made by frame.
func (t *tape) chaos(n int, frame func() []byte) {
	for range n {
		t.now += unit.Time(t.rng.IntN(30_000))
		p := unit.Port(t.rng.IntN(t.Ports()))
		switch k := t.rng.IntN(40); {
		case k < 20:
			var fs [][]byte
			for range 1 + t.rng.IntN(batch) {
				fs = append(fs, frame())
			}
			t.receive(p, fs...)
		case k < 38:
			t.transmit(p)
		case k < 39:
			t.setLink(p, t.rng.IntN(4) > 0)
		default:
			t.setMAC(p, unit.MAC(t.rng.Uint64()>>16))
		}
	}
}

// pause is a PFC frame of priority 3 with a label, that of a switch.
func pause(rng *rand.Rand) []byte {
	b := make([]byte, pfcframe.Len)
	f := pfcframe.Frame{Enable: 1 << 3}
	f.Quanta[3] = uint16(rng.IntN(3) * 2000)
	t := itsyhdr.TLV{Kind: itsyhdr.KindChecking, Priority: 3, Initiator: unit.NodePort{Node: 5, Port: 1}, Seq: uint16(rng.IntN(3)), Period: uint8(rng.IntN(3))}
	itsyhdr.Put(pfcframe.Put(b, f), t)
	return b
}

// data is a frame of priority 3 or 0 between two of four stations, longer than Keep.
func data(rng *rand.Rand) []byte {
	b := make([]byte, 60+rng.IntN(1400))
	ether.SetAddresses(b, unit.MAC(0x020000000001+rng.IntN(4)), unit.MAC(0x020000000001+rng.IntN(4)))
	binary.BigEndian.PutUint16(b[12:], ether.TypeIPv4)
	ether.PutIPv4(b[14:], uint8(rng.IntN(2))*(26<<2), 64, ether.ProtoUDP, len(b)-14, 1, 2)
	return b
}

// switchTape is a random recording of a bridge of three ports.
func switchTape(t *testing.T, seed uint64, calls int) *tape {
	t.Helper()
	cfg := config.Switch{Name: "s1", ID: 1, Detector: itsypaper.Name}
	for _, name := range []string{"a", "b", "c"} {
		cfg.Ports = append(cfg.Ports, config.Port{Name: name, Rate: 1e9})
	}
	cfg.Fill()
	sw, err := dataplane.NewSwitch(cfg.Build(itsypaper.New, batch, 1000))
	if err != nil {
		t.Fatal(err)
	}
	h := Header{Kind: Switch, Name: "s1", Config: string(cfg.Marshal()), Batch: batch, Granularity: 1000}
	tp := newTape(sw, h, event.Node{ID: 1, Name: "s1", Ports: []string{"a", "b", "c"}}, seed)
	for p := range unit.Port(3) {
		tp.setLink(p, true)
	}
	tp.chaos(calls, func() []byte {
		if tp.rng.IntN(10) == 0 {
			return pause(tp.rng)
		}
		return data(tp.rng)
	})
	return tp
}

// A router tells of datagrams that are longer than Keep, by ports that are not too fast for it to matter, and
// hears LLDP that is longer than Keep.
func TestRouter(t *testing.T) {
	seed := testkit.Seed(t)
	cfg := config.Switch{Name: "s1", ID: 1, Detector: "none", LLDP: &config.LLDP{Interval: new(unit.Second)}}
	for p, name := range []string{"a", "b"} {
		cfg.Ports = append(cfg.Ports, config.Port{Name: name, Rate: 1e6})
		subnet := unit.Addr(10<<24 | p<<8)
		cfg.Subnets = append(cfg.Subnets, config.Subnet{Prefix: unit.Prefix{Prefix: netip.PrefixFrom(subnet.Netip(), 24)}, Gateway: subnet | 1, Ports: []int{p}})
		cfg.ARP = append(cfg.ARP, config.ARP{IP: subnet | 2, MAC: 0x020000000001})
	}
	cfg.Fill()
	sw, err := dataplane.NewSwitch(cfg.Build(detect.NewNone, batch, 1000))
	if err != nil {
		t.Fatal(err)
	}
	tp := newTape(sw, Header{Kind: Switch, Name: "s1", Config: string(cfg.Marshal()), Batch: batch, Granularity: 1000}, event.Node{ID: 1, Name: "s1", Ports: []string{"a", "b"}}, seed)
	mac := func(p unit.Port) unit.MAC { return 0x020000000010 + unit.MAC(p) }
	for p := range unit.Port(2) {
		tp.setMAC(p, mac(p))
		tp.setLink(p, true)
	}
	neighbour := lldp.Config{Interval: unit.Second, System: strings.Repeat("s", 200), Port: "eth0", Chassis: 5, MAC: 5}
	told, known := 0, false
	for range 2000 {
		tp.now += unit.Time(tp.rng.IntN(int(20 * unit.Millisecond)))
		p := unit.Port(tp.rng.IntN(2))
		late := data(tp.rng)
		ether.SetAddresses(late, mac(p), 0x020000000001)
		ether.PutIPv4(late[14:], 0, 1, ether.ProtoUDP, len(late)-14, uint32(10<<24|int(p)<<8|2), 10<<24|1<<8|9)
		tp.receive(p, late)
		if tp.rng.IntN(20) == 0 {
			tp.receive(p, lldp.New(neighbour).Append(0, nil))
		}
		tp.transmit(p)
		for _, f := range tp.tx[p] {
			if isICMP := f.Len > 34 && ether.IPv4(f.Data[14:]).Proto() == ether.ProtoICMP; isICMP && f.Len > Keep {
				told++
			}
		}
		known = known || len(dataplane.LLDPOf(sw, p).Neighbours()) > 0
	}
	res := play(t, tp.enc.End(tp.file, false))
	if !res.Same || res.Fault != "" || res.Calls != tp.calls {
		t.Errorf("seed %d: %+v, difference %+v; want the same in %d calls", seed, res, res.Difference, tp.calls)
	}
	if told < 100 || !known {
		t.Errorf("seed %d: told of %d, neighbour known %v: this proves little", seed, told, known)
	}
}

// A switch with authenticated links, a far end of which answers, signs, and is forged.
// Messages that are longer than Keep are among what it sends.
func TestAuthenticatedSwitch(t *testing.T) {
	seed := testkit.Seed(t)
	hears := map[string]detect.Factory{"none": newLong}
	keys := auth.Keys{"l": {auth.Key([]byte("0123456789abcdef"))}}
	cfg := config.Switch{Name: "s1", ID: 1, Detector: "none"}
	for _, name := range []string{"a", "b"} {
		cfg.Ports = append(cfg.Ports, config.Port{Name: name, Rate: 1e9, Auth: auth.Strict, Link: "l"})
	}
	cfg.Fill()
	built := cfg.Build(newLong, batch, 1000)
	for _, p := range built.Ports {
		p.Auth.Keys, p.Auth.First = keys.Of("l"), 1000
	}
	sw, err := dataplane.NewSwitch(built)
	if err != nil {
		t.Fatal(err)
	}
	h := Header{Kind: Switch, Name: "s1", Config: string(cfg.Marshal()), Batch: batch, Granularity: 1000, FirstCounter: 1000}
	tp := newTape(sw, h, event.Node{ID: 1, Name: "s1", Ports: []string{"a", "b"}}, seed)
	for p := range unit.Port(2) {
		tp.setLink(p, true)
	}
	far := auth.New(auth.Config{Mode: auth.Strict, Link: "l", Keys: keys.Of("l"), Self: 0x020000000099, First: 1 << 40})
	tp.chaos(3000, func() []byte { return tp.fromFarEnd(far) })

	file := tp.enc.End(tp.file, false)
	res, err := Play(bytes.NewReader(file), hears, keys)
	if err != nil || !res.Same || res.Fault != "" || res.Events != tp.events {
		t.Errorf("seed %d: %+v, %v; want the same in %d events", seed, res, err, tp.events)
	}
	agreed, refused := bytes.Count(file, []byte(`"auth_agreed"`)), bytes.Count(file, []byte(`"auth_refused"`))
	heard := sw.Counters(0).RxMessages + sw.Counters(1).RxMessages
	if agreed == 0 || refused == 0 || heard < 100 {
		t.Errorf("seed %d: agreed %d times, refused %d, %d messages heard: this proves little", seed, agreed, refused, heard)
	}
	key := keys["l"][0]
	if bytes.Contains(file, key[:8]) || bytes.Contains(file, key[8:]) || bytes.Contains(file, fmt.Appendf(nil, "%x", key[:8])) {
		t.Error("the recording has the key")
	}
	if _, err := Play(bytes.NewReader(file), hears, nil); err == nil || !strings.Contains(err.Error(), "link l of the recorded switch is authenticated") {
		t.Errorf("without keys: %v", err)
	}
	res, err = Play(bytes.NewReader(file), hears, auth.Keys{auth.AllLinks: {{9}}})
	if err != nil || res.Same {
		t.Errorf("with other keys: %+v, %v; want a difference", res, err)
	}
}

// fromFarEnd is a frame of the far end: the answer to a challenge, a pause, a long message;
// some are forged.
func (t *tape) fromFarEnd(far *auth.End) (f []byte) {
	switch k := t.rng.IntN(10); {
	case k < 1:
		return data(t.rng)
	case k < 3:
		f = make([]byte, itsyhdr.MessageLen)
		var nonce uint64
		for _, p := range t.tx {
			for _, sent := range p {
				if _, tlv, err := itsyhdr.ParseMessage(sent.Data); err == nil && tlv.Kind == itsyhdr.KindHello && tlv.Flags == 0 {
					nonce = binary.BigEndian.Uint64(sent.Data[itsyhdr.MessagePad+8:])
				}
			}
		}
		far.PutHello(f, unit.NodePort{Node: 9}, auth.Hello{Flags: auth.FlagAnswer, Value: nonce})
	case k < 7:
		f = pause(t.rng)
		ether.SetAddresses(f, ether.Dst(f), 0x020000000099)
		far.Sign(f, pfcframe.PadOffset+itsyhdr.AuthOffset)
	default:
		f = make([]byte, 431)
		copy(f, itsyhdr.MessageAddress)
		ether.SetAddresses(f, ether.Dst(f), 0x020000000099)
		binary.BigEndian.PutUint16(f[12:], itsyhdr.MessageEtherType)
		f[400] = byte(t.rng.IntN(2))
		far.Sign(f, len(f)-auth.TagLen)
	}
	if t.rng.IntN(10) == 0 {
		f[40] ^= 1
	}
	return f
}

// long is a detector that logs what the end of a long message says.
type long struct {
	detect.None
	detect.Actions
}

func newLong(_ detect.View, a detect.Actions) detect.Detector { return &long{Actions: a} }

func (d *long) Frame(_ unit.Time, p unit.Port, payload []byte) bool {
	if len(payload) < 400 {
		return false
	}
	d.Report(detect.Finding{PG: detect.PG{Port: p}, Label: itsyhdr.TLV{Flags: payload[400-14]}})
	return true
}

func play(t *testing.T, file []byte) *Result {
	t.Helper()
	res, err := Play(bytes.NewReader(file), detectors, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func wantSame(t *testing.T, tp *tape, seed uint64) {
	t.Helper()
	res := play(t, tp.enc.End(tp.file, false))
	if !res.Same || res.Fault != "" || res.Full || res.Calls != tp.calls || res.Frames != tp.frames || res.Events != tp.events {
		t.Errorf("seed %d: %+v, difference %+v; want the same in %d calls, %d frames, %d events", seed, res, res.Difference, tp.calls, tp.frames, tp.events)
	}
	if tp.events < 100 {
		t.Errorf("seed %d: only %d events: this proves little", seed, tp.events)
	}
}

func TestSwitch(t *testing.T) {
	for range 5 {
		seed := testkit.Seed(t)
		wantSame(t, switchTape(t, seed, 3000), seed)
	}
}

// A host is asked to start, misbehave and stop while it runs.
func TestHost(t *testing.T) {
	seed := testkit.Seed(t)
	cfg := config.Host{
		Name: "h1", ID: 9, Port: config.Port{Name: "eth0", Rate: 1e9, MAC: 0x02_00_00_00_00_09},
		Address: unit.Interface{IP: 10<<24 | 2, Bits: 24}, Gateway: 10<<24 | 1, GatewayMAC: 0x02_00_00_00_00_01,
		Flows: []config.Flow{{Number: 1, Name: "A", To: 10<<24 | 1<<8 | 2, SrcPort: 50000, Priority: 3, Stream: host.Stream{Rate: 300e6, Frame: 1000, TTL: 64}}},
	}
	cfg.Fill()
	h, err := host.New(cfg.Build(batch, 1000))
	if err != nil {
		t.Fatal(err)
	}
	tp := newTape(h, Header{Kind: Host, Name: "h1", Config: string(cfg.Marshal()), Batch: batch, Granularity: 1000},
		event.Node{ID: 9, Name: "h1", Ports: []string{"eth0"}}, seed)
	request := func(do, args string) {
		t.Helper()
		r := Request{Do: do, Args: json.RawMessage(args)}
		if err := r.Apply(h, &cfg, tp.now); err != nil {
			t.Fatal(err)
		}
		tp.file = tp.enc.Request(tp.file, tp.now, r)
		tp.called()
	}
	flow := make([]byte, 1000)
	frame := func() []byte {
		if tp.rng.IntN(5) == 0 {
			return pause(tp.rng)
		}
		copy(flow, toHost)
		return flow
	}
	tp.setLink(0, true)
	request("start", `{"at": 0}`)
	tp.chaos(500, frame)
	request("act", `{"do": "slow", "rate": "1Mbit/s"}`)
	tp.chaos(500, frame)
	request("act", `{"do": "storm", "priority": 3}`)
	tp.chaos(500, frame)
	request("act", `{"do": "normal"}`)
	tp.chaos(500, frame)
	request("stop", "")
	tp.chaos(500, frame)
	if c := h.Counters(); c.TxPause[3] == 0 || c.RxPause[3] == 0 || h.Senders()[0].Frames == 0 || len(h.Receivers()) == 0 {
		t.Errorf("seed %d: the host did too little: %+v", seed, c)
	}
	wantSame(t, tp, seed)
	if got := play(t, tp.file[:len(tp.file)-1]); got.Same != true || got.Calls < tp.calls-1 {
		t.Errorf("cut short: %+v", got)
	}
}

// toHost is the beginning of a frame of flow 7 to 10.0.0.2.
var toHost = func() []byte {
	b := make([]byte, 200)
	ether.SetAddresses(b, 0x020000000009, 0x020000000001)
	binary.BigEndian.PutUint16(b[12:], ether.TypeIPv4)
	ether.PutIPv4(b[14:], 26<<2, 60, ether.ProtoUDP, 1000-14, 0x0a000102, 0x0a000002)
	binary.BigEndian.PutUint16(b[36:], host.Port)
	binary.BigEndian.PutUint16(b[42:], 0x5346)
	binary.BigEndian.PutUint32(b[44:], 7)
	return b
}()

// A recording that is cut anywhere is compared as far as it goes, and the call is
// named; a full recorder's is whole.
func TestCutShort(t *testing.T) {
	seed := testkit.Seed(t)
	tp := switchTape(t, seed, 300)
	head := len(AppendHeader(nil, headerOf(t, tp.file)))
	for n := head; n < len(tp.file); n += 1 + tp.rng.IntN(1500) {
		res := play(t, tp.file[:n])
		if !res.Same || !strings.Contains(res.Fault, "cut short") || !strings.Contains(res.Fault, "call ") {
			t.Fatalf("seed %d: the first %d bytes: %+v, difference %+v", seed, n, res, res.Difference)
		}
	}
	whole := play(t, tp.enc.End(tp.file, true))
	if !whole.Same || !whole.Full || whole.Fault != "" || whole.Calls != tp.calls {
		t.Errorf("seed %d: a full recorder: %+v", seed, whole)
	}
}

func headerOf(t *testing.T, file []byte) Header {
	t.Helper()
	d := newDecoder(bytes.NewReader(file))
	h := d.header()
	if d.err != nil {
		t.Fatal(d.err)
	}
	return h
}

// What cannot be played is refused with a reason.
func TestRefused(t *testing.T) {
	file := switchTape(t, 1, 0).file
	h := headerOf(t, file)
	with := func(change func(*Header)) []byte {
		c := h
		change(&c)
		return AppendHeader(nil, c)
	}
	other := bytes.Clone(file)
	other[9]++
	for _, tc := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "no recording"},
		{"a log", []byte(`{"ts":1}`), "no recording"},
		{"another version", other, "a recording of version 2; this softswitch plays version 1"},
		{"half a header", file[:30], "cut short"},
		{"another kind", with(func(h *Header) { h.Kind = "router" }), `kind "router"; valid: switch, host`},
		{"no batch", with(func(h *Header) { h.Batch = 0 }), "batch 0; valid: 1 to 4096"},
		{"a host's", with(func(h *Header) { h.Kind = Host }), "ports"},
		{"another detector", with(func(h *Header) { h.Config = strings.Replace(h.Config, "itsypaper", "crystal-ball", 1) }), `"crystal-ball"`},
	} {
		res, err := Play(bytes.NewReader(tc.file), detectors, nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %+v, %v; want %q", tc.name, res, err, tc.want)
		}
	}
}

// A machine that does something else is found out, at the call where it does.
func TestDifference(t *testing.T) {
	seed := testkit.Seed(t)
	tp := switchTape(t, seed, 1000)
	h := headerOf(t, tp.file)
	entries := tp.file[len(AppendHeader(nil, h)):]
	h.Config = strings.Replace(h.Config, "rate: 1Gbit/s", "rate: 999Mbit/s", 1)
	res := play(t, append(AppendHeader(nil, h), tp.enc.End(entries, false)...))
	if d := res.Difference; res.Same || d == nil || d.Call == 0 || d.Recorded == d.Replayed {
		t.Errorf("seed %d: another rate: %+v, %+v", seed, res, d)
	}
}

// FuzzPlay plays damaged entries: Play returns, and says the same again.
func FuzzPlay(f *testing.F) {
	cfg := config.Switch{Name: "s1", ID: 1, Detector: "none", Ports: []config.Port{{Name: "a", Rate: 1e9}, {Name: "b"}}}
	cfg.Fill()
	head := AppendHeader(nil, Header{Kind: Switch, Name: "s1", Config: string(cfg.Marshal()), Batch: 2})
	var e Encoder
	b := e.Lend(nil, 0, 2)
	b = e.SetLink(b, 5, 0, true)
	b = e.SetMAC(b, 1, 7)
	b = e.Transmit(b, 9, 1, 2, 0, unit.Never)
	b = e.Sent(b, 10, 1, 0)
	f.Add(b)
	f.Add(e.End(bytes.Clone(b), true))
	f.Add(append(bytes.Clone(b), entryReceive, 1, 0, 1, 60, 60))
	f.Add([]byte{entryEvents, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{entryRequest, 0, 2, '{', '}'})
	f.Add([]byte{entryTransmit, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, entries []byte) {
		file := append(bytes.Clone(head), entries...)
		first, err := Play(bytes.NewReader(file), detectors, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Play(bytes.NewReader(file), detectors, nil)
		if a, b := asJSON(t, first), asJSON(t, again); a != b {
			t.Errorf("%s, then %s", a, b)
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
