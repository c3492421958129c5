package verbs

import (
	"fmt"
	"slices"
	"sort"

	"softswitch/host/roce"
	"softswitch/unit"
)

// Op is an operation of verbs.
type Op uint8

// Operations.
const (
	Send Op = iota
	Write
	Read
)

func (o Op) String() string { return [...]string{"send", "write", "read"}[o] }

// Request is what a program asks for: an operation with Data, which a READ fills and the others
// send. It must stay as it is until the request is complete.
type Request struct {
	Op
	Data    []byte
	Address uint64 // at the far end, of a WRITE or a READ
	RKey    uint32
}

// posted is a request with its place among the packets.
type posted struct {
	Request
	first, n uint64
}

// Post adds a request behind the others.
func (q *QueuePair) Post(r Request) {
	n := q.packets(len(r.Data))
	q.posts = append(q.posts, posted{r, q.end, n})
	q.end += n
}

// Pending is how many requests are not complete.
func (q *QueuePair) Pending() int { return len(q.posts) }

// Done is how many requests are complete.
func (q *QueuePair) Done() uint64 { return q.Count.Done }

// find is the request that packet seq is of, nil without one.
func (q *QueuePair) find(seq uint64) *posted {
	i := sort.Search(len(q.posts), func(i int) bool { return q.posts[i].first+q.posts[i].n > seq })
	if i == len(q.posts) || seq < q.posts[i].first {
		return nil
	}
	return &q.posts[i]
}

// ready reports whether a packet of a request may be sent.
func (q *QueuePair) ready(now unit.Time) bool {
	if q.failed != "" || q.next == q.end || now < q.wait || q.next-q.acked >= min(uint64(q.Window), outstanding) {
		return false
	}
	return q.find(q.next).Op != Read || q.reading() < q.Reads
}

// reading is how many READs are under way.
func (q *QueuePair) reading() (n int) {
	for i := range q.posts {
		if q.posts[i].first+q.posts[i].n > q.next {
			break
		}
		if q.posts[i].Op == Read {
			n++
		}
	}
	return n
}

// nextRequest takes the next packet of a request.
func (q *QueuePair) nextRequest(now unit.Time) Packet {
	r := q.find(q.next)
	i := q.next - r.first
	at := uint64(int(i) * q.MTU)
	h := roce.Header{PSN: psn(q.LocalPSN, q.next), Address: r.Address, RKey: r.RKey, Length: uint32(len(r.Data))}
	if q.acked == q.next {
		q.since = now
	}
	q.Count.Sent++
	again := q.next < q.sent
	if again {
		q.Count.Again++
	}
	if r.Op == Read { // from where its answers end
		h.Opcode, h.AckReq = roce.ReadRequest, true
		h.Address += at
		h.Length -= uint32(at)
		q.next = r.first + r.n
		q.sent = max(q.sent, q.next)
		return Packet{Header: h}
	}
	first, last := i == 0, i == r.n-1
	h.Opcode = roce.Send(first, last)
	if r.Op == Write {
		h.Opcode = roce.Write(first, last)
	}
	h.AckReq = last || (i+1)%ackEvery == 0 || q.next+1-q.acked == uint64(q.Window) // the window's last
	p := Packet{h, q.part(r.Data, i)}
	if again {
		q.Count.AgainBytes += uint64(len(p.Payload))
	}
	q.next++
	q.sent = max(q.sent, q.next)
	return p
}

// Deadline is when Expire is due, unit.Never if nothing is waited for.
func (q *QueuePair) Deadline(now unit.Time) unit.Time {
	switch {
	case q.failed != "":
		return unit.Never
	case now < q.wait && q.next < q.end:
		return q.wait
	case q.next > q.acked:
		return q.since + q.Timeout
	}
	return unit.Never
}

