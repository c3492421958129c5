// The reliable connection of RoCEv2 (InfiniBand Architecture volume 1, chapter
// 9.7) is two pure state machines: a requester sends messages of equal size as RDMA
// writes, a responder takes their packets in order, and what is lost is sent again from
// the gap on (go-back-N). Of a selective connection nothing but what is lost is sent again.
//
//	Requester.Next --> packet --> Responder.Receive --> Ack or Nak pending
//	Requester.Answer <-- ACK, NAK <-- Responder.Answer
//
// Read in this order: Shape (how messages become packets), Requester, Responder, Selective.
//
// Invariants:
//   - in order: the responder takes every packet of every message exactly once, in order;
//   - window: of at most ConnectionConfig.Window messages packets are sent and not acknowledged;
//   - one NAK a gap: the responder asks for a packet once, until it comes; a selective one tells
//     with each packet behind a gap what it keeps, and the requester sends again what it tells of
//     once, until a timeout;
//   - state, not events: what is answered is the newest state, however many packets came;
//   - lives: packets and answers of a life (Life) are nothing of another.
//
// What it does not do: it keeps no rate (package
// congestion does) and takes no time from a clock; no reads, no atomics, no RNR.

package roce

import (
	"softswitch/unit"
)

// Shape is how a flow of messages becomes packets.
type Shape struct {
	// MTU is the path MTU: the payload of a full packet in octets.
	MTU int
	// Message is the length of each message in octets, above 0.
	Message int
	// Total is the octets of all messages, the last of which may be shorter; 0: without
	// end.
	Total uint64
}

// Packets is how many packets a full message has.
func (s *Shape) Packets() uint64 { return uint64((s.Message + s.MTU - 1) / s.MTU) }

// Messages is the number of messages, 0 without end.
func (s *Shape) Messages() uint64 {
	return (s.Total + uint64(s.Message) - 1) / uint64(s.Message)
}

// end is the sequence number behind the last packet, the largest number without end.
func (s *Shape) end() uint64 {
	if s.Total == 0 {
		return 1<<64 - 1
	}
	whole, rest := s.Total/uint64(s.Message), s.Total%uint64(s.Message)
	return whole*s.Packets() + (rest+uint64(s.MTU)-1)/uint64(s.MTU)
}

// Length is the length of message m in octets.
func (s *Shape) Length(m uint64) int {
	if begin := m * uint64(s.Message); s.Total != 0 && s.Total-begin < uint64(s.Message) {
		return int(s.Total - begin)
	}
	return s.Message
}

// Packet is one to send.
type Packet struct {
	Seq     uint64 // from 0, in the order of messages; see Requester.PSN
	Message uint64 // that it is of
	Length  int    // of that message
	Offset  int    // of the payload in it
	Payload int    // octets
	First   bool   // of its message
	Last    bool
	AckReq  bool
	Again   bool // it was sent before
}

// packet is the packet with a sequence number below end.
func (s *Shape) packet(seq uint64) Packet {
	n := s.Packets()
	m, k := seq/n, int(seq%n)
	p := Packet{Seq: seq, Message: m, Length: s.Length(m), Offset: k * s.MTU, First: k == 0}
	p.Payload = min(s.MTU, p.Length-p.Offset)
	p.Last = p.Offset+p.Payload == p.Length
	return p
}

// ConnectionConfig is how a requester behaves.
type ConnectionConfig struct {
	Shape
	// Window is how many messages may be outstanding, at least 1.
	Window int
	// Timeout is how long it waits without an acknowledgement that tells it something new;
	// Retries, how often in a row it then begins again before it gives up.
	Timeout unit.Time
	Retries int // or Forever
	// AckEvery is how many packets at most are sent without a request for an
	// acknowledgement.
	AckEvery int
	// FirstPSN, unless nil, is that of a connection with one life alone.
	FirstPSN *uint32
	// Selective, unless nil, makes it a selective connection. AckEvery has to be 1 then: what is in
	// flight is known by acknowledgements.
	Selective *Selective
}

// Forever is a ConnectionConfig.Retries that never ends.
const Forever = -1

// AckEvery is the usual distance of requests for an acknowledgement within a message.
const AckEvery = 16

// outstanding bounds the packets that are sent and not acknowledged, so that a PSN tells
// old from new (volume 1, 9.7.2: half of the space).
const outstanding = 1 << 22

