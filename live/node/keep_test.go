package node

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/live"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// asked is a host that runs and can be asked, as on its control socket.
type asked struct {
	testing.TB
	h   *host.Host
	n   *live.Node
	end keeper[observe.Host]
}

func (a *asked) ask(do string, args any) (observe.Host, error) {
	a.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		a.Fatal(err)
	}
	got, err := new(runner).hostRequest(a.n, a.h, &a.end, config.Host{}, control.Request{Do: do, Args: text})
	out, _ := got.(observe.Host)
	return out, err
}

func (a *asked) must(do string, args any) observe.Host {
	a.Helper()
	out, err := a.ask(do, args)
	if err != nil {
		a.Fatalf("%s: %v", do, err)
	}
	return out
}

// twoHosts are hosts on the two ends of one wire. The first sends to the second as fast as
// the wire is, from the start of its time line on.
func twoHosts(t *testing.T) (from, to *asked) {
	near, far := link.Pipe()
	made := func(id int, l link.Link, flows []host.Flow) *asked {
		h, err := host.New(host.Config{
			ID: unit.NodeID(id), Name: fmt.Sprint("h", id), NIC: host.NIC{Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(id)}), Rate: rate}, Quanta: 65535,
			Refresh: 10 * unit.Millisecond, RxBuffer: 1 << 20, Flows: flows, Granularity: live.Granularity, Batch: live.Batch, MaxFrame: 1514, SlotBytes: 2048,
		})
		if err != nil {
			t.Fatal(err)
		}
		return &asked{TB: t, h: h, n: runOn(t, h, func() link.Link { return l })}
	}
	flow := host.Flow{Name: "A", To: netip.AddrFrom4([4]byte{10, 0, 0, 2}), Priority: 3, Stream: host.Stream{Frame: 1000, TTL: 64}}
	return made(1, near, []host.Flow{flow}), made(2, far, nil)
}

const rate unit.Rate = 100_000_000

// runOn runs a machine until the test ends. Its links, which open makes, are up.
func runOn(t *testing.T, m live.Machine, open func() link.Link) *live.Node {
	var ports []live.Port
	for p := range m.Ports() {
		ports = append(ports, live.Port{Name: fmt.Sprint("p", p)})
	}
	n, err := live.New(live.Options{
		Machine: m, Ports: ports,
		Open: func(live.Port) (link.Link, error) { return open(), nil },
		Watch: func(ctx context.Context, _ []string, update func(live.LinkState)) error {
			for i, p := range ports {
				update(live.LinkState{Name: p.Name, Index: i + 1, Running: true})
			}
			<-ctx.Done()
			return ctx.Err()
		},
	})
	if err == nil {
		err = n.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return n
}

// Hosts that are asked one after the other, while their flow goes on, tell of one instant:
// no more came than was sent, and no more was sent than the wire takes from the start of
// the time line to that instant.
func TestStatsOfOneInstant(t *testing.T) {
	from, to := twoHosts(t)
	start := timer.Now() + 50*unit.Millisecond
	from.must("start", instant{start})
	to.must("start", instant{start})
	// On a machine that stalls an instant may be past before both are told of it, or
	// before a frame has come: then a later one is looked at.
	for window := 100 * unit.Millisecond; ; window *= 2 {
		end := timer.Now() + window
		if _, err := from.ask("keep", instant{end}); err != nil {
			continue
		}
		if _, err := to.ask("keep", instant{end}); err != nil {
			continue
		}
		to.awaitFrameAfter(end)
		sent, received := from.must("stats", instant{end}), to.must("stats", instant{end})
		if sent.At != end || received.At != end {
			t.Errorf("as of %d and %d, want %d", sent.At, received.At, end)
		}
		if len(received.Received) > 0 {
			wantOneInstant(t, sent.Sent[0], received.Received[0], start, end)
			return
		}
	}
}

// awaitFrameAfter returns when a frame has come after an instant.
func (a *asked) awaitFrameAfter(at unit.Time) {
	a.Helper()
	for late := time.Now().Add(time.Minute); ; {
		if r := a.must("stats", nil).Received; len(r) > 0 && r[0].Last >= at {
			return
		}
		if time.Now().After(late) {
			a.Fatal("the flow does not go on")
		}
	}
}

func wantOneInstant(t *testing.T, s host.Sent, r host.Received, start, end unit.Time) {
	t.Helper()
	if r.Frames > s.Frames || r.Lost > 0 {
		t.Errorf("%d frames sent, %d received and %d lost", s.Frames, r.Frames, r.Lost)
	}
	if most := uint64((end-start)/rate.FrameTime(1000)) + 1; s.Frames > most || s.Frames == 0 {
		t.Errorf("%d frames were sent until the instant; the wire takes %d", s.Frames, most)
	}
	if r.First < start || r.Last >= end {
		t.Errorf("frames came from %d to %d ns, want them within %d and %d", r.First, r.Last, start, end)
	}
}

// What was not kept is not told, and what is past cannot be kept.
func TestStatsOfAnotherInstant(t *testing.T) {
	a, _ := twoHosts(t)
	if _, err := a.ask("stats", instant{5}); err == nil || err.Error() != "stats: no snapshot of 5 ns: that time has not come, or this process was not asked to keep one" {
		t.Errorf("stats of what was not kept: %v", err)
	}
	if _, err := a.ask("keep", instant{5}); err == nil || err.Error() != "keep: 5 ns of CLOCK_MONOTONIC is in the past; valid: a later time" {
		t.Errorf("keep of the past: %v", err)
	}
	at := timer.Now() + 3600*unit.Second
	a.must("keep", instant{at})
	if _, err := a.ask("stats", instant{at}); err == nil && timer.Now() < at {
		t.Error("stats of an instant to come")
	}
}
