// Package config is the configuration of one node: the file that `softswitch run -c`
// reads, and that the lab writes.
//
//	file --LoadSwitch, LoadHost--> Switch, Host --> a node's machine
//	     <------- Marshal --------
//
// A parameter is declared once: its field has the key, the range and the default as tags, and its
// help as comment (package schema). Rates, times and addresses know their text (package unit).
//
// Read in this order: Switch, Host, prevent.go (how a switch prevents deadlocks),
// ecn.go (how it marks frames), load.go (reading and writing files), fill.go (defaults that
// depend on others), the check_*.go files (what is rejected beside what tags say), value.go
// (syntax of lengths, shares and rates of flows).
//
// Invariants:
//   - what LoadSwitch and LoadHost return has its defaults filled in and has been
//     checked;
//   - round trip: loading what Marshal wrote gives the same value.
//
// What it does not do: it does not check whether an interface exists.
package config

import (
	"cmp"
	"encoding/json"
	"errors"

	"softswitch/host"
	"softswitch/host/congestion"
	"softswitch/link/auth"
	"softswitch/unit"
)

// Switch is the configuration of one switch.
type Switch struct {
	Name string `yaml:"name" schema:"name,required"`
	// ID is the switch's number in the fabric, 1 to 65535; labels carry it.
	ID uint16 `yaml:"id" schema:"1..65535,required"`
	// Ports in order: the first is port 0.
	Ports []Port `yaml:"ports" schema:",required"`
	// MTU is the longest IP packet in bytes, the same in the whole fabric; default 1500.
	// A frame may be 14 bytes longer, with an 802.1Q tag 18; a longer one is dropped.
	MTU int `yaml:"mtu,omitempty" schema:"1500..9216,default=1500"`
	// Trust is the field that gives a frame its priority: "dscp" (default; priority =
	// DSCPMap[dscp], by default dscp/8) or "pcp".
	Trust   string      `yaml:"trust,omitempty" schema:"dscp|pcp,default=dscp"`
	DSCPMap map[int]int `yaml:"dscp_map,omitempty" schema:"0..7,keys=0..63"`
	PFC     PFC         `yaml:"pfc,omitempty"`
	Buffer  Buffer      `yaml:"buffer,omitempty"`
	// Sched is how priorities share the ports, by priority. One that is not named: dwrr, weight 1.
	Sched   Scheds   `yaml:"scheduler,omitempty" schema:",keys=0..7"`
	Subnets []Subnet `yaml:"subnets,omitempty"`
	Routes  []Route  `yaml:"routes,omitempty"`
	LAGs    []LAG    `yaml:"lags,omitempty"`
	// RouterID is an IPv4 address of the router: the source of ICMP errors about what came in
	// by a port of no subnet, and it answers an echo. Default: the first subnet's gateway.
	RouterID unit.Addr `yaml:"router_id,omitempty" schema:"ip"`
	ARP      []ARP     `yaml:"arp,omitempty"`
	MAC      []MAC     `yaml:"mac,omitempty"`
	// Rewrite is rules that change the priority of frames, by the ports they enter and
	// leave by. The keys from here to Rings prevent deadlocks.
	Rewrite []Rewrite `yaml:"rewrite,omitempty"`
	// TTLBand, unless 0, gives a routed lossless frame a priority by its TTL: the last of
	// pfc.lossless up to a TTL of TTLBand, the one before it up to twice that, and so
	// on; the first gets all remaining TTLs. These priorities are strict then, unless
	// scheduler names them: what has gone farther leaves first.
	TTLBand int `yaml:"ttl_band,omitempty" schema:"0..255,default=0"`
	// NoFlood keeps lossless frames from being flooded: those for a station with an ARP
	// entry but no MAC entry are dropped, others continue in a lossy priority.
	NoFlood bool `yaml:"no_flood,omitempty" schema:",default=false"`
	// Limits drop lossless frames above a rate.
	Limits []Limit `yaml:"limits,omitempty"`
	// GFC tells the switches at its ports rates instead of pausing them, and obeys theirs; default: it
	// pauses.
	GFC *GFC `yaml:"gfc,omitempty"`
	// Rings are the places that it has in rings of switches, one a direction: what is new to a ring
	// waits while the ring has no room here.
	Rings []Ring `yaml:"rings,omitempty"`
	// ECN marks frames so that their senders slow down; default: none are marked.
	ECN *ECN `yaml:"ecn,omitempty"`
	// LLDP is what it tells its neighbours of itself; default nothing.
	LLDP *LLDP `yaml:"lldp,omitempty"`
	// HashSeed is mixed into the ECMP hash, and gives ECN its chance; default the ID.
	HashSeed uint32 `yaml:"hash_seed,omitempty" schema:"0..4294967295"`
	// Delay is the longest of any link between switches of the fabric, by which a detector
	// reckons how long a message takes.
	Delay unit.Time `yaml:"delay,omitempty" schema:"time,default=0s"`
	// Detector of deadlocks; default "none".
	Detector string `yaml:"detector,omitempty" schema:"detector,default=none"`
	// Watchdog is the times of SONiC's PFC watchdog, where that is the detector.
	Watchdog *Watchdog `yaml:"watchdog,omitempty"`
	// Response is what the switch does about a declared deadlock; default "none".
	Response string `yaml:"response,omitempty" schema:"response,default=none"`
	Live     Live   `yaml:"live,omitempty"`
}

