package dataplane

import (
	"fmt"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/pacer"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// Switch is the switch's state. It implements Machine. Its detector alone may act on
// it (detect.Actions). NewSwitch makes one; the zero value is not usable.
//
// A frame has one owner at a time: the driver from Lend to Receive, then the switch, which has it
// in one egress queue or works on it, and the driver again from Transmit to Sent. Every way ends
// in free, the one place that gives a slot and its charge back.
type Switch struct {
	cfg      Config
	ports    []port
	pool     *buffer.Pool
	mmu      *buffer.MMU
	lossless unit.PrioritySet // at some port
	classes  []*Classes       // by port, see classesAt
	detector detect.Detector
	armed    unit.Time // the detector's deadline, as the port that keeps it knows it
	hop      unit.Time // see detect.View
	routed   bool      // forwards by L3; otherwise it bridges all ports
	fib      fib
	// own are the addresses of the ports, broadcasts the IPv4 addresses that are subnets' broadcasts
	own        []unit.MAC
	broadcasts []uint32
	routerID   uint32 // 0: none
	macs       macTable
	arps       arpTable
	up         unit.PortSet
	// By port: lag is the ports that act as one with it, itself among them, and station the first of them,
	// at which stations are learned.
	lag     []unit.PortSet
	station []unit.Port
	reserve int // free slots that Receive leaves to drivers and control frames
	flooded int // frames marked Flooded in lossless queues
	// uncharged counts the frames with a slot that wait charged to nobody, or leave
	uncharged  int
	policing   int // policers that actions took
	priorities priorities
	marker     marker
	lost       flowDrops
	peer       detect.Peer // the detector, if it has messages of its own

	now    unit.Time
	before before
	ready  unit.PortSet
	urgent unit.PortSet // ports with control frames to send
	events []event.Event
}

// port is one port, both directions.
type port struct {
	cfg PortConfig

	// lossless is the priorities whose frames are lossless if they come in here, sends and honours
	// those in which the port sends pauses, and honours them.
	lossless, sends, honours unit.PrioritySet

	// What each Transmit looks at, in as few cache lines as it takes. Of the queues: which hold
	// frames, in which a pause is active, and the priority whose turn the deficit round robin is
	// at. Of the ingress: the priorities of which the far end was told last that they are paused.
	up      bool
	backlog unit.PrioritySet
	paused  unit.PrioritySet
	turn    unit.Priority
	strict  unit.PrioritySet
	owed    unit.PrioritySet // those with a deficit
	passed  unit.PrioritySet // those that wait while others send; see starve.go
	told    unit.PrioritySet
	auth    *auth.End   // of the link to another switch; nil if nothing is authenticated
	lldp    *lldp.Agent // nil if the port does not speak LLDP
	wire    pacer.Wire  // of the egress

	acted acted // what actions have changed; see actions.go

	gentle *gentle // rates in the place of pauses; nil if there are none
	ring   *ring   // the ring in which the port leads on; nil if it is in none

	wasUp  bool      // its link has been up
	letsGo bool      // see sendChallenge
	behind bool      // a notice was over the budget; see receiveHello
	downAt unit.Time // when it last went down
	subnet int       // index of the connected subnet that the port is in, -1 for none

	// Egress: the queues, and the active pauses there.
	queues  [unit.Priorities]buffer.Queue
	pauses  [unit.Priorities]pause
	quanta  [unit.Priorities]int32 // bytes on the wire of a weighted queue a round
	deficit [unit.Priorities]int32
	since   [unit.Priorities]unit.Time // of those that are passed

	policers []policer // of what comes in

	budget budget                 // of control frames that come in
	icmp   budget                 // of ICMP errors about what came in
	storms [unit.Priorities]storm // of a port to a host

	distrust distrust

	// What this port has to tell its far end, pauses for its ingress and messages, and
	// what its last pause or resume frame announced.
	control   controlQueue
	number    uint16 // of the last message that was sent; 0 before the first
	heard     copies // of the far end's
	announced [unit.Priorities]announcement
	unheeded  [unit.Priorities]unheeded

	count PortCounters
	// seen8023 is of count.RxPause8023 those that pause: the others resume.
	seen8023 uint64
}

// pause is a pause of a queue. port.paused says whether it is active: endPause leaves the
// fields as they were, so that the log and LastPause can still name them.
type pause struct {
	since, until unit.Time
	period       uint8 // of the priority group that pauses, if hasPeriod
	hasPeriod    bool
	label        itsyhdr.TLV // that the latest pause frame carried
}

// announcement is what the far end knows of an ingress priority, apart from whether it is paused.
// period and refresh count only while the priority is in port.told. All of it is zero when the link
// has gone down: the far end has forgotten its pauses then.
type announcement struct {
	period  uint8
	refresh unit.Time // when to repeat the pause
	label   itsyhdr.TLV
	silent  unit.Time // from when on a far end that obeys sends nothing; of the first pause of the period
	inVain  bool      // the far end sent after that, and after this pause
}

// messagesMax bounds the messages that wait at a port. Chosen: what a detector can say faster
// than its port sends must not take memory without end. What does not fit is refused to the
// detector and counted (OddMessageQueue).
const messagesMax = 256

// NewSwitch makes a switch. The error names what is impossible in cfg.
func NewSwitch(cfg Config) (*Switch, error) {
	cfg.Buffer.Ports = len(cfg.Ports)
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("switch %s: %w", cfg.Name, err)
	}
	mmu, err := buffer.NewMMU(cfg.Buffer)
	if err != nil {
		return nil, fmt.Errorf("switch %s: buffer: %w", cfg.Name, err)
	}
	priorities, err := newPriorities(&cfg)
	if err != nil {
		return nil, fmt.Errorf("switch %s: %w", cfg.Name, err)
	}
	// reserve is the part of the pool that only drivers and control frames may take. Lend and
	// transmitControl panic on an empty pool, so all others that take a slot (admit,
	// floodAlso, askARP, tell) check reserve first.
	s := &Switch{
		cfg:        cfg,
		priorities: priorities,
		marker:     newMarker(cfg.ECN, len(cfg.Ports)),
		ports:      make([]port, len(cfg.Ports)),
		mmu:        mmu,
		armed:      unit.Never,
		hop:        cfg.hop(),
		lossless:   cfg.Buffer.Lossless,
		classes:    classesOf(cfg.Ports),
		routed:     len(cfg.Subnets)+len(cfg.Routes) > 0,
		fib:        newFIB(cfg),
		arps:       newARPTable(cfg.ARP),
		reserve:    len(cfg.Ports) * 2 * cfg.Batch, // a batch to read into and a batch of control frames a port
		pool:       cfg.Pool,
		broadcasts: broadcasts(cfg.Subnets),
	}
	if cfg.RouterID.IsValid() {
		s.routerID = addr32(cfg.RouterID)
	}
	if s.pool == nil {
		s.pool = cfg.newPool(s.reserve)
	}
	s.macs = newMACTable(cfg.MAC, s.fib.subnetOf)
	for i := range s.ports {
		p := &s.ports[i]
		p.cfg, p.subnet = cfg.Ports[i], s.fib.subnetOf(unit.Port(i))
		p.strict, p.quanta = p.cfg.Scheduler.Strict, p.cfg.Scheduler.quanta(cfg.longest())
		p.setPFC(cfg.Buffer.LosslessAt(unit.Port(i)))
		s.own = append(s.own, p.cfg.MAC)
		p.setAuth(cfg.Refresh)
		p.budget = newBudget(p.cfg.Rate, p.cfg.FacesHost, cfg.Granularity)
		p.icmp = newICMPBudget()
		p.wire.AtOnce = min(mmu.AtOnce(unit.Port(i)), buffer.UsualAtOnce) // a far end as this one, or the usual one
	}
	s.cfg.Routes = nil // fib has them
	s.setLAGs()
	for i := range s.ports {
		s.setLLDP(unit.Port(i))
	}
	for _, sub := range cfg.Subnets {
		if sub.GatewayMAC != 0 {
			s.own = append(s.own, sub.GatewayMAC)
		}
	}
	s.setLimits(cfg.Limits)
	s.setRings(cfg.Rings)
	// Never nil: no caller has to ask whether there is a detector.
	s.detector = detect.None{}
	if cfg.Detector != nil {
		s.Exchange(cfg.Detector)
	}
	return s, nil
}

