// Package config is what one node is told at its start: the file that
// `softswitch run -c` and `softswitch host -c` read, and that the lab writes.
//
//	file --LoadSwitch, LoadHost--> Switch, Host --> a node's machine
//	     <------- Marshal --------
//
// Read in this order: Switch, Host, load.go (from and to files), fill.go
// (defaults), check_switch.go and check_host.go (what is refused), value.go
// (rates, times and addresses as they are written).
//
// Invariants:
//   - what LoadSwitch and LoadHost return has its defaults filled in and has been
//     checked, so that the functions of value.go cannot fail on its fields;
//   - round trip: loading what Marshal wrote gives the same value.
//
// What it does not do: it knows no detector by name, and it does not look
// whether an interface exists.
package config

// Switch is the configuration of one switch.
type Switch struct {
	Name string `yaml:"name"`
	// ID is the switch's number in the fabric, 1 to 65535; labels carry it.
	ID uint16 `yaml:"id"`
	// Ports in order: the first is port 0.
	Ports []Port `yaml:"ports"`
	// Trust is the field that gives a frame its class: "dscp" (default; class =
	// DSCPMap[dscp], by default dscp/8) or "pcp".
	Trust   string        `yaml:"trust,omitempty"`
	DSCPMap map[int]int   `yaml:"dscp_map,omitempty"`
	PFC     PFC           `yaml:"pfc,omitempty"`
	Buffer  Buffer        `yaml:"buffer,omitempty"`
	Sched   map[int]Sched `yaml:"scheduler,omitempty"` // by class; default: strict, 7 before 0
	Subnets []Subnet      `yaml:"subnets,omitempty"`
	Routes  []Route       `yaml:"routes,omitempty"`
	ARP     []ARP         `yaml:"arp,omitempty"`
	MAC     []MAC         `yaml:"mac,omitempty"`
	// HashSeed is mixed into the ECMP hash; default the ID.
	HashSeed uint32 `yaml:"hash_seed,omitempty"`
	// Detector is "none" (default), "itsypaper", ...
	Detector string `yaml:"detector,omitempty"`
	Live     Live   `yaml:"live,omitempty"`
}

// Port is a switch port.
type Port struct {
	// Name is the network interface.
	Name string `yaml:"name"`
	// MAC is the port's own address; default the interface's.
	MAC string `yaml:"mac,omitempty"`
	// PeerMAC is the far end's address on a routed link between switches.
	PeerMAC string `yaml:"peer_mac,omitempty"`
	// Peer says what the far end is: "switch" (default) or "host".
	Peer string `yaml:"peer,omitempty"`
	// Rate is the emulated speed, such as "100Mbit/s"; default "0", unlimited.
	Rate string `yaml:"rate,omitempty"`
}

// PFC is what pauses are made of.
type PFC struct {
	// Lossless classes; default [3, 4]. An empty list is no class at all.
	Lossless []int `yaml:"lossless"`
	// Quanta in a pause frame; default 65535.
	Quanta int `yaml:"quanta,omitempty"`
	// Refresh is the interval at which a pause is repeated; default the smaller
	// of a third of the pause time and 10ms.
	Refresh string `yaml:"refresh,omitempty"`
}

// Buffer is the MMU's profile. All sizes in bytes.
type Buffer struct {
	// Pool is the shared pool (ingress_lossless_pool); default 2 MiB.
	Pool int `yaml:"pool,omitempty"`
	// Size is the reserved minimum of a priority group; default 4096.
	Size int `yaml:"size,omitempty"`
	// StaticTh is how many shared bytes a priority group may hold before XOFF;
	// default 36864, so that XOFF is crossed at 40960 with Size.
	StaticTh *int `yaml:"static_th,omitempty"`
	// DynamicTh replaces StaticTh by alpha x free shared bytes, alpha = 2^n, n
	// from -7 to 3.
	DynamicTh *int `yaml:"dynamic_th,omitempty"`
	// XON is the least resume threshold, XONOffset how far below the XOFF
	// threshold XON lies: XON threshold = max(xon, XOFF threshold - xon_offset).
	// Defaults 0 and 4096.
	XON       *int `yaml:"xon,omitempty"`
	XONOffset *int `yaml:"xon_offset,omitempty"`
	// XOFF is the headroom above the XOFF threshold; default 30720.
	XOFF *int `yaml:"xoff,omitempty"`
	// LossyQueue bounds a lossy egress queue; default 262144.
	LossyQueue *int `yaml:"lossy_queue,omitempty"`
}

