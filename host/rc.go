package host

import (
	"math/bits"
	"net/netip"

	"softswitch/buffer"
	"softswitch/host/congestion"
	"softswitch/host/roce"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// requester is the sending side of a flow that is a reliable connection.
type requester struct {
	roce.ConnectionConfig
	fixed Fixed
	toQPN uint32
	req   roce.Requester
	zero  uint64      // frames of the flow before this life of the connection
	from  unit.Time   // when it began last
	began []unit.Time // of message m at m modulo the window: when its first packet left
	count Messages

	reaction congestion.Reaction // with DCQCN
	timely   congestion.Timely   // with TIMELY
	stamps   stamps              // with TIMELY
}

// stamps are when packets left that ask for an acknowledgement and have none, oldest first, to
// measure round-trip times: for all that the window holds, since the next acknowledgement may be
// of any of them. Packets that were sent again are not among them: an acknowledgement could be
// of either copy.
type stamps struct {
	at    []stamp
	first int // those before are acknowledged
}

type stamp struct {
	seq uint64 // behind the packet
	at  unit.Time
}

func (s *stamps) put(seq uint64, at unit.Time) {
	if s.first > len(s.at)/2 {
		s.at = s.at[:copy(s.at, s.at[s.first:])]
		s.first = 0
	}
	s.at = append(s.at, stamp{seq, at})
}

// acked forgets the packets below seq and returns when the last of them left, if there was one:
// an answer that waited is of packets behind it, too.
func (s *stamps) acked(seq uint64) (at unit.Time, ok bool) {
	for ; s.first < len(s.at) && s.at[s.first].seq <= seq; s.first++ {
		at, ok = s.at[s.first].at, true
	}
	return at, ok
}

// again forgets the packets from seq on.
func (s *stamps) again(seq uint64) {
	for len(s.at) > s.first && s.at[len(s.at)-1].seq > seq {
		s.at = s.at[:len(s.at)-1]
	}
}

// Messages is what became of the messages of a flow.
type Messages struct {
	Done  uint64 `json:"done"`  // acknowledged as a whole
	Bytes uint64 `json:"bytes"` // of those
	// TimeSum and TimeMax are of their completion times: from when the first packet leaves
	// to the acknowledgement of the last.
	TimeSum unit.Time `json:"time_sum_ns"`
	TimeMax unit.Time `json:"time_max_ns"`
	// Completion is the flow's: from its start until all its messages were acknowledged, 0 if
	// they are not.
	Completion unit.Time `json:"completion_ns"`
	// Failed: it gave up, because nothing was acknowledged too many times in a row.
	Failed bool `json:"failed"`
	// CNPs that came, and the rate that congestion control allows now, 0 without it.
	CNPs uint64    `json:"cnps"`
	Rate unit.Rate `json:"rate_bps"`
	// Samples is how many round trips TIMELY was told of, 0 without it.
	Samples uint64 `json:"samples,omitzero"`
	roce.RequesterCounters
}

// responder is the receiving side of a connection.
type responder struct {
	Peer
	qpn    uint32 // of the sender
	memory roce.Memory
	resp   roce.Responder
	notes  congestion.Notification
	marked uint64 // packets that came with Congestion Experienced
	early  uint64 // packets that came before the first of their life
	// foreign says that its packets carry no record: the sender is no host of ours, and they have no
	// number but their PSN.
	foreign bool
	cnps    uint64   // CNPs sent
	in      [2]entry // of nic.owing, and of nic.notify
	nic     unit.Port
}

// entry is the place of a peer in a list.
type entry struct {
	queued bool
	next   int32
}

// list is a queue of peers, linked by their entries; index plus one, 0 is none.
type list struct{ head, tail int32 }

// Lists that a peer can be in at once.
const (
	inOwing  = 0
	inNotify = 1
)

// push puts peer k at the end of the list, unless it is in it.
func (h *Host) push(q *list, which int, k int32) {
	e := &h.peers[k].in[which]
	if e.queued {
		return
	}
	*e = entry{queued: true}
	if q.tail == 0 {
		q.head = k + 1
	} else {
		h.peers[q.tail-1].in[which].next = k + 1
	}
	q.tail = k + 1
	h.ready.Add(h.peers[k].nic)
}

// owe notes that peer k is to be answered.
func (h *Host) owe(k int32) {
	p := &h.peers[k]
	n := &h.nics[p.nic]
	h.push(&n.owing[p.Priority], inOwing, k)
	n.owed.Add(p.Priority)
}

// shift takes the first peer from the list, which has one.
func (h *Host) shift(q *list, which int) *responder {
	p := &h.peers[q.head-1]
	if q.head = p.in[which].next; q.head == 0 {
		q.tail = 0
	}
	p.in[which] = entry{}
	return p
}

// BadPackets counts frames to port 4791 that no reliable connection takes.
type BadPackets struct {
	Malformed uint64 `json:"malformed"`  // not as RoCEv2 has it
	ICRC      uint64 `json:"icrc"`       // wrong
	UnknownQP uint64 `json:"unknown_qp"` // of no connection, or from another host than its far end
}

// numberMax is the highest number of a flow whose queue pairs, which Fixed.QPNs chooses, have 24 bits.
const numberMax = 1<<23 - 3

// The ECN field (RFC 3168) of a packet that a switch may mark, ECT(0), and of one that it has.
const (
	ecnCapable            = 2
	congestionExperienced = 3
)

// Where a write goes: to an address that the far end is taken to have registered, for this life of
// the connection: its offset is the life.
const remoteAddress = 1 << 32

func (h *Host) newRequester(f *Flow) *requester {
	k := f.RC
	r := &requester{
		ConnectionConfig: k.Connection(f.Size),
		fixed:            k.Fixed, began: make([]unit.Time, k.Window),
	}
	_, r.toQPN = k.QPNs(f.Number)
	switch k := h.cfg.Congestion; {
	case k == nil:
	case k.DCQCN != nil:
		r.reaction = congestion.NewReaction(k.DCQCN, h.cfg.Rate)
	default:
		r.timely = congestion.NewTimely(k.Timely, h.cfg.Rate, h.cfg.Rate)
	}
	return r
}

// rateOf is how fast a flow may send now, 0 without a bound.
func (h *Host) rateOf(s *sender) unit.Rate {
	k := h.cfg.Congestion
	if s.rc == nil || k == nil {
		return unit.Rate(s.Rate)
	}
	rate := s.rc.allowed(h.now, k)
	if s.Rate != 0 {
		rate = min(rate, unit.Rate(s.Rate))
	}
	return rate
}

// allowed is the rate that congestion control allows.
func (r *requester) allowed(now unit.Time, k *Congestion) unit.Rate {
	if k.DCQCN != nil {
		return r.reaction.Rate(now)
	}
	return r.timely.Rate()
}

// begin begins the messages of a flow that starts at so and so.
func (r *requester) begin(at unit.Time) {
	r.from, r.count.Completion = at, 0
	r.req.Begin(&r.ConnectionConfig)
}

// connect begins another life of the connection.
func (r *requester) connect(s *sender, now unit.Time) {
	life := roce.Life(now)
	if r.fixed.oneLife() {
		life = 0
	}
	r.req.Connect(life, &r.ConnectionConfig)
	r.zero = s.seq
}

// address is where the messages of a flow are written.
func (r *requester) address() uint64 {
	if r.fixed.Address != nil {
		return uint64(*r.fixed.Address)
	}
	return remoteAddress + uint64(r.req.Life())
}

// key is the R_Key of flow n.
func (r *requester) key(n uint32) uint32 {
	if r.fixed.RKey != nil {
		return *r.fixed.RKey
	}
	return n + 1
}

// newResponder is the receiving side of a connection before anything came.
func newResponder(p Peer) responder {
	r := responder{Peer: p, memory: p.RC.memory()}
	r.qpn, _ = p.RC.QPNs(p.Number)
	r.resp.Selective = p.RC.Recovery == Selective
	if p.RC.oneLife() {
		r.resp.Expect(p.RC.firstPSN())
	}
	return r
}

// forget has a host that was not there before wait for a life of the connection.
func (r *responder) forget() {
	if !r.RC.oneLife() {
		r.resp.Forget()
	}
}

// report is what became of the messages, nil of a UDP flow.
func (r *requester) report(now unit.Time, k *Congestion) *Messages {
	if r == nil {
		return nil
	}
	m := r.count
	if k != nil {
		m.Rate = r.allowed(now, k)
	}
	m.RequesterCounters, m.Failed = r.req.Count, r.req.Failed()
	return &m
}

// tendRC begins no message once a flow's time is over, repeats what was not acknowledged
// in time, and returns when that is next due.
func (h *Host) tendRC(s *sender) unit.Time {
	r := s.rc
	stop := h.until(s)
	if h.now >= stop {
		r.req.Close(&r.ConnectionConfig)
		stop = unit.Never
	}
	r.req.Expire(h.now, &r.ConnectionConfig)
	return min(r.req.Deadline(&r.ConnectionConfig), stop)
}

// fillRC builds the next packet of a connection into f and returns its frame's length.
func (h *Host) fillRC(f *buffer.Frame, s *sender) int {
	r := s.rc
	p := r.req.Next(h.now, &r.ConnectionConfig)
	if p.First && !p.Again {
		r.began[p.Message%uint64(len(r.began))] = h.now
	}
	hd := roce.Header{
		Opcode: roce.Write(p.First, p.Last), AckReq: p.AckReq, Pad: uint8(-p.Payload & 3),
		DestQP: r.toQPN, PSN: r.req.PSN(p.Seq),
		Address: r.address(), RKey: r.key(s.Number), Length: uint32(p.Length),
	}
	tos := DSCP(s.Priority) << 2
	if k := h.cfg.Congestion; k != nil {
		if k.DCQCN != nil {
			tos |= ecnCapable
		} else if p.Again {
			r.stamps.again(p.Seq)
		} else if p.AckReq {
			r.stamps.put(p.Seq+1, h.now)
		}
	}
	b := h.buildPacket(f, &h.nics[s.nic], s.To, s.SrcPort, tos, uint8(s.TTL), &hd, p.Payload)
	if p.Payload >= RecordLen {
		PutRecord(b, s.Number, s.seq-r.zero, h.now)
	} else {
		ether.SetID(f.Data[ether.HeaderLen:], shortNumber(s.seq-r.zero))
	}
	h.seal(f)
	s.seq++
	h.tendAt = min(h.tendAt, r.req.Deadline(&r.ConnectionConfig))
	if k := h.cfg.Congestion; k != nil && k.DCQCN != nil {
		r.reaction.Sent(h.now, f.Len)
	}
	return f.Len
}

// buildPacket builds a packet with a payload of this many octets into f, all zeros, and
// returns what is kept of them. seal follows.
func (h *Host) buildPacket(f *buffer.Frame, n *nic, to netip.Addr, srcPort uint16, tos, ttl uint8, hd *roce.Header, payload int) []byte {
	head := headerLen + hd.Opcode.Len()
	f.Len = head + payload + int(hd.Pad) + roce.ICRCLen
	f.Data = f.Data[:h.keep(f.Len)]
	h.buildHeaders(f.Data, n, to, srcPort, tos, ttl, f.Len)
	hd.Put(f.Data[headerLen:])
	clear(f.Data[head:])
	return f.Data[head:]
}

// seal writes the ICRC, unless the end of the frame is not kept.
func (h *Host) seal(f *buffer.Frame) {
	if len(f.Data) == f.Len {
		roce.Seal(f.Data[ether.HeaderLen:])
	}
}

// kindOf is the kind of an IPv4 packet that is not a UDP flow's; what is behind ip may be
// cut off.
func kindOf(ip ether.IPv4) uint8 {
	total := ip.TotalLen()
	if ip.Proto() != ether.ProtoUDP || ip.IsFragment() || ip.HeaderLen() != ether.IPv4Len || total < ether.IPv4Len+ether.UDPLen || len(ip) < ether.IPv4Len+ether.UDPLen {
		return kindOther
	}
	if _, dst := ip.Ports(); dst != Port {
		return kindOther
	}
	if _, _, err := packet(ip); err != nil {
		return kindBadRC
	}
	if len(ip) >= total && !roce.Sealed(ip[:total]) {
		return kindBadICRC
	}
	return kindRC
}

// packet reads the headers of the packet in ip.
func packet(ip ether.IPv4) (roce.Header, int, error) {
	total := ip.TotalLen()
	return roce.Parse(ip[ether.IPv4Len+ether.UDPLen:min(len(ip), total)], total-ether.IPv4Len-ether.UDPLen)
}

// receivePacket hands a packet to the connection that it is of.
func (h *Host) receivePacket(n *nic, f *buffer.Frame) {
	ip := ether.IPv4(f.Data[f.Info.L3:])
	hd, payload, err := packet(ip)
	if err != nil {
		panic("host: a packet that parsed no longer does: " + err.Error())
	}
	i, requester := h.requesters[hd.DestQP]
	k, responder := h.responders[hd.DestQP]
	switch {
	case hd.Opcode == roce.ReadRequest || hd.Opcode.IsReadResponse() || hd.Opcode == roce.Datagram:
		n.count.RC.Malformed++ // of an operation that no flow has
	case responder && hd.Opcode.IsData() && addr32(h.peers[k].From) == ip.Src():
		h.receiveRequest(n, f, k, &hd, payload)
	case requester && hd.Opcode == roce.SelectiveAcknowledge && h.flows[i].rc.Selective == nil:
		n.count.RC.Malformed++ // of a recovery that the flow does not have
	case requester && !hd.Opcode.IsData() && addr32(h.flows[i].To) == ip.Src():
		h.receiveAnswer(&h.flows[i], &hd)
	default:
		n.count.RC.UnknownQP++
	}
}

// receiveRequest puts part of a message into the receive buffer, if there is room, and
// gives it to the responder.
func (h *Host) receiveRequest(n *nic, f *buffer.Frame, k int32, hd *roce.Header, payload int) {
	p := &h.peers[k]
	r := h.admit(n, p.Number, f.Info.Priority, f.Len)
	if r == nil {
		return
	}
	if h.knows(p, r, hd) {
		h.receiveKnown(f, p, r, hd, payload)
	}
	if p.resp.Owes() {
		h.owe(k)
	}
	if f.Data[f.Info.L3+1]&3 == congestionExperienced {
		p.marked++
		if c := h.cfg.Congestion; c != nil && c.DCQCN != nil && p.notes.Marked(h.now, c.DCQCN.CNPInterval) {
			h.push(&h.nics[p.nic].notify, inNotify, k)
		}
	}
}

// knows reports whether a packet is of the connection's present life. The frames of a life are
// numbered from 0; those that came before its first have arrived, and are not lost.
func (h *Host) knows(p *responder, r *receiver, hd *roce.Header) bool {
	if p.RC.oneLife() {
		return true
	}
	knows, began := p.resp.Knows(hd, roce.Life(hd.Address-remoteAddress))
	switch {
	case began:
		r.Next, r.seen, p.foreign = 0, seen{}, false
	case !knows:
		p.early++
		r.Frames++
		r.Last = h.now
	}
	return knows
}

// receiveKnown counts a packet of the present life, and takes it if it is the one expected, or if what comes
// behind a gap is kept.
func (h *Host) receiveKnown(f *buffer.Frame, p *responder, r *receiver, hd *roce.Header, payload int) {
	if payload >= RecordLen {
		_, _, _, ours := ReadRecord(recordOf(f, hd))
		p.foreign = !ours
	}
	if p.foreign {
		if n, ok := p.resp.Number(hd); ok {
			r.arrivedForeign(h.now, n)
		}
	} else {
		seq, sent := fullNumber(f.Data[f.Info.L3:], r.Next), h.now
		if payload >= RecordLen {
			_, seq, sent, _ = ReadRecord(recordOf(f, hd))
		}
		r.arrived(h.now, seq, sent)
		r.Lost -= min(p.early, seq, r.Lost)
	}
	p.early = 0
	if p.resp.Receive(hd, payload, &p.memory) {
		h.took(r, f.Len)
	}
}

// recordOf is where the record of a packet is, if it is long enough for one.
func recordOf(f *buffer.Frame, hd *roce.Header) []byte {
	return f.Data[int(f.Info.L3)+ether.IPv4Len+ether.UDPLen+hd.Opcode.Len():]
}

// receiveAnswer gives an acknowledgement to the requester of s.
func (h *Host) receiveAnswer(s *sender, hd *roce.Header) {
	r := s.rc
	h.ready.Add(s.nic)
	k := h.cfg.Congestion
	if hd.Opcode == roce.Congestion {
		r.count.CNPs++
		if k != nil && k.DCQCN != nil {
			r.reaction.CNP(h.now)
		}
		return
	}
	was := r.req.Done(&r.ConnectionConfig)
	news := r.req.Answer(h.now, hd)
	if r.req.Lost() {
		r.connect(s, h.now)
		h.tendAt = h.now
	}
	if h.over(s) {
		h.tendAt = h.now
	}
	h.tendAt = min(h.tendAt, r.req.Deadline(&r.ConnectionConfig)) // sooner, where few are in flight now
	if !news {
		return
	}
	if k != nil && k.Timely != nil {
		if at, ok := r.stamps.acked(r.req.Acked()); ok && h.now > at {
			r.count.Samples++
			r.timely.Acked(h.now, h.now-at)
		}
	}
	done := r.req.Done(&r.ConnectionConfig)
	for m := was; m < done; m++ {
		took := h.now - r.began[m%uint64(len(r.began))]
		r.count.Done++
		r.count.Bytes += uint64(r.Length(m))
		r.count.TimeSum += took
		r.count.TimeMax = max(r.count.TimeMax, took)
	}
	if r.Total != 0 && done == r.Messages() {
		r.count.Completion = h.now - r.from
	}
}

// owes reports whether there is an answer that may leave.
func (h *Host) owes(n *nic) bool {
	return h.notifies(n) || n.owed&^n.paused != 0
}

// notifies reports whether there is a CNP that may leave.
func (h *Host) notifies(n *nic) bool {
	return n.notify.head != 0 && !n.paused.Has(h.cfg.Congestion.CNPPriority)
}

// transmitAnswers returns what answers packets: CNPs, then acknowledgements, those of the
// highest priority first.
func (h *Host) transmitAnswers(n *nic, fs []*buffer.Frame) (k int) {
	for k < len(fs) && h.notifies(n) && n.wire.Ready(h.now) {
		f := h.pool.Get()
		if f == nil {
			return k
		}
		p := h.shift(&n.notify, inNotify)
		p.cnps++
		h.answer(n, f, p, h.cfg.Congestion.CNPPriority, &roce.Header{Opcode: roce.Congestion, BECN: true})
		fs[k] = f
		k++
	}
	for set := n.owed &^ n.paused; set != 0 && k < len(fs) && n.wire.Ready(h.now); {
		c := unit.Priority(bits.Len8(uint8(set)) - 1)
		f := h.pool.Get()
		if f == nil {
			return k
		}
		p := h.shift(&n.owing[c], inOwing)
		if n.owing[c].head == 0 {
			set &^= 1 << c
			n.owed &^= 1 << c
		}
		hd := p.resp.Answer()
		h.answer(n, f, p, p.Priority, &hd)
		fs[k] = f
		k++
	}
	return k
}

// answer builds a packet to the requester of peer p, and sends it.
func (h *Host) answer(n *nic, f *buffer.Frame, p *responder, c unit.Priority, hd *roce.Header) {
	hd.DestQP = p.qpn
	h.buildPacket(f, n, p.From, p.SrcPort, DSCP(c)<<2, p.TTL, hd, 0)
	h.seal(f)
	n.wire.Send(n.Rate.FrameTime(f.Len))
}

// AckFrame is the length in bytes, without FCS, of the frame of an acknowledgement.
const AckFrame = headerLen + roce.BTHLen + roce.AETHLen + roce.ICRCLen

// Frames calls each with the length in bytes, without FCS, of every frame of a message of
// this many bytes; last is set for the last one.
func Frames(mtu, message int, each func(n int, last bool)) {
	for at := 0; at < message; at += mtu {
		n := min(mtu, message-at)
		last := at+n == message
		op := roce.Write(at == 0, last)
		each(headerLen+op.Len()+n+-n&3+roce.ICRCLen, last)
	}
}