// Expire begins again where the acknowledgements end, if the deadline has come; after Retries
// times in a row the connection fails.
func (q *QueuePair) Expire(now unit.Time) {
	if q.next == q.acked || q.failed != "" || now < q.since+q.Timeout {
		return
	}
	q.Count.Timeouts++
	if q.tries == q.Retries {
		q.failed = fmt.Sprintf("no answer to packet %d, sent %s", q.acked, unit.Count(q.tries+1, "time"))
		return
	}
	q.tries++
	q.since, q.rewound = now, false
	q.next = q.acked
}

// acknowledge takes an ACK or a NAK.
func (q *QueuePair) acknowledge(now unit.Time, h *roce.Header) {
	seq, ahead := nearest(q.acked, q.LocalPSN, h.PSN)
	if h.Syndrome.Kind() == roce.Acked {
		if ahead >= 0 && seq < q.sent {
			q.ackedTo(now, seq+1)
		} else if ahead >= 0 {
			q.Count.OutsideRange++
		}
		return
	}
	switch {
	case ahead < 0: // of what is acknowledged
		return
	case seq >= q.sent:
		q.Count.OutsideRange++
		return
	}
	q.ackedTo(now, seq)
	if q.acked != seq { // an answer to a READ before it was lost
		return
	}
	switch {
	case h.Syndrome == roce.SequenceError:
		q.Count.Naks++
		q.since, q.next = now, seq
	case h.Syndrome.IsNotReady():
		q.Count.NotReady++
		q.wait = now + h.Syndrome.NotReadyTime()
		q.since, q.next = q.wait, seq
	default:
		q.Count.Naks++
		q.failed = fmt.Sprintf("NAK %#x: %s", uint8(h.Syndrome), nakText(h.Syndrome))
	}
}

func nakText(s roce.Syndrome) string {
	switch s {
	case roce.InvalidError:
		return "invalid request"
	case roce.AccessError:
		return "remote access error"
	case roce.OperationalError:
		return "remote operational error"
	}
	return "not one that a reliable connection has"
}

// ackedTo acknowledges what is below seq, but no READ: only its octets do. If seq is behind a READ
// that lacks some, they were lost.
func (q *QueuePair) ackedTo(now unit.Time, seq uint64) {
	for i := range q.posts {
		r := &q.posts[i]
		if r.first >= seq {
			break
		}
		if r.Op == Read {
			q.advance(now, max(q.acked, r.first))
			if seq >= r.first+r.n {
				q.lack()
			}
			return
		}
	}
	q.advance(now, seq)
}

// lack goes back to the first packet that lacks an answer, once for each gap.
func (q *QueuePair) lack() {
	if !q.rewound {
		q.rewound = true
		q.next = q.acked
	}
}

// advance notes that all below seq is acknowledged.
func (q *QueuePair) advance(now unit.Time, seq uint64) {
	if seq <= q.acked {
		return
	}
	q.acked, q.since, q.tries, q.rewound = seq, now, 0, false
	q.next = max(q.next, seq)
	n := 0
	for n < len(q.posts) && q.posts[n].first+q.posts[n].n <= seq {
		n++
	}
	q.posts = slices.Delete(q.posts, 0, n)
	q.Count.Done += uint64(n)
}

// readResponse takes part of what a READ asked for.
func (q *QueuePair) readResponse(now unit.Time, h *roce.Header, payload []byte) {
	seq, ahead := nearest(q.acked, q.LocalPSN, h.PSN)
	if ahead < 0 {
		return
	}
	r := q.find(seq)
	if r == nil || r.Op != Read || seq >= q.sent {
		q.Count.OutsideRange++
		return
	}
	q.ackedTo(now, r.first)
	r = q.find(seq) // what is complete before it is gone
	if seq != q.acked {
		if !q.rewound {
			q.Count.Lost += seq - q.acked
		}
		q.lack()
		return
	}
	part := q.part(r.Data, seq-r.first)
	if len(part) != len(payload) {
		q.failed = fmt.Sprintf("a READ is answered with a packet of %d octets; it asked for %d", len(payload), len(part))
		return
	}
	copy(part, payload)
	q.Count.Responses++
	q.advance(now, seq+1)
}