// A Life is a period of a connection, named by the time at which its requester began it, in
// nanoseconds; 0 is the one of virtual time. What a process began ends with the process, whichever end
// it is of.
type Life uint64

// FirstPSN is the PSN of its first packet: microseconds, so that packets of the life before,
// which sent at most one in each, are far from the ones expected.
func (l Life) FirstPSN() uint32 { return uint32(l/1000) & PSNMask }

// Requester is the sending side of a connection. The zero value has sent nothing.
type Requester struct {
	life   Life
	psn    uint32 // of the first packet of this life
	first  uint64 // sequence number of the first packet of this life
	alone  bool   // there is no other life
	lost   bool   // the responder does not know this life
	base   uint64 // sequence number of the first packet since Begin
	acked  uint64 // all below are acknowledged
	next   uint64 // to send
	sent   uint64 // the largest next so far
	limit  uint64 // where it is closed: nothing from there on is sent
	closed bool
	asked  uint64 // the last packet that asked for an acknowledgement, plus one
	timing bool   // an acknowledgement was asked for and is waited for, since then:
	waits  unit.Time
	tries  int // timeouts in a row
	failed bool
	again  recovery
	Count  RequesterCounters
}

// RequesterCounters are a requester's counts since the connection began.
type RequesterCounters struct {
	Packets      uint64 `json:"packets"`     // sent, those sent again among them
	Again        uint64 `json:"again"`       // packets sent again
	AgainBytes   uint64 `json:"again_bytes"` // their payload
	Naks         uint64 `json:"naks"`        // negative acknowledgements acted on
	Timeouts     uint64 `json:"timeouts"`
	OutsideRange uint64 `json:"outside_range"` // answers to packets that were never sent
}

// Begin begins with the first message again, once all are acknowledged; else it goes on
// with what is not, also after it had given up or was closed.
func (r *Requester) Begin(c *ConnectionConfig) {
	if !r.closed && r.Finished(c) {
		r.base = r.acked
	}
	if r.failed {
		r.goBack(r.acked)
	}
	r.closed, r.tries, r.failed = false, 0, false
}

// Connect begins another life, with the first message that is not acknowledged as a whole.
func (r *Requester) Connect(life Life, c *ConnectionConfig) {
	if !r.Finished(c) {
		r.acked -= (r.acked - r.base) % c.Packets()
	}
	r.life, r.psn, r.first, r.lost = life, life.FirstPSN(), r.acked, false
	if r.alone = c.FirstPSN != nil; r.alone {
		r.psn = *c.FirstPSN
	}
	r.goBack(r.acked)
}

// Life is the present one.
func (r *Requester) Life() Life { return r.life }

// Lost says that the responder does not know the present life: it restarted.
func (r *Requester) Lost() bool { return r.lost }

// PSN is that of the packet with this sequence number.
func (r *Requester) PSN(seq uint64) uint32 {
	return (r.psn + uint32(seq-r.first)) & PSNMask
}

// Close stops further messages from beginning.
func (r *Requester) Close(c *ConnectionConfig) {
	n := c.Packets()
	r.limit = min(r.end(c), r.base+(r.sent-r.base+n-1)/n*n)
	r.closed = true
}

// end is the sequence number behind the last packet.
func (r *Requester) end(c *ConnectionConfig) uint64 {
	if r.closed {
		return r.limit
	}
	if end := c.end(); end < 1<<64-1 {
		return r.base + end
	}
	return 1<<64 - 1
}

// Acked is the sequence number up to which all packets are acknowledged.
func (r *Requester) Acked() uint64 { return r.acked }

// Done is how many messages since Begin are acknowledged as a whole.
func (r *Requester) Done(c *ConnectionConfig) uint64 {
	if c.Total != 0 && r.acked-r.base == c.end() {
		return c.Messages()
	}
	return (r.acked - r.base) / c.Packets()
}

// Failed says that it has given up: there was no answer too many times in a row, or one that the
// request is invalid.
func (r *Requester) Failed() bool { return r.failed }

// Finished says that all is acknowledged.
func (r *Requester) Finished(c *ConnectionConfig) bool { return r.acked == r.end(c) }

