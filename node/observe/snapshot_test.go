package observe

import (
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/link"
	"softswitch/pfcframe"
	"softswitch/unit"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// wantGolden compares v's JSON with a file of testdata.
func wantGolden(t *testing.T, file string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *rewrite {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; make it with -rewrite", err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs from the snapshot; look at it and run with -rewrite:\n%s", file, got)
	}
}

// wantReadBack checks that JSON loses nothing of v.
func wantReadBack[T any](t *testing.T, v T) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, v) {
		t.Errorf("read back: %v\n got %+v\nwant %+v", err, back, v)
	}
}

// arrive lets frames arrive at a machine.
func arrive(m dataplane.Machine, now unit.Time, in unit.Port, frames ...[]byte) {
	fs := make([]*buffer.Frame, len(frames))
	m.Lend(in, fs)
	for i, f := range fs {
		f.Data = append(f.Data[:0], frames[i]...)
		f.Len = len(f.Data)
		m.Parse(f)
	}
	m.Receive(now, in, fs)
}

// send takes what a machine sends now.
func send(m dataplane.Machine, now unit.Time, out unit.Port) {
	fs := make([]*buffer.Frame, 8)
	n, _ := m.Transmit(now, out, fs)
	m.Sent(now, out, fs[:n])
}

// data is a frame of 1000 bytes in priority 3, by its DSCP, from station 1 to station 2.
func data() []byte {
	b := make([]byte, 1000)
	copy(b, "\x02\xaa\x00\x00\x00\x02\x02\xaa\x00\x00\x00\x01\x08\x00")
	copy(b[14:], "\x45\x68\x03\xda\x00\x00\x40\x00\x40\x11\x00\x00\x0a\x00\x00\x01\x0a\x00\x00\x02")
	return b
}

func pause(c unit.Priority) []byte {
	b := make([]byte, pfcframe.Len)
	f := pfcframe.Frame{Enable: 1 << c}
	f.Quanta[c] = 65535
	pfcframe.Put(b, f)
	return b
}

var links = []link.Stats{
	{Received: 10, Sent: 20, Drops: 30, Truncated: 40, Busy: 50, Lost: 70, Reopened: 80, Waited: 60},
	{Received: 11, Sent: 20, Drops: 30, Truncated: 40, Busy: 50, Lost: 70, Reopened: 80, Waited: 60},
}

// A switch with a pause in force at port 1, behind which the frames of port 0
// wait until their priority group is XOFF.
func TestSwitch(t *testing.T) {
	c := dataplane.Defaults()
	c.ID, c.Name, c.Refresh = 7, "s7", unit.Millisecond
	c.Ports = []dataplane.PortConfig{{Name: "a"}, {Name: "b"}}
	c.MAC = []dataplane.Station{{MAC: 0x02aa00000001, Port: 0}, {MAC: 0x02aa00000002, Port: 1}}
	c.Buffer.Shared = 100_000
	c.Buffer.Profile = buffer.Profile{StaticTh: 4000, XONOffset: 1000, XOFF: 2000}
	c.Slots, c.Batch = 256, 8
	s, err := dataplane.NewSwitch(c)
	if err != nil {
		t.Fatal(err)
	}
	s.SetLink(0, 0, true)
	s.SetLink(0, 1, true)
	arrive(s, 1000, 0, data(), data())
	send(s, 2000, 1)
	arrive(s, 3000, 1, pause(3), pause(4)[:17])
	for range 8 { // the fourth of those that wait makes XOFF, two more fit the headroom
		arrive(s, 4000, 0, data())
	}
	send(s, 5000, 0)

	s.Counters(1).Marked[3] = 9
	got := TakeSwitch(s, links)
	got.Live = Live{EventsLost: 1, Lateness: 2}
	if marked := got.Ports[1].Marked; marked[3] != 9 {
		t.Errorf("port b: marked %v, want 9 of priority 3", marked)
	}
	if p := got.Ports[1]; !p.Paused[3] || p.Queue[3].Bytes != 6000 || p.RxPause[3] != 1 || p.TxFrames[3] != 2 {
		t.Errorf("port b: paused %v, %d bytes wait, %d pauses received, %d frames sent; want true, 6000, 1, 2", p.Paused[3], p.Queue[3].Bytes, p.RxPause[3], p.TxFrames[3])
	}
	if p := got.Ports[0]; !p.XOFF[3] || p.TxPause[3] != 1 || p.RxFrames[3] != 10 {
		t.Errorf("port a: XOFF %v, %d pauses sent, %d frames received; want true, 1, 10", p.XOFF[3], p.TxPause[3], p.RxFrames[3])
	}
	if got.LosslessLost != 2 {
		t.Errorf("%d lossless frames lost, want 2", got.LosslessLost)
	}
	got.CounterBytes = 0 // depends on the machine's word
	wantGolden(t, "testdata/switch.json", got)
	wantReadBack(t, got)
}

func TestHost(t *testing.T) {
	flow := host.Flow{Number: 5, Name: "f", To: netip.MustParseAddr("10.0.0.2"), SrcPort: 49152, Priority: 3, Stream: host.Stream{Frame: 1514, TTL: 64}}
	config := func(address string, flows ...host.Flow) host.Config {
		return host.Config{
			ID: 9, Name: "h9", NIC: host.NIC{Address: netip.MustParseAddr(address), Rate: 100_000_000, Lossless: 1 << 3},
			Quanta: 65535, Refresh: unit.Millisecond, RxBuffer: 16_000, Flows: flows, Batch: 1, MaxFrame: 1514, SlotBytes: 2048,
		}
	}
	newHost := func(c host.Config) *host.Host {
		h, err := host.New(c)
		if err != nil {
			t.Fatal(err)
		}
		h.SetLink(0, 0, true)
		h.Start(0)
		return h
	}
	h, peer := newHost(config("10.0.0.1", flow)), newHost(config("10.0.0.2"))
	fs := make([]*buffer.Frame, 1)
	if n, _ := h.Transmit(0, 0, fs); n != 1 {
		t.Fatalf("%d frames left, want 1", n)
	}
	arrive(peer, 1000, 0, fs[0].Data)
	arrive(peer, 2000, 0, pause(3), make([]byte, 60))
	h.Sent(1000, 0, fs)

	sent := TakeHost(h, links[:1])
	if len(sent.Sent) != 1 || sent.Sent[0] != (host.Sent{Number: 5, Name: "f", Frames: 1, Bytes: 1514}) {
		t.Errorf("the sender's snapshot says %+v", sent.Sent)
	}
	got := TakeHost(peer, links[:1])
	if len(got.Received) != 1 || got.Received[0].Frames != 1 || got.Counters.RxPause[3] != 1 || got.Counters.Other != 1 {
		t.Errorf("the receiver's snapshot says %+v, %+v", got.Received, got.Counters)
	}
	got.Sent = sent.Sent
	wantGolden(t, "testdata/host.json", got)
	wantReadBack(t, got)
}

// Every key of every snapshot is in snake_case.
func TestKeys(t *testing.T) {
	for _, file := range []string{"testdata/switch.json", "testdata/host.json"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		keys := regexp.MustCompile(`"([^"]*)":`).FindAllSubmatch(b, -1)
		if len(keys) < 20 {
			t.Errorf("%s has only %d keys", file, len(keys))
		}
		for _, k := range keys {
			if !regexp.MustCompile(`^[a-z0-9]+([_-][a-z0-9]+)*$`).Match(k[1]) {
				t.Errorf("%s: key %q is not in snake_case", file, k[1])
			}
		}
	}
}
