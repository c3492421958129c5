package host

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"softswitch/buffer"
	"softswitch/host/congestion"
	"softswitch/host/roce"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Port is the UDP destination port of all flows, that of RoCEv2.
const Port = roce.Port

// Config is a host's configuration, checked and complete.
type Config struct {
	ID   unit.NodeID
	Name string
	NIC        // the first, or only one
	More []NIC // the others

	Quanta  uint16
	Refresh unit.Time
	// RxBuffer is the receive buffer of each priority in bytes. XOFF is at three quarters,
	// XON at half of it.
	RxBuffer int
	// RxSlack is what it holds in addition, for what arrives while a driver is late.
	RxSlack int
	Flows   []Flow
	Peers   []Peer
	// Congestion, unless nil, is what reliable connections do about congestion.
	Congestion *Congestion
	Acts       []Act     // in order of time
	LLDP       unit.Time // between two frames of LLDP; 0: it speaks none, and counts what comes as Other
	// Bin, unless 0, is the length of the time slots for which arrivals are counted:
	// see Received.Bins.
	Bin unit.Time
	// Granularity is how precisely the driver keeps Transmit's times; 0 is exact.
	Granularity unit.Time
	Batch       int
	// MaxFrame is the longest frame that is sent or taken, without FCS and 802.1Q tag,
	// SlotBytes the size of a frame slot (buffer.SlotBytes).
	MaxFrame, SlotBytes int
	// Pool, unless nil, is used instead of a pool of this host's own. Keep limits how
	// many bytes of a frame are built, at least FrameMin; 0 means all.
	Pool *buffer.Pool
	Keep int
}

// NIC is what a NIC of a host has of its own.
type NIC struct {
	Name       string // of its interface
	MAC        unit.MAC
	GatewayMAC unit.MAC
	Address    netip.Addr // its own, or that of all NICs of the host
	Rate       unit.Rate  // of its link; 0: unlimited
	Lossless   unit.PrioritySet
	// PFCTxOff and PFCRxOff say that it sends no pauses, and that it honours none; PFCRxAll that it honours
	// those of all priorities, not of its lossless ones alone.
	PFCTxOff, PFCRxOff, PFCRxAll bool
	// HeedPause says that an 802.3x PAUSE stops all priorities; otherwise it is only counted.
	HeedPause bool
}

// NICs are all of a host.
func (c *Config) NICs() []NIC { return append([]NIC{c.NIC}, c.More...) }

// Flow is a stream of frames of equal length. Times are relative to Start.
type Flow struct {
	Number   uint32
	Name     string
	To       netip.Addr
	SrcPort  uint16
	Priority unit.Priority
	// NIC is the one by which its frames leave; unit.NoPort of a host with one address: ChooseNIC
	// chooses.
	NIC unit.Port
	Stream
}

// Stream is what a flow sends, and when: in a scenario, in the file of a host and in the host.
// The comments, the keys and the schema tags are those of files (package schema).
type Stream struct {
	// Rate on the wire, or "line" for that of the host's link.
	Rate unit.FlowRate `yaml:"rate" schema:"rate or line,default=line"`
	// Frame is the length in bytes without FCS, at most the mtu + 14.
	Frame int `yaml:"frame" schema:"64..9230,default=1000"`
	// Size is how many bytes of frames the flow sends, after which it is over. The last
	// frame is shorter for that, but at least 64 bytes. 0 is no bound.
	Size int `yaml:"size,omitempty" schema:"0..1099511627776,default=0"`
	TTL  int `yaml:"ttl" schema:"1..255,default=64"`
	// Transport is udp, or rc: messages over a reliable connection of RoCEv2, whose frames
	// are as long as rc.path_mtu makes them. Size is then the bytes of all messages.
	Transport string `yaml:"transport,omitempty" schema:"udp|rc,default=udp"`
	RC        *RC    `yaml:"rc,omitempty"`
	// Start is relative to the start of the scenario, as all times are.
	Start unit.Time `yaml:"start" schema:"time,default=0s"`
	// Stop is later than Start; 0s means never.
	Stop unit.Time `yaml:"stop,omitempty" schema:"time,default=0s"`
}

