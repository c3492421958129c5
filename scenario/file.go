package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/link/impair"
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// file is a scenario as written. The comments of these types become the reference in
// docs/scenarios.md, and their schema tags docs/schema/scenario.json: see package
// internal/schema.
type file struct {
	// Name of the scenario; verdicts carry it.
	Name string `yaml:"name" schema:"name,required"`
	// Description says what the scenario shows, for people.
	Description string       `yaml:"description" schema:"text"`
	Topology    fileTopology `yaml:"topology" schema:",required"`
	// Platform is a switch as it is sold: cell, xoff by rate and cable of a port, xon, xon_offset
	// and dynamic_th, as far as its maker's tables have them and Buffer does not say them.
	Platform string `yaml:"platform" schema:"platform"`
	// Buffer is the buffer profile (MMU) of every switch. Without a platform and xoff each port
	// has the headroom that its link needs, 30720 bytes at least (docs/decisions/headroom.md).
	Buffer config.Buffer `yaml:"buffer"`
	// Host is what all hosts have.
	Host fileHost `yaml:"host"`
	// PFC is how switches and hosts pause.
	PFC config.PFC `yaml:"pfc"`
	// Trust is the field that gives a frame its priority.
	Trust string `yaml:"trust" schema:"dscp|pcp,default=dscp"`
	// Scheduler is how priorities share the ports of switches, by priority. One that is not named:
	// dwrr, weight 1.
	Scheduler config.Scheds `yaml:"scheduler" schema:",keys=0..7"`
	// LLDP is what switches and hosts tell their neighbours of themselves; default nothing.
	LLDP *config.LLDP `yaml:"lldp"`
	// Auth is how switches authenticate what they say to each other on a link: pauses, labels
	// and messages (docs/format/auth.md).
	Auth auth.Mode `yaml:"auth" schema:"off|accept|strict,default=off"`
	// Routes replace computed ones, which are as topology.routing has them.
	Routes []fileRoute `yaml:"routes"`
	// Dead are hosts of which their switch knows the IP address but not the port: it
	// floods frames for them. No flow may start at a dead host.
	Dead []string `yaml:"dead" schema:"host"`
	// Flood is where a switch floods frames for a dead host: to all its ports to hosts,
	// or to all its ports.
	Flood string `yaml:"flood" schema:"hosts|all,default=hosts"`
	// NICs are hosts for programs of your own: in a lab, what runs in such a host's
	// namespace sends and receives through a NIC that honours and sends PFC (softswitch
	// nic). They have no flows and no events; in a simulation they are silent.
	NICs []string `yaml:"nics" schema:"host"`
	// Detector of deadlocks in every switch.
	Detector string `yaml:"detector" schema:"detector,default=itsy"`
	// Watchdog is the times of SONiC's PFC watchdog, where that is the detector.
	Watchdog *config.Watchdog `yaml:"watchdog"`
	// Response is what a switch does about a declared deadlock.
	Response string `yaml:"response" schema:"response,default=none"`
	// Flows are streams of frames between hosts.
	Flows []fileFlow `yaml:"flows"`
	// Workload is messages between many hosts, drawn from a seed: they become flows too.
	Workload strictyaml.Some[fileWorkload] `yaml:"workload"`
	// Events are what goes wrong, and when.
	Events []fileEvent `yaml:"events"`
	// Prevention is what the switches do so that deadlocks do not form.
	Prevention *filePrevention `yaml:"prevention"`
	// Congestion is what switches and senders do so that less has to be paused.
	Congestion *Congestion `yaml:"congestion"`
	// Live is of live labs alone; a simulation writes no logs.
	Live fileLive `yaml:"live"`
	// Duration of the scenario, above zero, at most 24h.
	Duration unit.Time `yaml:"duration" schema:"time,required"`
	// Expect is what the verdict is checked against. A missing key expects nothing.
	Expect fileExpect `yaml:"expect"`
	// ExpectFor overrides Expect for single detectors.
	ExpectFor map[string]fileExpect `yaml:"expect_for" schema:",keys=detector"`
}

// fileLive is how nodes of a live lab run.
type fileLive struct {
	// LogLimit is how long the event log of each node may become, in MiB. A run with a log that was
	// not long enough is not valid.
	LogLimit int `yaml:"log_limit_mib" schema:"1..1048576,default=512"`
}

