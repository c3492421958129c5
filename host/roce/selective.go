package roce

import (
	"encoding/binary"
	"math/bits"

	"softswitch/unit"
)

// A selective connection sends again only what is missing: IRN's loss recovery (Mittal et al.,
// "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3.1) and its bound of what is in
// flight (3.2, BDP-FC). Its data packets are those of RoCEv2; what its responder says of a gap,
// SelectiveAcknowledge, is not.

// Selective is how a selective connection behaves. All of it is of the requester.
type Selective struct {
	// InFlight is how many packets at most are between the first that is not acknowledged and the
	// newest, 1 to SackBits: a bandwidth-delay product.
	InFlight int
	// TimeoutLow is ConnectionConfig.Timeout where at most FewInFlight packets are in flight: too
	// few for those behind a gap to tell of it, and so few that sending them for nothing does no
	// harm (IRN's RTO_low; Timeout is its RTO_high).
	TimeoutLow unit.Time
}

// FewInFlight is IRN's N.
const FewInFlight = 3

// SackBits is for how many packets a SelectiveAcknowledge speaks. IRN's bitmaps are as long.
const SackBits = 128

// Sack says which packets of SackBits came. Bit 0 is the first that is not acknowledged.
type Sack [SackBits / 64]uint64

// Has reports whether bit i is set; it is not beyond SackBits.
func (s *Sack) Has(i uint64) bool { return i < SackBits && s[i/64]>>(i%64)&1 != 0 }

// add sets bit i, which is below SackBits.
func (s *Sack) add(i uint64) { s[i/64] |= 1 << (i % 64) }

// Len is the number of the highest bit that is set, plus one; 0 if none is.
func (s *Sack) Len() uint64 {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 0 {
			return uint64(64*i + bits.Len64(s[i]))
		}
	}
	return 0
}

// put writes s to b, the highest bit first.
func (s *Sack) put(b []byte) {
	for i, word := range s {
		binary.BigEndian.PutUint64(b[8*(len(s)-1-i):], word)
	}
}

func parseSack(b []byte) (s Sack) {
	for i := range s {
		s[i] = binary.BigEndian.Uint64(b[8*(len(s)-1-i):])
	}
	return s
}

// forward makes bit n the first.
func (s *Sack) forward(n uint64) {
	for ; n >= 64; n -= 64 {
		copy(s[:], s[1:])
		if s[len(s)-1] = 0; *s == (Sack{}) {
			return
		}
	}
	for i := range s {
		if s[i] >>= n; i+1 < len(s) {
			s[i] |= s[i+1] << (64 - n) // a shift by 64 leaves nothing
		}
	}
}

// recovery is what a selective requester knows of the packets that are not acknowledged.
type recovery struct {
	came  Sack   // from the first that is not acknowledged on
	on    bool   // lost packets are sent again before others are sent
	until uint64 // until all below is acknowledged
	lost  uint64 // what has not come below is lost
	hole  uint64 // the next of those to be sent again, lost if there is none
}

// pending reports whether there is a packet to send again.
func (s *recovery) pending() bool { return s.hole < s.lost }

// recover begins loss recovery, unless it is on. The first packet that is not acknowledged is
// lost; others are if a later one has come.
func (r *Requester) recover() {
	s := &r.again
	if s.on {
		return
	}
	s.on, s.until, s.hole = true, r.next, r.acked
	s.lost = max(s.lost, r.acked+1)
}

// loseAll begins loss recovery again: what is in flight and did not come is lost. IRN does not say so in
// words; but it counts, for its low timeout, on all that is in flight being sent again.
func (r *Requester) loseAll() {
	s := &r.again
	s.on, s.until, s.hole, s.lost = true, r.next, r.acked, r.next
}

// seek moves hole to the next packet that is lost.
func (r *Requester) seek() {
	s := &r.again
	for s.hole = max(s.hole, r.acked); s.hole < s.lost && s.came.Has(s.hole-r.acked); s.hole++ {
	}
}

// hears takes what a SelectiveAcknowledge says of the packets from r.acked on, of which one at
// least came, and reports whether that is new.
func (r *Requester) hears(came *Sack) (news bool) {
	s := &r.again
	for i := range came {
		news = news || came[i]&^s.came[i] != 0
		s.came[i] |= came[i]
	}
	s.lost = max(s.lost, r.acked+s.came.Len())
	r.recover()
	r.seek()
	return news
}

// forward forgets what is acknowledged now; was is Acked before.
func (r *Requester) forward(was uint64) {
	s := &r.again
	s.came.forward(r.acked - was)
	if s.on && r.acked >= s.until {
		s.on, s.hole, s.lost = false, 0, 0
	}
	r.seek()
}

// kept is what came behind a gap, which a selective responder keeps until the gap is filled.
type kept struct {
	came    Sack    // from the expected packet on, which has not come
	packets []early // of sequence number n at n % SackBits; nil before the first
}

// early is what take needs of a packet that came behind a gap.
type early struct {
	address uint64
	rkey    uint32
	length  uint32
	payload int32
	opcode  Opcode
}

// keep keeps a packet that came so many before the one expected, and reports whether it is new.
func (r *Responder) keep(h *Header, payload int, ahead uint64) bool {
	k := &r.kept
	switch {
	case ahead >= SackBits:
		r.Count.OutOfOrder++
		return false
	case k.came.Has(ahead):
		r.Count.Duplicates++
		r.ack = true
		return false
	case k.packets == nil:
		k.packets = make([]early, SackBits)
	}
	k.came.add(ahead)
	k.packets[(r.expected+ahead)%SackBits] = early{h.Address, h.RKey, h.Length, int32(payload), h.Opcode}
	r.Count.Kept++
	r.ack = true
	return true
}

// release takes what was kept behind a gap that is filled.
func (r *Responder) release(m *Memory) {
	k := &r.kept
	if k.came == (Sack{}) {
		return
	}
	for k.came.forward(1); k.came.Has(0); k.came.forward(1) {
		p := &k.packets[r.expected%SackBits]
		h := Header{Opcode: p.opcode, Address: p.address, RKey: p.rkey, Length: p.length}
		if !r.take(&h, int(p.payload), m) {
			k.came[0] &^= 1 // it has to come again
			return
		}
	}
}