// RC is how a flow of transport rc uses its reliable connection.
type RC struct {
	// Message is the length of each message in bytes; an RDMA write.
	Message int `yaml:"message,omitempty" schema:"1..2147483648,default=65536"`
	// PathMTU is the payload of a full packet in bytes: 256, 512, 1024, 2048 or 4096.
	PathMTU int `yaml:"path_mtu,omitempty" schema:"256|512|1024|2048|4096,default=1024"`
	// Window is how many messages may be outstanding.
	Window int `yaml:"window,omitempty" schema:"1..64,default=4"`
	// Timeout is how long the sender waits for an acknowledgement before it sends again.
	Timeout *unit.Time `yaml:"timeout,omitempty" schema:"time,default=67ms"`
	// Retries is how many timeouts in a row the sender bears, 0 to 1000000, or "forever". NICs give up
	// after 7, and to Linux's rdma_rxe 7 means forever.
	Retries *Retries `yaml:"retries,omitempty" schema:"number or forever,default=7"`
	// Recovery is what is sent again where packets are lost: go-back-n, all from the first that is lost on, as
	// RoCEv2 has it and NICs do; or selective, nothing but what is lost (IRN), which is between hosts of
	// softswitch alone. Default go-back-n.
	Recovery string `yaml:"recovery,omitempty" schema:"go-back-n|selective"`
	// InFlight is how many packets at most are in flight with recovery: selective; default the
	// bandwidth-delay product of the flow's path in a scenario, else 128.
	InFlight int `yaml:"in_flight,omitempty" schema:"1..128"`
	// TimeoutLow is timeout with recovery: selective while no more than 3 packets are in flight; default
	// timeout.
	TimeoutLow *unit.Time `yaml:"timeout_low,omitempty" schema:"time"`
	// Handshake is how a flow and its far end agree where that is a program of perftest, on a host of nics:
	// perftest, by TCP port 18515, or rdma_cm, as its option -R does. In a live lab only.
	Handshake string `yaml:"handshake,omitempty" schema:"perftest|rdma_cm"`
	// Operation is what messages are with a handshake, default write. Who writes or sends is the client,
	// and so is who reads, which is the flow's receiver.
	Operation string `yaml:"operation,omitempty" schema:"write|send|read"`

	Fixed `yaml:",inline"`
}

// Selective is the RC.Recovery that sends nothing again but what is lost, GoBackN the usual one.
const (
	GoBackN   = "go-back-n"
	Selective = "selective"
)

// Connection is the requester's side of a flow of so many bytes, 0 without an end. k is complete.
func (k *RC) Connection(size int) roce.ConnectionConfig {
	c := roce.ConnectionConfig{
		Shape:  roce.Shape{MTU: k.PathMTU, Message: k.Message, Total: uint64(size)},
		Window: k.Window, Timeout: *k.Timeout, Retries: int(*k.Retries), AckEvery: roce.AckEvery,
	}
	if k.Recovery == Selective {
		c.AckEvery = 1
		c.Selective = &roce.Selective{InFlight: cmp.Or(k.InFlight, roce.SackBits), TimeoutLow: *cmp.Or(k.TimeoutLow, k.Timeout)}
	}
	if k.oneLife() {
		c.FirstPSN = new(k.firstPSN())
	}
	return c
}

// Begins reports whether the sender of a flow with a handshake is its client, which begins it.
func (k *RC) Begins() bool { return k.Operation != "read" }

// Retries is how many timeouts in a row a connection bears, or Forever.
type Retries int

// Forever is Retries without an end.
const Forever Retries = roce.Forever

const (
	forever    = "forever"
	retriesMax = 1_000_000
)

