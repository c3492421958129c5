package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/respond"
	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/ether"
	"softswitch/internal/lists"
	"softswitch/link/auth"
	"softswitch/node/config"
	"softswitch/unit"
)

// Result is the outcome of playing a recording.
type Result struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Calls, Frames and Events count what was played and was the same.
	Calls  int `json:"calls"`
	Frames int `json:"frames"` // received
	Events int `json:"events"`
	// Same says that everything was as recorded; otherwise Difference is the first
	// thing that was not.
	Same       bool        `json:"same"`
	Difference *Difference `json:"difference,omitempty"`
	// Full says that the recorder ran out of space and ended before the node.
	Full bool `json:"recorder_full"`
	// Fault says why the recording could not be read to its end; everything before that
	// point was compared.
	Fault string `json:"fault,omitempty"`
}

// Difference is where a replay differs from its recording.
type Difference struct {
	Call     int    `json:"call"` // from 1
	What     string `json:"what"`
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
}

// Machine is what can be recorded.
type Machine interface {
	dataplane.Machine
	// SetMAC sets a port's address if the configuration leaves it to the interface.
	SetMAC(p unit.Port, m unit.MAC)
}

// player repeats the calls of a recording.
type player struct {
	*decoder
	res     Result
	machine Machine
	host    *host.Host // nil for a switch
	cfg     config.Host
	node    event.Node
	rx, tx  [][]*buffer.Frame // by port: slots to read into; frames being transmitted
	now     unit.Time
	events  []event.Event
	lines   []byte // of events
	ended   bool
}

// Play repeats a recording on a machine made from its header and compares the results.
// The error says why it could not start: not a recording, another version, an invalid
// configuration, or an unknown detector.
// Keys are those of a switch's authenticated links.
func Play(r io.Reader, detectors map[string]detect.Factory, keys auth.Keys) (*Result, error) {
	p := player{decoder: newDecoder(r)}
	h := p.header()
	if p.err != nil {
		return nil, p.err
	}
	if err := p.build(h, detectors, keys); err != nil {
		return nil, err
	}
	p.res.Kind, p.res.Name = h.Kind, h.Name
	for p.err == nil && p.res.Difference == nil && !p.ended {
		p.entry()
	}
	if p.err != nil {
		p.res.Fault = fmt.Sprintf("call %d: %v", p.res.Calls+1, p.err)
	}
	if p.ended && !p.res.Full && p.res.Difference == nil {
		p.compare(nil) // there must be no more after the last events
	}
	p.res.Same = p.res.Difference == nil
	return &p.res, nil
}

func (p *player) build(h Header, detectors map[string]detect.Factory, keys auth.Keys) error {
	p.node = event.Node{Name: h.Name}
	switch h.Kind {
	case Switch:
		cfg, _, err := config.LoadSwitch("the recorded configuration", []byte(h.Config))
		if err != nil {
			return err
		}
		if detectors[cfg.Detector] == nil {
			return fmt.Errorf("the recorded node ran detector %q, which this softswitch does not have", cfg.Detector)
		}
		policy, err := respond.Parse(cfg.Response)
		if err != nil {
			return err
		}
		built := cfg.Build(respond.New(cfg.Watchdog.Timed(detectors[cfg.Detector]), policy), h.Batch, h.Granularity)
		built.Delay = h.Delay
		for _, port := range built.Ports {
			a := port.Auth
			if a == nil {
				continue
			}
			if a.Keys, a.First = keys.Of(a.Link), h.FirstCounter; a.Keys == nil {
				return fmt.Errorf("link %s of the recorded switch is authenticated, and no recording has keys: give it", a.Link)
			}
		}
		sw, err := dataplane.NewSwitch(built)
		if err != nil {
			return err
		}
		p.machine, p.node.ID = sw, unit.NodeID(cfg.ID)
		for _, port := range cfg.Ports {
			p.node.Ports = append(p.node.Ports, port.Name)
		}
	case Host:
		cfg, err := config.LoadHost("the recorded configuration", []byte(h.Config))
		if err != nil {
			return err
		}
		if p.host, err = host.New(cfg.Build(h.Batch, h.Granularity)); err != nil {
			return err
		}
		p.machine, p.cfg, p.node.ID, p.node.Ports = p.host, cfg, unit.NodeID(cfg.ID), lists.Map(cfg.Ports(), func(p config.Port) string { return p.Name })
	default:
		return fmt.Errorf("header: kind %q; valid: %s, %s", h.Kind, Switch, Host)
	}
	p.rx, p.tx = make([][]*buffer.Frame, p.machine.Ports()), make([][]*buffer.Frame, p.machine.Ports())
	for i := range p.rx {
		p.rx[i], p.tx[i] = make([]*buffer.Frame, h.Batch), make([]*buffer.Frame, 0, h.Batch)
	}
	return nil
}

// calls play the entries that are calls of the machine, by their kinds.
var calls = map[byte]func(*player){
	entryLend: (*player).lend, entryReceive: (*player).receive, entryTransmit: (*player).transmit, entrySent: (*player).sent,
	entryLink: (*player).setLink, entryMAC: (*player).setMAC, entryRequest: (*player).request,
}

// entry plays the next entry.
func (p *player) entry() {
	kind := p.byte()
	call := calls[kind]
	switch {
	case p.err != nil:
	case call != nil:
		if call(p); p.err == nil && p.res.Difference == nil {
			p.res.Calls++
		}
	case kind == entryEvents:
		p.recordedEvents()
	case kind == entryEnd:
		p.res.Full, p.ended = p.byte() != 0, true
	default:
		p.damaged("an entry of kind %q", kind)
	}
}