// Exchange puts another detector in the place of the switch's own. It has not been told
// of what happened before: it has to be one that looks up what it needs, as a watchdog
// does. What its predecessor did to the switch stays as it is.
func (s *Switch) Exchange(f detect.Factory) {
	s.detector = f(view{s}, actions{s})
	s.peer, _ = s.detector.(detect.Peer)
	// A port may be armed for the predecessor's deadline: Work arms the new one's.
	s.armed = unit.Never
}

// Ports is the number of ports.
func (s *Switch) Ports() int { return len(s.ports) }

// Lend replaces every nil in dst by an empty slot.
func (s *Switch) Lend(in unit.Port, dst []*buffer.Frame) {
	for i := range dst {
		if dst[i] != nil {
			continue
		}
		if dst[i] = s.pool.Get(); dst[i] == nil {
			// Not reached by a driver that keeps to a batch a port: what else takes slots stops
			// at reserve.
			panic("dataplane: no slot to read into: the driver holds more than a batch a port")
		}
		dst[i].In = in // Parse asks
	}
}

// Portion ends before a frame by which a priority group would go XOFF or be out of headroom: what
// is ready may leave before that, and with it the reason for a pause or a loss. So a pause
// also leaves right behind the frame that asked for it. Frames of a lossy priority may fill
// half of a queue.
func (s *Switch) Portion(in unit.Port, fs []*buffer.Frame) (n int) {
	// bytes counts all frames of the portion, of any priority, against the room of each priority. That
	// errs towards a short portion, which costs a turn and loses nothing. Control frames count as
	// priority 0.
	var room [unit.Priorities]int
	var known unit.PrioritySet
	for bytes := 0; n < len(fs); n++ {
		f := fs[n]
		c := f.Info.Priority
		if !known.Has(c) {
			known.Add(c)
			if room[c] = s.cfg.Buffer.LossyQueue / 2; s.ports[in].lossless.Has(c) {
				room[c] = s.mmu.Room(in, c)
			}
		}
		// The first frame always passes (Machine.Portion): it may well be the one that pauses.
		if bytes += s.mmu.Charge(f.Len); bytes > room[c] && n > 0 {
			break
		}
	}
	return n
}