// fileHost is what all hosts have.
type fileHost struct {
	// RxBuffer is the receive buffer in bytes, of which a quarter is headroom; default 131072, or
	// what the host's link needs if that is more.
	RxBuffer *int `yaml:"rx_buffer" schema:"8192..1073741824"`
}

// fileRoute is other ports by which a switch reaches some hosts, instead of the computed
// ones, their backups, or both.
type fileRoute struct {
	// At is the switch with the route.
	At string `yaml:"at" schema:"switch,required"`
	// To is the destination: a prefix such as 10.1.0.0/16, or a host or switch for its
	// subnet.
	To string `yaml:"to" schema:"node or prefix,required"`
	// Ports are the neighbouring switches to send to, chosen by the hash of the flow.
	Ports []string `yaml:"ports" schema:"switch"`
	// Backup is used while every one of Ports is down; [] is none.
	Backup []string `yaml:"backup" schema:"switch"`
}

// fileFlow is a stream of UDP frames.
type fileFlow struct {
	// Name is the flow's own; of several, what their names begin with.
	Name string `yaml:"name" schema:"name,required"`
	// From is where it begins. A list is one flow from each, called Name-host.
	From strictyaml.Some[string] `yaml:"from" schema:"host,required"`
	To   string                  `yaml:"to" schema:"host,required"`
	// NIC is the one of From by which it leaves, from 0. Without it a host with one address at all
	// NICs sends the flow by one that the flow's hash chooses among those whose link is up; flows from
	// a host with an address at each take its NICs in turn.
	NIC *int `yaml:"nic" schema:"0..15"`
	// ToNIC is the NIC of To to which it goes, where each has an address: by default the one with
	// the number of the NIC that it comes from.
	ToNIC *int `yaml:"to_nic" schema:"0..15"`
	// Priority is the PFC priority of its frames.
	Priority *int `yaml:"priority" schema:"0..7,default=3" was:"class"`

	// Rate on the wire, or "line" for that of the host's link. 10Gbit/s±1%, or 10Gbit/s±100Mbit/s, is one
	// from 9.9Gbit/s to 10.1Gbit/s, which each run draws by its seed.
	Rate drawnRate `yaml:"rate" schema:"drawn rate or line,default=line"`

	host.Stream `yaml:",inline"`
	// Start is relative to the start of the scenario, as all times are. 500ms±1ms, or 500ms+-1ms, is
	// one from 499ms to 501ms, which each run draws by its seed.
	Start drawnTime `yaml:"start" schema:"drawn time,default=0s"`
	// Via is switches that the flow has to visit, in this order; others may lie
	// between. A source port is chosen so that it does.
	Via []string `yaml:"via" schema:"switch"`
	// Path is the whole way, switch by switch, from that of From to that of To. It becomes
	// routes of these switches, so that what others send to the hosts beside To goes the
	// same way from there on. No other path or route may contradict it.
	Path []string `yaml:"path" schema:"switch"`
	// Count is how many flows there are of this kind, which differ in their source ports,
	// and so may go different ways. They are called Name-1, Name-2, ...
	Count *int `yaml:"count" schema:"1..100000,default=1"`
}

// fileEvent is something that goes wrong, or right again. Each kind has its own keys:
type fileEvent struct {
	At unit.Time `yaml:"at" schema:"time,required"`
	Do string    `yaml:"do" schema:"event,required"`
	// Link that fails, or on which a frame is lost or forged.
	Link string `yaml:"link" schema:"link"`
	// Switch that dies or freezes.
	Switch string `yaml:"switch" schema:"switch"`
	// Host that misbehaves, at all of its NICs unless the key nic names one; a storm comes from those of
	// them that pause Priority.
	Host string `yaml:"host" schema:"host"`
	// NIC of Host that misbehaves alone, by its number: 0 is eth0.
	NIC *int `yaml:"nic" schema:"0..15"`
	// From is the end of Link that the frame comes from.
	From string `yaml:"from" schema:"node"`
	// Priority that a storm pauses; it must be lossless.
	Priority *int `yaml:"priority" schema:"0..7,default=3" was:"class"`
	// Rate at which a slow receiver drains, above zero.
	Rate unit.Rate `yaml:"rate" schema:"rate"`
	// For is how long it lasts; permanently if missing.
	For unit.Time `yaml:"for" schema:"time"`
	// Nth control frame from then on that gets lost; of replay, the nth last one before, of the
	// last 64.
	Nth int `yaml:"nth" schema:"1..1000000"`
	// Back lets a frame that is replayed come back to who sent it.
	Back bool `yaml:"back" schema:",default=false"`
	// Flip is a bit of a frame that is replayed, which is inverted, from 1; 0 is none.
	Flip int `yaml:"flip" schema:"0..4096,default=0"`
	// Frame is a whole Ethernet frame without FCS in hex, of 14 bytes to the mtu + 14;
	// spaces and colons may stand between the bytes.
	Frame string `yaml:"frame" schema:"hex"`
}

