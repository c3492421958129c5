package host

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/host/roce"
	"softswitch/unit"
)

// Host is the state of a host; it implements dataplane.Machine with a port for each NIC. Use New
// to make one; the zero value is not usable.
type Host struct {
	cfg     Config
	pool    *buffer.Pool
	nics    []nic
	wasUp   bool // a link of it has been up
	started bool
	stopped bool // flows do not send
	start   unit.Time
	acts    int // number of acts carried out

	flows  []sender
	active []int32                  // flows that have begun and are not over, by index
	begins [unit.Priorities][]int32 // all flows in the order in which they begin
	begun  [unit.Priorities]int     // how many of those have
	coming unit.PrioritySet         // priorities with flows that have not begun
	tendAt unit.Time                // until then tend need not look at the active flows
	// patience is how late a frame may be, because of a late driver or while all other flows take their
	// turn on the wire, without costing its flow its rate: a flow slower than the wire may catch up.
	patience unit.Time

	requesters map[uint32]int32 // indices of flows, by queue pair
	responders map[uint32]int32 // and of peers
	numbers    map[uint32]int32 // and of those, by number of the flow
	peers      []responder

	receivers map[uint32]int32
	received  []receiver

	now    unit.Time
	ready  unit.PortSet
	events []event.Event
}

// sender is a flow that is being sent.
type sender struct {
	Flow
	seq  uint64
	sent uint64     // bytes
	end  uint64     // the value of sent at which it is over, until the next Start
	due  unit.Time  // when the next frame may leave
	rc   *requester // nil: UDP
	left unit.Time  // Sent.LeftOut

	nic   unit.Port // by which its frames leave
	moves uint64    // Sent.Moves
}

// rxBuffer is the receive buffer of a priority.
type rxBuffer struct {
	fill      int64 // bytes x 8 x 1e9: so draining by rate x ns needs no rounding
	at        unit.Time
	xoff      bool
	announced bool // the far end has been paused
	refresh   unit.Time
}

// bit is one bit in the unit of rxBuffer.fill.
const bit = int64(unit.Second)

// Counters are a host's counts since it started.
type Counters struct {
	// PFC frames by priority. A refresh repeats a pause before it expires.
	RxPause   [unit.Priorities]uint64 `json:"rx_pause"`
	RxResume  [unit.Priorities]uint64 `json:"rx_resume"`
	TxPause   [unit.Priorities]uint64 `json:"tx_pause"`
	TxResume  [unit.Priorities]uint64 `json:"tx_resume"`
	TxRefresh [unit.Priorities]uint64 `json:"tx_refresh"`
	// RxPause8023 is 802.3x PAUSE frames, honoured or not.
	RxPause8023 uint64 `json:"rx_pause_8023,omitempty"`
	// PausedTime is the total time of pauses that have ended, PausedSince when the active
	// one began, 0 without one.
	PausedTime  [unit.Priorities]unit.Time `json:"paused_time_ns"`
	PausedSince [unit.Priorities]unit.Time `json:"paused_since_ns,omitzero"`
	// Overflow is frames lost because the receive buffer was full, OverflowOf the same by priority,
	// which a NIC counts in its own way.
	Overflow   uint64                  `json:"overflow"`
	OverflowOf [unit.Priorities]uint64 `json:"-"`
	// FlowsFull is frames, by priority, of flows beyond the 65536 for which a host keeps counts.
	FlowsFull [unit.Priorities]uint64 `json:"flows_full,omitzero"`
	Other     uint64                  `json:"other"`          // frames that belong to no flow
	Bad       uint64                  `json:"bad"`            // malformed control frames
	Long      uint64                  `json:"long,omitempty"` // frames longer than Config.MaxFrame
	LinkDown  uint64                  `json:"link_down"`      // times that the link went down
	// Frames to port 4791 that belong to no reliable connection, and why.
	RC BadPackets `json:"rc,omitzero"`
}