// tick reads the time of a call.
func (p *player) tick() {
	dt := p.time()
	if p.now > unit.Never-dt {
		p.damaged("a time beyond all times")
		return
	}
	p.now += dt
}

func (p *player) port() unit.Port {
	n := unit.Port(p.byte())
	if p.err == nil && int(n) >= p.machine.Ports() {
		p.damaged("port %d; valid: 0 to %d", n, p.machine.Ports()-1)
	}
	if p.err != nil {
		return 0
	}
	return n
}

func (p *player) lend() {
	in := p.port()
	n := p.number("slots", len(p.rx[in]))
	if p.err == nil {
		p.machine.Lend(in, p.rx[in][:n])
	}
}

func (p *player) receive() {
	p.tick()
	in := p.port()
	fs := p.rx[in]
	fs = fs[:p.number("frames", len(fs))]
	for _, f := range fs {
		if f == nil {
			p.damaged("a frame was received without a slot")
			return
		}
		n := p.number("length of a frame", frameMax)
		kept := p.bytes(p.number("bytes kept", n))
		if p.err != nil {
			return
		}
		f.Data, f.Len = append(f.Data[:0], kept...), n
		p.machine.Parse(f)
	}
	if p.err != nil {
		return
	}
	p.machine.Receive(p.now, in, fs)
	clear(fs)
	p.res.Frames += len(fs)
}

func (p *player) transmit() {
	p.tick()
	out := p.port()
	room, n := p.number("room", cap(p.tx[out])), p.number("frames", cap(p.tx[out]))
	next := unit.Never
	if dt := p.time(); dt > 0 {
		next = p.now + dt - 1
	}
	if len(p.tx[out]) > 0 {
		p.damaged("frames are transmitted while others are lent")
	}
	if p.err != nil {
		return
	}
	got, at := p.machine.Transmit(p.now, out, p.tx[out][:room])
	p.tx[out] = p.tx[out][:got]
	if at != unit.Never {
		at = max(at, p.now)
	}
	if got != n || at != next {
		p.differ(fmt.Sprintf("Transmit of port %d at %d ns", out, p.now), transmitted(n, next), transmitted(got, at))
	}
}

func transmitted(n int, next unit.Time) string {
	if next == unit.Never {
		return fmt.Sprintf("%s, ask never again", unit.Count(n, "frame"))
	}
	return fmt.Sprintf("%s, ask again at %d ns", unit.Count(n, "frame"), next)
}

func (p *player) sent() {
	p.tick()
	out := p.port()
	n := p.number("frames", cap(p.tx[out]))
	if p.err == nil && n != len(p.tx[out]) {
		p.damaged("%d frames were sent of %d that are lent", n, len(p.tx[out]))
	}
	if p.err != nil {
		return
	}
	p.machine.Sent(p.now, out, p.tx[out])
	p.tx[out] = p.tx[out][:0]
}

func (p *player) setLink() {
	p.tick()
	n, up := p.port(), p.byte() != 0
	if p.err == nil {
		p.machine.SetLink(p.now, n, up)
	}
}

func (p *player) setMAC() {
	n := p.port()
	if b := p.bytes(6); b != nil {
		p.machine.SetMAC(n, ether.ReadMAC(b))
	}
}

func (p *player) request() {
	p.tick()
	text := p.bytes(p.number("request", requestMax))
	if p.err == nil && p.host == nil {
		p.err = errors.New("a request to a switch")
	}
	if p.err != nil {
		return
	}
	var r Request
	err := json.Unmarshal(text, &r)
	if err == nil {
		err = r.Apply(p.host, &p.cfg, p.now)
	}
	if err != nil {
		p.fail(err)
	}
}

// recordedEvents compares the events so far with those that follow in the recording.
func (p *player) recordedEvents() {
	want := p.bytes(p.number("events", eventsMax))
	if p.err == nil {
		p.compare(want)
	}
}

// compare checks that the events since the last call are these lines.
func (p *player) compare(want []byte) {
	_, p.events = p.machine.Work(p.events[:0])
	p.lines = p.lines[:0]
	for _, e := range p.events {
		p.lines = p.node.Append(p.lines, e)
	}
	got := p.lines
	for len(want)+len(got) > 0 {
		var recorded, replayed []byte
		recorded, want, _ = bytes.Cut(want, newline)
		replayed, got, _ = bytes.Cut(got, newline)
		if !bytes.Equal(recorded, replayed) && !bytes.Equal(p.renewed(recorded), replayed) {
			p.differ(fmt.Sprintf("event %d", p.res.Events+1), lineOrNone(recorded), lineOrNone(replayed))
			return
		}
		p.res.Events++
	}
}

// renewed is a line of a recording with the names of this program, where an older one has others.
func (p *player) renewed(line []byte) []byte {
	log, err := event.Decode("recording", append(bytes.Clone(line), '\n'), false)
	if err != nil || len(log.Events) != 1 {
		return line
	}
	return bytes.TrimSuffix(p.node.Append(nil, log.Events[0]), newline)
}

var newline = []byte("\n")

func lineOrNone(line []byte) string {
	if len(line) == 0 {
		return "no event"
	}
	return string(line)
}

func (p *player) differ(what, recorded, replayed string) {
	p.res.Difference = &Difference{Call: p.res.Calls + 1, What: what, Recorded: recorded, Replayed: replayed}
}
