package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/host"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/unit"
)

// logged is what a node said of a type, as times.
func logged(t *testing.T, p *scenario.Plan, seed uint64) (*World, *verdict.Verdict, func(node string, ty event.Type) []unit.Time) {
	t.Helper()
	type key struct {
		node string
		ty   event.Type
	}
	log := make(map[key][]unit.Time)
	w, err := New(p, Options{Seed: seed, Detectors: detectors, Events: func(n event.Node, e event.Event) {
		log[key{n.Name, e.Type}] = append(log[key{n.Name, e.Type}], e.At)
	}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	return w, v, func(node string, ty event.Type) []unit.Time { return log[key{node, ty}] }
}

// counters are those of the port of a switch towards another node.
func (w *World) counters(t *testing.T, name, peer string) *dataplane.PortCounters {
	t.Helper()
	f := w.plan.Fabric
	i, _ := f.Node(name)
	for j, p := range f.Nodes[i].Ports {
		if f.Nodes[p.Peer.Node].Name == peer {
			return w.nodes[i].sw.Counters(unit.Port(j))
		}
	}
	t.Fatalf("%s has no port towards %s", name, peer)
	return nil
}

const ms = unit.Millisecond

// Everything that must always be true is true after each event: of a ring that
// deadlocks on bad wires, of one to which everything happens that can happen, and
// of flooded frames.
func TestInvariants(t *testing.T) {
	troubles := ring + `
events:
  - {at: 500us, do: flap, link: s1--s2, for: 40us}
  - {at: 700us, do: stop, switch: s3}
  - {at: 900us, do: fail, link: s3--s4}
  - {at: 1ms, do: continue, switch: s3}
  - {at: 1100us, do: lose, link: s1--s2, from: s1, nth: 2}
  - {at: 1200us, do: forge, link: s1--s2, from: s1, frame: 0180c2000001020000000001880801010008000000000000100000000000000000000000000000000000000000000000000000000000000000000000}
  - {at: 1500us, do: storm, host: h3-1, priority: 3, for: 300us}
  - {at: 1600us, do: slow, host: h1-0, rate: 10Mbit/s, for: 500us}
  - {at: 2ms, do: heal, link: s3--s4}
  - {at: 2500us, do: stop, switch: s1}
  - {at: 2600us, do: kill, switch: s1}
  - {at: 2700us, do: kill, switch: s2}
`
	flooded := `
name: flooded
topology:
  switches: [s1, s2]
  hosts: [h1, h2, h3, h4]
  links: [s1--h1, s1--h2, s1--s2, s2--h3, s2--h4]
  rate: 1Gbit/s
  delay: 1us
dead: [h3]
flows:
  - {name: A, from: h1, to: h3, rate: line}
  - {name: B, from: h2, to: h4, rate: line}
events:
  - {at: 200us, do: slow, host: h4, rate: 10Mbit/s}
duration: 2ms
`
	for _, text := range []string{ring, troubles, flooded, permutation("60us")} {
		p := plan(t, text)
		t.Run(p.Scenario.Name, func(t *testing.T) {
			c := begun(t, p, 3, 1+len(p.Switches)/5*20)
			c.play()
			v := c.verdict()
			for i := range v.Flows {
				if f := &v.Flows[i]; f.LeftOut != 0 {
					t.Errorf("flow %s left out %d ns, though no host is late here", f.Name, f.LeftOut)
				}
			}
			frames, _ := c.w.Frames()
			t.Logf("%d frame-hops, deadlock %v, %d XOFF, %d lossless frames lost", frames, v.Deadlock, v.PFC.XOFF, v.LosslessLost)
			if v.PFC.XOFF == 0 || frames < 900 {
				t.Error("this proves little")
			}
		})
	}
}

// So it is in the beginning of each shipped scenario. Package scenarios plays them to
// their ends.
func TestShippedInvariants(t *testing.T) {
	files, err := scenarios.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		p := plan(t, shipped(t, f.Name()))
		p.Scenario.Detector = "itsypaper"
		begun(t, p, 1, 2000).play()
	}
}

// A link that fails loses what is on it and what is sent into it, tells both ends,
// and works again when it is healed.
func TestFlap(t *testing.T) {
	p := plan(t, pair("events: [{at: 5ms, do: flap, link: s1--s2, for: 3ms}, {at: 12ms, do: fail, link: s1--s2}]\n"))
	w, v, log := logged(t, p, 1)
	for _, s := range []string{"s1", "s2"} {
		if got, want := log(s, event.LinkDown), []unit.Time{5 * ms, 12 * ms}; !slices.Equal(got, want) {
			t.Errorf("%s: down at %v, want %v", s, got, want)
		}
		if got, want := log(s, event.LinkUp), []unit.Time{0, 0, 8 * ms}; !slices.Equal(got, want) {
			t.Errorf("%s: up at %v, want %v", s, got, want)
		}
	}
	// 1024 bytes at 400 Mbit/s are a frame each 20.48 us: 244 in 5 ms, and 4 ms.
	got := v.Flows[0]
	if got.Sent != 977 || got.Received < 435 || got.Received > 441 {
		t.Errorf("%+v; want 977 sent, some 439 received", got)
	}
	drops := w.counters(t, "s1", "h1").Drops
	if n := drops[dataplane.DropNoPort] + drops[dataplane.DropLinkDown] + drops[dataplane.DropNoRoute]; n < 530 {
		t.Errorf("s1 counts %d dropped frames, want some 537: %v", n, drops)
	}
}

// A switch that is stopped does nothing; what came for it waits, and goes on when it
// does. The senders behind it are not paused: it cannot say so.
func TestStopAndContinue(t *testing.T) {
	p := plan(t, pair("events: [{at: 5ms, do: stop, switch: s2}, {at: 6ms, do: continue, switch: s2}]\n"))
	var arrivals []unit.Time
	w, err := New(p, Options{Seed: 1, Detectors: detectors, SampleAt: Every(ms), Sample: func(at unit.Time, w *World) {
		arrivals = append(arrivals, unit.Time(w.nodes[3].host.Receivers()[0].Frames))
	}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	if n := arrivals[5] - arrivals[4]; n > 1 { // 5 to 6 ms; one was leaving
		t.Errorf("%d frames arrived from a switch that stood still", n)
	}
	if n := arrivals[19] - arrivals[5]; n < 700 {
		t.Errorf("%d frames arrived after it, want those of 15 ms", n)
	}
	if f := v.Flows[0]; f.Lost != 0 || f.Sent-f.Received > 4 {
		t.Errorf("%+v: want nothing lost, and few under way", f)
	}
}

// The ring of a port holds 1024 frames for a switch that is stopped: the rest is
// lost, and nothing is delivered twice or out of order.
func TestStopForLong(t *testing.T) {
	p := plan(t, pair("events: [{at: 1ms, do: stop, switch: s2}, {at: 10ms, do: continue, switch: s2}]\n"))
	p.Hosts[0].Flows[0].Rate, p.Hosts[0].Flows[0].Frame = 0, 64
	_, v, _ := logged(t, p, 1)
	// 704 ns a frame: 12784 in 9 ms.
	if f := v.Flows[0]; f.Lost < 12784-1024-20 || f.Lost > 12784-1024+20 || f.Reordered != 0 {
		t.Errorf("%+v: want some 11760 frames lost", f)
	}
}

// A switch that was killed says nothing more, also if it was stopped before, and
// its neighbours notice nothing.
func TestKill(t *testing.T) {
	for _, events := range []string{
		"events: [{at: 5ms, do: kill, switch: s2}]\n",
		"events: [{at: 5ms, do: stop, switch: s2}, {at: 6ms, do: kill, switch: s2}]\n",
	} {
		p := plan(t, pair(events))
		c := begun(t, p, 1, 10)
		c.play()
		v := c.verdict()
		if f := v.Flows[0]; f.Received < 240 || f.Received > 244 || f.Sent != 977 {
			t.Errorf("%+v: want what arrived in 5 ms", f)
		}
		if !c.w.nodes[0].sw.LinkUp(1) {
			t.Error("s1 takes its link for down")
		}
	}
}

// The n-th control frame from a node into a link is lost, and no other.
func TestLose(t *testing.T) {
	slow := "{at: 1ms, do: slow, host: h2, rate: 50Mbit/s}"
	refresh := "pfc: {lossless: [3], quanta: 65535, refresh: 1ms}\n"
	counts := func(events string) (sent, received uint64) {
		w, _, _ := logged(t, plan(t, pair(refresh+"events: ["+slow+events+"]\n")), 1)
		c := w.counters(t, "s2", "s1")
		r := w.counters(t, "s1", "s2")
		return c.TxPause[3] + c.TxResume[3] + c.TxRefresh[3], r.RxPause[3] + r.RxResume[3]
	}
	if sent, received := counts(""); sent < 10 || sent != received {
		t.Errorf("%d sent, %d received; want all of at least ten", sent, received)
	}
	if sent, received := counts(", {at: 2ms, do: lose, link: s1--s2, from: s2, nth: 1}, {at: 2ms, do: lose, link: s1--s2, from: s2, nth: 3}"); sent-received != 2 {
		t.Errorf("%d sent, %d received; want two fewer", sent, received)
	}
	if sent, received := counts(", {at: 2ms, do: lose, link: s1--s2, from: s1, nth: 1}"); sent != received {
		t.Errorf("%d sent, %d received; want all: the other direction was to lose one", sent, received)
	}
}

// A forged pause stops a queue for its quanta; it is on the wire like any frame.
// One that is forged into a dead link is lost.
func TestForge(t *testing.T) {
	pause := "0180c2000001020000000001880801010008000000000000" + "03e8" + strings.Repeat("00", 34)
	forge := "{do: forge, link: s1--s2, from: s2, frame: " + pause + ", at: "
	p := plan(t, pair("events: ["+forge+"5ms}, {at: 15ms, do: fail, link: s1--s2}, "+forge+"16ms}]\n"))
	_, v, log := logged(t, p, 1)
	arrives := 5*ms + unit.Rate(1e9).FrameTime(60) + 10*unit.Microsecond
	if got := log("s1", event.Paused); !slices.Equal(got, []unit.Time{arrives}) {
		t.Errorf("s1 was paused at %v, want %d", got, arrives)
	}
	// 1000 quanta of 512 ns.
	if got := log("s1", event.Expired); !slices.Equal(got, []unit.Time{arrives + 512_000}) {
		t.Errorf("the pause ran out at %v, want %d", got, arrives+512_000)
	}
	if v.Flows[0].Reordered != 0 {
		t.Errorf("%+v", v.Flows[0])
	}
}

// The longest frames arrive, each after it has been sent three times in full and has
// crossed three wires; none is too long on its way.
func TestMTU(t *testing.T) {
	for _, frame := range []int{1514, 9230} {
		text := strings.NewReplacer("delay: 10us", "delay: 10us\n  mtu: 9216", "frame: 1000", fmt.Sprintf("frame: %d", frame)).Replace(pair(""))
		w, v, _ := logged(t, plan(t, text), 1)
		var got host.Received
		w.EachHost(func(h *host.Host) {
			if h.Config().Name == "h2" {
				got = h.Receivers()[0]
			}
		})
		takes := 3 * (unit.Rate(1e9).FrameTime(frame) + 10*unit.Microsecond)
		if got.First != takes || got.LatencyMax != takes || got.Lost != 0 || got.Bytes != got.Frames*uint64(frame) {
			t.Errorf("frames of %d bytes: %+v; want the first at %d", frame, got, takes)
		}
		if drops := w.counters(t, "s1", "h1").Drops; drops != [dataplane.Reasons]uint64{} || v.LosslessLost != 0 {
			t.Errorf("frames of %d bytes: dropped %v, %d lossless lost", frame, drops, v.LosslessLost)
		}
		longest := unit.Rate(1e9).FrameTime(9230) + unit.Rate(1e9).FrameTime(60) + 10*unit.Microsecond
		if got := w.hop(); got != longest {
			t.Errorf("a hop takes %d, want %d", got, longest)
		}
	}
}

// Jitter is even over its range and never reorders; each direction of each wire has
// its own, and each seed.
func TestJitter(t *testing.T) {
	const delay, jitter = 10_000, 4_000
	at := func(seed uint64, from string) (delays []unit.Time) {
		p := plan(t, strings.Replace(pair(""), "  delay: 10us\n", "  delay: 10us\n  jitter: 4us\n", 1))
		w, err := New(p, Options{Seed: seed, Detectors: detectors})
		if err != nil {
			t.Fatal(err)
		}
		i, _ := p.Fabric.Link("s1--s2")
		q := &w.ports[w.portOf(p.Fabric.Links[i].A)]
		if from == "s2" {
			q = &w.ports[w.portOf(p.Fabric.Links[i].B)]
		}
		frame := make([]byte, 60)
		for n := range 4000 { // far apart: none waits for the one before
			sent := unit.Time(n) * 100_000
			w.partitions[0].put(q, frame, 60, sent+q.delay, 1, q.wire.Carry(seed, w.stream(q)))
			delays = append(delays, w.ports[q.peer].in.last-sent)
		}
		return delays
	}
	delays := at(5, "s1")
	sum := 0.0
	for _, d := range delays {
		sum += float64(d)
	}
	mean, least, most := sum/float64(len(delays)), slices.Min(delays), slices.Max(delays)
	// The mean of 4000 even draws is off by jitter/sqrt(12 x 4000) = 18 ns.
	if least < delay || most > delay+jitter || least > delay+20 || most < delay+jitter-20 || math.Abs(mean-delay-jitter/2) > 100 {
		t.Errorf("delays from %d to %d ns, mean %.0f; want 10000 to 14000, mean 12000", least, most, mean)
	}
	if !slices.Equal(delays, at(5, "s1")) {
		t.Error("the same seed gives other delays")
	}
	if slices.Equal(delays, at(6, "s1")) || slices.Equal(delays, at(5, "s2")) {
		t.Error("another seed, or the other direction, gives the same delays")
	}
}

// Control frames are lost as often as the wire says, others never.
func TestControlLoss(t *testing.T) {
	p := plan(t, strings.Replace(pair(""), "  delay: 10us\n", "  delay: 10us\n  control_loss_per_mille: 250\n", 1))
	lost := func(seed uint64) (pattern []bool) {
		w, err := New(p, Options{Seed: seed, Detectors: detectors})
		if err != nil {
			t.Fatal(err)
		}
		q := &w.ports[1]
		q.up = true
		far := &w.ports[q.peer]
		f := w.partitions[0].pool.Get()
		control := append([]byte("\x01\x80\xc2\x00\x00\x01"), make([]byte, 54)...)
		for n := range 8000 {
			f.Data, f.Len = append(f.Data[:0], control...), 60
			if n%2 == 1 {
				f.Data[0] = 0x02
			}
			had := far.in.n
			w.partitions[0].carry(q, f, unit.Time(n)*1000)
			switch gone := far.in.n == had; {
			case n%2 == 0:
				pattern = append(pattern, gone)
			case gone:
				t.Fatal("a data frame was lost")
			}
		}
		return pattern
	}
	one := lost(1)
	n := 0
	for _, gone := range one {
		if gone {
			n++
		}
	}
	if math.Abs(float64(n)-1000) > 140 { // five sigma of 4000 draws of a quarter
		t.Errorf("%d of 4000 control frames were lost, want 1000", n)
	}
	if !slices.Equal(one, lost(1)) || slices.Equal(one, lost(2)) {
		t.Error("what is lost is not the seed's alone")
	}
}

// What cannot be simulated is refused, and says what is wrong.
func TestRefused(t *testing.T) {
	text := pair("")
	for _, tc := range []struct {
		name, text, want string
		change           func(*scenario.Plan)
	}{
		{"no rate", text, "link s1--h1: its rate is unlimited", func(p *scenario.Plan) { p.Links[0].Rate = 0 }},
		{"no detector", text, `detector "crystal-ball": not one of those given`, func(p *scenario.Plan) { p.Scenario.Detector = "crystal-ball" }},
		{"a program", strings.Replace(text, "rate: 400Mbit/s, frame: 1000}", "transport: rc, rc: {handshake: perftest}}\nnics: [h2]", 1), "flow A: key to is a host of nics", nil},
		{"too long", text, "duration", func(p *scenario.Plan) { p.Scenario.Duration = 1 << 60 }},
	} {
		p := plan(t, tc.text)
		if tc.change != nil {
			tc.change(p)
		}
		if _, err := New(p, Options{Detectors: detectors}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		}
	}
}

// A run is watched from its start on, and ends with the error of whoever watches it.
func TestWatch(t *testing.T) {
	enough := errors.New("enough")
	for _, most := range []int{1, 2} {
		calls, p := 0, plan(t, ring)
		p.Scenario.Duration *= 10
		w, err := New(p, Options{Detectors: detectors, Watch: func(unit.Time) error {
			if calls++; calls < most {
				return nil
			}
			return enough
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(); !errors.Is(err, enough) || calls != most || w.partitions[0].events != uint64(most-1)*watchEvents {
			t.Errorf("%v after %d calls and %d events; want %v after %d calls", err, calls, w.partitions[0].events, enough, most)
		}
	}
}

// A fabric that holds more frames than it may is an error, not a panic.
func TestTooFewSlots(t *testing.T) {
	w, err := New(plan(t, ring), Options{Detectors: detectors, Slots: 400})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(); err == nil || !strings.Contains(err.Error(), "than 400 slots hold") {
		t.Errorf("%v; want that 400 slots do not hold them", err)
	}
}