// Work returns and clears the ready ports and appends the events since the last
// call to ev.
func (s *Switch) Work(ev []event.Event) (unit.PortSet, []event.Event) {
	// First: it may add the port that keeps the deadline to the ready ones.
	s.armDetector()
	ready := s.ready
	s.ready = unit.PortSet{}
	if len(s.events) > 0 {
		ev = append(ev, s.events...)
		s.events = s.events[:0]
	}
	return ready, ev
}

// Urgent is the set of ports that have a pause or a message to send.
func (s *Switch) Urgent() unit.PortSet { return s.urgent }

// SetLink takes note of a link's state. A link that goes down loses what waits for it, its pauses
// in both directions end, and routes fall back on their backups. When it comes up, priority groups that
// are XOFF pause their upstream again. The first time it comes up, the far end is resumed in all
// lossless priorities: the process before this one may have been killed while it held the far end
// up. At time 0, where virtual time begins, there was none. On an authenticated link the resumes
// wait until the far end believes this end: see auth.End.
func (s *Switch) SetLink(now unit.Time, n unit.Port, up bool) {
	s.now = now
	p := &s.ports[n]
	if p.up == up {
		return
	}
	// Before all that follows: sendPause refuses a port that is down. So what flush frees resumes
	// the far ends of other ports, and nothing is asked of this one.
	p.up = up
	s.armed = unit.Never // another port may have to keep the deadline
	if up {
		s.up.Add(n)
		s.event(event.Event{Type: event.LinkUp, Port: n})
		s.eventMembers(n)
		switch begins := !p.wasUp && now > 0; {
		case p.auth != nil:
			p.auth.Up(now)
			p.letsGo = begins && p.auth.Mode() == auth.Accept
		case begins:
			s.announceAll(n)
		}
		p.wasUp = true
		if p.lldp != nil {
			p.lldp.Up(now)
		}
		// A far end ends its pauses when its link goes down, as flush does. A priority that
		// announceAll has asked for already gets no second frame (controlQueue.pause).
		for c := range unit.Priority(unit.Priorities) {
			if on, _ := s.mmu.XOFF(n, c); on {
				s.sendPause(n, c)
			}
			s.restage(n, c)
		}
	} else {
		s.up.Remove(n)
		p.downAt = now
		s.event(event.Event{Type: event.LinkDown, Port: n})
		s.eventMembers(n)
		if p.auth != nil {
			p.auth.Down()
		}
		if p.lldp != nil {
			p.lldp.Down()
			s.tellLLDP(n)
		}
		s.flush(n)
	}
	// After the events above, so that the log has the reason before the reroute; and after flush:
	// what waited is lost, not sent by another way.
	s.fib.setLinks(s.up, func(route int, out unit.Port) {
		s.event(event.Event{Type: event.Rerouted, Out: out, Bytes: int32(route)})
	})
	// Down as well: the next Transmit tells the driver that no deadline is left.
	s.ready.Add(n)
}