// Port is a switch port.
type Port struct {
	// Name is the network interface.
	Name string `yaml:"name" schema:"interface,required"`
	// MAC is the port's address; default the interface's.
	MAC unit.MAC `yaml:"mac,omitempty" schema:"mac"`
	// PeerMAC is the far end's address on a routed link between switches.
	PeerMAC unit.MAC `yaml:"peer_mac,omitempty" schema:"mac"`
	// Peer says what the far end is: "switch" (default) or "host".
	Peer string `yaml:"peer,omitempty" schema:"switch|host,default=switch"`
	// Rate is the emulated speed, such as "100Mbit/s"; default "0", unlimited.
	Rate unit.Rate `yaml:"rate,omitempty" schema:"rate,default=0"`
	// StaticTh and XONOffset override those of the switch's buffer profile for the
	// priority groups of this port.
	StaticTh  *int `yaml:"static_th,omitempty" schema:"0..1073741824"`
	XONOffset *int `yaml:"xon_offset,omitempty" schema:"0..1073741824"`
	// XOFF overrides the switch's headroom for the priority groups of this port.
	XOFF *int `yaml:"xoff,omitempty" schema:"0..1073741824"`
	// Lossless overrides pfc.lossless at this port: the priorities whose frames are lossless if they
	// come in by it, and in which it sends and honours pauses. Each NIC of a host has its own.
	Lossless *[]int `yaml:"lossless,omitempty" schema:"0..7"`
	// PFC is what the port does with pauses of these priorities: "both" (default), send and honour them;
	// "tx", send them and ignore those that come; "rx", honour them and send none; or "asymmetric", send
	// them and honour those of all priorities, lossy ones too, as SONiC's pfc_asym.
	PFC string `yaml:"pfc,omitempty" schema:"both|tx|rx|asymmetric"`
	// Trust and DSCPMap override those of the switch for what comes in by this port. A DSCPMap
	// without an entry for a code point leaves it at the switch's.
	Trust   string      `yaml:"trust,omitempty" schema:"dscp|pcp"`
	DSCPMap map[int]int `yaml:"dscp_map,omitempty" schema:"0..7,keys=0..63"`
	// Pause overrides pfc.pause at this port.
	Pause string `yaml:"pause,omitempty" schema:"ignore|heed"`
	// Sched overrides the switch's scheduler at this port, for the priorities that it names.
	Sched Scheds `yaml:"scheduler,omitempty" schema:",keys=0..7"`
	// Auth is whether the far end, a switch, has to prove that pauses, labels and messages
	// are its own: off, accept (what comes with a tag has to be right) or strict (all has to
	// come with one); docs/format/auth.md. The keys are in the file live.keys.
	Auth auth.Mode `yaml:"auth,omitempty" schema:"off|accept|strict,default=off"`
	// Link is the name of the link in the file of keys, the same at both ends.
	Link string `yaml:"link,omitempty" schema:"text"`
	// Wire is what the wire from this port does to frames; default nothing.
	Wire *Wire `yaml:"wire,omitempty"`
}