// UnmarshalText reads a number, or "forever".
func (r *Retries) UnmarshalText(text []byte) error {
	if string(text) == forever {
		*r = Forever
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > retriesMax {
		return fmt.Errorf("%q: use 0 to %d, or %s", text, retriesMax, forever)
	}
	*r = Retries(n)
	return nil
}

// MarshalYAML returns r as UnmarshalText reads it.
func (r Retries) MarshalYAML() (any, error) {
	if r == Forever {
		return forever, nil
	}
	return int(r), nil
}

// Congestion is how the connections of a host keep to what a fabric carries: by DCQCN or by
// TIMELY, one of which is set.
type Congestion struct {
	DCQCN  *congestion.DCQCN
	Timely *congestion.TimelyParams
	// CNPPriority is the priority in which congestion notification packets leave, a lossy one.
	CNPPriority unit.Priority
}

// Peer is the far end of a reliable connection that sends to this host.
type Peer struct {
	Number   uint32 // of the flow
	From     netip.Addr
	SrcPort  uint16 // of the flow; what answers it has the same
	Priority unit.Priority
	TTL      uint8
	NIC      unit.Port // by which answers leave, see Flow
	RC       PeerRC
}

// Bins is the number of time slots for which arrivals are counted.
const Bins = 40

// Do is what an Act changes in a NIC's behaviour.
type Do uint8

// The ways in which a NIC can behave.
const (
	Normal Do = iota // drain at once, stop the storm
	Slow             // drain the receive buffers at Act.Rate
	Storm            // pause Act.Priority continuously, whatever the buffer holds, if the NIC pauses it at all
)

// Act changes the behaviour of a NIC at a time relative to Start.
type Act struct {
	At       unit.Time
	Do       Do
	NIC      unit.Port // unit.NoPort: all of the host
	Rate     unit.Rate
	Priority unit.Priority
}

// FrameMin is the shortest frame of a flow in bytes, without FCS.
const FrameMin = headerLen + RecordLen

// Bounds of a reliable connection. Path MTUs and the longest message are those of volume
// 1, 9.7.7.
const (
	MTUMin     = 256
	MTUMax     = 4096
	MessageMax = 1 << 31
	WindowMax  = 64
)

// FrameOf is the longest frame in bytes, without FCS, of a reliable connection with this
// path MTU.
func FrameOf(mtu int) int { return headerLen + roce.WriteOnly.Len() + mtu + roce.ICRCLen }

func (c *Config) check() error {
	switch {
	case c.Batch < 1:
		return fmt.Errorf("batch: %d; valid: 1 or more", c.Batch)
	case c.Refresh <= 0:
		return fmt.Errorf("refresh: %d ns; valid: above 0", c.Refresh)
	case !c.Address.Is4():
		return fmt.Errorf("address: %v; valid: an IPv4 address", c.Address)
	case c.SlotBytes < pfcframe.Len:
		return fmt.Errorf("slots of %d bytes; valid: %d or more", c.SlotBytes, pfcframe.Len)
	}
	one := true // address
	for _, n := range c.More {
		if !n.Address.Is4() {
			return fmt.Errorf("address of a NIC: %v; valid: an IPv4 address", n.Address)
		}
		one = one && n.Address == c.Address
	}
	nicOf := func(what string, p unit.Port) error {
		if int(p) > len(c.More) && (p != unit.NoPort || !one) {
			return fmt.Errorf("%s: NIC %d; valid: 0 to %d, and none where all NICs have one address", what, p, len(c.More))
		}
		return nil
	}
	for _, f := range c.Flows {
		if err := nicOf("flow "+f.Name, f.NIC); err != nil {
			return err
		}
		switch {
		case !f.To.Is4():
			return fmt.Errorf("flow %s: to %v; valid: an IPv4 address", f.Name, f.To)
		case f.Priority >= unit.Priorities:
			return fmt.Errorf("flow %s: priority %d; valid: 0 to %d", f.Name, f.Priority, unit.Priorities-1)
		case f.RC != nil:
			if err := c.checkRC(&f); err != nil {
				return err
			}
		case f.Frame < FrameMin || f.Frame > c.MaxFrame || f.Frame > c.SlotBytes && c.Pool == nil:
			return fmt.Errorf("flow %s: frame of %d bytes; valid: %d to %d", f.Name, f.Frame, FrameMin, c.MaxFrame)
		case f.Rate < 0:
			return fmt.Errorf("flow %s: rate %d bit/s; valid: above 0, or 0 for line rate", f.Name, f.Rate)
		}
	}
	switch k := c.Congestion; {
	case k == nil:
	case (k.DCQCN == nil) == (k.Timely == nil):
		return fmt.Errorf("congestion: DCQCN %v, TIMELY %v; valid: one of them", k.DCQCN != nil, k.Timely != nil)
	case k.CNPPriority >= unit.Priorities || slices.ContainsFunc(c.NICs(), func(n NIC) bool { return n.Lossless.Has(k.CNPPriority) }):
		return fmt.Errorf("congestion: CNPs in priority %d; valid: a lossy priority", k.CNPPriority)
	case c.Rate == 0:
		return fmt.Errorf("congestion: the link's rate is unlimited; valid: above 0")
	}
	for _, p := range c.Peers {
		if err := nicOf(fmt.Sprintf("peer of flow %d", p.Number), p.NIC); err != nil {
			return err
		}
		if !p.From.Is4() || p.Priority >= unit.Priorities || p.Number > numberMax {
			return fmt.Errorf("peer of flow %d: %v, priority %d; valid: an IPv4 address, a priority of 0 to %d, and numbers up to %d", p.Number, p.From, p.Priority, unit.Priorities-1, numberMax)
		}
		if err := p.RC.check(); err != nil {
			return fmt.Errorf("peer of flow %d: %w", p.Number, err)
		}
	}
	return c.checkQPNs()
}

func (c *Config) checkRC(f *Flow) error {
	k := f.RC
	switch {
	case f.Number > numberMax:
		return fmt.Errorf("flow %s: number %d; valid for a reliable connection: 0 to %d", f.Name, f.Number, numberMax)
	case k.PathMTU < MTUMin || k.PathMTU > MTUMax || k.PathMTU&(k.PathMTU-1) != 0:
		return fmt.Errorf("flow %s: path MTU of %d bytes; valid: a power of two from %d to %d", f.Name, k.PathMTU, MTUMin, MTUMax)
	case k.Message < 1 || k.Message > MessageMax:
		return fmt.Errorf("flow %s: messages of %d bytes; valid: 1 to %d", f.Name, k.Message, MessageMax)
	case k.Window < 1 || k.Window > WindowMax:
		return fmt.Errorf("flow %s: window of %d messages; valid: 1 to %d", f.Name, k.Window, WindowMax)
	case *k.Timeout <= 0 || *k.Retries < 0 && *k.Retries != Forever:
		return fmt.Errorf("flow %s: timeout %d ns, %d retries; valid: above 0, 0 or more or %d for ever", f.Name, *k.Timeout, *k.Retries, Forever)
	case k.Recovery != "" && k.Recovery != GoBackN && k.Recovery != Selective:
		return fmt.Errorf("flow %s: recovery %q; valid: %s or %s", f.Name, k.Recovery, GoBackN, Selective)
	case k.InFlight < 0 || k.InFlight > roce.SackBits:
		return fmt.Errorf("flow %s: %d packets in flight; valid: 1 to %d, or 0 for %d", f.Name, k.InFlight, roce.SackBits, roce.SackBits)
	case k.TimeoutLow != nil && *k.TimeoutLow <= 0:
		return fmt.Errorf("flow %s: low timeout %d ns; valid: above 0", f.Name, *k.TimeoutLow)
	case FrameOf(k.PathMTU) > c.MaxFrame:
		return fmt.Errorf("flow %s: frames of %d bytes; valid: up to %d", f.Name, FrameOf(k.PathMTU), c.MaxFrame)
	}
	if err := k.check(); err != nil {
		return fmt.Errorf("flow %s: %w", f.Name, err)
	}
	return nil
}

// honours is the priorities in which the NIC lets itself be paused.
func (n *NIC) honours() unit.PrioritySet {
	switch {
	case n.PFCRxOff:
		return 0
	case n.PFCRxAll:
		return 1<<unit.Priorities - 1
	}
	return n.Lossless
}

// sends is the priorities that the NIC may pause.
func (n *NIC) sends() unit.PrioritySet {
	if n.PFCTxOff {
		return 0
	}
	return n.Lossless
}
