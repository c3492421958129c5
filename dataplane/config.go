package dataplane

import (
	"fmt"
	"net/netip"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/internal/ether"
	"softswitch/link/auth"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Config is a switch's configuration, checked and complete: package config reads
// it from a file and fills in defaults. Frames are bridged among all ports if
// there are neither Subnets nor Routes.
type Config struct {
	ID   unit.NodeID
	Name string
	// Ports in order; the index is the unit.Port.
	Ports []PortConfig
	// Classes is how a frame gets its priority, at ports without Classes of their own.
	Classes
	// Quanta of a pause frame, in units of 512 bit times at the port's rate (IEEE 802.3, 31B.2):
	// 0 would be a resume. Refresh is how often a pause is repeated; it has to be shorter than
	// the pause lasts, or the pause runs out in between. Package config refuses others.
	Quanta  uint16
	Refresh unit.Time
	// StormBudget is for how long a host may pause a priority before it is contained; 0 is for
	// ever. See storm.go.
	StormBudget unit.Time
	Buffer      buffer.Config
	Subnets     []Subnet
	Routes      []Route
	// LAGs are disjoint. Subnets and routes have all ports of one, or none.
	LAGs []LAG
	// RouterID, unless it is the zero Addr, is the source of ICMP errors about what came in by
	// a port of no subnet (RFC 1812, 4.3.2.4).
	RouterID netip.Addr
	ARP      []Neighbour
	MAC      []Station
	// What keeps deadlocks from forming; see prevent.go. NoFlood keeps lossless frames
	// from being flooded (Guo et al., section 4.2): those for a station that has an ARP
	// entry and no MAC entry are dropped, and others go on in the lowest lossy priority.
	Rewrites []Rewrite
	Bands    TTLBands
	NoFlood  bool
	Limits   []Limit
	Rings    []Ring // no two have an Out in common; see ring.go
	// ECN is what keeps pauses from being needed; see ecn.go.
	ECN ECN
	// Plain pause frames carry no TLV, as those of a NIC.
	Plain bool
	// HashSeed makes this switch's ECMP choices its own.
	HashSeed uint32
	// LLDP is what ports tell their far ends of themselves; see lldp.go.
	LLDP LLDP
	// Granularity is how precisely the driver keeps Transmit's times: 0 is exact.
	// Frames may then leave in bursts of that duration.
	Granularity unit.Time
	// Delay is the most that a frame usually takes from its last bit on the wire to
	// the next machine, without the lateness that Granularity allows.
	Delay unit.Time
	// Batch is the most frames that a driver lends and transmits at once.
	Batch int
	// SlotBytes is the size of a frame slot (buffer.SlotBytes), MaxFrame the longest
	// frame that is forwarded, without FCS and 802.1Q tag. Slots bounds the frames that wait
	// charged to nobody, in lossy queues; for frames that are charged there are as many slots as
	// the buffer has room for.
	SlotBytes, MaxFrame, Slots int
	// Pool, unless it is nil, is used instead of a pool of this switch's own: for
	// many switches under one driver, which keeps what it likes of each frame.
	Pool *buffer.Pool
	// Dropped, unless it is nil, is called with each frame that is dropped, before it is
	// given back, and why. It must only read.
	Dropped  func(f *buffer.Frame, why Reason)
	Detector detect.Factory
}

// Classes is how a frame gets its priority.
type Classes struct {
	// TrustPCP takes it from the 802.1Q tag instead of the DSCP.
	TrustPCP bool
	// DSCP maps a code point to a priority.
	DSCP [64]unit.Priority
}

// PortConfig is a port's configuration.
//
// Of a port that FacesHost nothing is believed but pauses (control.go), the budget of control
// frames is smaller (budget.go), the time for which it may pause is bounded (storm.go), and
// nothing is authenticated (auth.go).
type PortConfig struct {
	Name      string
	MAC       unit.MAC
	PeerMAC   unit.MAC // the next hop's address on a routed link
	FacesHost bool
	// FacesStack says that the port leads to the stack of a kernel, which neither honours
	// nor sends pauses: frames from it that find no room are dropped.
	FacesStack bool
	// HeedPause says that an 802.3x PAUSE stops all priorities of the port. Otherwise it is
	// counted and dropped, as IEEE 802.1Q, 36.1.1, has it where PFC is enabled.
	HeedPause bool
	// Classes, unless nil, is how what comes in by the port gets its priority.
	Classes *Classes
	// PFCTxOff and PFCRxOff say that the port sends no pauses, and that it honours none; PFCRxAll that it
	// honours those of all priorities, not of its lossless ones alone.
	PFCTxOff, PFCRxOff, PFCRxAll bool
	Rate                         unit.Rate // 0: unlimited
	// HeedBytes is how many bytes the far end may deliver, at Rate, after a pause has left, if it obeys; 0
	// is not to judge it. See heed.go.
	HeedBytes int
	// Scheduler is how the priorities share the egress. The zero value: evenly.
	Scheduler Scheduler
	// GFC, unless nil, slows the far end down instead of pausing it; see gentle.go. The port has a Rate.
	GFC *GFC
	// Auth, unless nil, authenticates both directions of a link to another switch. The
	// switch fills in its Self and Gap.
	Auth *auth.Config
}

// Subnet is a connected subnet, bridged among Ports.
type Subnet struct {
	Prefix  netip.Prefix
	Gateway netip.Addr
	Ports   unit.PortSet
	// Flood is further ports to which a frame for a station of the subnet goes that
	// has an ARP entry and no MAC entry: those by which the subnet's VLAN leads to
	// other switches (Guo et al., "RDMA over Commodity Ethernet at Scale", section
	// 4.2). Nothing that comes in by them is bridged.
	Flood unit.PortSet
	// Backup is ports to switches that own the subnet too, or lead there: the way to a station
	// while the port to it is down.
	Backup unit.PortSet
	// GatewayMAC is the gateway's address where several switches own the subnet, the same at all;
	// 0 is that of the first port.
	GatewayMAC unit.MAC
}

// Route is an ECMP group towards Prefix. Backup serves while every port of Ports
// is down (local fast reroute).
type Route struct {
	Prefix        netip.Prefix
	Ports, Backup unit.PortSet
}

// Neighbour is a static ARP entry.
type Neighbour struct {
	IP  netip.Addr
	MAC unit.MAC
}

// Station is a static MAC entry.
type Station struct {
	MAC  unit.MAC
	Port unit.Port
}

// DefaultDSCP maps a code point to the priority of its upper three bits: 26 to 3 and
// 48 to 6, as RoCEv2 deployments have it.
func DefaultDSCP() (m [64]unit.Priority) {
	for i := range m {
		m[i] = unit.Priority(i >> 3)
	}
	return m
}

// Defaults are the values of a Config that nobody chose. Quanta is the most that the field holds;
// MaxFrame is an MTU of 1500 bytes with its Ethernet header, and SlotBytes fits it
// (buffer.SlotBytes). Batch is what a live node reads at once. The sizes of pool, lossy queue and
// Slots are chosen; a lossy queue holds 173 frames of 1514 bytes.
func Defaults() Config {
	return Config{
		Classes: Classes{DSCP: DefaultDSCP()},
		Quanta:  65535,
		Buffer: buffer.Config{
			Lossless:   1<<3 | 1<<4,
			Shared:     2 << 20,
			Profile:    buffer.DefaultProfile,
			LossyQueue: 256 << 10,
		},
		Batch:     64,
		SlotBytes: 2048,
		MaxFrame:  1514,
		Slots:     16384,
	}
}

// check refuses what the switch cannot run with. What is merely unwise, or wrong in a file,
// package config refuses with all its faults at once.
func (c *Config) check() error {
	switch {
	case len(c.Ports) == 0 || len(c.Ports) > unit.MaxPorts:
		return fmt.Errorf("ports: %d; valid: 1 to %d", len(c.Ports), unit.MaxPorts)
	case c.Batch < 1:
		return fmt.Errorf("batch: %d; valid: 1 or more", c.Batch)
	// Control frames are built in slots.
	case c.SlotBytes < ether.MinLen:
		return fmt.Errorf("slots of %d bytes; valid: %d or more, for a control frame", c.SlotBytes, ether.MinLen)
	// A pool of the driver may have slots for the headers alone, as in simulations.
	case c.Pool == nil && c.SlotBytes < c.longest():
		return fmt.Errorf("slots of %d bytes; valid: %d or more for frames of %d and a tag", c.SlotBytes, c.longest(), c.MaxFrame)
	// A repetition that is always due would be sent at every Transmit.
	case c.Refresh <= 0:
		return fmt.Errorf("refresh: %d ns; valid: above 0", c.Refresh)
	}
	for _, p := range c.Ports {
		if a := p.Auth; a != nil && a.Mode != auth.Off && !p.FacesHost && (len(a.Keys) == 0 || len(a.Keys) > auth.KeysMax) {
			return fmt.Errorf("port %s: auth %s, and %d keys for link %s; valid: 1, or 2 while they are changed", p.Name, a.Mode, len(a.Keys), a.Link)
		}
	}
	if err := c.checkLAGs(); err != nil {
		return err
	}
	return c.ECN.check()
}

// newPool makes the pool of a switch: a slot for each frame that the accounts have room for, even
// if all are as short as a frame can be, for each that waits charged to nobody, for what the driver
// reads and writes, a batch each a port, and for the reserve. Memory is taken as it is needed.
func (c *Config) newPool(reserve int) *buffer.Pool {
	// Invariant, for frames of MinLen and more: bytes run out before slots, and slots before
	// headers of copies, of which a slot needs at most one for each port. What is made at once
	// leaves out the slots for charged frames: they come as buffers fill.
	charged := c.Buffer.Most() / c.Buffer.Charge(ether.MinLen)
	slots := charged + c.Slots + len(c.Ports)*c.Batch + reserve
	return buffer.NewPool(min(slots, c.Slots+len(c.Ports)*c.Batch+reserve), slots, slots*len(c.Ports), c.SlotBytes)
}

// longest is the longest frame, a tag included and the FCS not.
func (c *Config) longest() int { return c.MaxFrame + ether.VLANLen }

// hop is how long a pause usually takes to the next switch at most: it waits for
// the longest frame, and for half of what the driver may be late. It is at least a
// microsecond.
func (c *Config) hop() unit.Time {
	worst := unit.Microsecond
	for _, p := range c.Ports {
		// A host passes no pause on, so no detector's label crosses its link.
		if p.FacesHost {
			continue
		}
		worst = max(worst, p.Rate.FrameTime(c.longest())+p.Rate.FrameTime(pfcframe.Len))
	}
	return worst + c.Delay + c.Granularity/2
}
