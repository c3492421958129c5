package frames

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/link/forge"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// ports of a switch; the last leads to a host.
const ports = 4

// epoch is a switch under a stream of frames.
type epoch struct {
	*dataplane.Switch
	gen    generator
	rng    *rand.Rand
	now    unit.Time
	pool   *buffer.Pool
	acts   bool // a response may act
	pace   int  // twice the mean time between frames, in ns
	slot   [ports][]*buffer.Frame
	lent   [ports][]*buffer.Frame
	events []event.Event
	counts Counts
}

// Counts is what was fed, and what became of it.
type Counts struct {
	Frames   uint64
	Data     uint64
	Messages uint64
	Pauses   uint64 // PFC and PAUSE frames that were honoured, or said nothing
	Drops    [dataplane.Reasons]uint64
	Sent     uint64 // frames that left, the switch's own among them
}

// key is that of authenticated links.
var key = auth.Key{7}

// newEpoch is the switch of an epoch, of random configuration.
func newEpoch(seed, number uint64) (*epoch, error) {
	r := rand.New(rand.NewPCG(seed, number))
	c := dataplane.Defaults()
	c.ID, c.Name = 1, "switch"
	c.Buffer.Shared, c.Buffer.LossyQueue = 60_000, 20_000
	c.Buffer.Profile = buffer.Profile{Size: 2000, StaticTh: 4000 + r.IntN(8000), XONOffset: 1500 + r.IntN(2000), XOFF: r.IntN(12_000)}
	c.Buffer.Ports = ports
	c.Quanta, c.Refresh = uint16(1+r.IntN(65535)), unit.Time(1+r.IntN(50))*unit.Microsecond
	c.StormBudget = unit.Time(r.IntN(3)) * unit.Millisecond
	c.Slots, c.Batch = 200+r.IntN(400), 8
	c.NoFlood = r.IntN(6) == 0
	var scheduler dataplane.Scheduler
	if r.IntN(3) == 0 {
		scheduler.Strict, scheduler.Weights[3] = 1<<r.IntN(8), 2
	}
	rate := [...]unit.Rate{0, 1_000_000_000, 10_000_000_000}[r.IntN(3)]
	gen := generator{
		rng: r, ports: ports, far: make([]*auth.End, ports), nonce: make([]uint64, ports),
		fabric: forge.Fabric{Ports: []int{ports, 3, 8}, Lossless: []int{3, 4}, Quanta: c.Quanta},
	}
	for p := range unit.Port(ports) {
		port := dataplane.PortConfig{Name: fmt.Sprint("p", p), MAC: gatewayMAC(p), PeerMAC: farMAC(p), FacesHost: p == ports-1, HeedPause: r.IntN(2) == 0, Rate: rate, Scheduler: scheduler}
		if mode := auth.Mode(r.IntN(3)); mode != auth.Off && !port.FacesHost {
			port.Auth = &auth.Config{Mode: mode, Link: port.Name, Keys: []auth.Key{key}, First: 1000}
			gen.far[p] = auth.New(auth.Config{Mode: auth.Strict, Link: port.Name, Keys: []auth.Key{key}, Self: farMAC(p), First: 1 << 40})
		}
		c.Ports = append(c.Ports, port)
	}
	for i := range stations {
		c.MAC = append(c.MAC, dataplane.Station{MAC: stationMAC(i), Port: unit.Port(i % ports)})
	}
	if r.IntN(2) == 0 { // it routes
		c.Subnets = []dataplane.Subnet{{Prefix: netip.MustParsePrefix("10.1.0.0/25"), Gateway: netip.MustParseAddr("10.1.0.126"), Ports: unit.PortsOf(0, 3)}}
		c.Routes = []dataplane.Route{{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Ports: unit.PortsOf(1), Backup: unit.PortsOf(2)}}
	}
	detectors := catalog.Detectors()
	d := detectors[r.IntN(len(detectors))]
	choices := respond.Choices()
	choice := choices[r.IntN(len(choices))]
	if !d.NamesLoops {
		choice = choices[0]
	}
	c.Detector = respond.New(d.New, choice.Policy)
	pool := buffer.NewPool(0, 1<<20, 1<<20, c.SlotBytes)
	c.Pool = pool
	sw, err := dataplane.NewSwitch(c)
	if err != nil {
		return nil, err
	}
	e := &epoch{Switch: sw, gen: gen, rng: r, now: unit.Second, pool: pool, pace: 100 << r.IntN(6), acts: !d.NamesLoops || choice.Policy != respond.Policy{}}
	for p := range unit.Port(ports) {
		e.slot[p] = make([]*buffer.Frame, 1)
		e.lent[p] = make([]*buffer.Frame, c.Batch)[:0]
		e.SetLink(e.now, p, true)
		e.work()
	}
	return e, nil
}

func (e *epoch) work() { _, e.events = e.Work(e.events[:0]) }

// run feeds n frames, and then takes all links down. The error says what did not hold, and at
// which frame.
func (e *epoch) run(n int) error {
	for i := range n {
		if err := e.step(); err != nil {
			return fmt.Errorf("frame %d: %w", i, err)
		}
	}
	if err := e.end(); err != nil {
		return fmt.Errorf("after %d frames: %w", n, err)
	}
	return nil
}