// Wire is what a live wire does to the frames that a port sends into it.
type Wire struct {
	// Delay, 0s or 1ms to 10s, and Jitter, the largest random extra delay: evenly from 0,
	// and frames keep their order.
	Delay  string `yaml:"delay,omitempty" schema:"time,default=0s" json:"delay,omitempty"`
	Jitter string `yaml:"jitter,omitempty" schema:"time,default=0s" json:"jitter,omitempty"`
	// ControlLoss is the share of control frames (PFC, messages of detectors) that are lost,
	// Loss that of others.
	ControlLoss string `yaml:"control_loss,omitempty" schema:"percent,default=0%" json:"control_loss,omitempty"`
	Loss        string `yaml:"loss,omitempty" schema:"percent,default=0%" json:"loss,omitempty"`
	// Duplicate is the share of frames that come twice, Reorder that of frames that take
	// twice the delay.
	Duplicate string `yaml:"duplicate,omitempty" schema:"percent,default=0%" json:"duplicate,omitempty"`
	Reorder   string `yaml:"reorder,omitempty" schema:"percent,default=0%" json:"reorder,omitempty"`
	// Seed and Stream name its random numbers.
	Seed   uint32 `yaml:"seed,omitempty" schema:"0..4294967295,default=0" json:"-"`
	Stream uint32 `yaml:"stream,omitempty" schema:"0..4294967295,default=0" json:"-"`
}

// PFC is how the node pauses.
type PFC struct {
	// Lossless priorities; default [3, 4]. With an empty list all priorities are lossy.
	Lossless []int `yaml:"lossless" schema:"0..7,default=[3, 4]"`
	// Quanta in a pause frame; default 65535.
	Quanta int `yaml:"quanta,omitempty" schema:"1..65535,default=65535"`
	// Refresh is the interval at which a pause is repeated; default the smaller
	// of a third of the pause time and 10ms.
	Refresh *unit.Time `yaml:"refresh,omitempty" schema:"time"`
	// StormBudget is for how long a host may pause a priority of a switch, all pauses together,
	// before it is contained: its pauses are ignored, and its queue is lossy, until it has sent
	// none for as long. While the queue may send the budget refills 99 times as fast. 0s is no
	// bound.
	StormBudget *unit.Time `yaml:"storm_budget,omitempty" schema:"time,default=500ms"`
	// Response is how many quanta of 512 bit times the far end of a link takes to stop, or 802.3
	// for those that IEEE 802.3, 31B.3.7, allows at the link's rate. It changes what headroom has
	// to be, and nothing else: a softswitch stops at once.
	Response string `yaml:"response,omitempty" schema:"quanta,default=0"`
	// Pause is what 802.3x PAUSE frames do, which have no priority: with "heed" one pauses all
	// priorities of its port, lossy ones too, for its quanta; with "ignore" none, as IEEE 802.1Q,
	// 36.1.1, has it where PFC is enabled. They are counted in either case.
	Pause string `yaml:"pause,omitempty" schema:"ignore|heed,default=ignore"`
}

