package host

import (
	"fmt"
	"net/netip"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Port is the UDP destination port of all flows, that of RoCEv2.
const Port = 4791

// Config is a host's configuration, checked and complete.
type Config struct {
	ID         unit.NodeID
	Name       string
	MAC        ether.MAC
	GatewayMAC ether.MAC
	Address    netip.Addr
	Rate       unit.Rate // of the link; 0: unlimited
	Lossless   unit.ClassSet
	Quanta     uint16
	Refresh    unit.Time
	// RxBuffer is the receive buffer of each class in bytes. XOFF is at three quarters,
	// XON at half of it.
	RxBuffer int
	Flows    []Flow
	Acts     []Act // in order of time
	// Bin, unless 0, is the length of the time slots for which arrivals are counted:
	// see Received.Bins.
	Bin unit.Time
	// Granularity is how precisely the driver keeps Transmit's times; 0 is exact.
	Granularity unit.Time
	Batch       int
	SlotBytes   int
	// Pool, unless nil, is used instead of a pool of this host's own. Keep limits how
	// many bytes of a frame are built, at least FrameMin; 0 means all.
	Pool *buffer.Pool
	Keep int
}

// Flow is a stream of equal frames. Times are relative to Start.
type Flow struct {
	Number  uint32
	Name    string
	To      netip.Addr
	SrcPort uint16
	Class   unit.Priority
	Rate    unit.Rate // on the wire; 0: as fast as the link
	Frame   int       // bytes without FCS
	TTL     uint8
	Start   unit.Time
	Stop    unit.Time // unit.Never: does not stop
}

// Bins is the number of time slots for which arrivals are counted.
const Bins = 40

// Do is what an Act changes in a host's behaviour.
type Do uint8

// The ways in which a host can behave.
const (
	Normal Do = iota // drain at once, stop the storm
	Slow             // drain the receive buffer at Act.Rate
	Storm            // pause Act.Class continuously, whatever the buffer holds
)

// Act changes a host's behaviour at a time relative to Start.
type Act struct {
	At    unit.Time
	Do    Do
	Rate  unit.Rate
	Class unit.Priority
}

// Frame sizes of a flow in bytes, without FCS.
const (
	FrameMin = headerLen + payloadLen
	FrameMax = 1514
)

func (c *Config) check() error {
	if c.Batch < 1 {
		return fmt.Errorf("batch: %d; valid: 1 or more", c.Batch)
	}
	if c.Refresh <= 0 {
		return fmt.Errorf("refresh: %d ns; valid: above 0", c.Refresh)
	}
	if !c.Address.Is4() {
		return fmt.Errorf("address: %v; valid: an IPv4 address", c.Address)
	}
	if c.SlotBytes < pfcframe.Len {
		return fmt.Errorf("slots of %d bytes; valid: %d or more", c.SlotBytes, pfcframe.Len)
	}
	for _, f := range c.Flows {
		if !f.To.Is4() {
			return fmt.Errorf("flow %s: to %v; valid: an IPv4 address", f.Name, f.To)
		}
		if f.Class >= unit.Priorities {
			return fmt.Errorf("flow %s: class %d; valid: 0 to %d", f.Name, f.Class, unit.Priorities-1)
		}
		if f.Frame < FrameMin || f.Frame > FrameMax || f.Frame > c.SlotBytes && c.Pool == nil {
			return fmt.Errorf("flow %s: frame of %d bytes; valid: %d to %d", f.Name, f.Frame, FrameMin, FrameMax)
		}
		if f.Rate < 0 {
			return fmt.Errorf("flow %s: rate %d bit/s; valid: above 0, or 0 for line rate", f.Name, f.Rate)
		}
	}
	return nil
}