// Sched is the scheduling of one class at every port.
type Sched struct {
	// Type is "strict" or "dwrr".
	Type string `yaml:"type"`
	// Weight of a dwrr class, 1 to 100.
	Weight int `yaml:"weight,omitempty"`
}

// Subnet is a connected subnet: its frames are bridged among Ports, and routed
// elsewhere through Gateway.
type Subnet struct {
	Prefix  string `yaml:"prefix"`  // "10.0.1.0/24"
	Gateway string `yaml:"gateway"` // "10.0.1.1"; answered in ARP with the port's MAC
	Ports   []int  `yaml:"ports"`
	// Flood is further ports, those to other switches, to which a frame for a host
	// of the subnet goes that has an ARP entry but no MAC entry; default none.
	Flood []int `yaml:"flood,omitempty"`
}

// Route is a route out of other switches' ports.
type Route struct {
	Prefix string `yaml:"prefix"`
	// Ports is the ECMP group; Backup is used while every port of it is down.
	Ports  []int `yaml:"ports"`
	Backup []int `yaml:"backup,omitempty"`
}

// ARP is a static neighbour.
type ARP struct {
	IP  string `yaml:"ip"`
	MAC string `yaml:"mac"`
}

// MAC is a static station.
type MAC struct {
	MAC  string `yaml:"mac"`
	Port int    `yaml:"port"`
}

// Live is what only a live node needs.
type Live struct {
	// Control is the path of the control socket; default none.
	Control string `yaml:"control,omitempty"`
	// Events is the path of the event log (JSON lines); default none.
	Events string `yaml:"events,omitempty"`
	// Pcap is the path of a pcapng of every port; default none.
	Pcap string `yaml:"pcap,omitempty"`
}

// Host is the configuration of one end host: a NIC that honours and sends PFC.
type Host struct {
	Name string `yaml:"name"`
	ID   uint16 `yaml:"id"`
	Port Port   `yaml:"port"`
	// Address of the host with its prefix length, "10.0.1.2/24", and its gateway.
	Address    string `yaml:"address"`
	Gateway    string `yaml:"gateway"`
	GatewayMAC string `yaml:"gateway_mac"`
	PFC        PFC    `yaml:"pfc,omitempty"`
	// RxBuffer is the receive buffer in bytes, default 131072; a pause is sent when
	// it is three quarters full and a resume when it is half empty.
	RxBuffer int `yaml:"rx_buffer,omitempty"`
	// Flows that this host sends, and those that it receives, by number.
	Flows []Flow `yaml:"flows,omitempty"`
	// Acts are the host's misbehaviours, in order of time.
	Acts []Act `yaml:"acts,omitempty"`
	Live Live  `yaml:"live,omitempty"`
}

// Flow is a stream of UDP frames to port 4791 from this host.
type Flow struct {
	// Number is the flow's number in the scenario; every frame carries it.
	Number  uint32 `yaml:"number"`
	Name    string `yaml:"name"`
	To      string `yaml:"to"`       // address
	SrcPort uint16 `yaml:"src_port"` // entropy for ECMP
	Class   int    `yaml:"class"`    // DSCP = 8 x class (+2 for class 3: 26, RoCEv2's habit)
	// Rate is the bit rate on the wire, or "line".
	Rate  string `yaml:"rate"`
	Frame int    `yaml:"frame"` // bytes without FCS, 64 to 1514
	TTL   int    `yaml:"ttl"`
	// Start and Stop are offsets from the start of the scenario; Stop "0s" is never.
	Start string `yaml:"start"`
	Stop  string `yaml:"stop,omitempty"`
}

// Act is a misbehaviour of a host from At on.
type Act struct {
	At string `yaml:"at"`
	// Do is "slow" (the receiver drains at Rate), "storm" (continuous PFC for
	// Class, whatever the buffer holds) or "normal".
	Do    string `yaml:"do"`
	Rate  string `yaml:"rate,omitempty"`
	Class int    `yaml:"class,omitempty"`
}