// Buffer is the MMU's profile. All sizes in bytes.
type Buffer struct {
	// Pool is the shared pool (ingress_lossless_pool); default 2 MiB.
	Pool int `yaml:"pool,omitempty" schema:"1..1073741824,default=2097152"`
	// Size is the reserved minimum of a priority group; default 4096.
	Size int `yaml:"size,omitempty" schema:"1..1073741824,default=4096"`
	// StaticTh is how many shared bytes a priority group may hold before XOFF;
	// default 36864, so that XOFF is crossed at 40960 with Size.
	StaticTh *int `yaml:"static_th,omitempty" schema:"0..1073741824,default=36864"`
	// DynamicTh replaces StaticTh by alpha x free shared bytes, alpha = 2^n, n
	// from -8 to 8.
	DynamicTh *int `yaml:"dynamic_th,omitempty" schema:"-8..8"`
	// XON is the lowest resume threshold; the XON threshold is max(xon, XOFF threshold
	// - xon_offset).
	XON *int `yaml:"xon,omitempty" schema:"0..1073741824,default=0"`
	// XONOffset is how far below the XOFF threshold XON lies.
	XONOffset *int `yaml:"xon_offset,omitempty" schema:"0..1073741824,default=4096"`
	// XOFF is the headroom above the XOFF threshold; default 30720, and in a scenario what the
	// link of a port needs where that is more (docs/decisions/headroom.md). With an mtu above
	// 1500 it is at least 1514 and a frame of the mtu: 10744 for 9216.
	XOFF *int `yaml:"xoff,omitempty" schema:"0..1073741824,default=30720"`
	// HeadroomPool is headroom that all groups share; default none, each has XOFF for itself.
	HeadroomPool *HeadroomPool `yaml:"headroom_pool,omitempty"`
	// Cell is the piece of memory that holds bytes of one frame only: each frame takes whole
	// cells, some 200 bytes in chips, and sizes stay in bytes. 0 and 1 count bytes.
	Cell int `yaml:"cell,omitempty" schema:"0..65536,default=0"`
	// Slack is more headroom, for what arrives while processes wait for a processor. A
	// simulation has none by default; a live run, and softswitch run where ports have a rate,
	// take as much as the machine needs, and its verdict (docs/verdict.md), or a line, says so.
	// 0 is none in a live run too.
	Slack *int `yaml:"slack,omitempty" schema:"0..1073741824"`
	// LossyQueue bounds a lossy egress queue; default 262144.
	LossyQueue *int `yaml:"lossy_queue,omitempty" schema:"0..1073741824,default=262144"`
}

// Subnet is a connected subnet: its frames are bridged among Ports, and routed
// elsewhere through Gateway.
type Subnet struct {
	Prefix  unit.Prefix `yaml:"prefix" schema:"prefix,required"` // "10.0.1.0/24"
	Gateway unit.Addr   `yaml:"gateway" schema:"ip,required"`    // "10.0.1.1"; answered in ARP with the MAC of the first port, at all of them
	Ports   []int       `yaml:"ports" schema:"0..255,required"`
	// Flood is additional ports, to other switches, for frames to a host of the subnet
	// that has an ARP entry but no MAC entry; default none.
	Flood []int `yaml:"flood,omitempty" schema:"0..255"`
	// Backup is ports towards other switches that own the subnet too: the way to a host while the
	// port to it is down; default none.
	Backup []int `yaml:"backup,omitempty" schema:"0..255"`
	// GatewayMAC is the gateway's address where several switches own the subnet, the same at all
	// of them; default that of the first port.
	GatewayMAC unit.MAC `yaml:"gateway_mac,omitempty" schema:"mac"`
}

// Route is a route via other switches.
type Route struct {
	Prefix unit.Prefix `yaml:"prefix" schema:"prefix,required"`
	// Ports is the ECMP group; Backup is used while every port of it is down.
	Ports  []int `yaml:"ports" schema:"0..255,required"`
	Backup []int `yaml:"backup,omitempty" schema:"0..255"`
}

// ARP is a static neighbour.
type ARP struct {
	IP  unit.Addr `yaml:"ip" schema:"ip,required"`
	MAC unit.MAC  `yaml:"mac" schema:"mac,required"`
}

// MAC is a static station.
type MAC struct {
	MAC  unit.MAC `yaml:"mac" schema:"mac,required"`
	Port int      `yaml:"port" schema:"0..255"`
}

// How long an event log may become, in MiB: unless something else is said, and at most. A switch with
// links of 100 Mbit/s that pause all the time writes 15 to 50 MiB in a minute.
const (
	DefaultLogLimit = 512
	LogLimitMax     = 1 << 20
)

// LogCounted is the value of log_refreshes by which repeated pauses are left out.
const LogCounted = "counted"

