package observe

import (
	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Tables are the forwarding tables of a switch.
type Tables struct {
	MAC    []MACEntry `json:"mac"`
	ARP    []ARPEntry `json:"arp"`
	Routes []Route    `json:"routes"`
}

// MACEntry is a station.
type MACEntry struct {
	MAC  string `json:"mac"`
	Port string `json:"port"`
	Type string `json:"type"` // "Static" or "Dynamic"
}

// ARPEntry is a neighbour.
type ARPEntry struct {
	IP  string `json:"ip"`
	MAC string `json:"mac"`
	// Port leads to its station, "" if the MAC table has no entry.
	Port string `json:"port"`
	Type string `json:"type"`
}

// Route is a forwarding entry; ports are by name.
type Route struct {
	Prefix    string   `json:"prefix"`
	Connected bool     `json:"connected"`
	Ports     []string `json:"ports"`
	Backup    []string `json:"backup"`
	Active    []string `json:"active"` // the ports of either that frames leave by now
}

// TakeTables copies the tables of s at now.
func TakeTables(s *dataplane.Switch, now unit.Time) Tables {
	t := Tables{MAC: []MACEntry{}, ARP: []ARPEntry{}, Routes: []Route{}}
	for _, e := range s.MACEntries(now) {
		t.MAC = append(t.MAC, MACEntry{MAC: e.MAC.String(), Port: stationPort(s, e.Port), Type: entryType(e.Static)})
	}
	for _, e := range s.ARPEntries(now) {
		n := ARPEntry{IP: e.IP.String(), MAC: e.MAC.String(), Type: entryType(e.Static)}
		if e.Port != unit.NoPort {
			n.Port = stationPort(s, e.Port)
		}
		t.ARP = append(t.ARP, n)
	}
	for _, e := range s.RouteEntries() {
		t.Routes = append(t.Routes, Route{
			Prefix: e.Prefix.String(), Connected: e.Connected,
			Ports: portNames(s, e.Ports), Backup: portNames(s, e.Backup), Active: portNames(s, e.Active),
		})
	}
	return t
}

func entryType(static bool) string {
	if static {
		return "Static"
	}
	return "Dynamic"
}

func portName(s *dataplane.Switch, p unit.Port) string { return s.Config().Ports[p].Name }

// stationPort is the name of the port by which a station is reached: of a LAG that of all its members.
func stationPort(s *dataplane.Switch, p unit.Port) string {
	if lag := s.Config().LAGOf(p); lag != nil {
		return lag.Name
	}
	return portName(s, p)
}

func portNames(s *dataplane.Switch, set unit.PortSet) []string {
	names := []string{}
	for ; !set.Empty(); set.Pop() {
		names = append(names, portName(s, set.First()))
	}
	return names
}

// Setup is the part of a switch's configuration that can be asked for while it runs.
type Setup struct {
	Name     string      `json:"name"`
	ID       uint16      `json:"id"`
	Detector string      `json:"detector"`
	Lossless []int       `json:"lossless"`
	Buffer   Buffer      `json:"buffer"`
	Ports    []PortSetup `json:"ports"`
}

// Buffer is the MMU's configuration, in SONiC's terms, in bytes.
type Buffer struct {
	Pool       int  `json:"pool"`
	Size       int  `json:"size"`
	StaticTh   *int `json:"static_th,omitempty"`
	DynamicTh  *int `json:"dynamic_th,omitempty"`
	XON        int  `json:"xon"`
	XONOffset  int  `json:"xon_offset"`
	XOFF       int  `json:"xoff"`
	LossyQueue int  `json:"lossy_queue"`
	// Cell is what frames are charged in, 0 for bytes.
	Cell int `json:"cell,omitempty"`
	// HeadroomPool is the headroom that all groups share, nil if each has its own.
	HeadroomPool *HeadroomPool `json:"headroom_pool,omitempty"`
}

// HeadroomPool is a shared headroom pool in bytes; Port is what each port has of its own.
type HeadroomPool struct {
	Size int `json:"size"`
	Port int `json:"port"`
}

// PortSetup is a port's configuration.
type PortSetup struct {
	Name string `json:"name"`
	Up   bool   `json:"up"`
	Rate int64  `json:"rate_bps"` // 0: unlimited
	MTU  int    `json:"mtu"`      // the longest frame, without FCS, tag and Ethernet header
	MAC  string `json:"mac"`
	Peer string `json:"peer"` // "switch" or "host"
	// StaticTh, XONOffset and XOFF, if they differ from the profile's.
	StaticTh  *int `json:"static_th,omitempty"`
	XONOffset *int `json:"xon_offset,omitempty"`
	XOFF      *int `json:"xoff,omitempty"`
	// Weights are by priority what the scheduler goes by, 0 of a strict one.
	Weights [unit.Priorities]int `json:"weights"`
	// Lossless are the port's lossless priorities, if they differ from the switch's, and PFC what it does
	// with pauses: tx, rx or asymmetric, "" for both.
	Lossless *[]int `json:"lossless,omitempty"`
	PFC      string `json:"pfc,omitempty"`
	// Trust is the field that gives what comes in its priority: "dscp" or "pcp".
	Trust string `json:"trust"`
}

// LosslessOf are the lossless priorities of a port.
func (s *Setup) LosslessOf(p *PortSetup) []int {
	if p.Lossless != nil {
		return *p.Lossless
	}
	return s.Lossless
}

// ethernetHeader is the length of a frame's addresses and EtherType.
const ethernetHeader = 14

// TakeSetup copies the setup of s.
func TakeSetup(s *dataplane.Switch) Setup {
	c := s.Config()
	out := Setup{Name: c.Name, ID: uint16(c.ID), Detector: s.Detector().Name(), Lossless: c.Buffer.Lossless.List(), Buffer: takeBuffer(s.MMU().Config())}
	buffers := s.MMU().Config()
	for i, p := range c.Ports {
		port := PortSetup{
			Name: p.Name, Up: s.LinkUp(unit.Port(i)), Rate: int64(p.Rate), MTU: c.MaxFrame - ethernetHeader,
			MAC: p.MAC.String(), Peer: "switch",
		}
		if p.FacesHost {
			port.Peer = "host"
		}
		for c := range port.Weights {
			port.Weights[c] = p.Scheduler.Weight(unit.Priority(c))
		}
		if th := buffers.Thresholds; th != nil {
			port.StaticTh, port.XONOffset = &th[i].StaticTh, &th[i].XONOffset
		}
		if xoff := buffers.XOFF(unit.Port(i)); xoff != buffers.Profile.XOFF {
			port.XOFF = &xoff
		}
		port.Lossless, port.PFC, port.Trust = ownLossless(c, unit.Port(i)), pfcOf(p.PFCTxOff, p.PFCRxOff, p.PFCRxAll), trustOf(c, &p)
		out.Ports = append(out.Ports, port)
	}
	return out
}

func takeBuffer(c buffer.Config) Buffer {
	p := c.Profile
	b := Buffer{Pool: c.Shared, Size: p.Size, XON: p.XON, XONOffset: p.XONOffset, XOFF: p.XOFF, LossyQueue: c.LossyQueue, Cell: c.Cell}
	if h := c.HeadroomPool; h != nil {
		b.HeadroomPool = &HeadroomPool{Size: h.Bytes, Port: h.Port}
	}
	if p.Dynamic {
		b.DynamicTh = &p.DynamicTh
	} else {
		b.StaticTh = &p.StaticTh
	}
	return b
}

// ownLossless are the lossless priorities of a port, nil if they are those of the switch.
func ownLossless(c *dataplane.Config, p unit.Port) *[]int {
	own := c.Buffer.LosslessAt(p)
	if own == c.Buffer.Lossless {
		return nil
	}
	list := own.List()
	return &list
}

// pfcOf is what a port does with pauses, "" if it sends and honours those of its lossless priorities.
func pfcOf(txOff, rxOff, rxAll bool) string {
	switch {
	case txOff:
		return "rx"
	case rxOff:
		return "tx"
	case rxAll:
		return "asymmetric"
	}
	return ""
}

// trustOf is the field by which what comes in by a port gets its priority.
func trustOf(c *dataplane.Config, p *dataplane.PortConfig) string {
	classes := &c.Classes
	if p.Classes != nil {
		classes = p.Classes
	}
	if classes.TrustPCP {
		return "pcp"
	}
	return "dscp"
}

// Labels are the labels at a port and priority: In came with the active pause of the
// queue, Out left with the latest pause of the priority group; nil for no label.
type Labels struct {
	Port     string `json:"port"`
	Priority int    `json:"priority"`
	Paused   bool   `json:"paused"`
	XOFF     bool   `json:"xoff"`
	In       *Label `json:"in"`
	Out      *Label `json:"out"`
}

// Label is the label of a pause frame. Ports of switches are "node.port", both by
// number; "" for no port.
type Label struct {
	Kind      string `json:"kind"`
	Initiator string `json:"initiator"`
	Seq       uint16 `json:"seq"`
	Trigger   string `json:"trigger"`
	Hops      uint8  `json:"hops"`
	Period    uint8  `json:"period"`
	Flags     uint8  `json:"flags"`
}

// takeLabel converts t, nil if it carries no label.
func takeLabel(t itsyhdr.TLV) *Label {
	if t.Kind == itsyhdr.KindPeriod {
		return nil
	}
	return &Label{
		Kind: t.Kind.String(), Initiator: nodePort(t.Initiator), Seq: t.Seq, Trigger: nodePort(t.Trigger),
		Hops: t.Hops, Period: t.Period, Flags: t.Flags,
	}
}

func nodePort(at unit.NodePort) string {
	if at.IsZero() {
		return ""
	}
	return at.String()
}

// TakeLabels copies the labels of all ports and priorities that are paused or XOFF.
func TakeLabels(s *dataplane.Switch) []Labels {
	labels := []Labels{}
	c := s.Config()
	for i, p := range c.Ports {
		for _, priority := range c.Buffer.Lossless.List() {
			n, k := unit.Port(i), unit.Priority(priority)
			l := Labels{Port: p.Name, Priority: priority, Paused: s.QueuePaused(n, k)}
			l.XOFF, _ = s.MMU().XOFF(n, k)
			if !l.Paused && !l.XOFF {
				continue
			}
			in, out := s.Labels(n, k)
			l.In = takeLabel(in)
			if l.XOFF {
				l.Out = takeLabel(out)
			}
			labels = append(labels, l)
		}
	}
	return labels
}