// Sent is what a flow's sender did.
type Sent struct {
	Number uint32 `json:"number"`
	Name   string `json:"name"`
	Frames uint64 `json:"frames"`
	Bytes  uint64 `json:"bytes"`
	// LeftOut is for how long it did not send though it was due, not paused, and the wire was free: its
	// host was called late. What it would have sent then is not sent later. It is counted for UDP
	// flows.
	LeftOut unit.Time `json:"left_out_ns,omitempty"`
	// Messages is what became of those of a reliable connection, nil of a UDP flow.
	Messages *Messages `json:"messages,omitempty"`
	// NIC is that by which the flow leaves now, Moves how often another one became that.
	NIC   unit.Port `json:"nic,omitempty"`
	Moves uint64    `json:"moves,omitempty"`
}

// Received is what arrived of a flow.
type Received struct {
	Number uint32 `json:"number"`
	Frames uint64 `json:"frames"`
	Bytes  uint64 `json:"bytes"`
	// Next is the sequence number expected next. Lost is how many below it have not
	// arrived, Reordered how many arrived after a later one. Duplicates came before, and
	// count nowhere else: known are those of the last 1024 numbers; of older ones, a duplicate
	// is taken for a lost frame that arrived late. A sender that restarts counts from 0:
	// Next is of its present life, the others are of all.
	Next       uint64 `json:"next"`
	Lost       uint64 `json:"lost"`
	Reordered  uint64 `json:"reordered"`
	Duplicates uint64 `json:"duplicates,omitempty"`
	// Overflow is how many found the receive buffer full. They have not arrived.
	Overflow uint64 `json:"overflow,omitempty"`
	// First and Last are times of arrival.
	First      unit.Time `json:"first_ns"`
	Last       unit.Time `json:"last_ns"`
	LatencyMax unit.Time `json:"latency_max_ns"`
	// Bins are the bytes that arrived in each time slot of Config.Bin since the start;
	// later arrivals are not in any.
	Bins     [Bins]uint64  `json:"bins,omitzero"`
	Priority unit.Priority `json:"priority"`
	// Packets of a reliable connection, nil of a UDP flow. Frames and Bytes above count
	// what was taken in order, Lost what was lost on the way, sent again or not.
	Packets *roce.Received `json:"packets,omitempty"`
	// Marked is how many of those came with Congestion Experienced, CNPs how many
	// notifications were sent for them.
	Marked uint64 `json:"marked,omitempty"`
	CNPs   uint64 `json:"cnps,omitempty"`
}

// A receiver is what a host keeps of a flow that it receives.
type receiver struct {
	Received
	seen   seen      // which of the last numbers below Next have arrived
	newest unit.Time // when the last of the frames that arrived was sent, by the sender's clock
}

// New makes a host. The error says what is invalid in cfg.
func New(cfg Config) (*Host, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("host %s: %w", cfg.Name, err)
	}
	h := &Host{cfg: cfg, receivers: map[uint32]int32{}, requesters: map[uint32]int32{}, responders: map[uint32]int32{}, numbers: map[uint32]int32{}}
	if h.pool = cfg.Pool; h.pool == nil {
		n := (4*cfg.Batch + unit.Priorities) * (1 + len(cfg.More))
		h.pool = buffer.NewPool(n, n, 0, cfg.SlotBytes)
	}
	for i, n := range cfg.NICs() {
		h.nics = append(h.nics, nic{NIC: n, n: unit.Port(i)})
		h.nics[i].wire.AtOnce = buffer.UsualAtOnce
		h.nics[i].lldp = newLLDP(&cfg, &n)
	}
	h.patience = lateMax*cfg.Granularity + unit.Time(len(cfg.Flows)-1)*cfg.Rate.FrameTime(cfg.MaxFrame)
	for i, f := range cfg.Flows {
		s := sender{Flow: f}
		if f.RC != nil {
			s.rc = h.newRequester(&f)
			qpn, _ := f.RC.QPNs(f.Number)
			h.requesters[qpn] = int32(i)
		}
		h.flows = append(h.flows, s)
		h.begins[f.Priority] = append(h.begins[f.Priority], int32(i))
	}
	for _, b := range h.begins {
		slices.SortStableFunc(b, func(x, y int32) int { return cmp.Compare(cfg.Flows[x].Start, cfg.Flows[y].Start) })
	}
	for i, p := range cfg.Peers {
		_, qpn := p.RC.QPNs(p.Number)
		h.responders[qpn], h.numbers[p.Number] = int32(i), int32(i)
		h.peers = append(h.peers, newResponder(p))
	}
	h.place()
	return h, nil
}