// Ready reports whether there is a packet to send.
func (r *Requester) Ready(c *ConnectionConfig) bool {
	switch {
	case r.failed:
		return false
	case r.again.pending():
		return true
	case r.next == r.end(c) || r.next-r.acked >= outstanding || c.Selective != nil && r.next-r.acked >= uint64(c.Selective.InFlight):
		return false
	}
	return (r.next-r.base)/c.Packets() < (r.acked-r.base)/c.Packets()+uint64(c.Window)
}

// Next takes the packet to send now; Ready says whether there is one.
func (r *Requester) Next(now unit.Time, c *ConnectionConfig) Packet {
	seq := r.take()
	p := c.packet(seq - r.base)
	p.Seq = seq
	p.Again = seq < r.sent
	p.AckReq = p.Last || (seq-r.base+1)%uint64(c.AckEvery) == 0
	if p.AckReq {
		r.asked = max(r.asked, seq+1)
		if !r.timing {
			r.timing, r.waits = true, now
		}
	}
	r.Count.Packets++
	if p.Again {
		r.Count.Again++
		r.Count.AgainBytes += uint64(p.Payload)
	}
	r.sent = max(r.sent, seq+1)
	return p
}

// take takes the sequence number of the packet to send now: the next one that is lost, or else the
// next one.
func (r *Requester) take() (seq uint64) {
	if r.again.pending() {
		seq = r.again.hole
		r.again.hole++
		r.seek()
		return seq
	}
	r.next++
	return r.next - 1
}

// Deadline is when Expire is due, unit.Never if no acknowledgement is waited for. The time
// begins when one is asked for, and again with each that comes (9.7.6.1.3).
func (r *Requester) Deadline(c *ConnectionConfig) unit.Time {
	if r.failed || !r.timing {
		return unit.Never
	}
	if c.Selective != nil && r.next-r.acked <= FewInFlight {
		return r.waits + c.Selective.TimeoutLow
	}
	return r.waits + c.Timeout
}

// Expire begins again where the acknowledgements end, if the deadline has come; after
// Config.Retries times in a row it gives up. A selective connection skips what it knows to have come.
func (r *Requester) Expire(now unit.Time, c *ConnectionConfig) {
	if r.Deadline(c) > now {
		return
	}
	r.Count.Timeouts++
	if r.tries == c.Retries {
		r.failed = true
		return
	}
	r.tries++
	if c.Selective == nil {
		r.goBack(r.acked)
		return
	}
	r.timing = false
	r.loseAll()
}

// goBack makes the packet seq the next, whatever came behind it.
func (r *Requester) goBack(seq uint64) {
	r.next, r.asked, r.timing, r.again = seq, seq, false, recovery{}
}

// Answer takes an acknowledgement, and reports whether packets were acknowledged by it.
func (r *Requester) Answer(now unit.Time, h *Header) bool {
	// The sequence number whose PSN is h.PSN and that is next to acked.
	ahead := int32((h.PSN-r.PSN(r.acked))<<8) >> 8
	seq := r.acked + uint64(int64(ahead))
	if h.Syndrome == OperationalError && !r.alone {
		switch {
		case ahead < 0 || seq >= r.sent: // about another life
		case r.acked == r.first: // the first packet was lost
			r.Count.Naks++
			r.goBack(r.first)
		default:
			r.lost = true
		}
		return false
	}
	nak := h.Syndrome.Kind() != Acked
	if !nak {
		ahead++ // all up to seq are acknowledged; a NAK acknowledges those before it
		seq++
	}
	came := &Sack{}
	if h.Opcode == SelectiveAcknowledge {
		came = &h.Sack
	}
	tells := *came != Sack{}
	switch {
	case ahead < 0 || ahead == 0 && !nak && !tells:
		return false // about packets that are acknowledged already
	case seq+came.Len() > r.sent || nak && (seq == r.sent || tells) || came.Has(0):
		r.Count.OutsideRange++
		return false
	}
	news, was := seq > r.acked, r.acked
	if news {
		r.acked = seq
		r.next = max(r.next, seq)
		r.forward(was)
	}
	if tells {
		r.Count.Naks++
	}
	if tells && r.hears(came) || news {
		r.tries, r.timing, r.waits = 0, r.asked > seq, now
	}
	if nak {
		switch h.Syndrome {
		case SequenceError:
			r.Count.Naks++
			r.goBack(seq)
		default:
			r.failed = true
		}
	}
	return news
}