// flush drops all that waits at a port, ends the active pauses there, and forgets the
// stations that were reached by it.
func (s *Switch) flush(n unit.Port) {
	p := &s.ports[n]
	restricted := p.acted.linkDown()
	for c := range unit.Priority(unit.Priorities) {
		if restricted.Has(c) {
			s.note(detect.ActionFree, noPG, detect.Queue{Port: n, Priority: c}, 0)
		}
		// The next pause is a first one again, not a repetition: see announce.
		p.told &^= 1 << c
		p.announced[c] = announcement{}
		// Before the frames go: endPause ends the edges to this queue in the log, and popped,
		// which finds no pause, says nothing more of them.
		if p.paused.Has(c) {
			s.endPause(n, c, event.Expired)
		}
		for p.queues[c].Head() != nil {
			// Not pop: of a queue that the detector restricts now, when the pause ends, it takes
			// frames of one priority group alone.
			s.drop(s.popped(n, c, p.queues[c].Pop()), DropLinkDown)
		}
	}
	// Messages that wait go with the link, and are counted nowhere.
	p.control.clear()
	p.heard = copies{}
	if p.gentle != nil {
		p.gentle.linkDown()
	}
	s.urgent.Remove(n)
	p.wire.LinkDown()
	// Of a LAG the others still lead there.
	if s.up.And(s.lag[n]).Empty() {
		s.macs.forget(s.station[n])
		s.arps.forget(s.station[n])
	}
}

// drop counts a frame and gives its slot and its bytes back. It is for frames that are refused or
// thrown away. One that has done its work here (a pause, a message, an ARP answer to the gateway)
// is freed without a count, and one that left is counted by Transmit.
func (s *Switch) drop(f *buffer.Frame, r Reason) {
	s.countDrop(f, r)
	s.free(f)
}