// fileExpect is what the verdict is checked against.
type fileExpect struct {
	Expect `yaml:",inline"`

	// Detected: true requires every deadlock to be declared, and at least one; false
	// allows no declaration at all, right or wrong.
	Detected string `yaml:"detected" schema:"true|false|either,default=either"`
	// LosslessLost is how many lossless frames may be lost at most, or any, for a scenario whose
	// own events lose some. A scenario that does not say it expects that none is lost.
	LosslessLost string `yaml:"lossless_lost" schema:"number or any,default=0"`
}

// Defaults of a file.
const (
	defaultDetector = "itsy"
	defaultPriority = 3
)

// LogLimitKey is the key of a file that says how long event logs may become.
const LogLimitKey = "live.log_limit_mib"

// Known is the names that a file may use, and where.
type Known struct {
	Detectors []string // in addition to "none"
	Responses []string // in addition to "none"
	// Fits is an error if a detector does not run on the switch called sw, of this number and with so many ports;
	// nil if all of them run on any.
	Fits func(detector, sw string, id unit.NodeID, ports int) error
}

// DetectorFits is the first error of fits (Known) for the detector of s.
func (s *Scenario) DetectorFits(fits func(detector, sw string, id unit.NodeID, ports int) error) error {
	for _, n := range s.Fabric.Nodes {
		if fits == nil || n.Kind != topo.Switch {
			continue
		}
		if err := fits(s.Detector, n.Name, n.ID, len(n.Ports)); err != nil {
			return err
		}
	}
	return nil
}

// Parse reads a scenario from data, the content of the file called name. The error is a
// strictyaml.Faults: everything that is wrong, as "file:line: key: value, valid
// choices".
func Parse(name string, data []byte, known Known) (*Scenario, error) {
	return ParseSet(name, data, known)
}