// Started reports whether Start was called, whatever came after.
func (h *Host) Started() bool { return h.started }

// StartedAt is when Start was called for last, 0 for never.
func (h *Host) StartedAt() unit.Time { return h.start }

// Start starts the host's flows and acts, or starts them again; their times are
// relative to at.
func (h *Host) Start(at unit.Time) {
	again := h.started
	h.started, h.stopped, h.start, h.acts = true, false, at, 0
	h.wakeAll()
	h.active, h.begun, h.tendAt = h.active[:0], [unit.Priorities]int{}, at
	for c, b := range h.begins {
		if len(b) > 0 {
			h.coming.Add(unit.Priority(c))
		}
	}
	for i := range h.flows {
		s := &h.flows[i]
		s.due, s.end = at+s.Flow.Start, math.MaxUint64
		if s.Size > 0 {
			s.end = s.sent + uint64(s.Size)
		}
		if s.rc != nil {
			if !again {
				s.rc.connect(s, at)
			}
			s.rc.begin(s.due)
		}
	}
}

// Stop ends all flows until the next Start; counts stay.
func (h *Host) Stop() { h.stopped = true }

// Do changes the behaviour of NICs now.
func (h *Host) Do(now unit.Time, a Act) {
	h.now = now
	h.act(a)
	h.wakeAll()
}

// Ports is the number of NICs.
func (h *Host) Ports() int { return len(h.nics) }

// Lend replaces every nil in dst with an empty slot.
func (h *Host) Lend(_ unit.Port, dst []*buffer.Frame) {
	for i := range dst {
		if dst[i] != nil {
			continue
		}
		if dst[i] = h.pool.Get(); dst[i] == nil {
			panic("host: no slot to read into: the driver holds more than a batch")
		}
	}
}

// Portion is half of what the receive buffer holds above XOFF: the pause leaves after it.
func (h *Host) Portion(_ unit.Port, fs []*buffer.Frame) (n int) {
	for bytes := 0; n < len(fs); n++ {
		if bytes += fs[n].Len; bytes > h.cfg.RxBuffer/4/2 && n > 0 {
			break
		}
	}
	return n
}

// Sent takes back the frames from Transmit.
func (h *Host) Sent(now unit.Time, _ unit.Port, fs []*buffer.Frame) {
	h.now = now
	for _, f := range fs {
		h.pool.Put(f)
	}
}

// SetLink sets the state of a NIC's link; pauses end when it goes down, and flows that may leave by
// another NIC do. When it comes up for the first time what a host before this one left behind is undone:
// connections start again, and the far end is told that no lossless priority is paused. At time 0 there
// was none before.
func (h *Host) SetLink(now unit.Time, p unit.Port, up bool) {
	h.now = now
	n := &h.nics[p]
	if n.up == up {
		return
	}
	n.up = up
	h.wake(n)
	n.wire.LinkDown()
	if up && !h.wasUp && now > 0 {
		for i := range h.peers {
			h.peers[i].forget()
		}
	}
	if up && !n.wasUp && now > 0 {
		n.toSend = n.sends()
	}
	h.wasUp, n.wasUp = h.wasUp || up, n.wasUp || up
	if up {
		h.event(event.Event{Type: event.LinkUp, Port: p})
	} else {
		h.event(event.Event{Type: event.LinkDown, Port: p})
		n.count.LinkDown++
	}
	if n.lldp != nil {
		h.linkLLDP(n)
	}
	for c := range unit.Priority(unit.Priorities) {
		n.rx[c].announced, n.open[c] = false, now
		if n.paused.Has(c) {
			h.endPause(n, c, event.Expired)
		}
		if up && (n.rx[c].xoff || n.storming.Has(c)) {
			n.toSend.Add(c)
		}
	}
	h.place()
}