// Live is settings of a live node only.
type Live struct {
	// Control is the path of the control socket; default none.
	Control string `yaml:"control,omitempty" schema:"path"`
	// Events is the path of the event log (JSON lines); default none.
	Events string `yaml:"events,omitempty" schema:"path"`
	// LogLimit is how long the event log may become, in MiB. Events that come after that are not
	// written: they are counted, and the node says so.
	LogLimit int `yaml:"log_limit_mib,omitempty" schema:"1..1048576,default=512"`
	// LogRefreshes is which of the pauses that only repeat one the event log has: all of them, or one
	// a second, with the number of the others. With one clock nothing is lost by that; by several,
	// they tell how the clocks differ (docs/machines.md).
	LogRefreshes string `yaml:"log_refreshes,omitempty" schema:"all|counted,default=all"`
	// Pcap is the path of a pcapng file of all ports; default none.
	Pcap string `yaml:"pcap,omitempty" schema:"path"`
	// Metrics is where to serve metrics for Prometheus, "host:port"; the host defaults
	// to 127.0.0.1. Default: nowhere.
	Metrics string `yaml:"metrics,omitempty" schema:"listen"`
	// Keys is the path of a switch's file of keys, which nobody else may read (mode 0600);
	// default: the keys are in the environment, in SOFTSWITCH_KEYS.
	Keys string `yaml:"keys,omitempty" schema:"path"`
}

// Host is the configuration of one end host: a NIC that honours and sends PFC.
type Host struct {
	Name string `yaml:"name" schema:"name,required"`
	ID   uint16 `yaml:"id" schema:"1..65535,required"`
	// Port is the NIC of a host that has one; a host with several has the key nics instead, and
	// neither port, address, gateway nor gateway_mac.
	Port Port `yaml:"port,omitempty"`
	// Address of the host with its prefix length, "10.0.1.2/24".
	Address unit.Interface `yaml:"address,omitempty" schema:"address"`
	// Gateway and GatewayMAC are where frames for other subnets go. A host with a stack may
	// have none.
	Gateway    unit.Addr `yaml:"gateway,omitempty" schema:"ip"`
	GatewayMAC unit.MAC  `yaml:"gateway_mac,omitempty" schema:"mac"`
	PFC        PFC       `yaml:"pfc,omitempty"`
	// NICs are those of a host that has several; the first is NIC 0.
	NICs []NIC `yaml:"nics,omitempty"`
	// MTU is the longest IP packet in bytes, as in the file of a switch.
	MTU int `yaml:"mtu,omitempty" schema:"1500..9216,default=1500"`
	// RxBuffer is the receive buffer of each NIC in bytes, default 131072; a pause is sent when
	// it is three quarters full and a resume when it is half empty. It holds at least
	// four of the longest frames.
	RxBuffer int `yaml:"rx_buffer,omitempty" schema:"8192..1073741824,default=131072"`
	// RxSlack is additional room of a receive buffer in bytes, for frames that arrive while
	// processes wait for a processor; it changes neither threshold.
	RxSlack int `yaml:"rx_slack,omitempty" schema:"0..1073741824,default=0"`
	// Stack is the network interface for programs, for softswitch nic only: the NIC
	// creates it, assigns it the address, and takes what the kernel sends there into
	// its queues. Without an address it is an interface that exists, such as the TAP of
	// a guest, behind which a station has an address of its own. Such a host has neither
	// flows nor acts, unless its flows are programs, and gateway and gateway_mac may be empty.
	Stack string `yaml:"stack,omitempty" schema:"interface"`
	// Flows that this host sends, and those that it receives, by number.
	Flows []Flow `yaml:"flows,omitempty"`
	// Peers are the far ends of flows of transport rc that come to this host. Packets of
	// other connections are refused.
	Peers []Peer `yaml:"peers,omitempty"`
	// Programs are flows of transport rc that have a handshake: their far ends are programs of perftest. Only a
	// host with a stack has them.
	Programs []ProgramFlow `yaml:"programs,omitempty"`
	// Congestion is what its flows of transport rc do about congestion; default nothing.
	Congestion *Congestion `yaml:"congestion,omitempty"`
	// LLDP is what it tells the switch of itself; default nothing.
	LLDP *LLDP `yaml:"lldp,omitempty"`
	// Acts are the host's misbehaviours, in order of time.
	Acts []Act `yaml:"acts,omitempty"`
	// Bin is the length of the time slots for which arrivals are counted; 0s turns this
	// off.
	Bin  unit.Time `yaml:"bin,omitempty" schema:"time"`
	Live Live      `yaml:"live,omitempty"`
}

