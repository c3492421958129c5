package conform

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"softswitch/buffer"
	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// Profile is what the tester is told of a DUT (device under test): what it promises, and through which
// ports it is tested. A value that is "probe" is looked for and reported, and not judged.
type Profile struct {
	Name string `yaml:"name" schema:"name,required"`
	// Ports are the interfaces of the tester, each with the port of the DUT that it leads to.
	Ports []Port `yaml:"ports" schema:",required"`
	// Speed of every port, "100Mbit/s": it gives the length of a quantum, and the line rate.
	Speed unit.Rate `yaml:"speed,omitempty" schema:"rate"`
	// SameMachine says that the DUT shares the tester's processors, as a switch in software in a namespace or
	// a virtual machine does: it may have to wait for one. A case then counts as failed if it fails 3
	// times, of 5 at most, before it passes; if it fails less often, as undecided.
	SameMachine bool `yaml:"same_machine,omitempty" schema:",default=false"`
	// Forwarding is what the DUT does with frames: bridge (default) by their MAC address, or routed. Ports
	// of one that routes have an address, a gateway and a gateway_mac.
	Forwarding string `yaml:"forwarding,omitempty" schema:"bridge|routed,default=bridge"`
	// MTU is the longest IP packet in bytes.
	MTU int `yaml:"mtu,omitempty" schema:"576..9216,default=1500"`
	// Trust is what gives a frame its priority: dscp (default), pcp or both.
	Trust string `yaml:"trust,omitempty" schema:"dscp|pcp|both,default=dscp"`
	// DSCP is the priority of each code point that is used; what is not named is not sent. Default: 8 x
	// priority, 26 for priority 3.
	DSCP map[int]int `yaml:"dscp,omitempty" schema:"0..7,keys=0..63"`
	// Lossless are the priorities for which PFC is on, or "probe".
	Lossless strictyaml.Some[Class] `yaml:"lossless,omitempty" schema:"priority or probe"`
	PFC      PFC                    `yaml:"pfc,omitempty"`
	Buffer   Buffer                 `yaml:"buffer,omitempty"`
	// Watchdog is what the DUT does about a port that is paused for long; default nothing.
	Watchdog *Watchdog `yaml:"watchdog,omitempty"`
	// Scheduler is how priorities share a port. Without it Q02 and Q03 do not run.
	Scheduler map[int]Share `yaml:"scheduler,omitempty" schema:",keys=0..7"`
	// ECN is how the frames of priorities are marked; default not at all.
	ECN map[int]Marking `yaml:"ecn,omitempty" schema:",keys=0..7"`
	// Rings are several DUTs, or ports of one, in a ring: for D01 to D04.
	Rings []Ring `yaml:"rings,omitempty"`
	// Counters is where the DUT's own counters are read. Without it C01 to C03 do not run.
	Counters *Counters `yaml:"counters,omitempty"`
}

// Port is an interface of the tester.
type Port struct {
	Name string `yaml:"name" schema:"name,required"`
	// Interface is the tester's own; none in virtual time.
	Interface string `yaml:"interface,omitempty" schema:"interface"`
	// DUT is what the port of the DUT is called there.
	DUT string `yaml:"dut,omitempty" schema:"text"`
	// Speed of this port, in the place of the profile's.
	Speed unit.Rate `yaml:"speed,omitempty" schema:"rate"`
	// MAC is the address of the DUT's port, where it is known: M01 and M07 send to it, T03 wants it as
	// the source of pauses.
	MAC unit.MAC `yaml:"mac,omitempty" schema:"mac"`
	// Address is that of the tester's station at this port, Gateway the DUT's there, GatewayMAC the
	// address that frames to other subnets are sent to.
	Address    unit.Addr `yaml:"address,omitempty" schema:"ip"`
	Gateway    unit.Addr `yaml:"gateway,omitempty" schema:"ip"`
	GatewayMAC unit.MAC  `yaml:"gateway_mac,omitempty" schema:"mac"`
}