// step feeds a frame, and does now and then what else a driver does.
func (e *epoch) step() error {
	r := e.rng
	e.now += unit.Time(r.IntN(e.pace))
	if err := e.receive(unit.Port(r.IntN(ports))); err != nil {
		return err
	}
	if k := r.IntN(100); k < 45 {
		if err := e.transmit(unit.Port(r.IntN(ports))); err != nil {
			return err
		}
	}
	switch k := r.IntN(20_000); {
	case k < 10:
		p := unit.Port(r.IntN(ports))
		if up := e.LinkUp(p); !up || k == 0 {
			e.SetLink(e.now, p, !up)
			e.work()
		}
	case k < 12:
		e.now += unit.Time(r.IntN(20)) * unit.Millisecond
	}
	return nil
}

// receive feeds a frame to a port, and checks that it was counted once.
func (e *epoch) receive(in unit.Port) error {
	slot := e.slot[in]
	e.Lend(in, slot)
	f := slot[0]
	f.Data = e.gen.frame(in, f.Data[:0])
	f.Len = len(f.Data)
	isPause := isPause(pfcframe.Pad(f.Data))
	maybeFlooded := len(f.Data) >= ether.HeaderLen && !known(ether.Dst(f.Data))
	before := *e.Counters(in)
	e.Parse(f)
	e.Receive(e.now, in, slot)
	slot[0] = nil
	e.work()
	e.counts.Frames++
	return e.fate(&before, e.Counters(in), isPause, maybeFlooded)
}

// isPause reports whether a switch may honour b, a PFC frame or an 802.3x PAUSE.
func isPause(b []byte) bool {
	_, _, err := pfcframe.Parse(b)
	if err == pfcframe.ErrPause {
		_, _, err = pfcframe.ParsePause(b)
	}
	return err == nil
}

// known reports whether the switch never floods what is for dst. What it routes it floods too, if
// the next station is unknown.
func known(dst unit.MAC) bool { return dst >= stationMAC(0) && dst < stationMAC(stations) }

// fate checks that a frame was counted once. What is flooded may be dropped at several ports.
func (e *epoch) fate(before, after *dataplane.PortCounters, isPause, maybeFlooded bool) error {
	data, dropped := uint64(0), uint64(0)
	for c := range unit.Priorities {
		data += after.RxFrames[c] - before.RxFrames[c] + after.RxDropped[c] - before.RxDropped[c]
	}
	for r := range dataplane.Reasons {
		d := after.Drops[r] - before.Drops[r]
		e.counts.Drops[r] += d
		if !r.Odd() {
			dropped += d
		}
	}
	messages := after.RxMessages - before.RxMessages
	e.counts.Data += data
	e.counts.Messages += messages
	once := data+messages == 1 && (dropped <= 1 || maybeFlooded && dropped < ports || e.acts)
	if data+messages == 0 {
		once = dropped == 1 != (isPause && dropped == 0)
		if dropped > 1 {
			once = e.acts
		}
		if isPause && dropped == 0 {
			e.counts.Pauses++
		}
	}
	if !once {
		return fmt.Errorf("a frame is counted as data %d times, as a message %d, as dropped %d; it is a pause: %v", data, messages, dropped, isPause)
	}
	return nil
}

// transmit makes a port send, and checks what leaves.
func (e *epoch) transmit(out unit.Port) error {
	e.Sent(e.now, out, e.lent[out])
	n, _ := e.Transmit(e.now, out, e.lent[out][:cap(e.lent[out])])
	e.lent[out] = e.lent[out][:n]
	e.work()
	e.counts.Sent += uint64(n)
	return e.leaving(out, e.lent[out])
}

// leaving checks what leaves through out, and what is left.
func (e *epoch) leaving(out unit.Port, fs []*buffer.Frame) error {
	for _, f := range fs {
		switch {
		case !f.Control:
			if e.QueuePaused(out, f.OutPriority) {
				return fmt.Errorf("a frame of priority %d leaves port %d, which is paused", f.OutPriority, out)
			}
		case itsyhdr.IsMessage(f.Data):
			if _, t, err := itsyhdr.ParseMessage(f.Data); err == nil && t.Kind == itsyhdr.KindHello && t.Flags == 0 {
				e.gen.nonce[out] = binary.BigEndian.Uint64(f.Data[itsyhdr.MessagePad+8:])
			}
		}
	}
	for c := range unit.Priority(unit.Priorities) {
		if _, headroom := e.MMU().Bytes(out, c); headroom > e.Config().Buffer.Profile.XOFF {
			return fmt.Errorf("priority group (%d, %d) uses %d bytes of its headroom of %d", out, c, headroom, e.Config().Buffer.Profile.XOFF)
		}
	}
	return nil
}

// end takes all links down, and checks that everything is back.
func (e *epoch) end() error {
	for p := range unit.Port(ports) {
		e.Sent(e.now, p, e.lent[p])
		e.lent[p] = e.lent[p][:0]
	}
	for p := range unit.Port(ports) {
		e.SetLink(e.now, p, false)
		e.work()
	}
	if free, slots := e.pool.Free(), e.pool.Slots(); free != slots {
		return fmt.Errorf("all links are down, and %d of %d slots are free", free, slots)
	}
	if n := e.MMU().Shared(); n != 0 {
		return fmt.Errorf("all links are down, and %d bytes of the shared pool are in use", n)
	}
	for p := range unit.Port(ports) {
		for c := range unit.Priority(unit.Priorities) {
			n, _ := e.MMU().Bytes(p, c)
			on, _ := e.MMU().XOFF(p, c)
			if n != 0 || on || e.Queue(p, c).Frames() != 0 {
				return fmt.Errorf("all links are down, and priority group (%d, %d) holds %d bytes, XOFF %v, its queue %d frames", p, c, n, on, e.Queue(p, c).Frames())
			}
		}
	}
	return nil
}