// Flow is a stream of UDP frames to port 4791 from this host.
type Flow struct {
	// Number is the flow's number in the scenario; every frame carries it.
	Number  uint32    `yaml:"number" schema:"0..4294967295"`
	Name    string    `yaml:"name" schema:"name"`
	To      unit.Addr `yaml:"to" schema:"ip,required"`             // address
	SrcPort uint16    `yaml:"src_port" schema:"1..65535,required"` // entropy for ECMP
	// NIC is that by which it leaves; default: the host chooses one that is up by the flow's hash
	// if all have one address, else 0.
	NIC      *int `yaml:"nic,omitempty" schema:"0..15"`
	Priority int  `yaml:"priority" schema:"0..7" was:"class"` // DSCP = 8 x priority (+2 for priority 3: 26, usual for RoCEv2)

	host.Stream `yaml:",inline"`
}

// Congestion is how a host's flows of transport rc keep to what the fabric carries.
type Congestion struct {
	// Control is dcqcn, which lowers a flow's rate at marks, or timely, at round-trip times
	// that grow.
	Control string `yaml:"control" schema:"dcqcn|timely,required"`
	// Profile is the parameters of dcqcn.
	Profile congestion.ProfileName `yaml:"profile,omitempty" schema:"paper|hpcc-sender|nvidia,default=paper"`
	// CNPPriority is the priority in which senders are notified; it must be lossy.
	CNPPriority *int `yaml:"cnp_priority,omitempty" schema:"0..7,default=6" was:"cnp_class"`
	// TimesSlower is how many times slower the port is than the one for which the
	// parameters are meant: times are multiplied by it.
	TimesSlower int `yaml:"times_slower,omitempty" schema:"1..1000000,default=1"`
}

// Peer is the far end of a flow of transport rc that comes to this host.
type Peer struct {
	Number   uint32    `yaml:"number" schema:"0..8388605"`
	From     unit.Addr `yaml:"from" schema:"ip,required"`
	SrcPort  uint16    `yaml:"src_port" schema:"1..65535,required"`
	Priority int       `yaml:"priority" schema:"0..7" was:"class"`
	TTL      int       `yaml:"ttl" schema:"1..255,default=64"` // of what answers it
	// NIC is that by which answers leave; default as of a flow.
	NIC *int `yaml:"nic,omitempty" schema:"0..15"`
	// RC is the numbers of its connection that are given, as the far end has them.
	RC *host.PeerRC `yaml:"rc,omitempty"`
}

// ProgramFlow is a flow between a host and a program of perftest, which agree by a handshake.
type ProgramFlow struct {
	Number uint32    `yaml:"number" schema:"0..8388605"` // in the scenario
	Name   string    `yaml:"name" schema:"name"`
	Peer   unit.Addr `yaml:"peer" schema:"ip,required"` // address of the program's host
	// Sends says that the flow goes from this host, and not to it.
	Sends    bool `yaml:"sends,omitempty"`
	Priority int  `yaml:"priority" schema:"0..7"`

	host.Stream `yaml:",inline"`
}

// Client reports whether this end begins the handshake.
func (f *ProgramFlow) Client() bool { return f.Sends == f.RC.Begins() }

// Act is a misbehaviour of a host, from At on.
type Act struct {
	At unit.Time `yaml:"at" schema:"time,default=0s"`
	// Do is "slow" (the receiver drains at Rate), "storm" (continuous PFC for
	// Priority, whatever the buffer holds) or "normal".
	Do string `yaml:"do" schema:"slow|storm|normal,required"`
	// NIC is that which does so alone; default: all NICs of the host, a storm those that pause Priority.
	NIC      *int      `yaml:"nic,omitempty" schema:"0..15" json:",omitempty"`
	Rate     unit.Rate `yaml:"rate,omitempty" schema:"rate"`
	Priority int       `yaml:"priority,omitempty" schema:"0..7" was:"class"`
}

// UnmarshalJSON reads a request. One of an older program has class for priority.
func (a *Act) UnmarshalJSON(data []byte) error {
	type plain Act
	r := struct {
		*plain
		Priority, Class *int
	}{plain: (*plain)(a)}
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	if r.Priority != nil && r.Class != nil {
		return errors.New("priority and class are both given: class is what older requests call priority")
	}
	if p := cmp.Or(r.Priority, r.Class); p != nil {
		a.Priority = *p
	}
	return nil
}