// PFC is what the DUT promises of its pauses, and of what it does with those of others.
type PFC struct {
	// Quanta of the DUT's pauses, or "probe" (default).
	Quanta Known `yaml:"quanta,omitempty" schema:"number or probe"`
	// Resume is how the DUT lets go: frame (default), by a pause of 0 quanta; or expiry, by a pause that
	// runs out.
	Resume string `yaml:"resume,omitempty" schema:"frame|expiry,default=frame"`
	// Source of the DUT's pauses: port (default) its own address, zero, or any.
	Source string `yaml:"source,omitempty" schema:"port|zero|any,default=port"`
	// Pause8023 is what an 802.3x PAUSE does: ignore (default; IEEE 802.1Q, 36.1.1) or honour.
	Pause8023 string `yaml:"pause_8023,omitempty" schema:"ignore|honour,default=ignore"`
	// Unpadded is what a pause shorter than 60 bytes does: any (default), honour or ignore.
	Unpadded string `yaml:"unpadded,omitempty" schema:"any|honour|ignore,default=any"`
	// Response is for how many quanta the DUT may go on after a pause: "802.3" (default), by the speed
	// (IEEE 802.3, 31B.3.7), or a number.
	Response Response `yaml:"response,omitempty" schema:"quanta,default=802.3"`
	// Slack is what a DUT in software may take besides; default 0, for hardware.
	Slack unit.Time `yaml:"slack,omitempty" schema:"time,default=0s"`
}

// Buffer is what the DUT promises of its buffer, in bytes.
type Buffer struct {
	// XOFF is how much of a priority group pauses its sender, XON at how much it lets go, Headroom how
	// much still fits after XOFF, Pool the headroom of all groups together, Cell the piece in which
	// memory is taken; "probe" (default) each.
	XOFF     Known `yaml:"xoff,omitempty" schema:"number or probe"`
	XON      Known `yaml:"xon,omitempty" schema:"number or probe"`
	Headroom Known `yaml:"headroom,omitempty" schema:"number or probe"`
	Pool     Known `yaml:"pool,omitempty" schema:"number or probe"`
	Cell     Known `yaml:"cell,omitempty" schema:"number or probe"`
	// Delay of a wire between tester and DUT, one way.
	Delay unit.Time `yaml:"delay,omitempty" schema:"time,default=0s"`
}

// Watchdog is how the DUT contains a port that is paused for long.
type Watchdog struct {
	// Detect is for how long a queue is paused before the watchdog acts, Restore for how long it is not
	// before it is restored, Poll how often the watchdog looks.
	Detect  unit.Time `yaml:"detect,omitempty" schema:"time"`
	Restore unit.Time `yaml:"restore,omitempty" schema:"time"`
	Poll    unit.Time `yaml:"poll,omitempty" schema:"time"`
	// Action is what it does with the frames of the queue: drop, forward or alert.
	Action string `yaml:"action,omitempty" schema:"drop|forward|alert,default=drop"`
	// Contain, instead of all these, is after what time the DUT contains a port by another means.
	Contain unit.Time `yaml:"contain,omitempty" schema:"time"`
}

// Share is what a priority has of a port.
type Share struct {
	// DWRR is its weight.
	DWRR int `yaml:"dwrr,omitempty" schema:"1..100"`
	// Strict says that it goes before those that have a weight.
	Strict bool `yaml:"strict,omitempty"`
}

// Marking is how ECN marks the frames of a priority: none below Min bytes in its queue, all above Max,
// and in between with a growing probability, up to Probability.
type Marking struct {
	Min         int    `yaml:"min" schema:"1..1073741824,required"`
	Max         int    `yaml:"max" schema:"1..1073741824,required"`
	Probability string `yaml:"probability,omitempty" schema:"percent,default=100%"`
}

// Percent is Probability as a number.
func (m Marking) Percent() float64 {
	p, _ := strconv.ParseFloat(strings.TrimSuffix(m.Probability, "%"), 64) // the schema has checked its form
	return p
}

// Ring is DUTs in a ring.
type Ring struct {
	// Kind is instances, several DUTs with a port of the tester at each, or loops, cables between ports
	// of one.
	Kind string `yaml:"kind" schema:"instances|loops,required"`
	// Of are the names of the tester's ports in the order of the ring.
	Of []string `yaml:"of" schema:"name,required"`
}

// Counters is how the DUT's counters are read.
type Counters struct {
	// Read is their form: softswitch, from Socket, or sonic, from the output of Command.
	Read   string `yaml:"read" schema:"softswitch|sonic,required"`
	Socket string `yaml:"socket,omitempty" schema:"path"`
	// Command prints them. It runs only with --run-commands.
	Command []string `yaml:"command,omitempty" schema:"text"`
}

// Class is a priority, or anyClass for "probe".
type Class int

const anyClass Class = -1