// Work returns and clears the ready ports, and appends the events to ev.
func (h *Host) Work(ev []event.Event) (ready unit.PortSet, _ []event.Event) {
	ready, h.ready = h.ready, unit.PortSet{}
	ev = append(ev, h.events...)
	h.events = h.events[:0]
	return ready, ev
}

// Urgent is the ports for which the host has a pause or a resume to send.
func (h *Host) Urgent() (u unit.PortSet) {
	for i := range h.nics {
		if h.nics[i].toSend != 0 {
			u.Add(unit.Port(i))
		}
	}
	return u
}

// Senders reports what was sent, by flow.
func (h *Host) Senders() []Sent {
	out := make([]Sent, len(h.flows))
	for i, f := range h.flows {
		out[i] = Sent{Number: f.Number, Name: f.Name, Frames: f.seq, Bytes: f.sent, LeftOut: f.left, Messages: f.rc.report(h.now, h.cfg.Congestion), NIC: f.nic, Moves: f.moves}
	}
	return out
}

// Receivers reports what arrived, by flow, in the order of first arrival.
func (h *Host) Receivers() []Received {
	out := make([]Received, len(h.received))
	for i := range out {
		out[i] = h.received[i].Received
		if k, ok := h.numbers[out[i].Number]; ok {
			count := h.peers[k].resp.Count
			out[i].Packets, out[i].Marked, out[i].CNPs = &count, h.peers[k].marked, h.peers[k].cnps
		}
	}
	return out
}

// Config is the configuration from New.
func (h *Host) Config() *Config { return &h.cfg }

// SetMAC sets the address of a NIC if the configuration leaves it to the interface.
func (h *Host) SetMAC(p unit.Port, m unit.MAC) {
	if a := h.nics[p].lldp; a != nil {
		a.SetMAC(m, m)
	}
	if h.nics[p].MAC = m; p == 0 {
		h.cfg.MAC = m
	}
}

// runActs carries out the acts that are due and returns when the next one is.
func (h *Host) runActs() unit.Time {
	if !h.started {
		return unit.Never
	}
	for ; h.acts < len(h.cfg.Acts); h.acts++ {
		a := h.cfg.Acts[h.acts]
		if h.start+a.At > h.now {
			return h.start + a.At
		}
		h.act(a)
	}
	return unit.Never
}

func (h *Host) act(a Act) {
	if len(h.nics) > 1 { // the one that carries it out is awake
		h.wakeAll()
	}
	for i := range h.nics {
		if a.NIC == unit.NoPort || a.NIC == unit.Port(i) {
			h.behave(&h.nics[i], a)
		}
	}
}

// behave carries out an act at a NIC.
func (h *Host) behave(n *nic, a Act) {
	h.drainAll(n)
	switch a.Do {
	case Slow:
		n.drain = a.Rate
		h.eventAt(n, event.Event{Type: event.HostSlow, Bytes: int32(min(a.Rate/1000, math.MaxInt32))})
	case Storm:
		if !n.sends().Has(a.Priority) {
			return
		}
		if !n.storming.Has(a.Priority) {
			h.eventAt(n, event.Event{Type: event.HostStorm, Priority: a.Priority})
		}
		n.storming.Add(a.Priority)
		n.toSend.Add(a.Priority)
	case Normal:
		if n.drain > 0 {
			h.eventAt(n, event.Event{Type: event.HostSlowOver})
		}
		n.drain = 0
		for c := range unit.Priority(unit.Priorities) {
			if n.storming.Has(c) {
				h.eventAt(n, event.Event{Type: event.HostStormOver, Priority: c})
			}
		}
		n.toSend |= n.storming
		n.storming = 0
	}
	h.drainAll(n)
}

// drainAll drains all receive buffers of a NIC up to now.
func (h *Host) drainAll(n *nic) {
	for c := range unit.Priority(unit.Priorities) {
		h.drained(n, c)
	}
}

func (h *Host) event(e event.Event) {
	e.At = h.now
	h.events = append(h.events, e)
}

func addr32(a netip.Addr) uint32 { return uint32(unit.AddrOf(a)) }
