package nic

import (
	"fmt"

	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/host"
	"softswitch/unit"
)

// NIC is the state of a NIC; it implements dataplane.Machine with the ports Wire and
// Stack. Use New to make one; the zero value is not usable.
type NIC struct {
	*dataplane.Switch
	mac      unit.MAC  // source of its pauses, 0 for that of the interface
	drain    unit.Rate // of the stack; 0: at once
	events   []event.Event
	linkDown uint64
}

// New makes a NIC. The error says what is invalid in cfg.
func New(cfg Config) (*NIC, error) {
	d, err := build(&cfg)
	if err != nil {
		return nil, err
	}
	s, err := dataplane.NewSwitch(d)
	if err != nil {
		return nil, err
	}
	return &NIC{Switch: s, mac: cfg.MAC}, nil
}

// Do changes how fast the stack takes frames: host.Slow at a.Rate, host.Normal at once.
// It refuses host.Storm: a NIC for programs behaves.
func (n *NIC) Do(now unit.Time, a host.Act) error {
	switch a.Do {
	case host.Normal:
		n.drain = 0
	case host.Slow:
		n.drain = a.Rate
	default:
		return fmt.Errorf("nic %s: it does not storm; valid: slow, normal", n.Config().Name)
	}
	n.SetRate(now, Stack, n.drain)
	return nil
}

// Drain is the rate at which the stack takes frames; 0: at once.
func (n *NIC) Drain() unit.Rate { return n.drain }

// Work returns and clears the ready ports, and appends the events that a host would log
// to ev.
func (n *NIC) Work(ev []event.Event) (unit.PortSet, []event.Event) {
	ready, all := n.Switch.Work(n.events[:0])
	n.events = all
	for _, e := range all {
		if e, ok := plain(e); ok {
			if e.Type == event.LinkDown {
				n.linkDown++
			}
			ev = append(ev, e)
		}
	}
	return ready, ev
}

// plain is e as a host logs it; ok is false if a host does not log it.
func plain(e event.Event) (_ event.Event, ok bool) {
	switch e.Type {
	case event.LinkUp, event.LinkDown, event.NeighbourLearned, event.NeighbourGone, event.DCBXMismatch, event.DCBXAgreed:
		return e, e.Port == Wire
	case event.Paused, event.Resumed, event.Expired:
		e.Period, e.HasPeriod = 0, false
		return e, e.Out == Wire
	case event.PauseSent, event.ResumeSent, event.RefreshSent:
		e.Period, e.HasPeriod = 0, false
		return e, e.Port == Wire
	}
	return e, false
}

// HostCounters are its counters, in the form of a host's.
func (n *NIC) HostCounters() host.Counters {
	w := n.Counters(Wire)
	c := host.Counters{
		RxPause: w.RxPause, RxResume: w.RxResume, TxPause: w.TxPause, TxResume: w.TxResume, TxRefresh: w.TxRefresh,
		RxPause8023: w.RxPause8023 + w.Drops[dataplane.DropPause8023], PausedTime: w.PausedTime, LinkDown: n.linkDown,
		Overflow: w.Drops[dataplane.DropHeadroom] + w.Drops[dataplane.DropLossyQueue] + w.Drops[dataplane.DropNoSlot],
	}
	for _, r := range []dataplane.Reason{dataplane.DropPFCShort, dataplane.DropPFCLong, dataplane.DropPFCAddress, dataplane.DropPFCOpcode, dataplane.DropPFCReserved} {
		c.Bad += w.Drops[r]
	}
	c.Long = w.Drops[dataplane.DropLong]
	for _, frames := range w.RxFrames {
		c.Other += frames
	}
	return c
}

// SetMAC sets the address of the wire's interface, unless the configuration sets one.
func (n *NIC) SetMAC(p unit.Port, m unit.MAC) {
	if p == Wire && n.mac == 0 {
		n.Switch.SetMAC(p, m)
	}
}