// UnmarshalText reads a priority or "probe".
func (c *Class) UnmarshalText(text []byte) error {
	if string(text) == probe {
		*c = anyClass
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n >= unit.Priorities {
		return fmt.Errorf("%q is not a priority: write 0 to 7, or %s", text, probe)
	}
	*c = Class(n)
	return nil
}

// MarshalYAML writes c as UnmarshalText reads it.
func (c Class) MarshalYAML() (any, error) {
	if c == anyClass {
		return probe, nil
	}
	return int(c), nil
}

// probe is the text of a value that the tester is to find.
const probe = "probe"

// Known is a number that the profile may know. The zero value is "probe".
type Known struct {
	N  int
	Is bool // N is known
}

// UnmarshalText reads a number or "probe".
func (k *Known) UnmarshalText(text []byte) error {
	if string(text) == probe {
		*k = Known{}
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > 1<<30 {
		return fmt.Errorf("%q is neither a number of 0 to %d nor %s", text, 1<<30, probe)
	}
	*k = Known{n, true}
	return nil
}

// MarshalYAML writes k as UnmarshalText reads it.
func (k Known) MarshalYAML() (any, error) {
	if !k.Is {
		return probe, nil
	}
	return k.N, nil
}

// Response is a response time in quanta; of the zero value the speed decides.
type Response struct {
	Quanta int
	Is     bool // given
}

// by8023 is the text of a Response that the speed decides.
const by8023 = "802.3"

// UnmarshalText reads a number of quanta, or "802.3".
func (r *Response) UnmarshalText(text []byte) error {
	if string(text) == by8023 {
		*r = Response{}
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > 1<<16 {
		return fmt.Errorf("%q is neither a number of quanta of 0 to %d nor %s", text, 1<<16, by8023)
	}
	*r = Response{n, true}
	return nil
}

// MarshalYAML writes r as UnmarshalText reads it.
func (r Response) MarshalYAML() (any, error) {
	if !r.Is {
		return by8023, nil
	}
	return r.Quanta, nil
}

// Load reads a profile from data, the content of the file called name. Defaults are filled in. The error
// is strictyaml.Faults: all that is wrong, with lines and valid choices.
func Load(name string, data []byte, settings ...strictyaml.Setting) (*Profile, error) {
	p := new(Profile)
	d := strictyaml.Read(name, data, p, settings...)
	schema.Check(d, p)
	p.Fill()
	p.check(d)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// Marshal writes p, including defaults, as Load reads it.
func (p *Profile) Marshal() []byte {
	b, err := yaml.MarshalWithOptions(p, yaml.IndentSequence(true))
	if err != nil { // the types hold only what YAML can express
		panic(fmt.Sprintf("conform: a profile as YAML: %v", err))
	}
	return b
}

// Fill sets what is not given to its default.
func (p *Profile) Fill() {
	type plain Profile // without Fill
	schema.Fill((*plain)(p))
	for i := range p.Ports {
		q := &p.Ports[i]
		if q.Speed == 0 {
			q.Speed = p.Speed
		}
		if q.Address == 0 && p.Forwarding != "routed" {
			q.Address = unit.Addr(0x0afe0001 + i) // 10.254.0.1 and on
		}
	}
	if p.DSCP == nil {
		p.DSCP = map[int]int{}
		for c := range unit.Priorities {
			p.DSCP[c*8] = c
		}
		delete(p.DSCP, 24)
		p.DSCP[26] = 3
	}
	if p.Lossless == nil {
		p.Lossless = strictyaml.Some[Class]{anyClass}
	}
}

func (p *Profile) check(d *strictyaml.Doc) {
	if n := len(p.Ports); n > 0 && n < 2 || n > maxPorts {
		d.Faultf("ports", "%s; use 2 to %d", unit.Count(n, "port"), maxPorts)
	}
	for i, q := range p.Ports {
		key := fmt.Sprintf("ports[%d]", i)
		if slices.ContainsFunc(p.Ports[:i], func(o Port) bool { return o.Name == q.Name }) {
			d.Faultf(key+".name", "%q: another port has this name", q.Name)
		}
		if q.Interface != "" && slices.ContainsFunc(p.Ports[:i], func(o Port) bool { return o.Interface == q.Interface }) {
			d.Faultf(key+".interface", "%q: another port has this interface", q.Interface)
		}
		if q.Speed == 0 {
			d.Lastf("speed", "missing, and so is that of port %q: the length of a quantum depends on it; write it as \"100Mbit/s\"", q.Name)
		}
		if p.Forwarding == "routed" && (q.Address == 0 || q.Gateway == 0 || q.GatewayMAC == 0) {
			d.Faultf(key, "forwarding is routed: port %q needs address, gateway and gateway_mac", q.Name)
		}
	}
	for _, dscp := range slices.Sorted(maps.Keys(p.DSCP)) {
		key := fmt.Sprintf("dscp.%d", dscp)
		if d.Within(key, dscp, 0, 63) {
			d.Within(key, p.DSCP[dscp], 0, 7)
		}
	}
	for i, c := range p.Lossless {
		switch {
		case c == anyClass && len(p.Lossless) > 1:
			d.Faultf("lossless", "%s beside priorities: write one or the other", probe)
		case c != anyClass && !p.Sendable().Has(unit.Priority(c)):
			d.Faultf(fmt.Sprintf("lossless[%d]", i), "%d: no code point of dscp has this priority, so that none of its frames can be sent", c)
		}
	}
	p.checkWatchdog(d)
	for _, k := range slices.Sorted(maps.Keys(p.ECN)) {
		if m := p.ECN[k]; m.Min > m.Max {
			d.Faultf(fmt.Sprintf("ecn.%d.min", k), "%d bytes is above max, %d", m.Min, m.Max)
		}
	}
	if x, n := p.Buffer.XOFF, p.Buffer.XON; x.Is && n.Is && n.N >= x.N {
		d.Faultf("buffer.xon", "%d bytes; use less than xoff, %d", n.N, x.N)
	}
	for i, r := range p.Rings {
		if len(r.Of) < 3 {
			d.Faultf(fmt.Sprintf("rings[%d].of", i), "%s; use 3 or more", unit.Count(len(r.Of), "port"))
		}
		for j, name := range r.Of {
			if p.Port(name) < 0 {
				d.Faultf(fmt.Sprintf("rings[%d].of[%d]", i, j), "%q is no port of the profile", name)
			}
		}
	}
	if c := p.Counters; c != nil {
		switch {
		case c.Read == "softswitch" && c.Socket == "":
			d.Faultf("counters", "read is softswitch: socket is missing, the control socket of the switch")
		case c.Read == "sonic" && len(c.Command) == 0:
			d.Faultf("counters", "read is sonic: command is missing, which prints `show pfc counters`")
		}
	}
}

func (p *Profile) checkWatchdog(d *strictyaml.Doc) {
	switch w := p.Watchdog; {
	case w == nil:
	case w.Contain > 0 && (w.Detect > 0 || w.Restore > 0 || w.Poll > 0):
		d.Faultf("watchdog.contain", "beside detect, restore or poll: write one or the others")
	case w.Contain == 0 && (w.Detect == 0 || w.Restore == 0 || w.Poll == 0):
		d.Faultf("watchdog", "detect, restore and poll are needed, or contain; leave out watchdog if there is none")
	}
}

// maxPorts is the most ports of a tester.
const maxPorts = 64

// Port is the index of the port called name, -1 if there is none.
func (p *Profile) Port(name string) int {
	return slices.IndexFunc(p.Ports, func(q Port) bool { return q.Name == name })
}

// Probed reports whether the lossless priorities are to be found.
func (p *Profile) Probed() bool { return slices.Contains(p.Lossless, anyClass) }

// LosslessSet is the lossless priorities that the profile names.
func (p *Profile) LosslessSet() (s unit.PrioritySet) {
	for _, c := range p.Lossless {
		if c != anyClass {
			s.Add(unit.Priority(c))
		}
	}
	return s
}

// Sendable is the priorities in which frames can be sent.
func (p *Profile) Sendable() (s unit.PrioritySet) {
	if p.Trust == "pcp" {
		return 0xff
	}
	for _, dscp := range slices.Sorted(maps.Keys(p.DSCP)) {
		if c := p.DSCP[dscp]; c >= 0 && c < unit.Priorities {
			s.Add(unit.Priority(c))
		}
	}
	return s
}

// CodePoint is the lowest code point of a priority.
func (p *Profile) CodePoint(c unit.Priority) (dscp uint8, ok bool) {
	for _, dscp := range slices.Sorted(maps.Keys(p.DSCP)) {
		if p.DSCP[dscp] == int(c) {
			return uint8(dscp), true
		}
	}
	return 0, false
}

// response is for how long a port of this speed may go on after a pause.
func (p *Profile) response(speed unit.Rate) unit.Time {
	q := p.PFC.Response.Quanta
	if !p.PFC.Response.Is {
		q, _ = buffer.ResponseOf(speed)
	}
	return unit.Time(q) * 512 * unit.Second / unit.Time(speed)
}