// ParseSet is Parse with settings in the place of what the file says. What is wrong with
// one is told as "file: --set key: ...".
func ParseSet(name string, data []byte, known Known, settings ...strictyaml.Setting) (*Scenario, error) {
	var f file
	p := parser{Doc: strictyaml.Read(name, data, &f, settings...)}
	schema.Check(p.Doc, &f)
	s := &Scenario{
		Name: f.Name, Description: strings.TrimSpace(f.Description), doc: p.Doc,
		Buffer: f.Buffer, PFC: f.PFC,
		Trust:    cmp.Or(f.Trust, "dscp"),
		Detector: cmp.Or(f.Detector, defaultDetector),
		Response: cmp.Or(f.Response, "none"),
	}
	if s.Name == "" {
		p.Faultf("name", "missing: a scenario has a name")
	}
	p.oneLine("name", s.Name)
	p.Choice("detector", s.Detector, append([]string{"none"}, known.Detectors...))
	p.Choice("response", s.Response, append([]string{"none"}, known.Responses...))
	switch s.Duration = f.Duration; {
	case !p.Given("duration"):
		p.Faultf("duration", "missing: write a duration such as 1s")
	case s.Duration == 0 || s.Duration > longest:
		p.Faultf("duration", "%s: a scenario lasts more than 0s and at most 24h", s.Duration)
		s.Duration = 0
	}
	s.Fabric, s.Links = p.topology(f.Topology)
	if s.Fabric != nil {
		s.Auth = p.auth(f.Auth, f.Topology.Overrides)
		p.Fault("detector", s.DetectorFits(known.Fits))
	}
	if s.LLDP = f.LLDP; s.LLDP != nil {
		schema.Fill(s.LLDP)
		config.CheckLLDP(p.Doc, s.LLDP)
	}
	if s.Watchdog = f.Watchdog; s.Watchdog != nil {
		s.Watchdog.Fill()
		config.CheckWatchdog(p.Doc, s.Watchdog)
	}
	s.MTU = config.CheckMTU(p.Doc, "topology.mtu", or(f.Topology.MTU, config.DefaultMTU))
	if s.Fabric != nil {
		s.Ports = p.ports(s, f.Topology.Ports)
		p.scheds(s, f.Topology.Overrides)
	}
	p.profile(s, f.Platform, f.Host)
	f.Scheduler.Check(p.Doc, "scheduler")
	s.Sched = f.Scheduler
	p.end, p.lossless, p.mtu = s.Duration, s.Lossless(), s.MTU
	s.Routes = p.routes(f.Routes)
	s.Dead = p.hosts("dead", f.Dead)
	s.FloodAll = f.Flood == "all"
	s.Flows = p.flows(s, f.Flows)
	p.workloads(s, f.Workload, f.NICs)
	p.checkQPNs(s)
	p.place(s)
	p.silent(s)
	if f.Prevention != nil {
		s.Prevention = p.prevention(s, *f.Prevention)
	}
	if f.Congestion != nil {
		s.Congestion = p.congestion(s, f.Congestion)
	}
	s.Events = p.events(s, f.Events)
	p.converging(s)
	p.checkPorts(s)
	s.NICs = p.nics(s, f.NICs)
	p.several(s)
	s.LogLimit = f.Live.LogLimit
	s.Expect = p.expect("expect", f.Expect)
	s.ExpectFor = p.expectFor(s.Expect, f.ExpectFor, known)
	p.starving(s, f.Topology.Overrides)
	if s.Expect == (Expect{}) && p.Has("expect") {
		s.Warnings = append(s.Warnings, p.At("expect", "nothing is expected, so that every run will do; say what is, such as deadlock: true, or leave expect out").String())
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// parser turns the parts of a file into those of a Scenario. Faults go into its Doc;
// the value returned with a fault is meaningless.
type parser struct {
	*strictyaml.Doc
	fabric   *topo.Fabric        // nil if it cannot be built
	names    []topo.ExplicitNode // of the nodes, as far as they are known without a fabric
	end      unit.Time           // of the scenario; 0 if unknown
	lossless []int
	mtu      int
}

// profile fills in the buffer profile, the hosts' buffers and the PFC settings and checks them.
func (p *parser) profile(s *Scenario, platform string, host fileHost) {
	ports := lists.Map(s.Links, func(l LinkSpeed) config.Port { return config.Port{Rate: l.Rate} })
	s.PFC.Fill(ports)
	m, xoff := p.platform(s, platform), s.Buffer.XOFF != nil
	s.Buffer.Fill()
	s.RxBuffer = or(host.RxBuffer, config.DefaultRxBuffer)
	config.CheckRxBuffer(p.Doc, "host.rx_buffer", s.RxBuffer, s.MTU)
	s.Warnings = config.CheckProfile(p.Doc, s.Buffer, s.PFC, ports, s.MTU)
	p.headrooms(s, m, xoff, host.RxBuffer != nil)
}

// withinEnd checks that a time is not after the scenario's end.
func (p *parser) withinEnd(path string, t unit.Time) unit.Time {
	if p.end > 0 && t > p.end {
		p.Faultf(path, "%s is after the end of the scenario, %s", t, p.end)
	}
	return t
}

// drawnTime is a time, and how much earlier or later, or shorter or longer, a run may draw it: "500ms",
// "500ms±1ms".
type drawnTime struct{ at, spread unit.Time }

// UnmarshalText reads a time, or two with ± or +- between them.
func (t *drawnTime) UnmarshalText(text []byte) (err error) {
	at, spread, drawn := cutSpread(text)
	if t.at, err = unit.ParseTime(at); err == nil && drawn {
		t.spread, err = unit.ParseTime(spread)
	}
	return err
}

func (t drawnTime) String() string {
	if t.spread == 0 {
		return t.at.String()
	}
	return t.at.String() + "±" + t.spread.String()
}

// drawnRate is a rate of a flow, and how much more or less a run may draw: "10Gbit/s", "10Gbit/s±1%".
type drawnRate struct {
	middle unit.FlowRate
	spread unit.Rate
}

// UnmarshalText reads a rate, or a rate and another one or a share of it with ± or +- between them.
func (r *drawnRate) UnmarshalText(text []byte) error {
	middle, spread, drawn := cutSpread(text)
	if err := r.middle.UnmarshalText([]byte(middle)); err != nil || !drawn {
		return err
	}
	if r.middle == 0 {
		return fmt.Errorf("%q: the rate of the link has no spread; write a rate such as 10Gbit/s±1%%", text)
	}
	var share config.Share
	if strings.HasSuffix(spread, "%") {
		if err := share.UnmarshalText([]byte(spread)); err != nil {
			return err
		}
		whole := unit.Rate(r.middle)
		r.spread = whole/impair.Whole*unit.Rate(share) + whole%impair.Whole*unit.Rate(share)/impair.Whole
		return nil
	}
	var err error
	r.spread, err = unit.ParseRate(spread)
	return err
}

func (r drawnRate) String() string {
	if r.spread == 0 {
		return r.middle.String()
	}
	return r.middle.String() + "±" + r.spread.String()
}

// cutSpread is what stands before and behind a ± or +-.
func cutSpread(text []byte) (middle, spread string, drawn bool) {
	middle, spread, drawn = strings.Cut(strings.Replace(string(text), "+-", "±", 1), "±")
	return strings.TrimSpace(middle), strings.TrimSpace(spread), drawn
}

// checkStart checks that something begins between the start and the end of the scenario.
func (p *parser) checkStart(path string, s drawnTime) {
	switch {
	case s.spread > s.at:
		p.Faultf(path, "%s may be before the start of the scenario; use at most %s behind the ±, or a later time before it", s, s.at)
	case p.end > 0 && s.at+s.spread > p.end:
		p.Faultf(path, "%s is after the end of the scenario, %s", s, p.end)
	}
}

func (p *parser) within(path string, n, lo, hi int) int {
	p.Within(path, n, lo, hi)
	return n
}

// What a fault of aboveZero shows.
const (
	exampleRate = unit.Rate(10_000_000)
	exampleTime = 10 * unit.Millisecond
)

// aboveZero checks that a value is more than zero, such as the one of the example.
func aboveZero[T ~int64](p *parser, path string, n, example T) T {
	if n == 0 {
		p.Faultf(path, "%v: write more than that, such as %v", n, example)
	}
	return n
}

// node finds the node called name; want is "switch", "host" or "node". Without a fabric
// it finds none, and reports a fault only if the file names its nodes and this is not
// one of them.
func (p *parser) node(path, name, want string) (int, bool) {
	is := func(k topo.Kind) bool { return want == "node" || want == k.String() }
	if p.fabric != nil {
		if i, ok := p.fabric.Node(name); ok && is(p.fabric.Nodes[i].Kind) {
			return i, true
		}
	}
	if slices.ContainsFunc(p.names, func(n topo.ExplicitNode) bool { return n.Name == name && is(n.Kind) }) {
		return 0, false
	}
	if len(p.names) > 0 {
		of := lists.Where(p.names, func(n topo.ExplicitNode) bool { return is(n.Kind) })
		names := lists.Map(of, func(n topo.ExplicitNode) string { return n.Name })
		p.Faultf(path, "no %s is called %q%s; there are %s", want, name, strictyaml.DidYouMean(name, names), span(names))
	}
	return 0, false
}

// link finds the link called name, in either direction. If there is none, the fault
// lists the links of the nodes in name, or all links if it names no node.
func (p *parser) link(path, name string) (int, bool) {
	if p.fabric == nil {
		return 0, false
	}
	l, ok := p.fabric.Link(name)
	if ok {
		return l, true
	}
	ends := strings.SplitN(name, "--", 2)
	var all, both, beside []string
	for _, l := range p.fabric.Links {
		a, b := p.fabric.Nodes[l.A.Node].Name, p.fabric.Nodes[l.B.Node].Name
		all, both = append(all, l.Name), append(both, l.Name, b+"--"+a)
		if slices.Contains(ends, a) || slices.Contains(ends, b) {
			beside = append(beside, l.Name)
		}
	}
	if beside == nil {
		beside = all
	}
	p.Faultf(path, "no link is called %q%s; there are %s", name, strictyaml.DidYouMean(name, both), span(beside))
	return 0, false
}

// span lists names, in full up to eight.
func span(names []string) string {
	if n := len(names); n > 8 {
		return fmt.Sprintf("%s, ..., %s (%d in all)", strings.Join(names[:4], ", "), strings.Join(names[n-2:], ", "), n)
	}
	return strings.Join(names, ", ")
}