// countDrop counts a frame that is dropped, or a copy of it that is not made. Invariant: each
// frame that is dropped comes here once; of a flooded one each copy that was queued, and each that
// is not made because there is no header for it or an action drops it. It counts at the port by
// which it came, whatever queue it waited in.
func (s *Switch) countDrop(f *buffer.Frame, r Reason) {
	c := &s.ports[f.In].count
	c.Drops[r]++
	if r == DropResponse {
		c.ResponseBytes += uint64(f.Len)
	}
	if f.Info.Kind == kindData {
		// Data only: what is malformed was nobody's, and ARP is of no flow. Info.Priority is the
		// priority in which the frame came; setPriority leaves it alone.
		s.lost.count(flowOf(f), r)
		if s.isLossless(f) && r.Fate() == Lost {
			c.countLost(f.Info.Priority, r)
			if p := &s.ports[f.In]; r == DropHeadroom && p.mustBeSilent(s.now, f.Info.Priority) {
				p.lostLate(f.Info.Priority)
			}
		}
	}
	if s.cfg.Dropped != nil {
		// Before free, while the frame is whole.
		s.cfg.Dropped(f, r)
	}
}

// free gives back a frame: the slot, and with the last of its copies the bytes
// that are charged.
func (s *Switch) free(f *buffer.Frame) {
	// Invariant: bytes of a priority group = bytes of the frames with Charged that came in to it. What is
	// released here is what admit charged: In, InPriority and Len of a charged frame stay as they
	// are until Put, after which the slot may be anybody's.
	orig := f.Orig()
	in, priority, n, charged, uncharged := orig.In, orig.InPriority, orig.Len, orig.Charged, orig.Uncharged
	// Copies share the bytes: until the last one is back the memory is in use, and charged.
	if !s.pool.Put(f) {
		return
	}
	if uncharged {
		s.uncharged--
	}
	if !charged {
		return
	}
	if s.mmu.Release(in, priority, n) {
		s.resumePG(in, priority)
	}
	s.restage(in, priority)
	for {
		// Where groups share the pool, what one releases may allow others to resume.
		in, priority, ok := s.mmu.Reopened()
		if !ok {
			break
		}
		s.resumePG(in, priority)
	}
	// Once, after all that moved.
	s.eventHeadrooms()
}

func (s *Switch) event(e event.Event) {
	e.At = s.now
	s.events = append(s.events, e)
}

// Config is what the switch was made with.
func (s *Switch) Config() *Config { return &s.cfg }

// Counters is a port's counters, to read between calls.
func (s *Switch) Counters(p unit.Port) *PortCounters { return &s.ports[p].count }

// MMU is the switch's accounts, to read between calls.
func (s *Switch) MMU() *buffer.MMU { return s.mmu }

// Queue is an egress queue, to read between calls.
func (s *Switch) Queue(p unit.Port, c unit.Priority) *buffer.Queue { return &s.ports[p].queues[c] }

// Detector is the switch's detector, to read between calls.
func (s *Switch) Detector() detect.Detector { return s.detector }

// QueuePaused reports whether a pause is active at a queue.
func (s *Switch) QueuePaused(p unit.Port, c unit.Priority) bool { return s.ports[p].paused.Has(c) }

// LinkUp reports a port's link state.
func (s *Switch) LinkUp(p unit.Port) bool { return s.ports[p].up }

// SetRate changes the rate of a port; 0 is unlimited. What waits for the wire leaves at
// the new rate. An active pause keeps its end: its quanta were counted at the rate at which it
// came. The budget of control frames starts again.
func (s *Switch) SetRate(now unit.Time, n unit.Port, r unit.Rate) {
	s.now = now
	p := &s.ports[n]
	p.cfg.Rate = r
	p.budget = newBudget(r, p.cfg.FacesHost, s.cfg.Granularity)
	p.wire.Reset(now)
	s.ready.Add(n)
}

// SetMAC sets the address of a port that its configuration left to the interface. Three places
// know it: the port writes it into frames, own tells what is for the switch, and an authenticated
// end refuses frames that bear it.
func (s *Switch) SetMAC(p unit.Port, m unit.MAC) {
	s.ports[p].cfg.MAC, s.own[p] = m, m
	if e := s.ports[p].auth; e != nil {
		e.SetSelf(m)
	}
	s.nameLLDP()
}
